#include "apps/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "apps/figure_script.hpp"
#include "apps/relation_figures.hpp"
#include "apps/result_text.hpp"
#include "fedhur/base/error.hpp"

namespace fedhur::apps {
namespace {
using Numbers = std::map<std::string, double>;

struct Group {  // runs that differ in nothing but the seed
  std::string label;
  std::vector<const RunRecord*> runs;
};

// Labels as on the page: the method, or the run where that does not tell them apart.
std::vector<Group> group_runs(const std::vector<RunRecord>& runs) {
  std::vector<Group> groups;
  std::multiset<std::string> methods;
  for (const auto& members : group_by_settings(runs)) {
    Group& group = groups.emplace_back();
    for (const std::size_t run : members) group.runs.push_back(&runs[run]);
    methods.insert(group.runs.front()->result.method);
  }
  for (Group& group : groups) {
    const RunRecord& first = *group.runs.front();
    group.label = methods.count(first.result.method) > 1 ? first.name : first.result.method;
  }
  return groups;
}

// Round, mean and mean -+ deviation of every round that all runs of the group have reached.
std::string curve_data(const Group& group, report::Metrics report::RoundReport::*part,
                       const std::string& metric) {
  std::size_t length = SIZE_MAX;
  for (const RunRecord* run : group.runs) length = std::min(length, run->rounds.size());
  std::string data;
  const auto count = static_cast<double>(group.runs.size());
  for (std::size_t i = 0; i < length; ++i) {
    double sum = 0.0;
    double squares = 0.0;
    for (const RunRecord* run : group.runs) {
      const report::Metrics& metrics = run->rounds[i].*part;
      const double value = metrics.contains(metric) ? metrics.at(metric) : NAN;
      sum += value;
      squares += value * value;
    }
    const double mean = sum / count;
    const double variance = std::max(0.0, squares - count * mean * mean);
    const double deviation = count > 1.0 ? std::sqrt(variance / (count - 1.0)) : 0.0;
    data += fmt::format("{} {} {} {}\n", i + 1, mean, mean - deviation, mean + deviation);
  }
  return data;
}

// Rounds from one tick to the next: whole ones, and not too many.
std::size_t round_step(const std::vector<Group>& groups) {
  std::size_t most = 0;
  for (const Group& group : groups) {
    for (const RunRecord* run : group.runs) most = std::max(most, run->rounds.size());
  }
  std::size_t step = 1;
  for (const std::size_t next : {2, 5, 10, 20, 50, 100}) {
    if (most / step > 8) step = next;
  }
  return step;
}

Figure draw_quality(const std::vector<Group>& groups, FigureFormat format) {
  std::string metric = "ndcg@10";  // or another cutoff
  for (const Group& group : groups) {
    const auto& rounds = group.runs.front()->rounds;
    if (!rounds.empty()) metric = headline_metric(rounds.front().valid, "ndcg");
  }
  struct Part {
    const char* name;
    report::Metrics report::RoundReport::*metrics;
  };
  constexpr std::array kParts = {Part{"validation", &report::RoundReport::valid},
                                 Part{"test", &report::RoundReport::test}};
  std::string script = begin_figure(format, 860, 340) +
                       fmt::format(
                           "set key bottom right\nset xlabel 'round'\nset xrange [1:*]\nset xtics "
                           "0,{}\nset multiplot layout 1,2\n",
                           round_step(groups));
  for (const Part& part : kParts) {
    std::vector<std::string> plots;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::string name = fmt::format("${}_{}", part.name, g);
      const std::string data = curve_data(groups[g], part.metrics, metric);
      if (data.empty()) continue;
      script += fmt::format("{} << EOD\n{}EOD\n", name, data);
      plots.push_back(fmt::format(
          "{} using 1:3:4 with filledcurves fs transparent solid 0.15 noborder lc rgb '{}'", name,
          color(g)));
      plots.push_back(fmt::format("{} using 1:2 with lines lw 2 dt {} lc rgb '{}' title {}", name,
                                  g + 1, color(g), as_literal(groups[g].label)));
    }
    if (plots.empty()) throw ConfigError("there is no round to draw yet");
    script += fmt::format("set ylabel {}\nplot {}\n",
                          as_literal(fmt::format("{} NDCG{}", part.name, metric.substr(4))),
                          fmt::join(plots, ", "));
  }
  return {.name = "quality", .script = script + "unset multiplot\n"};
}

struct Panel {
  std::string title;
  std::vector<Numbers> stacks;  // one per group
};

// Stacked columns, one per group and panel, a colour per name.
std::string draw_stacks(const std::vector<Group>& groups, const std::vector<Panel>& panels,
                        FigureFormat format) {
  std::set<std::string> names;
  for (const Panel& panel : panels) {
    for (const Numbers& stack : panel.stacks) {
      for (const auto& [name, value] : stack) names.insert(name);
    }
  }
  std::vector<std::string> labels;
  for (const Group& group : groups) labels.push_back(group.label);
  const int width = 260 + 90 * static_cast<int>(groups.size() * panels.size());
  std::string script =
      begin_figure(format, std::max(width, 480), 360) +
      fmt::format(
          "set style data histograms\nset style histogram rowstacked\nset boxwidth 0.6\nset key "
          "outside right top\nset yrange [0:*]\nset xtics {}\nset multiplot layout 1,{}\n",
          tick_labels(labels), panels.size());
  for (std::size_t p = 0; p < panels.size(); ++p) {
    script += fmt::format("$panel{} << EOD\n", p);
    for (const Numbers& stack : panels[p].stacks) {
      std::vector<double> row;
      for (const auto& name : names) row.push_back(stack.contains(name) ? stack.at(name) : 0.0);
      script += fmt::format("{}\n", fmt::join(row, " "));
    }
    std::vector<std::string> plots;
    for (const auto& name : names) {
      const std::size_t column = plots.size();
      plots.push_back(fmt::format("$panel{} using {} lc rgb '{}' title {}", p, column + 1,
                                  color(column), as_literal(phase_text(name))));
    }
    script += fmt::format("EOD\nset ylabel {}\nplot {}\n", as_literal(panels[p].title),
                          fmt::join(plots, ", "));
  }
  return script + "unset multiplot\n";
}

// The mean over the rounds of all runs of a group of what `add` puts into a stack.
template <class Add>
std::vector<Numbers> mean_per_round(const std::vector<Group>& groups, const Add& add) {
  std::vector<Numbers> stacks;
  for (const Group& group : groups) {
    Numbers& stack = stacks.emplace_back();
    double count = 0.0;
    for (const RunRecord* run : group.runs) {
      for (const report::RoundReport& round : run->rounds) add(*run, round, stack);
      count += static_cast<double>(run->rounds.size());
    }
    for (auto& [name, value] : stack) value /= count;
  }
  return stacks;
}

Figure draw_time(const std::vector<Group>& groups, FigureFormat format) {
  const auto stacks = mean_per_round(
      groups, [](const RunRecord&, const report::RoundReport& round, Numbers& stack) {
        for (const auto& [phase, seconds] : round.seconds) stack[phase] += seconds;
      });
  return {.name = "time", .script = draw_stacks(groups, {{"seconds per round", stacks}}, format)};
}

Figure draw_traffic(const std::vector<Group>& groups, FigureFormat format) {
  const auto megabytes = [&](std::uint64_t federation::Traffic::*direction) {
    return mean_per_round(groups, [direction](const RunRecord& run,
                                              const report::RoundReport& round, Numbers& stack) {
      const auto clients = static_cast<double>(std::max<Index>(1, run.result.num_clients));
      for (const auto& [kind, bytes] : round.traffic) {
        if (!report::belongs_to_method(kind)) continue;
        stack[kind] += static_cast<double>(bytes.*direction) / clients / 1e6;
      }
    });
  };
  const std::vector<Panel> panels = {
      {"MB up per client and round", megabytes(&federation::Traffic::up)},
      {"MB down per client and round", megabytes(&federation::Traffic::down)}};
  return {.name = "traffic", .script = draw_stacks(groups, panels, format)};
}
}  // namespace

std::vector<Figure> draw_figures(const std::vector<RunRecord>& runs, FigureFormat format) {
  const std::vector<Group> groups = group_runs(runs);
  std::vector<Figure> figures = {draw_quality(groups, format), draw_time(groups, format),
                                 draw_traffic(groups, format)};
  for (const Group& group : groups) {
    const std::string suffix = groups.size() > 1 ? "-" + plain(group.label) : "";
    for (Figure& figure : draw_relations(*group.runs.front(), format)) {
      figures.push_back({.name = figure.name + suffix, .script = std::move(figure.script)});
    }
  }
  return figures;
}
}  // namespace fedhur::apps
