#include "apps/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "fedhur/base/descriptor.hpp"
#include "fedhur/base/error.hpp"

namespace fedhur::apps {
void print(std::string_view text) {
  if (write_all(STDOUT_FILENO, std::as_bytes(std::span(text)))) return;
  if (errno == EPIPE) throw ReaderLeft("standard output is closed");
  throw Error(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

void print_json(const nlohmann::ordered_json& json) {
  print(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void say(std::string_view text) { (void)write_all(STDERR_FILENO, std::as_bytes(std::span(text))); }

void secure_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Opened for reading, so that writing to it still fails. The lowest free number is
    // `descriptor`.
    if (::fcntl(descriptor, F_GETFD) < 0) (void)::open("/dev/null", O_RDONLY);
  }
  (void)std::signal(SIGPIPE, SIG_IGN);
}

int terminal_width(int descriptor) {
  if (::isatty(descriptor) == 0) return 0;
  winsize size{};
  constexpr int kUsualWidth = 80;
  const bool is_known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? static_cast<int>(size.ws_col) : kUsualWidth;
}

void check_output_file(const std::filesystem::path& file, bool force,
                       const std::vector<std::filesystem::path>& inputs) {
  std::error_code ignored;
  for (const auto& input : inputs) {
    if (std::filesystem::equivalent(file, input, ignored)) {
      throw ConfigError(
          fmt::format("--out {} is also an input; choose another file", file.string()));
    }
  }
  if (std::filesystem::is_directory(file, ignored)) {
    throw ConfigError(fmt::format("--out {} is a folder, expected a file name", file.string()));
  }
  if (!force && std::filesystem::exists(file, ignored)) {
    throw ConfigError(fmt::format("--out {} exists already; --force overwrites it", file.string()));
  }
  const auto folder = std::filesystem::absolute(file).parent_path();
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw ConfigError(
        fmt::format("--out {}: there is no folder {}", file.string(), folder.string()));
  }
}
}  // namespace fedhur::apps
