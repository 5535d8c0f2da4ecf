#include "fedhur/tune/tuning_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"

namespace fedhur::tune {
namespace fs = std::filesystem;
namespace {
fs::path search_file(const fs::path& folder) { return folder / "search.toml"; }

bool is_search(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(search_file(folder), ignored);
}

// But for what a search leaves that was killed before it began.
bool holds_nothing(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name != "lock" && name != "search.toml.part") return false;
  }
  return true;
}

[[noreturn]] void fail_to_create(const fs::path& path, const std::string& reason) {
  throw ConfigError(fmt::format("cannot create the folder {}: {}", path.string(), reason));
}

// The first line in which two texts differ, of the second.
std::string first_difference(const std::string& before, const std::string& now) {
  std::istringstream lines_before(before);
  std::istringstream lines_now(now);
  std::string line_before;
  std::string line_now;
  do {
    if (!std::getline(lines_before, line_before)) line_before.clear();
    if (!std::getline(lines_now, line_now)) return line_before;
  } while (line_before == line_now);
  return line_now;
}
}  // namespace

// The system releases the lock with the process, so a crash leaves none behind.
TuningFolder::TuningFolder(fs::path path)
    : path_(std::move(path)),
      lock_(std::make_shared<Descriptor>(
          ::open((path_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644))) {
  if (lock_->get() < 0) fail_to_create(path_, std::strerror(errno));
  if (::flock(lock_->get(), LOCK_EX | LOCK_NB) == 0) return;
  throw ConfigError(fmt::format("another search is at work in {}", path_.string()));
}

TuningFolder TuningFolder::open(const fs::path& path, const std::string& search) {
  const bool is_known = is_search(path);
  if (!is_known && !holds_nothing(path)) {
    throw ConfigError(
        fmt::format("{} exists and holds no search: choose another --out", path.string()));
  }
  make_folder(path);
  TuningFolder folder(path);
  if (!is_known) {
    write_file_atomically(search_file(path), search);
    return folder;
  }
  const std::string before = read_text_file(search_file(path));
  if (before != search) {
    throw ConfigError(fmt::format("{} holds another search (here it is '{}'): choose another --out",
                                  path.string(), first_difference(before, search)));
  }
  return folder;
}

TuningFolder TuningFolder::open_numbered(const fs::path& parent, const std::string& name,
                                         const std::string& search) {
  make_folder(parent);
  for (int number = 1; number < 10000; ++number) {
    const fs::path path = parent / fmt::format("{}-{:04}", name, number);
    // Creating is what claims the number: two searches started at once get two folders.
    std::error_code error;
    const bool is_new = fs::create_directory(path, error);
    if (error) fail_to_create(path, error.message());
    if (is_new || (is_search(path) && read_text_file(search_file(path)) == search)) {
      return open(path, search);
    }
  }
  throw ConfigError(fmt::format("{} holds 9999 searches of {} already", parent.string(), name));
}

fs::path TuningFolder::run(std::size_t trial, std::uint64_t seed) const {
  return path_ / "trials" / fmt::format("{:04}-seed-{}", trial, seed);
}
}  // namespace fedhur::tune
