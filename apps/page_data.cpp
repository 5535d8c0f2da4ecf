#include "apps/page_data.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "fedhur/base/error.hpp"
#include "fedhur/base/hash.hpp"
#include "fedhur/experiment/manifest.hpp"

namespace fedhur::apps {
namespace {
using Json = nlohmann::ordered_json;

Json parse_inside(const RunRecord& run) {
  if (run.inside.empty()) return {};
  try {
    return Json::parse(run.inside);
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("inside.json of {}: {}", run.name, error.what()));
  }
}

Json describe_rounds(const RunRecord& run, std::size_t first) {
  Json rounds = Json::array();
  for (std::size_t i = first; i < run.rounds.size(); ++i) {
    rounds.push_back(Json::parse(report::to_json(run.rounds[i])));
  }
  return rounds;
}

// What may change with every round, but for the rounds themselves.
Json describe_progress(const RunRecord& run) {
  return {{"finished", run.is_finished},
          {"manifest", Json::parse(run.manifest)},
          {"result", Json::parse(report::to_json(run.result))}};
}

Json describe_run(const RunRecord& run) {
  Json json = {{"name", run.name},
               {"method", run.result.method},
               {"seed", run.result.seed},
               {"settings", run.settings}};
  json.update(describe_progress(run));
  json["rounds"] = describe_rounds(run, 0);
  json["inside"] = parse_inside(run);
  return json;
}

// Of runs that differ in nothing but the seed, only the first keeps what is long.
void shorten_insides(Json& json) {
  for (const auto& group : json["groups"]) {
    for (std::size_t i = 1; i < group.size(); ++i) {
      Json& inside = json["runs"][group[i].get<std::size_t>()]["inside"];
      if (inside.is_null()) continue;
      inside.erase("relations");
      inside.erase("hierarchy");
    }
  }
}

Json describe_page(const std::vector<RunRecord>& runs, const std::vector<std::string>& warnings) {
  Json json = {{"version", experiment::version()}, {"warnings", warnings}};
  json["groups"] = group_by_settings(runs);
  json["differences"] = Json::array();
  for (const DifferingSetting& setting : find_differences(runs)) {
    json["differences"].push_back({{"key", setting.key}, {"values", setting.values}});
  }
  json["runs"] = Json::array();
  for (const RunRecord& run : runs) json["runs"].push_back(describe_run(run));
  shorten_insides(json);
  return json;
}

PageState state_of(const RunRecord& run) {
  const Json manifest = Json::parse(run.manifest);
  const std::string& inside = run.inside;
  return {.sittings = manifest.contains("sittings") ? manifest["sittings"].size() : 0,
          .rounds = run.rounds.size(),
          .inside = inside.empty() ? "" : sha256_hex(std::as_bytes(std::span(inside)))};
}

Json to_json(const PageState& state) {
  return {{"sittings", state.sittings}, {"rounds", state.rounds}, {"inside", state.inside}};
}

// Names and settings may hold any bytes; JSON may not.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}
}  // namespace

std::string page_data(const std::vector<RunRecord>& runs,
                      const std::vector<std::string>& warnings) {
  return dump(describe_page(runs, warnings));
}

std::string live_data(const RunRecord& run) {
  Json json = describe_page({run}, {});
  json["live"] = to_json(state_of(run));
  return dump(json);
}

std::string update_data(const RunRecord& run, const PageState& known) {
  const PageState now = state_of(run);
  const bool goes_on = known.sittings == now.sittings && known.rounds <= now.rounds;
  const std::size_t first = goes_on ? known.rounds : 0;
  Json json = {{"live", to_json(now)}, {"first", first}};
  json["rounds"] = describe_rounds(run, first);
  json["run"] = describe_progress(run);
  if (now.inside != known.inside) json["inside"] = parse_inside(run);
  return dump(json);
}
}  // namespace fedhur::apps
