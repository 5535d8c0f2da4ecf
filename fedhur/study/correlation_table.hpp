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

// A relation on a part of a data set, by one metric. One number per seed: the mean over targets, or
// the one over candidates.
struct CorrelationLine {
  std::size_t data = 0;  // of the configuration
  std::string relation;
  std::string part;
  std::string metric;
  std::vector<double> pearson;
  std::vector<double> spearman;
};
enum class Reading : std::uint8_t {
  targets,     // of each target over its candidates; the mean over targets
  candidates,  // of the candidates' means over all targets
};
constexpr auto names_of(Reading) { return std::array{"targets", "candidates"}; }
[[nodiscard]] std::vector<CorrelationLine> lines_of(const std::vector<CorrelationCell>& cells,
                                                    Reading reading);
// "+0.123 ± 0.010" over seeds.
[[nodiscard]] std::string format_correlation(const std::vector<double>& values);

[[nodiscard]] std::string to_markdown(const std::vector<CorrelationCell>& cells,
                                      const ReproductionConfig& config,
                                      const std::vector<std::string>& notes);
[[nodiscard]] std::string to_csv(const std::vector<CorrelationCell>& cells,
                                 const ReproductionConfig& config);
[[nodiscard]] std::string to_json(const std::vector<CorrelationCell>& cells,
                                  const ReproductionConfig& config,
                                  const std::vector<std::string>& notes);
}  // namespace fedhur::study
