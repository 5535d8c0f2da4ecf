#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "apps/doctor/checks.hpp"
#include "fedhur/base/descriptor.hpp"
#include "fedhur/base/text.hpp"

namespace fedhur::apps {
namespace {
namespace fs = std::filesystem;

bool is_link_to_nowhere(const fs::path& path) {
  std::error_code ignored;
  return fs::is_symlink(fs::symlink_status(path, ignored)) && !fs::exists(path, ignored);
}

// The folder itself, or the nearest above it that is there already.
fs::path nearest_existing(const fs::path& path) {
  std::error_code ignored;
  fs::path folder = fs::absolute(path, ignored).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "run/"
  while (!fs::exists(folder, ignored) && !is_link_to_nowhere(folder) &&
         folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

// errno of writing a little into an unnamed file, which other processes do not see and which
// vanishes with this one; 0 if that works.
int try_to_write(const fs::path& folder) {
  const Descriptor file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (file.get() < 0) {
    // Not every file system has such files.
    const bool is_unknown = errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL;
    if (!is_unknown) return errno;
    return ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
  }
  const std::array<char, 4096> block{};
  const bool is_written =
      ::write(file.get(), block.data(), block.size()) == static_cast<ssize_t>(block.size()) &&
      ::fsync(file.get()) == 0;
  return is_written ? 0 : errno;
}

std::string mend_for_writing(int error, const fs::path& folder, const std::string& flag) {
  if (error == ENOSPC || error == EDQUOT)
    return "make room, or choose a folder elsewhere with " + flag;
  if (error == EROFS) return "that file system is mounted read-only: choose another with " + flag;
  return fmt::format("let the user that runs fedhur write to {}, or choose another folder with {}",
                     shell_quoted(folder), flag);
}

// Numbers that a method keeps per item.
Index width_of(const std::vector<Setting>& settings) {
  const ConfigValue* value = find_value(settings, "model.embedding_dim");
  return value == nullptr ? 1 : std::get<std::int64_t>(*value);  // of `popularity`: counts of items
}

SizeEstimate estimate_tables(Index tables, const char* of, Index clients, Index items,
                             const std::vector<Setting>& settings) {
  const Index width = width_of(settings);
  constexpr Index kBytes = sizeof(float);
  return {.bytes = static_cast<double>(tables * kBytes) * static_cast<double>(clients) *
                   static_cast<double>(items) * static_cast<double>(width),
          .reckoning = fmt::format("{} tables ({}) x {} clients x {} items x {} numbers x {} bytes",
                                   tables, of, clients, items, width, kBytes)};
}
}  // namespace

SizeEstimate estimate_server(Index clients, Index items, const std::vector<Setting>& settings) {
  // Most methods send one table of items a round; that of neural networks sends two.
  return estimate_tables(2, "a round's replies", clients, items, settings);
}

SizeEstimate estimate_site(Index clients, Index items, const std::vector<Setting>& settings) {
  // A table of items, two moments of its optimiser and the best table so far; the same once more
  // while a newer state replaces the older, and about as much for the tasks between two states.
  return estimate_tables(12, "states and tasks", clients, items, settings);
}

std::optional<Finding> check_folder(const fs::path& path, const std::string& flag) {
  const fs::path existing = nearest_existing(path);
  const std::string elsewhere = fmt::format("choose another folder with {}", flag);
  std::error_code error;
  if (is_link_to_nowhere(existing)) {
    return fail(fmt::format("{} is a link to {}, which is not there", existing.string(),
                            fs::read_symlink(existing, error).string()),
                "make the folder that the link leads to, or " + elsewhere);
  }
  if (!fs::is_directory(existing, error)) {
    return fail(fmt::format("{} is a file, expected a folder", existing.string()), elsewhere);
  }
  if (const int problem = try_to_write(existing); problem != 0) {
    return fail(fmt::format("cannot write to {}: {}", existing.string(), std::strerror(problem)),
                mend_for_writing(problem, existing, flag));
  }
  return std::nullopt;
}

Finding check_disk_space(const fs::path& path, const std::optional<SizeEstimate>& need) {
  struct statvfs info {};
  const fs::path existing = nearest_existing(path);
  if (::statvfs(existing.c_str(), &info) != 0) {
    return skip(fmt::format("{}: {}", existing.string(), std::strerror(errno)));
  }
  const double bytes = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize);
  const std::string found = fmt::format("{} free at {}", format_bytes(bytes), existing.string());
  const bool has_no_file_left = info.f_files > 0 && info.f_favail == 0;
  if (bytes <= 0 || has_no_file_left) {
    return fail(has_no_file_left ? found + ", but no more files can be made" : found,
                "make room on that file system");
  }
  if (!need) return pass(found);
  const std::string compared =
      fmt::format("{}, about {} needed: {}", found, format_bytes(need->bytes), need->reckoning);
  if (bytes >= need->bytes) return pass(compared);
  return warn(compared, "make room on that file system, or choose a folder elsewhere");
}

bool is_locked(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return false;
  // A line is "1: FLOCK ADVISORY WRITE <process> <major>:<minor>:<inode> 0 EOF". Trying to lock the
  // file would tell the same, and could get into the way of a process that begins just now.
  const std::string inode = fmt::format(":{} ", info.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    if (line.find(" FLOCK ") != std::string::npos && line.find(inode) != std::string::npos) {
      return true;
    }
  }
  return false;
}
}  // namespace fedhur::apps
