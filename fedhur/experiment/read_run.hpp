// A run folder as the values that reports and comparisons are made of.
#pragma once
#include <string>
#include <vector>

#include "fedhur/report/run_record.hpp"

namespace fedhur::experiment {
// ConfigError for a folder without a run, DataError for files that are not what a run writes.
// Settings that cannot be read are a warning.
[[nodiscard]] report::RunRecord read_run(const std::string& path,
                                         std::vector<std::string>& warnings,
                                         bool with_inside = true);
}  // namespace fedhur::experiment
