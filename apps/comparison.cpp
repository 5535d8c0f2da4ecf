#include "apps/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/result_text.hpp"
#include "apps/text.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/experiment/run_folder.hpp"

namespace fedhur::apps {
namespace {
using experiment::RunFolder;

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

std::string setting_of(const ComparedRun& run, const std::string& key) {
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

std::string read_data_sha256(const RunFolder& folder) {
  try {
    return nlohmann::json::parse(read_text_file(folder.manifest())).at("data_sha256");
  } catch (const nlohmann::json::exception& error) {
    throw DataError(fmt::format("{}: {}", folder.manifest().string(), error.what()));
  }
}

ComparedRun read_run(const std::string& path, std::vector<std::string>& warnings) {
  const RunFolder folder = RunFolder::open(path);
  if (!folder.is_finished()) {
    throw ConfigError(fmt::format(
        "{} is not finished and has no result yet; finish it with 'fedhur train --resume {}'", path,
        shell_quoted(path)));
  }
  try {
    return {.name = path,
            .result = report::run_result_from_json(read_text_file(folder.result())),
            .data_sha256 = read_data_sha256(folder),
            .settings = read_settings(folder, warnings)};
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", path, error.what()));
  }
}

void shorten_names(std::vector<ComparedRun>& runs) {
  std::vector<std::string> names;
  for (const ComparedRun& run : runs) {
    const auto path = (std::filesystem::path(run.name) / "").lexically_normal().parent_path();
    names.push_back(path.filename().string());
  }
  const std::set<std::string> unique(names.begin(), names.end());
  if (unique.size() < runs.size() || unique.contains("")) return;
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].name = names[i];
}

std::vector<DifferingSetting> find_differences(const std::vector<ComparedRun>& runs) {
  std::set<std::string> keys;
  for (const ComparedRun& run : runs) {
    for (const auto& [key, value] : run.settings) keys.insert(key);
  }
  std::vector<DifferingSetting> differences;
  for (const std::string& key : keys) {
    if (is_secondary(key)) continue;
    DifferingSetting setting{.key = key, .values = {}};
    for (const ComparedRun& run : runs) setting.values.push_back(setting_of(run, key));
    const std::set<std::string> values(setting.values.begin(), setting.values.end());
    if (values.size() > 1) differences.push_back(std::move(setting));
  }
  return differences;
}

// All groups, also those of one run.
std::vector<SeedGroup> group_by_settings(const std::vector<ComparedRun>& runs) {
  std::map<std::string, SeedGroup> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    // Without settings nobody knows what else the run is like.
    std::string key = runs[i].settings.empty() ? fmt::format("{} ", i) : std::string();
    key += runs[i].result.method + " " + runs[i].data_sha256;
    for (const auto& [name, value] : runs[i].settings) {
      if (!is_secondary(name)) key += fmt::format("\n{}={}", name, value);
    }
    groups[key].runs.push_back(i);
  }
  std::vector<SeedGroup> result;
  for (auto& [key, group] : groups) {
    for (const std::string& name : metric_names({runs[group.runs.front()].result.test})) {
      std::vector<double> values;
      for (const std::size_t run : group.runs) values.push_back(runs[run].result.test.at(name));
      group.test[name] = evaluate::spread_of(values);
    }
    result.push_back(std::move(group));
  }
  std::ranges::sort(result, {}, [](const SeedGroup& group) { return group.runs.front(); });
  return result;
}

std::set<std::uint64_t> seeds_of(const SeedGroup& group, const std::vector<ComparedRun>& runs) {
  std::set<std::uint64_t> seeds;
  for (const std::size_t run : group.runs) seeds.insert(runs[run].result.seed);
  return seeds;
}

// Random splits come from the seed: only runs over the same seeds see the same test rows.
bool have_unlike_random_splits(const std::vector<ComparedRun>& runs,
                               const std::vector<SeedGroup>& groups) {
  const bool is_random = std::ranges::any_of(runs, [](const ComparedRun& run) {
    const std::string kind = setting_of(run, "split.kind");
    return kind == "\"random\"" || kind == "\"user\"";
  });
  return is_random && std::ranges::any_of(groups, [&](const SeedGroup& group) {
           return seeds_of(group, runs) != seeds_of(groups.front(), runs);
         });
}

void warn_about_rows(Comparison& comparison, const std::vector<SeedGroup>& groups) {
  std::set<std::string> hashes;
  for (const ComparedRun& run : comparison.runs) hashes.insert(run.data_sha256);
  if (hashes.size() > 1) {
    comparison.warnings.emplace_back(
        "the runs are on different data: their numbers cannot be compared");
  }
  const auto differing = std::ranges::find_if(
      comparison.settings, [](const DifferingSetting& s) { return decides_on_rows(s.key); });
  if (differing != comparison.settings.end()) {
    comparison.warnings.push_back(fmt::format(
        "the runs test on different rows ({} differs): their numbers cannot be compared",
        differing->key));
  } else if (have_unlike_random_splits(comparison.runs, groups)) {
    comparison.warnings.emplace_back(
        "the random split depends on the seed, and the seeds differ: only means over the same "
        "seeds "
        "can be compared");
  }
}
}  // namespace

Comparison compare_runs(const std::vector<std::string>& folders) {
  Comparison comparison;
  for (const std::string& folder : folders) {
    comparison.runs.push_back(read_run(folder, comparison.warnings));
  }
  shorten_names(comparison.runs);
  comparison.settings = find_differences(comparison.runs);
  std::vector<SeedGroup> groups = group_by_settings(comparison.runs);
  warn_about_rows(comparison, groups);
  std::erase_if(
      groups, [&](const SeedGroup& group) { return seeds_of(group, comparison.runs).size() < 2; });
  comparison.groups = std::move(groups);
  return comparison;
}
}  // namespace fedhur::apps
