// Runs as the JSON that the report's page reads.
#pragma once
#include <string>
#include <vector>

#include "apps/page_state.hpp"
#include "apps/run_record.hpp"

namespace fedhur::apps {
// DataError if a run's inside.json is not JSON. Of runs that differ in nothing but the seed, only
// the first keeps item groups and relations, which are long.
[[nodiscard]] std::string page_data(const std::vector<RunRecord>& runs,
                                    const std::vector<std::string>& warnings);

// The data of a page that goes on asking, and what is new since its last question.
[[nodiscard]] std::string live_data(const RunRecord& run);
[[nodiscard]] std::string update_data(const RunRecord& run, const PageState& known);
}  // namespace fedhur::apps
