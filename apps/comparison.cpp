#include "apps/comparison.hpp"

#include <fmt/format.h>

#include <set>

#include "apps/result_text.hpp"
#include "apps/text.hpp"
#include "fedhur/base/error.hpp"

namespace fedhur::apps {
namespace {
// namespace

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
