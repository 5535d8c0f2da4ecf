// What a run says while it goes on: to the terminal and to log.txt of its folder.
#pragma once
#include <spdlog/logger.h>

#include <filesystem>
#include <memory>
#include <string>

namespace fedhur::apps {
class RunLog {
 public:
  // The file is appended to. If it cannot be written, that is a warning and no more.
  RunLog(const std::filesystem::path& file, bool is_quiet);

  void note(const std::string& message);  // to the file only
  void info(const std::string& message);
  void warn(const std::string& message);
  void error(const std::string& message);  // to the file only: main tells the terminal

 private:
  [[nodiscard]] std::shared_ptr<spdlog::logger> open(const std::filesystem::path& file);
  std::shared_ptr<spdlog::logger> console_;
  std::shared_ptr<spdlog::logger> file_;  // null if there is none
};
}  // namespace fedhur::apps
