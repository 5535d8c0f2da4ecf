#include "apps/gnuplot.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "apps/text.hpp"
#include "fedhur/base/error.hpp"

extern char** environ;

namespace fedhur::apps {
namespace {
// A file without a name, in memory: unlike with pipes nobody has to read while another writes.
class Stream {
 public:
  explicit Stream(const char* name) : descriptor_(::memfd_create(name, MFD_CLOEXEC)) {
    if (descriptor_ < 0) fail();
  }
  ~Stream() { ::close(descriptor_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }

  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    (void)::lseek(descriptor_, 0, SEEK_SET);
  }
  [[nodiscard]] std::string read() const {
    (void)::lseek(descriptor_, 0, SEEK_SET);
    std::string text;
    std::array<char, 1 << 16> buffer{};
    for (;;) {
      const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail();
      if (got == 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  [[noreturn]] static void fail() {
    throw Error(fmt::format("cannot talk to gnuplot: {}", std::strerror(errno)));
  }
  int descriptor_;
};

pid_t start(const Stream& in, const Stream& out, const Stream& error) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error.descriptor(), STDERR_FILENO);
  // Without the user's own settings, and from standard input.
  std::array<std::string, 3> words = {"gnuplot", "--default-settings", "-"};
  std::array<char*, 4> arguments = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = -1;
  const int problem =
      ::posix_spawnp(&child, "gnuplot", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem == ENOENT) {
    throw Error("figures are drawn by gnuplot, which is not installed: install gnuplot-nox");
  }
  if (problem != 0) throw Error(fmt::format("cannot start gnuplot: {}", std::strerror(problem)));
  return child;
}
}  // namespace

std::string run_gnuplot(const std::string& script) {
  const Stream in("script");
  const Stream out("figure");
  const Stream error("messages");
  in.write(script);
  const pid_t child = start(in, out, error);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::string figure = out.read();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || figure.empty()) {
    throw Error(fmt::format("gnuplot could not draw a figure: {}", printable(error.read())));
  }
  return figure;
}
}  // namespace fedhur::apps
