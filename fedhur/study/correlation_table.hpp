// The paper's table of correlations, over data sets and seeds.
#pragma once
#include <string>
#include <vector>

#include "fedhur/study/correlation.hpp"
#include "fedhur/study/reproduction.hpp"

namespace fedhur::study {
struct CorrelationCell {
  std::size_t data = 0;  // of the configuration
  std::uint64_t seed = 0;
  std::vector<CorrelationOf> correlations;  // empty if it was not finished
};

// Computes what is missing below <folder>/cells/ and keeps it there. `on_end` tells of each cell.
[[nodiscard]] std::vector<CorrelationCell> run_correlations(
    const ReproductionConfig& config, Round rounds,
    const std::function<void(const CorrelationCell&)>& on_end,
    const std::function<bool()>& should_stop);

// Means over targets, then over seeds.
[[nodiscard]] std::string to_markdown(const std::vector<CorrelationCell>& cells,
                                      const ReproductionConfig& config,
                                      const std::vector<std::string>& notes);
[[nodiscard]] std::string to_csv(const std::vector<CorrelationCell>& cells,
                                 const ReproductionConfig& config);
[[nodiscard]] std::string to_json(const std::vector<CorrelationCell>& cells,
                                  const ReproductionConfig& config,
                                  const std::vector<std::string>& notes);
}  // namespace fedhur::study
