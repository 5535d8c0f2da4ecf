// What a run says while it goes on: to the terminal and to log.txt of its folder.
#pragma once
#include <spdlog/logger.h>

#include <filesystem>
#include <memory>
#include <string>

#include "apps/log_format.hpp"

namespace fedhur::apps {
class RunLog {
 public:
  // The file is appended to. If it cannot be written, that is a warning and no more.
  RunLog(const std::filesystem::path& file, bool is_quiet, LogFormat format = LogFormat::text);

  void note(const std::string& message, const LogFields& fields = {});  // to the file only
  void info(const std::string& message, const LogFields& fields = {});
  void warn(const std::string& message, const LogFields& fields = {});
  void error(const std::string& message);  // to the file only: the terminal is told elsewhere

 private:
  void write(spdlog::level::level_enum level, const std::string& message, const LogFields& fields);
  LogFormat format_;
  bool is_quiet_;
  std::shared_ptr<spdlog::logger> file_;  // null if there is none
};
}  // namespace fedhur::apps
