#include "apps/run_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "fedhur/base/file.hpp"
#include "fedhur/experiment/experiment_config.hpp"

namespace fedhur::apps {
namespace {
using experiment::RunFolder;
using nlohmann::json;

// Shown elsewhere, or without influence on a result.
bool is_secondary(const std::string& key) {
  constexpr std::array<std::string_view, 4> kKeys = {"method", "seed", "threads",
                                                     "checkpoint.every"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

// Which rows there are, and which of them test.
bool decides_on_rows(const std::string& key) {
  return key.starts_with("split.") || key.starts_with("data.min_") || key == "data.split_file" ||
         key == "data.skip_bad_rows";
}

std::string setting_of(const RunRecord& run, const std::string& key) {
  const auto found = run.settings.find(key);
  return found == run.settings.end() ? "-" : found->second;
}

std::map<std::string, std::string> read_settings(const RunFolder& folder,
                                                 std::vector<std::string>& warnings) {
  std::map<std::string, std::string> settings;
  try {
    ConfigTable table;
    experiment::add_toml_file(table, folder.config());
    (void)experiment::read_experiment_config(table);
    for (const auto& entry : table.resolved()) settings[entry.key] = to_toml(entry.value);
  } catch (const ConfigError& error) {  // written by another version
    settings.clear();
    warnings.push_back(fmt::format("the settings of {} cannot be compared: {}",
                                   folder.path().string(), error.what()));
  }
  return settings;
}

// What result.json would say if the run ended here.
report::RunResult result_so_far(const RunRecord& run, const json& manifest,
                                const std::string& path) {
  report::RunResult result;
  result.method = manifest.value("method", "unknown");
  result.data = manifest.at("data").get<std::string>();
  result.seed = manifest.at("seed").get<std::uint64_t>();
  result.num_clients = manifest.value("clients", Index{0});
  result.num_users = manifest.at("users").get<Index>();
  result.num_items = manifest.at("items").get<Index>();
  result.num_rounds = static_cast<Round>(run.rounds.size());
  result.run = path;
  double& total = result.seconds["total"];
  for (const report::RoundReport& round : run.rounds) {
    for (const auto& [phase, seconds] : round.seconds) {
      result.seconds[phase] += seconds;
      total += seconds;
    }
    for (const auto& [kind, bytes] : round.traffic) {
      if (!report::belongs_to_method(kind)) continue;
      result.bytes_up += static_cast<double>(bytes.up);
      result.bytes_down += static_cast<double>(bytes.down);
    }
    if (!round.is_best) continue;
    result.best_round = round.round + 1;
    result.valid = round.valid;
    result.test = round.test;
  }
  const auto client_rounds =
      static_cast<double>(std::max<Index>(1, result.num_clients * result.num_rounds));
  result.bytes_up /= client_rounds;
  result.bytes_down /= client_rounds;
  return result;
}

RunRecord read_folder(const RunFolder& folder, std::vector<std::string>& warnings) {
  RunRecord run;
  run.name = folder.path().string();
  run.settings = read_settings(folder, warnings);
  run.rounds = folder.read_rounds();
  run.manifest = read_text_file(folder.manifest());
  const json manifest = json::parse(run.manifest);
  run.data_sha256 = manifest.at("data_sha256").get<std::string>();
  run.is_finished = folder.is_finished();
  run.result = run.is_finished ? report::run_result_from_json(read_text_file(folder.result()))
                               : result_so_far(run, manifest, run.name);
  if (std::filesystem::exists(folder.inside())) run.inside = read_text_file(folder.inside());
  return run;
}

std::set<std::uint64_t> seeds_of(const std::vector<std::size_t>& group,
                                 const std::vector<RunRecord>& runs) {
  std::set<std::uint64_t> seeds;
  for (const std::size_t run : group) seeds.insert(runs[run].result.seed);
  return seeds;
}

// Random splits come from the seed: only runs over the same seeds see the same test rows.
bool have_unlike_random_splits(const std::vector<RunRecord>& runs) {
  const bool is_random = std::ranges::any_of(runs, [](const RunRecord& run) {
    const std::string kind = setting_of(run, "split.kind");
    return kind == "\"random\"" || kind == "\"user\"";
  });
  const auto groups = group_by_settings(runs);
  return is_random && std::ranges::any_of(groups, [&](const auto& group) {
           return seeds_of(group, runs) != seeds_of(groups.front(), runs);
         });
}
}  // namespace

RunRecord read_run(const std::string& path, std::vector<std::string>& warnings) {
  const RunFolder folder = RunFolder::open(path);
  try {
    return read_folder(folder, warnings);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", path, error.what()));
  } catch (const json::exception& error) {
    throw DataError(fmt::format("{}: {}", folder.manifest().string(), error.what()));
  }
}

void shorten_names(std::vector<RunRecord>& runs) {
  std::vector<std::string> names;
  for (const RunRecord& run : runs) {
    const auto path = (std::filesystem::absolute(run.name) / "").lexically_normal().parent_path();
    names.push_back(path.filename().string());
  }
  const std::set<std::string> unique(names.begin(), names.end());
  if (unique.size() < runs.size() || unique.contains("")) return;
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].name = names[i];
}

std::vector<DifferingSetting> find_differences(const std::vector<RunRecord>& runs) {
  std::set<std::string> keys;
  for (const RunRecord& run : runs) {
    for (const auto& [key, value] : run.settings) keys.insert(key);
  }
  std::vector<DifferingSetting> differences;
  for (const std::string& key : keys) {
    if (is_secondary(key)) continue;
    DifferingSetting setting{.key = key, .values = {}};
    for (const RunRecord& run : runs) setting.values.push_back(setting_of(run, key));
    const std::set<std::string> values(setting.values.begin(), setting.values.end());
    if (values.size() > 1) differences.push_back(std::move(setting));
  }
  return differences;
}

std::vector<std::vector<std::size_t>> group_by_settings(const std::vector<RunRecord>& runs) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    // Without settings the rest of the run is not known.
    std::string key = runs[i].settings.empty() ? fmt::format("{} ", i) : std::string();
    key += runs[i].result.method + " " + runs[i].data_sha256;
    for (const auto& [name, value] : runs[i].settings) {
      if (!is_secondary(name)) key += fmt::format("\n{}={}", name, value);
    }
    groups[key].push_back(i);
  }
  std::vector<std::vector<std::size_t>> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  std::ranges::sort(result);  // by their first runs
  return result;
}

std::vector<std::string> find_unfairness(const std::vector<RunRecord>& runs) {
  std::vector<std::string> warnings;
  std::set<std::string> hashes;
  for (const RunRecord& run : runs) hashes.insert(run.data_sha256);
  if (hashes.size() > 1) {
    warnings.emplace_back("the runs are on different data: their numbers cannot be compared");
  }
  const auto differences = find_differences(runs);
  const auto differing = std::ranges::find_if(
      differences, [](const DifferingSetting& s) { return decides_on_rows(s.key); });
  if (differing != differences.end()) {
    warnings.push_back(fmt::format(
        "the runs test on different rows ({} differs): their numbers cannot be compared",
        differing->key));
  } else if (have_unlike_random_splits(runs)) {
    warnings.emplace_back(
        "the random split depends on the seed, and the seeds differ: only means over the same "
        "seeds can be compared");
  }
  return warnings;
}
}  // namespace fedhur::apps
