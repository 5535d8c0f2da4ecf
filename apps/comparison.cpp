#include "apps/comparison.hpp"

#include <fmt/format.h>

#include <set>

#include "apps/result_text.hpp"
#include "apps/text.hpp"
#include "fedhur/base/error.hpp"

namespace fedhur::apps {
namespace {
std::vector<SeedGroup> average_over_seeds(const std::vector<RunRecord>& runs) {
  std::vector<SeedGroup> groups;
  for (auto& members : group_by_settings(runs)) {
    std::set<std::uint64_t> seeds;
    for (const std::size_t run : members) seeds.insert(runs[run].result.seed);
    if (seeds.size() < 2) continue;
    SeedGroup group{.runs = std::move(members), .test = {}};
    for (const std::string& name : metric_names({runs[group.runs.front()].result.test})) {
      std::vector<double> values;
      for (const std::size_t run : group.runs) values.push_back(runs[run].result.test.at(name));
      group.test[name] = evaluate::spread_of(values);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}
}  // namespace

Comparison compare_runs(const std::vector<std::string>& folders) {
  Comparison comparison;
  for (const std::string& folder : folders) {
    comparison.runs.push_back(read_run(folder, comparison.warnings));
    if (comparison.runs.back().is_finished) continue;
    throw ConfigError(fmt::format(
        "{} is not finished and has no result yet; finish it with 'fedhur train --resume {}'",
        folder, shell_quoted(folder)));
  }
  shorten_names(comparison.runs);
  comparison.settings = find_differences(comparison.runs);
  comparison.groups = average_over_seeds(comparison.runs);
  for (std::string& warning : find_unfairness(comparison.runs)) {
    comparison.warnings.push_back(std::move(warning));
  }
  return comparison;
}
}  // namespace fedhur::apps
