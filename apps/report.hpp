// The report of runs as an HTML file.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace fedhur::apps {
// Writes RUN/report.html, in place of an earlier one, and returns its path.
std::filesystem::path write_run_report(const std::filesystem::path& run,
                                       std::vector<std::string>& warnings);
}  // namespace fedhur::apps
