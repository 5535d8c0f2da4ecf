#include "apps/common_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fedhur/base/strings.hpp"
#include "fedhur/data/load.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/methods/method.hpp"
#include "fedhur/study/preset_settings.hpp"
#include "fedhur/study/tuned_settings.hpp"

namespace fedhur::apps {
namespace {
// Whether a data set was chosen by the configuration file or --set.
bool names_data(const ConfigTable& table) {
  const ConfigValue* path = table.find("data.path");
  return path != nullptr && *path != ConfigValue(std::string(experiment::kSynthetic));
}

void set_data(ConfigTable& table, const SettingFlags& flags) {
  const bool is_synthetic = flags.format == experiment::kSynthetic;
  if (is_synthetic) {
    if (!flags.data.empty() && flags.data != experiment::kSynthetic) {
      throw ConfigError(
          fmt::format("--format synthetic makes its own data, but {} is {}; leave one out",
                      flags.data_origin, flags.data));
    }
    table.set("data.path", std::string(experiment::kSynthetic), "--format");
  } else if (!flags.format.empty()) {
    table.set("data.format", flags.format, "--format");
  }
  if (!flags.data.empty()) table.set("data.path", flags.data, flags.data_origin);
  if (flags.split_file.empty()) return;
  if (!flags.data.empty() || is_synthetic || names_data(table)) {
    table.set("data.split_file", flags.split_file, "--split-file");
  } else {  // the file is all there is
    table.set("data.path", flags.split_file, "--split-file");
    if (flags.format.empty()) table.set("data.format", std::string("split"), "--split-file");
  }
}
std::string text_or(const ConfigTable& table, const std::string& key, const std::string& fallback) {
  const ConfigValue* value = table.find(key);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? fallback : *text;
}

// What was given wins over what is ready-made.
void add_below(ConfigTable& table, const ConfigTable& ready_made) {
  for (const auto& [key, given] : ready_made.given()) {
    if (!table.contains(key)) table.set(key, given.value, given.origin);
  }
}

std::string method_of(const ConfigTable& table) {
  const std::string name = text_or(table, "method", experiment::ExperimentConfig{}.method);
  return methods::find_method(name).name;
}

ConfigTable tuned_for(const ConfigTable& table, const std::string& name) {
  const std::string method = method_of(table);
  if (name != kByData) return study::require_tuned(name, method);
  const std::string path = text_or(table, "data.path", experiment::kSynthetic);
  return study::require_tuned(path == experiment::kSynthetic ? path : data::name_of_data(path),
                              method);
}
}  // namespace

ConfigTable SettingFlags::to_table() const {
  ConfigTable table;
  if (!config.empty()) experiment::add_toml_file(table, config);
  for (const std::string& assignment : assignments) experiment::add_assignment(table, assignment);
  set_data(table, *this);
  if (!method.empty()) table.set("method", method, "--method");
  if (seed) table.set("seed", *seed, "--seed");
  if (threads) table.set("threads", *threads, "--threads");
  if (skip_bad_rows) table.set("data.skip_bad_rows", true, "--skip-bad-rows");
  if (!tuned.empty() && !preset.empty()) {
    throw ConfigError("--tuned and --preset are two sets of settings; leave one out");
  }
  if (!tuned.empty()) add_below(table, tuned_for(table, tuned));
  if (!preset.empty()) add_below(table, study::preset_settings(preset, method_of(table)));
  return table;
}

std::vector<std::string> SettingFlags::settled_by_a_run() const {
  std::vector<std::string> names;
  for (const auto& [is_used, name] : {std::pair{!config.empty(), "--config"},
                                      {!assignments.empty(), "--set"},
                                      {!data.empty(), "--data"},
                                      {!format.empty(), "--format"},
                                      {!split_file.empty(), "--split-file"},
                                      {!method.empty(), "--method"},
                                      {seed.has_value(), "--seed"},
                                      {skip_bad_rows, "--skip-bad-rows"},
                                      {!tuned.empty(), "--tuned"},
                                      {!preset.empty(), "--preset"}}) {
    if (is_used) names.emplace_back(name);
  }
  return names;
}

void add_setting_flags(CLI::App& app, SettingFlags& flags) {
  add_value(app, "--format", flags.format, "NAME",
            "auto, movielens-100k, movielens-1m, book-crossing, amazon, recbole, csv, tsv, split "
            "or synthetic");
  add_value(app, "--split-file", flags.split_file, "FILE",
            "Parts and clients, in the format `split`");
  app.add_flag("--skip-bad-rows", flags.skip_bad_rows,
               "Count bad rows instead of failing at the first");
  add_config_flags(app, flags);
}

void add_config_flags(CLI::App& app, SettingFlags& flags) {
  add_value(app, "--config", flags.config, "FILE", "Settings from a TOML file");
  add_value(app, "--seed", flags.seed, "N", "Seed of all randomness (42)");
  add_value(app, "--set", flags.assignments, "KEY=VALUE", "One setting; repeatable")
      ->allow_extra_args(false);
}

void add_ready_made_flags(CLI::App& app, SettingFlags& flags) {
  add_value(app, "--tuned", flags.tuned, "[NAME]",
            "The method's tuned settings for this data set (without NAME: that of --data)")
      ->expected(0, 1)
      ->default_str(kByData);
  add_value(app, "--preset", flags.preset, "NAME",
            "Settings that go by one word; `paper` is the published regime");
}

void add_train_flags(CLI::App& app, SettingFlags& flags) {
  add_value(app, "--data", flags.data, "PATH",
            "File with interactions (default: built-in synthetic data)");
  add_value(app, "--method", flags.method, "NAME", "See below (fedhur)");
  add_threads_flag(app, flags);
}

void add_threads_flag(CLI::App& app, SettingFlags& flags) {
  add_value(app, "--threads", flags.threads, "N",
            "0 takes one per core; results never depend on it (0)");
}

void reject_settled(const std::vector<std::string>& names) {
  if (names.empty()) return;
  throw ConfigError(fmt::format("--resume goes on with the run as it was configured; leave out {}",
                                fmt::join(names, ", ")));
}

void add_run_argument(CLI::App& app, std::string& run) {
  add_value(app, "run", run, "", "Run folder, such as runs/fedhur-0001");
}

std::string whole_number_problem(const std::string& text) {
  if (parse_number<std::int64_t>(text)) return "";
  return fmt::format("expected a whole number, found '{}'", text);
}

std::string number_problem(const std::string& text) {
  return parse_number<double>(text) ? "" : fmt::format("expected a number, found '{}'", text);
}

void check_range(const char* flag, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return;
  const std::string range = high == std::numeric_limits<std::int64_t>::max()
                                ? fmt::format("of {} or more", low)
                                : fmt::format("from {} to {}", low, high);
  throw ConfigError(fmt::format("{} {}: expected a number {}", flag, value, range));
}

double seconds_of(double minutes) {
  if (minutes > 0 && std::isfinite(minutes)) return minutes * 60.0;
  throw ConfigError(fmt::format("--minutes {}: expected a number above 0", minutes));
}

std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  const auto reject = [&](const char* why) {
    throw ConfigError(fmt::format(
        "--seeds {}: {}; expected a number of seeds from 1 to 1000, or seeds such as 1,2,3", text,
        why));
  };
  std::vector<std::uint64_t> seeds;
  for (const std::string_view part : split_at(text, ',')) {
    const auto seed = parse_number<std::uint64_t>(part);
    if (!seed || *seed > INT64_MAX) reject("not a list of whole numbers");
    if (std::ranges::find(seeds, *seed) != seeds.end()) reject("a seed is there twice");
    seeds.push_back(*seed);
  }
  if (seeds.size() > 1) return seeds;
  const std::uint64_t count = seeds.front();
  if (count < 1 || count > 1000) reject("not a number of seeds");
  seeds.resize(count);
  std::iota(seeds.begin(), seeds.end(), std::uint64_t{1});
  return seeds;
}

void check_given(const std::string& value, const char* what, const char* example) {
  if (value.empty()) {
    throw ConfigError(fmt::format("{} is missing, as in '{}'", what, example));
  }
}
}  // namespace fedhur::apps
