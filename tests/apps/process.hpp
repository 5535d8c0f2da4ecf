// The real binary, run as a user would.
#pragma once
#include <gmock/gmock.h>
#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/temp_folder.hpp"

namespace fedhur::tests {
// The words of all these tests.
using nlohmann::json;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Arguments = std::vector<std::string>;

struct Finished {
  int exit_code = -1;  // 1000 + the signal if one ended it
  std::string out;
  std::string err;
};

[[nodiscard]] std::vector<std::string> text_lines_of(const std::string& text);

// A folder to work in, and programs that run there.
class Workplace {
 public:
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return folder_ / name;
  }
  void write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  [[nodiscard]] bool has(const std::string& name) const {
    return std::filesystem::exists(folder_ / name);
  }

  [[nodiscard]] Finished fedhur(const Arguments& arguments) const;
  // A command line for a shell, in which $FEDHUR is the binary.
  [[nodiscard]] Finished shell(const std::string& command) const;
  // fedhur train with --out `run` on a small synthetic data set; `more` comes last.
  [[nodiscard]] Finished train(const std::string& run, const Arguments& more = {}) const;
  // What a web server says: "200 ..." with the body, whatever the status.
  [[nodiscard]] std::string get(const std::string& url, const std::string& host = "") const;

 private:
  TempFolder folder_;
};

// A test that needs gnuplot.
class DrawingTest : public testing::Test {
 protected:
  void SetUp() override;
  Workplace place_;
};

// fedhur, still running. What it says is in <name>out.txt and <name>err.txt of the place.
class Process {
 public:
  Process(const Workplace& place, const Arguments& arguments, const std::string& name = "");
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Until standard error holds the text; false if the process ends (or a minute passes) before.
  [[nodiscard]] bool wait_for_message(const std::string& text);
  void send(int signal) const;
  [[nodiscard]] pid_t id() const { return pid_; }
  // Until it ends; killed if that takes longer than any test may.
  [[nodiscard]] Finished wait();
  [[nodiscard]] bool has_ended();
  [[nodiscard]] std::string errors() const;  // so far

 private:
  std::filesystem::path out_;
  std::filesystem::path err_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool has_ended_ = false;
};

// Settings of a data set and a model that train within a fraction of a second.
[[nodiscard]] Arguments small_settings();
[[nodiscard]] Arguments operator+(Arguments first, const Arguments& second);
}  // namespace fedhur::tests
