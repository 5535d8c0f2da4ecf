// Flags that several commands share, and how they become settings.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/base/config_table.hpp"

namespace fedhur::apps {
inline constexpr const char* kByData = "auto";  // --tuned without a name

// --config, --set, --seed and the flags about data. Each is optional.
struct SettingFlags {
  std::string config;
  std::vector<std::string> assignments;  // --set
  std::string data;                      // a path or "synthetic"
  std::string data_origin = "--data";    // where `data` is from, for messages
  std::string format;
  std::string split_file;
  std::string method;
  std::optional<std::int64_t> seed;
  std::optional<std::int64_t> threads;
  bool skip_bad_rows = false;
  std::string tuned;  // a data set's name, or kByData
  std::string preset;

  // Settings in order: the tuned ones or those of the preset, the file, --set, the named flags.
  // Later wins.
  [[nodiscard]] ConfigTable to_table() const;
  // Names of the flags in use that a resumed run has settled already; threads may differ.
  [[nodiscard]] std::vector<std::string> settled_by_a_run() const;
};

void add_config_flags(CLI::App& app, SettingFlags& flags);      // --config, --seed, --set
void add_setting_flags(CLI::App& app, SettingFlags& flags);     // these, and those about files
void add_ready_made_flags(CLI::App& app, SettingFlags& flags);  // --tuned, --preset
void add_threads_flag(CLI::App& app, SettingFlags& flags);
void add_train_flags(CLI::App& app, SettingFlags& flags);  // --data, --method, --threads
void add_run_argument(CLI::App& app, std::string& run);
// ConfigError unless no flag was used that a resumed run has settled.
void reject_settled(const std::vector<std::string>& names);
// Checks for options of whole and other numbers, in our words.
[[nodiscard]] std::string whole_number_problem(const std::string& text);
[[nodiscard]] std::string number_problem(const std::string& text);
// An option or argument with a value of this kind, such as FILE; numbers are checked.
template <class Value>
CLI::Option* add_value(CLI::App& app, const std::string& name, Value& value,
                       const std::string& kind, const std::string& what) {
  CLI::Option* const option = app.add_option(name, value, what)->type_name(kind);
  using Optional = std::optional<std::int64_t>;
  if constexpr (std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, Optional>) {
    return option->check(whole_number_problem);
  } else if constexpr (std::is_same_v<Value, std::optional<double>>) {
    return option->check(number_problem);
  }
  return option;
}
// ConfigError unless the value of the flag is from `low` to `high`.
void check_range(const char* flag, std::int64_t value, std::int64_t low,
                 std::int64_t high = std::numeric_limits<std::int64_t>::max());
// Of --minutes. ConfigError unless it is above 0.
[[nodiscard]] double seconds_of(double minutes);
// "3" is the seeds 1, 2, 3; "7,11" is these. ConfigError for anything else, and for a seed twice.
[[nodiscard]] std::vector<std::uint64_t> parse_seeds(const std::string& text);
// ConfigError if an argument that has to be there is not.
void check_given(const std::string& value, const char* what, const char* example);
}  // namespace fedhur::apps
