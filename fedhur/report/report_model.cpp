#include "fedhur/report/report_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "fedhur/base/text.hpp"
#include "fedhur/report/inside_view.hpp"

namespace fedhur::report {
namespace {
constexpr std::size_t kLastColor = 7;  // grey, of what has no name of its own
constexpr std::size_t kMetricTiles = 3;
using Numbers = std::map<std::string, double>;

// A round that not all have reached has no point: its mean would jump.
template <class Pick>
Series make_series(const ReportModel& model, const RunGroup& group, const Pick& pick) {
  Series series;
  std::size_t length = SIZE_MAX;
  for (const std::size_t run : group.runs) {
    length = std::min(length, model.runs[run].rounds.size());
    for (const RoundReport& round : model.runs[run].rounds) {
      if (round.round + 1 != model.runs[run].result.best_round) continue;
      const double value = pick(round);
      if (std::isfinite(value)) series.bests.push_back({round.round + 1, {.mean = value}});
    }
  }
  for (std::size_t i = 0; i < length; ++i) {
    std::vector<double> values;
    for (const std::size_t run : group.runs) values.push_back(pick(model.runs[run].rounds[i]));
    if (!std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) continue;
    series.points.push_back(
        {model.runs[group.runs.front()].rounds[i].round + 1, evaluate::spread_of(values)});
  }
  return series;
}

template <class Pick>
Curve make_curve(const ReportModel& model, std::string label, std::string note, const Pick& pick) {
  Curve curve{.label = std::move(label), .note = std::move(note), .series = {}};
  for (const RunGroup& group : model.groups) {
    curve.series.push_back(make_series(model, group, pick));
  }
  return curve;
}

void add_quality(ReportModel& model) {
  std::vector<Metrics> all;
  for (const RunRecord& run : model.runs) {
    for (const RoundReport& round : run.rounds) all.push_back(round.valid);
  }
  std::vector<std::string> names = evaluate::metric_names(all);
  if (names.empty()) names = {"ndcg@10"};
  Metrics any;
  for (const std::string& name : names) any[name] = 0.0;
  const std::string headline = evaluate::headline_metric(any, "ndcg");
  for (const std::string& name : names) {
    if (name == headline) model.headline = model.valid.size();
    const std::string label = evaluate::metric_label(name);
    const auto* metric = evaluate::find_metric(name);
    const std::string note(metric == nullptr ? "" : metric->meaning);
    model.valid.push_back(make_curve(
        model, label, note, [&](const RoundReport& r) { return value_or_nan(r.valid, name); }));
    model.test.push_back(make_curve(
        model, label, note, [&](const RoundReport& r) { return value_or_nan(r.test, name); }));
  }
  // Of the table, all metrics of one cutoff.
  const Index cutoff = evaluate::cutoff_of(headline);
  std::vector<Metrics> results;
  for (const RunRecord& run : model.runs) results.push_back(run.result.test);
  const auto add = [&](const std::string& label, const std::string& tile, const char* unit,
                       const auto& pick) -> Column& {
    Column& column = model.results.emplace_back(Column{label, tile, unit, {}, {}});
    for (const RunGroup& group : model.groups) {
      column.cells.push_back(
          summarize(model, group, [&](const RunRecord& run) { return pick(run.result); }));
    }
    return column;
  };
  for (const std::string& name : evaluate::metric_names(results)) {
    if (evaluate::cutoff_of(name) != cutoff) continue;
    const std::string label = evaluate::metric_label(name);
    const std::string tile = model.results.size() < kMetricTiles ? "test " + label : "";
    Column& column = add(label, tile, "metric",
                         [&](const RunResult& result) { return value_or_nan(result.test, name); });
    std::vector<double> means;
    for (const auto& cell : column.cells) means.push_back(cell ? cell->mean : NAN);
    column.is_best = find_best(name, means);
  }
  add("best round", "best round", "number",
      [](const RunResult& r) { return static_cast<double>(r.best_round); });
  add("time", "in all", "seconds",
      [](const RunResult& r) { return value_or_nan(r.seconds, "total"); });
  add("up", "up per client and round", "bytes", [](const RunResult& r) { return r.bytes_up; });
  add("down", "down per client and round", "bytes",
      [](const RunResult& r) { return r.bytes_down; });
}

struct Measure {
  std::string_view name;
  std::string_view label;
  std::string_view note;
};
constexpr std::array kMeasures = {
    Measure{"loss", "Training loss", "Mean over the training samples of the round."},
    Measure{"relation_entropy", "Entropy of the weights",
            "Of what a client draws on, as a share of the largest possible: 1 treats all alike."},
    Measure{"own_weight", "Weight of oneself", "Mean weight that a client gives to its own part."},
    Measure{"trace_kept", "Trace kept",
            "Share of the global filter that its leading eigenpairs keep."},
    Measure{"score_loss", "Scorer loss", "How far the scorer is from the scores it learns."},
    Measure{"neighbors", "Neighbours", "Clients that a client averages over, mean."},
    Measure{"candidates", "Candidates", "Clients with a weight above zero, mean per client."},
};

void add_measures(ReportModel& model) {
  std::set<std::string> names;
  bool has_loss = false;  // 0 throughout is that of a method that trains nothing
  for (const RunRecord& run : model.runs) {
    for (const RoundReport& round : run.rounds) {
      has_loss = has_loss || round.loss != 0.0;
      for (const auto& [name, value] : round.numbers) {
        if (value != 0.0) names.insert(name);
      }
    }
  }
  const auto add = [&](const std::string& name, const auto& pick) {
    const auto* known = std::ranges::find(kMeasures, name, &Measure::name);
    const bool is_known = known != kMeasures.end();
    model.measures.push_back(make_curve(model, is_known ? std::string(known->label) : words(name),
                                        is_known ? std::string(known->note) : "", pick));
  };
  if (has_loss) add("loss", [](const RoundReport& round) { return round.loss; });
  for (const std::string& name : names) {
    add(name, [&](const RoundReport& round) { return value_or_nan(round.numbers, name); });
  }
}

// Means of pick(run), numbers by name, over the runs of a group that have begun.
template <class Pick>
Parts make_parts(const ReportModel& model, const std::vector<std::string_view>& order,
                 const Pick& pick) {
  Parts parts;
  std::vector<Numbers> means;
  std::set<std::pair<std::size_t, std::string>> names;
  for (std::size_t g = 0; g < model.groups.size(); ++g) {
    std::vector<Numbers> all;
    for (const std::size_t run : model.groups[g].runs) {
      if (!model.runs[run].rounds.empty()) all.push_back(pick(model.runs[run]));
    }
    if (all.empty()) continue;
    parts.groups.push_back(g);
    Numbers& mean = means.emplace_back();
    for (const Numbers& numbers : all) {
      for (const auto& [name, value] : numbers) {
        mean[name] += value / static_cast<double>(all.size());
        const auto rank = static_cast<std::size_t>(std::ranges::find(order, name) - order.begin());
        if (value > 0.0) names.emplace(name == "other" ? kLastColor : rank, name);
      }
    }
  }
  for (const auto& [rank, name] : names) {
    parts.names.push_back(words(name));
    parts.colors.push_back(rank);
  }
  for (Numbers& mean : means) {
    auto& row = parts.values.emplace_back();
    for (const auto& [rank, name] : names) row.push_back(mean[name]);
  }
  return parts;
}

// Seconds by phase over a whole run. What no phase claims (loading, checkpoints) is "other".
Numbers seconds_of(const RunRecord& run) {
  Numbers sums;
  double known = 0.0;
  for (const RoundReport& round : run.rounds) {
    for (const auto& [phase, seconds] : round.seconds) {
      sums[phase] += seconds;
      known += seconds;
    }
  }
  const double total = value_or_nan(run.result.seconds, "total");
  if (total > known) sums["other"] = total - known;
  return sums;
}

void add_costs(ReportModel& model) {
  const std::vector<std::string_view> phases = {"local_training", "query",      "server",
                                                "fine_tuning",    "evaluation", "counting"};
  model.seconds = make_parts(model, phases, seconds_of);
  model.round_seconds = make_parts(model, phases, [](const RunRecord& run) {
    Numbers seconds = seconds_of(run);
    for (auto& [phase, value] : seconds) value /= static_cast<double>(run.rounds.size());
    return seconds;
  });
  const auto bytes = [&](std::uint64_t federation::Traffic::*direction) {
    const auto bytes_of = [direction](const RunRecord& run) {
      Numbers sums;
      const auto client_rounds = static_cast<double>(run.rounds.size()) *
                                 static_cast<double>(std::max<Index>(1, run.result.num_clients));
      for (const RoundReport& round : run.rounds) {
        for (const auto& [kind, traffic] : round.traffic) {
          if (belongs_to_method(kind)) {
            sums[kind] += static_cast<double>(traffic.*direction) / client_rounds;
          }
        }
      }
      return sums;
    };
    return make_parts(model, {"start", "train", "query", "finetune", "update", "mix"}, bytes_of);
  };
  model.bytes_up = bytes(&federation::Traffic::up);
  model.bytes_down = bytes(&federation::Traffic::down);
}

std::string format_time(const std::string& time) {  // "2026-01-31T12:00:00Z"
  if (time.size() != 20) return time.empty() ? "–" : time;
  return fmt::format("{} {} UTC", time.substr(0, 10), time.substr(11, 8));
}

// The first of them are those of all runs, in one order.
void add_facts(ReportModel& model) {
  for (const RunRecord& run : model.runs) {
    const Origin& origin = run.origin;
    const auto memory = static_cast<Index>(std::llround(run.result.peak_rss_mb));
    model.facts.push_back(
        {{"seed", fmt::format("{}", run.result.seed)},
         {"version", origin.version},
         {"compiler", origin.compiler},
         {"CPU", origin.cpu},
         {"threads", origin.threads},
         {"started", format_time(origin.start)},
         {"ended", format_time(origin.end)},
         {"peak memory",
          memory > 0 ? format_count(memory, kThinSpace) + std::string(kThinSpace) + "MB" : "–"},
         {"data", run.result.data},
         {"interactions",
          origin.num_interactions ? format_count(*origin.num_interactions, kThinSpace) : "–"},
         {"data SHA-256", origin.data_sha256}});
  }
  for (const auto& fact : Facts(model.facts.front())) {
    const auto has_it = [&](const Facts& own) { return std::ranges::count(own, fact) > 0; };
    if (!std::ranges::all_of(model.facts, has_it)) continue;
    model.environment.push_back(fact);
    for (Facts& own : model.facts) std::erase(own, fact);
  }
}

std::string state_of(const RunRecord& run, bool is_live) {
  if (run.is_finished) return "finished";
  if (is_live && !run.origin.has_stopped) {
    return fmt::format("live: round {}", run.rounds.size() + 1);
  }
  const std::string done = run.rounds.empty()
                               ? "before its first round"
                               : fmt::format("after round {}", run.rounds.back().round + 1);
  return (run.origin.has_stopped ? "stopped " : "not finished: ") + done;
}

void add_heading(ReportModel& model) {
  std::vector<std::string> methods;
  std::vector<std::string> data;
  const auto note = [](std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const RunRecord& run : model.runs) {
    note(methods, run.result.method);
    note(data, run.result.data);
  }
  model.title =
      fmt::format("{} on {}",
                  methods.size() > 3 ? plural(static_cast<Index>(methods.size()), "method")
                                     : fmt::format("{}", fmt::join(methods, ", ")),
                  fmt::join(data, ", "));
  const RunRecord& first = model.runs.front();
  std::string size =
      plural(first.result.num_users, "user") + ", " + plural(first.result.num_items, "item");
  if (first.result.num_clients > 0) size += ", " + plural(first.result.num_clients, "client");
  const auto num_open = std::ranges::count(model.runs, false, &RunRecord::is_finished);
  model.is_open = num_open > 0;
  model.has_curves = model.is_open || std::ranges::any_of(model.runs, [](const RunRecord& run) {
                       return run.rounds.size() > 1;
                     });
  if (model.runs.size() == 1) {
    model.state = state_of(first, model.is_live);
    model.lead = fmt::format("{}: seed {}, {}, started {}", first.name, first.result.seed, size,
                             format_time(first.origin.start));
  } else {
    model.state = num_open > 0
                      ? fmt::format("{} of {} runs not finished", num_open, model.runs.size())
                      : "all runs finished";
    model.lead = fmt::format("{}; {}", plural(static_cast<Index>(model.runs.size()), "run"), size);
  }
}
}  // namespace

ReportModel make_report(std::vector<RunRecord> runs, bool is_live) {
  ReportModel model;
  shorten_names(runs);
  model.runs = std::move(runs);
  model.differences = find_differences(model.runs);
  model.groups = group_by_settings(model.runs, model.differences);
  model.warnings = find_unfairness(model.runs, model.groups, model.differences);
  model.is_live = is_live;
  add_heading(model);
  add_quality(model);
  add_measures(model);
  add_costs(model);
  add_inside(model);
  add_facts(model);
  return model;
}

std::optional<Spread> summarize(const ReportModel& model, const RunGroup& group,
                                const std::function<double(const RunRecord&)>& pick) {
  std::vector<double> values;
  for (const std::size_t run : group.runs) {
    const double value = pick(model.runs[run]);
    if (std::isfinite(value)) values.push_back(value);
  }
  return values.empty() ? std::nullopt : std::optional(evaluate::spread_of(values));
}

std::vector<bool> find_best(const std::string& metric, const std::vector<double>& values) {
  const auto* known = evaluate::find_metric(metric);
  const bool is_higher_better = known == nullptr || known->is_higher_better;
  double best = NAN;
  for (const double value : values) {
    best = is_higher_better ? std::fmax(best, value) : std::fmin(best, value);
  }
  std::vector<bool> is_best;
  for (const double value : values) is_best.push_back(values.size() > 1 && value == best);
  return is_best;
}

double value_or_nan(const Metrics& metrics, const std::string& name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? NAN : found->second;
}

std::string words(std::string key) {
  std::ranges::replace(key, '_', ' ');
  return key;
}
}  // namespace fedhur::report
