#include "process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace fedhur::tests {
namespace {
std::string read_text(const std::filesystem::path& path) {
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Output goes to files: nothing can block, and a test may look at it at any time.
pid_t spawn(const Arguments& command, const std::filesystem::path& folder,
            const std::filesystem::path& out, const std::filesystem::path& err) {
  std::vector<char*> arguments;
  Arguments copies = command;
  for (std::string& argument : copies) arguments.push_back(argument.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), kFlags, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), kFlags, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  // Tests in the background of a script inherit an ignored SIGINT; a user's fedhur does not.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&signals, signal);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, arguments.front(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(command.front() + ": " + std::strerror(error));
  return pid;
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

Finished run(const Arguments& command, const std::filesystem::path& folder) {
  const TempFolder streams;
  const pid_t pid = spawn(command, folder, streams / "out", streams / "err");
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) throw std::runtime_error("waitpid failed");
  return {exit_code_of(status), read_text(streams / "out"), read_text(streams / "err")};
}
}  // namespace

std::vector<std::string> text_lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void Workplace::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / name, std::ios::binary) << text;
}

std::string Workplace::read(const std::string& name) const { return read_text(folder_ / name); }

Finished Workplace::fedhur(const Arguments& arguments) const {
  return run(Arguments{FEDHUR_BINARY} + arguments, path());
}

Finished Workplace::shell(const std::string& command) const {
  return run({"env", std::string("FEDHUR=") + FEDHUR_BINARY, "bash", "-c", command}, path());
}

Finished Workplace::train(const std::string& run, const Arguments& more) const {
  return fedhur(Arguments{"train", "--out", run} + small_settings() + more);
}

std::string Workplace::get(const std::string& url, const std::string& host) const {
  write("get.py",
        "import sys,urllib.request,urllib.error\n"
        "r=urllib.request.Request(sys.argv[1],headers={'Host':sys.argv[2]} if sys.argv[2] else "
        "{})\n"
        "try:\n  a=urllib.request.urlopen(r);print(a.status,a.read().decode())\n"
        "except urllib.error.HTTPError as e:\n  print(e.code,e.read().decode())\n");
  return shell("no_proxy='*' python3 get.py '" + url + "' '" + host + "'").out;
}

void DrawingTest::SetUp() {
  if (place_.shell("command -v gnuplot").exit_code != 0) {
    GTEST_SKIP() << "gnuplot is missing; tools/setup --test installs it";
  }
}

Process::Process(const Workplace& place, const Arguments& arguments, const std::string& name)
    : out_(place / (name + "out.txt")),
      err_(place / (name + "err.txt")),
      pid_(spawn(Arguments{FEDHUR_BINARY} + arguments, place.path(), out_, err_)) {}

Process::~Process() {
  if (has_ended_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, &status_, 0);
}

std::string Process::errors() const { return read_text(err_); }

bool Process::wait_for_message(const std::string& text) {
  using namespace std::chrono_literals;
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (std::chrono::steady_clock::now() < deadline) {
    if (errors().find(text) != std::string::npos) return true;
    if (has_ended()) return errors().find(text) != std::string::npos;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

void Process::send(int signal) const { ASSERT_EQ(::kill(pid_, signal), 0); }

bool Process::has_ended() {
  if (!has_ended_) has_ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return has_ended_;
}

Finished Process::wait() {
  using namespace std::chrono_literals;
  const auto deadline = std::chrono::steady_clock::now() + 120s;
  while (!has_ended() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(1ms);
  }
  if (!has_ended()) send(SIGKILL);
  if (!has_ended_) has_ended_ = ::waitpid(pid_, &status_, 0) == pid_;
  return {exit_code_of(status_), read_text(out_), errors()};
}

Arguments small_settings() {
  return {"--threads", "1",
          "--set",     "synthetic.num_users=60",
          "--set",     "synthetic.num_items=90",
          "--set",     "synthetic.num_interactions=1500",
          "--set",     "clients.count=7",
          "--set",     "model.embedding_dim=8",
          "--set",     "stop.max_rounds=3"};
}

Arguments operator+(Arguments first, const Arguments& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
}  // namespace fedhur::tests
