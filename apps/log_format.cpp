#include "apps/log_format.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <new>

#include "apps/output.hpp"
#include "fedhur/base/error.hpp"

namespace fedhur::apps {
namespace {
constexpr std::string_view kProgram = "fedhur: ";  // before what is said to people

// In UTC, whatever the machine's zone: lines of several machines are put side by side.
std::string current_timestamp() {
  const auto now = std::chrono::system_clock::now();
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}+00:00",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)), since.count() % 1000);
}

template <class Kind>
bool is_a(const std::exception& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

ExitCode exit_code_of(const std::exception& error) {
  if (is_a<ConfigError>(error)) return ExitCode::wrong_usage;
  if (is_a<DataError>(error)) return ExitCode::bad_data;
  const bool is_of_network = is_a<ProtocolError>(error) || is_a<TransportError>(error);
  return is_of_network ? ExitCode::federation_failure : ExitCode::unexpected_failure;
}
}  // namespace

Failure failure_of(const std::exception& error) {
  return {exit_code_of(error),
          is_a<std::bad_alloc>(error) ? "there is not enough memory for this" : error.what()};
}

void add_display_flags(CLI::App& app, DisplayFlags& flags, const char* quiet, bool has_result) {
  if (has_result) app.add_flag("--json", flags.is_json, "One JSON object on standard output");
  app.add_flag("--quiet", flags.is_quiet, quiet);
  app.add_option_function<std::string>(
         "--log-format",
         [&flags](const std::string& name) {
           flags.log_format = name == "json" ? LogFormat::json : LogFormat::text;
         },
         "Lines of the log: text, or json with an object per line (text)")
      ->type_name("NAME")
      ->check([](const std::string& name) {
        const bool is_known = name == "text" || name == "json";
        return is_known ? "" : fmt::format("expected text or json, found '{}'", name);
      });
}

std::string to_json_line(std::string_view level, std::string_view message,
                         const LogFields& fields) {
  LogFields line = {{"time", current_timestamp()}, {"level", level}, {"message", message}};
  if (!fields.empty()) line.update(fields);
  return line.dump(-1, ' ', false, LogFields::error_handler_t::replace);
}

void say_line(LogFormat format, const std::string& line) {
  if (format == LogFormat::text) return say(line + "\n");
  std::string_view message = line;
  if (message.starts_with(kProgram)) message.remove_prefix(kProgram.size());
  say(to_json_line("info", message) + "\n");
}

int tell_failures(LogFormat format, const std::function<int()>& work) {
  if (format == LogFormat::text) return work();
  try {
    return work();
  } catch (const ReaderLeft&) {
    throw;  // no failure
  } catch (const std::exception& error) {
    const Failure failure = failure_of(error);
    say(to_json_line("error", failure.what) + "\n");
    return failure.code;
  }
}
}  // namespace fedhur::apps
