#include "apps/run_log.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/basic_file_sink.h>

#include "apps/output.hpp"

namespace fedhur::apps {
namespace {
using spdlog::level::level_enum;

std::string line_of(LogFormat format, level_enum level, const std::string& message,
                    const LogFields& fields) {
  if (format == LogFormat::text) return message;
  const auto name = spdlog::level::to_string_view(level);
  return to_json_line({name.data(), name.size()}, message, fields);
}

// To standard error.
void tell(LogFormat format, level_enum level, const std::string& message,
          const LogFields& fields = {}) {
  const bool is_marked = format == LogFormat::text && level >= spdlog::level::warn;
  say((is_marked ? "fedhur: warning: " : "") + line_of(format, level, message, fields) + "\n");
}
}  // namespace

RunLog::RunLog(const std::filesystem::path& file, bool is_quiet, LogFormat format)
    : format_(format), is_quiet_(is_quiet) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_st>(file.string());
    file_ = std::make_shared<spdlog::logger>("file", std::move(sink));
  } catch (const spdlog::spdlog_ex& problem) {
    if (!is_quiet) {
      tell(format, spdlog::level::warn, fmt::format("no log.txt for this run: {}", problem.what()));
    }
    return;
  }
  file_->set_pattern(format == LogFormat::text ? "%Y-%m-%dT%H:%M:%S%z %l %v" : "%v");
  file_->flush_on(spdlog::level::trace);
  // Called at every failure; the first says it all.
  file_->set_error_handler([format, is_told = is_quiet](const std::string& why) mutable {
    if (!is_told) tell(format, spdlog::level::warn, "the log is incomplete: " + why);
    is_told = true;
  });
}

void RunLog::write(level_enum level, const std::string& message, const LogFields& fields) {
  if (file_) file_->log(level, line_of(format_, level, message, fields));
}
void RunLog::note(const std::string& message, const LogFields& fields) {
  write(spdlog::level::info, message, fields);
}
void RunLog::info(const std::string& message, const LogFields& fields) {
  write(spdlog::level::info, message, fields);
  if (!is_quiet_) tell(format_, spdlog::level::info, message, fields);
}
void RunLog::warn(const std::string& message, const LogFields& fields) {
  write(spdlog::level::warn, message, fields);
  if (!is_quiet_) tell(format_, spdlog::level::warn, message, fields);
}
void RunLog::error(const std::string& message) { write(spdlog::level::err, message, {}); }
}  // namespace fedhur::apps
