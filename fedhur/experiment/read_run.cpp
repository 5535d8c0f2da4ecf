#include "fedhur/experiment/read_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "fedhur/base/file.hpp"
#include "fedhur/base/hash.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/experiment/run_folder.hpp"

namespace fedhur::experiment {
namespace {
using nlohmann::json;
using report::RunRecord;

void read_settings(const RunFolder& folder, RunRecord& run, std::vector<std::string>& warnings) {
  try {
    ConfigTable table;
    add_toml_file(table, folder.config());
    for (const auto& entry : resolve(table).settings) {
      run.settings[entry.key] = fedhur::to_toml(entry.value);
    }
  } catch (const ConfigError& error) {  // written by another version
    run.settings.clear();
    warnings.push_back(fmt::format("the settings of {} cannot be compared: {}",
                                   folder.path().string(), error.what()));
  }
}

std::string text_at(const json& object, const char* key) {
  return object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

void read_manifest(const json& manifest, RunRecord& run) {
  report::Origin& origin = run.origin;
  origin.version = text_at(manifest, "version");
  const std::string build = text_at(manifest, "build");
  origin.compiler = text_at(manifest, "compiler") + (build.empty() ? "" : ", " + build);
  origin.cpu = text_at(manifest, "cpu");
  origin.start = text_at(manifest, "start");
  origin.end = text_at(manifest, "end");
  manifest.at("data_sha256").get_to(origin.data_sha256);
  if (manifest.contains("interactions")) {
    origin.num_interactions = manifest["interactions"].get<Index>();
  }
  const json sittings = manifest.value("sittings", json::array());
  std::set<Index> threads;
  for (const json& sitting : sittings) {
    threads.insert(sitting.at("threads").get<Index>());
    origin.has_stopped = !text_at(sitting, "end").empty();
  }
  origin.threads = fmt::format("{}", fmt::join(threads, ", "));
  origin.num_sittings = sittings.size();
  run.result.method = manifest.value("method", "unknown");
  manifest.at("data").get_to(run.result.data);
  manifest.at("seed").get_to(run.result.seed);
  run.result.num_clients = manifest.value("clients", Index{0});
  manifest.at("users").get_to(run.result.num_users);
  manifest.at("items").get_to(run.result.num_items);
}

void read_inside(const RunFolder& folder, RunRecord& run) {
  if (!std::filesystem::exists(folder.inside())) return;
  const std::string text = read_text_file(folder.inside());
  run.inside_hash = sha256_hex(std::as_bytes(std::span(text)));
  try {
    run.inside = report::inside_from_json(text);
  } catch (const DataError& error) {
    throw DataError(fmt::format("inside.json of {}: {}", run.name, error.what()));
  }
}
}  // namespace

RunRecord read_run(const std::string& path, std::vector<std::string>& warnings, bool with_inside) {
  const RunFolder folder = RunFolder::open(path);
  RunRecord run;
  try {
    run.name = run.result.run = folder.path().string();
    read_settings(folder, run, warnings);
    run.rounds = folder.read_rounds();
    read_manifest(json::parse(read_text_file(folder.manifest())), run);
    run.is_finished = folder.is_finished();
    if (run.is_finished) {
      run.result = report::run_result_from_json(read_text_file(folder.result()));
    } else {
      report::add_up(run.rounds, run.result);
    }
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", path, error.what()));
  } catch (const json::exception& error) {
    throw DataError(fmt::format("{}: {}", folder.manifest().string(), error.what()));
  }
  if (with_inside) read_inside(folder, run);
  return run;
}
}  // namespace fedhur::experiment
