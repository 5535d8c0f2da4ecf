#include "apps/common_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "fedhur/experiment/experiment_config.hpp"

namespace fedhur::apps {
namespace {
// Whether a data set was chosen by the configuration file or --set.
bool names_data(const ConfigTable& table) {
  if (!table.contains("data.path")) return false;
  ConfigTable copy = table;
  std::string path;
  copy.read("data.path", path);
  return path != experiment::kSynthetic;
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
  return table;
}

std::vector<std::string> SettingFlags::settled_by_a_run() const {
  std::vector<std::string> names;
  const auto add = [&names](bool is_used, const char* name) {
    if (is_used) names.emplace_back(name);
  };
  add(!config.empty(), "--config");
  add(!assignments.empty(), "--set");
  add(!data.empty(), "--data");
  add(!format.empty(), "--format");
  add(!split_file.empty(), "--split-file");
  add(!method.empty(), "--method");
  add(seed.has_value(), "--seed");
  add(skip_bad_rows, "--skip-bad-rows");
  return names;
}

void add_setting_flags(CLI::App& app, SettingFlags& flags) {
  app.add_option(
         "--format", flags.format,
         "auto, movielens-100k, movielens-1m, book-crossing, amazon, recbole, csv, tsv, split "
         "or synthetic")
      ->type_name("NAME");
  app.add_option("--split-file", flags.split_file, "Parts and clients, in the format `split`")
      ->type_name("FILE");
  app.add_flag("--skip-bad-rows", flags.skip_bad_rows,
               "Count bad rows instead of failing at the first");
  add_config_flags(app, flags);
}

void add_config_flags(CLI::App& app, SettingFlags& flags) {
  app.add_option("--config", flags.config, "Settings from a TOML file")->type_name("FILE");
  app.add_option("--seed", flags.seed, "Seed of all randomness (42)")
      ->type_name("N")
      ->check(whole_number_problem);
  app.add_option("--set", flags.assignments, "One setting; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void add_train_flags(CLI::App& app, SettingFlags& flags) {
  app.add_option("--data", flags.data, "File with interactions (default: built-in synthetic data)")
      ->type_name("PATH");
  app.add_option("--method", flags.method, "See below (fedhur)")->type_name("NAME");
  add_threads_flag(app, flags);
}

void add_threads_flag(CLI::App& app, SettingFlags& flags) {
  app.add_option("--threads", flags.threads, "0 takes one per core; results never depend on it (0)")
      ->type_name("N")
      ->check(whole_number_problem);
}

void reject_settled(const std::vector<std::string>& names) {
  if (names.empty()) return;
  throw ConfigError(fmt::format("--resume goes on with the run as it was configured; leave out {}",
                                fmt::join(names, ", ")));
}

void add_run_argument(CLI::App& app, std::string& run) {
  app.add_option("run", run, "Run folder, such as runs/fedhur-0001")->type_name("");
}

std::string whole_number_problem(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole ? "" : fmt::format("expected a whole number, found '{}'", text);
}

std::string number_problem(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? "" : fmt::format("expected a number, found '{}'", text);
}

std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  const auto reject = [&](const char* why) {
    throw ConfigError(fmt::format(
        "--seeds {}: {}; expected a number of seeds from 1 to 1000, or seeds such as 1,2,3", text,
        why));
  };
  std::vector<std::uint64_t> seeds;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t end = std::min(text.find(',', first), text.size());
    std::uint64_t seed = 0;
    const auto [stop, error] = std::from_chars(text.data() + first, text.data() + end, seed);
    if (error != std::errc() || stop != text.data() + end || seed > INT64_MAX) {
      reject("not a list of whole numbers");
    }
    if (std::ranges::find(seeds, seed) != seeds.end()) reject("a seed is there twice");
    seeds.push_back(seed);
    first = end + 1;
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
