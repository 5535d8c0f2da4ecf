#include "apps/tune_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include "fedhur/base/nearest_name.hpp"
#include "fedhur/methods/method.hpp"

namespace fedhur::apps {
namespace {
std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

void require(bool is_allowed, const char* flag, double value, const char* expected) {
  if (!is_allowed) throw ConfigError(fmt::format("{} {}: expected {}", flag, value, expected));
}

tune::Search read_search(const std::string& text) {
  std::vector<std::string> known;
  for (const auto& [name, search] : EnumNames<tune::Search>::names) {
    if (name == text) return search;
    known.emplace_back(name);
  }
  throw ConfigError(fmt::format("--search {}: expected one of {}{}", text, fmt::join(known, ", "),
                                hint(text, known)));
}

Index read_parallel(const TuneFlags& flags) {
  const std::int64_t threads = flags.settings.threads.value_or(0);
  if (flags.parallel) {
    require(*flags.parallel >= 1 && *flags.parallel <= 1024, "--parallel",
            static_cast<double>(*flags.parallel), "a number from 1 to 1024");
    return *flags.parallel;
  }
  require(threads >= 0 && threads <= 1024, "--threads", static_cast<double>(threads),
          "a number from 0 to 1024");
  return threads > 0 ? threads : std::max<Index>(1, std::thread::hardware_concurrency());
}
}  // namespace

void add_tune_flags(CLI::App& app, TuneFlags& flags) {
  add_train_flags(app, flags.settings);
  app.get_option("--method")->description("One, several as fedmf,fedcia, or all (fedhur)");
  add_setting_flags(app, flags.settings);
  app.add_option("--search", flags.search, "grid, random or halving (random)")->type_name("KIND");
  app.add_option("--space", flags.space, "What to search (default: the method's own space)")
      ->type_name("FILE");
  app.add_option("--trials", flags.num_trials,
                 "Trials per method (30, or as many as --minutes allow)")
      ->type_name("N")
      ->check(whole_number_problem);
  app.add_option("--minutes", flags.minutes, "Stop after so many minutes per method")
      ->type_name("M");
  app.add_option("--seeds", flags.seeds,
                 "Seeds of every trial: how many, or which as 1,2,3 (the one of --seed)")
      ->type_name("SEEDS");
  app.add_option("--search-seed", flags.search_seed, "Seed of the draw of trials (1)")
      ->type_name("N")
      ->check(whole_number_problem);
  app.add_option("--criterion", flags.criterion, "Validation metric to choose by (f1@10)")
      ->type_name("NAME");
  app.add_option("--first-rounds", flags.halving.first_rounds,
                 "halving: rounds that every trial gets (5)")
      ->type_name("R")
      ->check(whole_number_problem);
  app.add_option("--factor", flags.halving.factor,
                 "halving: one in so many goes on, for so many times the rounds (3)")
      ->type_name("N")
      ->check(whole_number_problem);
  app.add_option("--parallel", flags.parallel, "Runs at a time (--threads, or one per core)")
      ->type_name("N")
      ->check(whole_number_problem);
  app.add_option("--out", flags.out, "Folder of the search (default: tunings/<method>-<number>)")
      ->type_name("DIR");
  app.add_flag("--show-space", flags.shows_space, "Print the method's own space and leave");
  app.add_flag("--json", flags.is_json, "One JSON object on standard output");
  app.add_flag("--quiet", flags.is_quiet, "Nothing but the result");
}

std::vector<std::string> read_methods(const TuneFlags& flags) {
  const std::string& text = flags.settings.method;
  if (text != "all") {
    std::vector<std::string> names = split_at_commas(text);
    std::set<std::string> known;
    for (const std::string& name : names) {
      if (!text.empty()) (void)methods::find_method(name);
      if (!known.insert(name).second) {
        throw ConfigError(fmt::format("--method names {} twice", name));
      }
    }
    return names;
  }
  std::vector<std::string> names;
  for (const auto& method : methods::all_methods()) names.push_back(method.name);
  return names;
}

tune::TuneConfig read_tune_config(const TuneFlags& flags) {
  tune::TuneConfig config;
  config.search = read_search(flags.search);
  if (!flags.seeds.empty()) config.seeds = parse_seeds(flags.seeds);
  if (flags.num_trials) {
    require(*flags.num_trials >= 1 && *flags.num_trials <= 100'000, "--trials",
            static_cast<double>(*flags.num_trials), "a number from 1 to 100000");
    config.num_trials = static_cast<std::size_t>(*flags.num_trials);
  } else if (flags.minutes && config.search != tune::Search::halving) {
    config.num_trials = 1000;  // the minutes are the budget
  }
  if (flags.minutes) {
    require(*flags.minutes > 0 && std::isfinite(*flags.minutes), "--minutes", *flags.minutes,
            "a number above 0");
    config.max_seconds = *flags.minutes * 60.0;
  }
  require(flags.search_seed >= 0, "--search-seed", static_cast<double>(flags.search_seed),
          "a number of 0 or more");
  config.search_seed = static_cast<std::uint64_t>(flags.search_seed);
  config.halving = flags.halving;
  require(config.halving.first_rounds >= 1, "--first-rounds",
          static_cast<double>(config.halving.first_rounds), "a number of 1 or more");
  require(config.halving.factor >= 2, "--factor", static_cast<double>(config.halving.factor),
          "a number of 2 or more");
  config.parallel = read_parallel(flags);
  return config;
}
}  // namespace fedhur::apps
