// The outcome of a run in words and tables.
#pragma once
#include <string>
#include <vector>

#include "fedhur/report/round_report.hpp"

namespace fedhur::apps {
// Names of all metrics: smaller k first, then recall, mrr, ndcg, precision, f1, others.
[[nodiscard]] std::vector<std::string> metric_names(const std::vector<report::Metrics>& metrics);
// "0.1234", or "-" where there is none.
[[nodiscard]] std::string format_metric(const report::Metrics& metrics, const std::string& name);
// The metric of that kind to show where there is room for one: at 10 if it is there.
[[nodiscard]] std::string headline_metric(const report::Metrics& metrics, const std::string& kind);
// "local_training" as "local training".
[[nodiscard]] std::string phase_text(const std::string& phase);

// What `fedhur train` prints at its end; the last line is "run folder: <path>".
[[nodiscard]] std::string format_result(const report::RunResult& result);
}  // namespace fedhur::apps
