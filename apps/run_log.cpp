#include "apps/run_log.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>

#include <mutex>

#include "apps/output.hpp"

namespace fedhur::apps {
namespace {
class ConsoleSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string_view text(message.payload.data(), message.payload.size());
    const bool is_warning = message.level >= spdlog::level::warn;
    say(is_warning ? fmt::format("fedhur: warning: {}\n", text) : fmt::format("{}\n", text));
  }
  void flush_() override {}
};
}  // namespace

RunLog::RunLog(const std::filesystem::path& file, bool is_quiet)
    : console_(std::make_shared<spdlog::logger>("console", std::make_shared<ConsoleSink>())) {
  console_->set_level(is_quiet ? spdlog::level::off : spdlog::level::info);
  file_ = open(file);
}

std::shared_ptr<spdlog::logger> RunLog::open(const std::filesystem::path& file) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_st>(file.string());
    auto logger = std::make_shared<spdlog::logger>("file", std::move(sink));
    logger->set_pattern("%Y-%m-%dT%H:%M:%S%z %l %v");
    logger->flush_on(spdlog::level::trace);
    // Called at every failure; the first says it all.
    logger->set_error_handler(
        [console = console_, is_told = false](const std::string& why) mutable {
          if (!is_told) console->warn("the log is incomplete: {}", why);
          is_told = true;
        });
    return logger;
  } catch (const spdlog::spdlog_ex& problem) {
    console_->warn("no log.txt for this run: {}", problem.what());
    return nullptr;
  }
}

void RunLog::note(const std::string& message) {
  if (file_) file_->info(message);
}
void RunLog::info(const std::string& message) {
  note(message);
  console_->info(message);
}
void RunLog::warn(const std::string& message) {
  if (file_) file_->warn(message);
  console_->warn(message);
}
void RunLog::error(const std::string& message) {
  if (file_) file_->error(message);
}
}  // namespace fedhur::apps
