// How a command that works for hours says what it does: lines for people, or for programs.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "apps/command.hpp"

namespace fedhur::apps {
enum class LogFormat : std::uint8_t { text, json };
// What a line is about, for programs: {"round", 3}. Lines for people leave it out.
using LogFields = nlohmann::ordered_json;

struct DisplayFlags {
  bool is_json = false;
  bool is_quiet = false;
  LogFormat log_format = LogFormat::text;  // json has no live line, and every round is one of it
};
// --quiet, described by `quiet`, --log-format text|json and, where there is a result, --json.
void add_display_flags(CLI::App& app, DisplayFlags& flags, const char* quiet, bool has_result);

// {"time":"2026-11-17T19:40:00.123+00:00","level":"info","message":"...", ...}, without a line end.
// Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string to_json_line(std::string_view level, std::string_view message,
                                       const LogFields& fields = {});

// One line on standard error that belongs to no log.
void say_line(LogFormat format, const std::string& line);

// What a failed command says, and what the program ends with.
struct Failure {
  ExitCode code = ExitCode::unexpected_failure;
  std::string what;
};
[[nodiscard]] Failure failure_of(const std::exception& error);
// Calls `work`. With json a failure becomes a line here, and the exit code that main would give;
// with text it is left to main.
[[nodiscard]] int tell_failures(LogFormat format, const std::function<int()>& work);
}  // namespace fedhur::apps
