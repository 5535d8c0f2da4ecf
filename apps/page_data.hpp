// Runs as the JSON that the report's page reads.
#pragma once
#include <string>
#include <vector>

#include "apps/run_record.hpp"

namespace fedhur::apps {
// DataError if a run's inside.json is not JSON. Of runs that differ in nothing but the seed, only
// the first keeps item groups and relations, which are long.
[[nodiscard]] std::string page_data(const std::vector<RunRecord>& runs,
                                    const std::vector<std::string>& warnings);
}  // namespace fedhur::apps
