// Folders of a run: whether they can be written, have room, and hold what they should.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "apps/doctor/report.hpp"
#include "apps/doctor/sizes.hpp"

namespace fedhur::apps {
// That the folder is there or can be made, and can be written to. False after a problem.
[[nodiscard]] bool check_folder(const std::string& name, const std::filesystem::path& path,
                                const std::string& flag, Checkup& checkup);
// That its file system has room for as much, if that is known. After check_folder().
void check_disk_space(const std::filesystem::path& path, const std::optional<SizeEstimate>& need,
                      Checkup& checkup);

// Whether some process of this machine has locked the file, as far as this one can see.
[[nodiscard]] bool is_locked(const std::filesystem::path& file);
}  // namespace fedhur::apps
