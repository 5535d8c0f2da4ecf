#include "fedhur/report/run_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

namespace fedhur::report {
namespace {
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

std::string label_of(const RunGroup& group, const std::vector<RunGroup>& all,
                     const std::vector<RunRecord>& runs,
                     const std::vector<DifferingSetting>& differences) {
  const std::size_t first = group.runs.front();
  const std::string& method = runs[first].result.method;
  std::vector<std::size_t> rivals;
  for (const RunGroup& other : all) {
    const std::size_t rival = other.runs.front();
    if (rival != first && runs[rival].result.method == method) rivals.push_back(rival);
  }
  if (rivals.empty()) return method;
  std::vector<std::string> own;
  for (const DifferingSetting& setting : differences) {
    std::string value = setting.values[first];
    if (std::ranges::all_of(rivals, [&](auto rival) { return setting.values[rival] == value; })) {
      continue;
    }
    std::erase(value, '"');
    own.push_back(fmt::format("{} {}", setting.key.substr(setting.key.rfind('.') + 1), value));
  }
  if (own.empty() || own.size() > 2) return runs[first].name;
  return fmt::format("{}, {}", method, fmt::join(own, ", "));
}
}  // namespace

void add_up(const std::vector<RoundReport>& rounds, RunResult& result) {
  result.num_rounds = static_cast<Round>(rounds.size());
  double& total = result.seconds["total"];
  for (const RoundReport& round : rounds) {
    for (const auto& [phase, seconds] : round.seconds) {
      result.seconds[phase] += seconds;
      total += seconds;
    }
    for (const auto& [kind, bytes] : round.traffic) {
      if (!belongs_to_method(kind)) continue;
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

std::vector<RunGroup> group_by_settings(const std::vector<RunRecord>& runs,
                                        const std::vector<DifferingSetting>& differences) {
  std::vector<RunGroup> groups;
  std::map<std::vector<std::string>, std::size_t> known;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<std::string> key = {runs[i].result.method, runs[i].origin.data_sha256};
    for (const DifferingSetting& setting : differences) key.push_back(setting.values[i]);
    // A run without settings cannot be compared: it is a group of its own.
    if (runs[i].settings.empty()) key.push_back(fmt::format("{}", i));
    const auto [at, is_new] = known.emplace(std::move(key), groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].runs.push_back(i);
    groups[at->second].seeds.push_back(runs[i].result.seed);
  }
  for (RunGroup& group : groups) group.label = label_of(group, groups, runs, differences);
  return groups;
}

std::vector<std::string> find_unfairness(const std::vector<RunRecord>& runs,
                                         const std::vector<RunGroup>& groups,
                                         const std::vector<DifferingSetting>& differences) {
  std::vector<std::string> warnings;
  const auto has_other_data = [&](const RunRecord& run) {
    return run.origin.data_sha256 != runs.front().origin.data_sha256;
  };
  if (std::ranges::any_of(runs, has_other_data)) {
    warnings.emplace_back("the runs are on different data: their numbers cannot be compared");
  }
  // Random splits come from the seed: only runs over the same seeds see the same test rows.
  const auto is_random = [](const RunRecord& run) {
    const std::string kind = setting_of(run, "split.kind");
    return kind == "\"random\"" || kind == "\"user\"";
  };
  const auto has_other_seeds = [&](const RunGroup& group) {
    return std::set(group.seeds.begin(), group.seeds.end()) !=
           std::set(groups.front().seeds.begin(), groups.front().seeds.end());
  };
  const auto differing = std::ranges::find_if(
      differences, [](const DifferingSetting& s) { return decides_on_rows(s.key); });
  if (differing != differences.end()) {
    warnings.push_back(fmt::format(
        "the runs test on different rows ({} differs): their numbers cannot be compared",
        differing->key));
  } else if (std::ranges::any_of(runs, is_random) && std::ranges::any_of(groups, has_other_seeds)) {
    warnings.emplace_back(
        "the random split depends on the seed, and the seeds differ: only means over the same "
        "seeds can be compared");
  }
  return warnings;
}
}  // namespace fedhur::report
