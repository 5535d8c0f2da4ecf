#include "fedhur/report/inside_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fedhur/base/text.hpp"

namespace fedhur::report {
namespace {
// The values of pick(inside) in every bin, for the groups that have an inside.
template <class Pick>
void fill(BinChart& chart, const ReportModel& model, const Pick& pick) {
  for (std::size_t g = 0; g < model.groups.size(); ++g) {
    const RunGroup& group = model.groups[g];
    if (std::ranges::none_of(group.runs,
                             [&](auto run) { return model.runs[run].inside.has_value(); })) {
      continue;
    }
    chart.groups.push_back(g);
    auto& values = chart.values.emplace_back();
    for (std::size_t bin = 0; bin < chart.bins.size(); ++bin) {
      values.push_back(summarize(model, group, [&](const RunRecord& run) {
        return run.inside ? pick(*run.inside, bin) : NAN;
      }));
    }
  }
}

void add_activity(ReportModel& model, Index cutoff) {
  struct Users {
    std::optional<Index> to;
    std::vector<double> counts;
  };
  std::map<Index, Users> all;
  for (const RunRecord& run : model.runs) {
    if (!run.inside) continue;
    for (const ActivityBin& bin : run.inside->activity) {
      all[bin.from].to = bin.to;
      all[bin.from].counts.push_back(static_cast<double>(bin.users));
    }
  }
  std::vector<Bin> bins;
  std::vector<Index> froms;
  for (const auto& [from, users] : all) {
    const auto count = std::llround(evaluate::spread_of(users.counts).mean);
    const std::string label = !users.to          ? fmt::format("{}+", from)
                              : users.to == from ? fmt::format("{}", from)
                                                 : fmt::format("{}–{}", from, *users.to);
    const std::string size = plural(count, "user");
    bins.push_back({label, size, fmt::format("{} training rows: {}", label, size), count < 10});
    froms.push_back(from);
  }
  Metrics means;
  for (const auto& metric : evaluate::summed_metrics()) {
    means[fmt::format("{}@{}", metric.name, cutoff)] = 0.0;
  }
  const std::string headline = evaluate::headline_metric(means, "ndcg");
  for (const std::string& name : evaluate::metric_names({means})) {
    if (name == headline) model.activity_headline = model.activity.size();
    BinChart& chart = model.activity.emplace_back();
    chart.title = evaluate::metric_label(name);
    chart.bins = bins;
    const std::string kind = name.substr(0, name.find('@'));
    fill(chart, model, [&](const Inside& inside, std::size_t bin) {
      const auto at = std::ranges::find(inside.activity, froms[bin], &ActivityBin::from);
      return at == inside.activity.end() ? NAN : value_or_nan(at->means, kind);
    });
  }
}

std::string format_share(double share) {
  return fmt::format("{:.{}f}{}%", 100.0 * share, share < 0.0995 ? 1 : 0, kThinSpace);
}

void add_popularity(ReportModel& model, const Inside& first) {
  const auto sum = [](const Inside& inside, Index PopularityBin::*part) {
    double total = 0.0;
    for (const PopularityBin& bin : inside.popularity) total += static_cast<double>(bin.*part);
    return std::max(total, 1.0);
  };
  BinChart chart;
  std::vector<std::string> in_test;
  for (const PopularityBin& bin : first.popularity) {
    const std::string size = plural(bin.items, "item");
    chart.bins.push_back(
        {bin.name, size,
         fmt::format("{}: {} with {}", bin.name, size, plural(bin.training_rows, "training row")),
         false});
    in_test.push_back(
        format_share(static_cast<double>(bin.test_rows) / sum(first, &PopularityBin::test_rows)));
  }
  BinChart made_of = chart;
  chart.title = fmt::format("Test rows found among the first {}", first.cutoff);
  chart.note =
      "Of the test rows with popular and with rare items, the share that was recommended. Head, "
      "middle and tail have a third of the training rows each, the head in the fewest items.";
  fill(chart, model, [](const Inside& inside, std::size_t i) {
    const PopularityBin& bin = inside.popularity[i];
    return static_cast<double>(bin.hits) / static_cast<double>(bin.test_rows);
  });
  made_of.title = fmt::format("What the first {} are made of", first.cutoff);
  made_of.note = fmt::format(
      "Share of all recommended places. Of the test rows, head, middle and tail have {}.",
      fmt::join(in_test, ", "));
  fill(made_of, model, [&](const Inside& inside, std::size_t i) {
    return static_cast<double>(inside.popularity[i].recommended) /
           sum(inside, &PopularityBin::recommended);
  });
  model.popularity = {std::move(chart), std::move(made_of)};
}

// What the scopes of every level consist of.
std::vector<std::string> level_contents(const Inside& inside) {
  std::vector<std::string> contents;
  std::vector<const ItemGroup*> parts;
  if (inside.hierarchy) parts.push_back(&*inside.hierarchy);
  for (std::size_t level = 0; level < inside.relations->levels.size(); ++level) {
    std::vector<const ItemGroup*> next;
    for (const ItemGroup* part : parts) {
      for (const ItemGroup& group : part->groups) next.push_back(&group);
    }
    parts = std::move(next);
    contents.push_back(parts.empty() ? "single items"
                                     : plural(static_cast<Index>(parts.size()), "group"));
  }
  return contents;
}

RelationView view_relations(const Inside& inside, Index num_clients) {
  const Relations& relations = *inside.relations;
  RelationView view{.num_clients = num_clients,
                    .clients_per_block = relations.clients_per_block,
                    .has_hierarchy = inside.hierarchy.has_value(),
                    .bins_from = relations.bins_from};
  const auto contents = level_contents(inside);
  for (std::size_t i = 0; i < relations.levels.size(); ++i) {
    const WeightLevel& level = relations.levels[i];
    LevelView& shown = view.levels.emplace_back();
    shown.contents = contents[i];
    shown.label = view.has_hierarchy ? fmt::format("Level {}: {}", i + 1, contents[i])
                                     : std::string("All items");
    shown.own = level.own;
    shown.common = level.common;
    shown.weights = level.weights;
    double total = 0.0;
    for (const Index count : level.counts) total += static_cast<double>(count);
    for (const Index count : level.counts) {
      shown.shares.push_back(static_cast<double>(count) / std::max(total, 1.0));
    }
  }
  return view;
}

}  // namespace

void add_inside(ReportModel& model) {
  const auto first =
      std::ranges::find_if(model.runs, [](const RunRecord& run) { return run.inside.has_value(); });
  if (first == model.runs.end()) return;
  add_activity(model, first->inside->cutoff);
  add_popularity(model, *first->inside);
  for (std::size_t g = 0; g < model.groups.size(); ++g) {
    const RunGroup& group = model.groups[g];
    const auto find = [&](const auto& has) -> const RunRecord* {
      const auto run = std::ranges::find_if(group.runs, [&](std::size_t i) {
        return model.runs[i].inside.has_value() && has(*model.runs[i].inside);
      });
      return run == group.runs.end() ? nullptr : &model.runs[*run];
    };
    const auto when = [&](const RunRecord& run) {
      return fmt::format("At round {}, the best{}{}.", run.inside->round,
                         run.is_finished ? "" : " so far",
                         model.runs.size() > 1 ? ", of " + run.name : "");
    };
    if (const auto* run = find([](const Inside& in) { return in.relations.has_value(); })) {
      RelationView& view =
          model.relations.emplace_back(view_relations(*run->inside, run->result.num_clients));
      view.group = g;
      view.when = when(*run);
    }
    if (const auto* run = find([](const Inside& in) { return in.hierarchy.has_value(); })) {
      model.hierarchies.push_back({g, when(*run), *run->inside->hierarchy});
    }
    if (const auto* run = find([](const Inside& in) { return !in.neighbors.empty(); })) {
      model.neighbors.push_back({g, when(*run), run->inside->neighbors});
    }
  }
}
}  // namespace fedhur::report
