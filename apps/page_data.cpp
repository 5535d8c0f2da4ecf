#include "apps/page_data.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fedhur/base/error.hpp"
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

Json describe_run(const RunRecord& run) {
  Json rounds = Json::array();
  for (const auto& round : run.rounds) rounds.push_back(Json::parse(report::to_json(round)));
  return {{"name", run.name},
          {"method", run.result.method},
          {"seed", run.result.seed},
          {"finished", run.is_finished},
          {"settings", run.settings},
          {"manifest", Json::parse(run.manifest)},
          {"result", Json::parse(report::to_json(run.result))},
          {"rounds", std::move(rounds)},
          {"inside", parse_inside(run)}};
}
}  // namespace

std::string page_data(const std::vector<RunRecord>& runs,
                      const std::vector<std::string>& warnings) {
  Json json = {{"version", experiment::version()}, {"live", false}, {"warnings", warnings}};
  json["groups"] = group_by_settings(runs);
  json["differences"] = Json::array();
  for (const DifferingSetting& setting : find_differences(runs)) {
    json["differences"].push_back({{"key", setting.key}, {"values", setting.values}});
  }
  json["runs"] = Json::array();
  for (const RunRecord& run : runs) json["runs"].push_back(describe_run(run));
  for (const auto& group : json["groups"]) {
    for (std::size_t i = 1; i < group.size(); ++i) {
      Json& inside = json["runs"][group[i].get<std::size_t>()]["inside"];
      if (inside.is_null()) continue;
      inside.erase("relations");
      inside.erase("hierarchy");
    }
  }
  // Names and settings may hold any bytes; JSON may not.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}
}  // namespace fedhur::apps
