#include "apps/run_log.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>

#include "apps/output.hpp"

namespace fedhur::apps {
namespace {
using spdlog::level::level_enum;

class ConsoleSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit ConsoleSink(LogFormat format) : format_(format) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string_view text(message.payload.data(), message.payload.size());
    const bool is_marked = format_ == LogFormat::text && message.level >= spdlog::level::warn;
    say(is_marked ? fmt::format("fedhur: warning: {}\n", text) : fmt::format("{}\n", text));
  }
  void flush_() override {}

 private:
  LogFormat format_;
};

void write_line(spdlog::logger& logger, LogFormat format, level_enum level,
                const std::string& message, const LogFields& fields = {}) {
  if (format == LogFormat::text) return logger.log(level, message);
  const auto name = spdlog::level::to_string_view(level);
  logger.log(level, to_json_line({name.data(), name.size()}, message, fields));
}
}  // namespace

RunLog::RunLog(const std::filesystem::path& file, bool is_quiet, LogFormat format)
    : format_(format),
      console_(std::make_shared<spdlog::logger>("console", std::make_shared<ConsoleSink>(format))) {
  console_->set_level(is_quiet ? spdlog::level::off : spdlog::level::info);
  file_ = open(file);
}

std::shared_ptr<spdlog::logger> RunLog::open(const std::filesystem::path& file) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_st>(file.string());
    auto logger = std::make_shared<spdlog::logger>("file", std::move(sink));
    logger->set_pattern(format_ == LogFormat::text ? "%Y-%m-%dT%H:%M:%S%z %l %v" : "%v");
    logger->flush_on(spdlog::level::trace);
    // Called at every failure; the first says it all.
    logger->set_error_handler(
        [console = console_, format = format_, is_told = false](const std::string& why) mutable {
          if (!is_told) {
            write_line(*console, format, spdlog::level::warn, "the log is incomplete: " + why);
          }
          is_told = true;
        });
    return logger;
  } catch (const spdlog::spdlog_ex& problem) {
    write_line(*console_, format_, spdlog::level::warn,
               fmt::format("no log.txt for this run: {}", problem.what()));
    return nullptr;
  }
}

void RunLog::note(const std::string& message, const LogFields& fields) {
  if (file_) write_line(*file_, format_, spdlog::level::info, message, fields);
}
void RunLog::info(const std::string& message, const LogFields& fields) {
  note(message, fields);
  write_line(*console_, format_, spdlog::level::info, message, fields);
}
void RunLog::warn(const std::string& message, const LogFields& fields) {
  if (file_) write_line(*file_, format_, spdlog::level::warn, message, fields);
  write_line(*console_, format_, spdlog::level::warn, message, fields);
}
void RunLog::error(const std::string& message) {
  if (file_) write_line(*file_, format_, spdlog::level::err, message);
}
}  // namespace fedhur::apps
