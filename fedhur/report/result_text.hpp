// Outcomes of runs in words and tables.
#pragma once
#include <string>

#include "fedhur/report/report_model.hpp"

namespace fedhur::report {
// "0.1234", or "-" where there is none.
[[nodiscard]] std::string format_metric(const Metrics& metrics, const std::string& name);
// What `fedhur train` prints at its end; the last line is "run folder: <path>".
[[nodiscard]] std::string format_result(const RunResult& result);

// Runs side by side, as many beside each other as fit into `width` columns; 0: all.
[[nodiscard]] std::string format_comparison(const ReportModel& model, std::size_t width);
[[nodiscard]] std::string comparison_json(const ReportModel& model);
[[nodiscard]] std::string comparison_csv(const ReportModel& model);  // a line per run
}  // namespace fedhur::report
