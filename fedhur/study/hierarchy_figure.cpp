#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "fedhur/base/text.hpp"
#include "fedhur/study/figures.hpp"

namespace fedhur::study {
namespace {
using report::as_literal;
using report::color;

// In pixels of a screen.
constexpr double kWidth = 860;
constexpr double kTitleHeight = 44;
constexpr double kLevel = 158;  // of which the bars take
constexpr double kBars = 118;
constexpr double kBottom = 48;  // label and key
constexpr double kLine = 17;    // of text
constexpr std::size_t kMostListed = 6;
constexpr std::size_t kTitleWidth = 48;  // in characters

// As much as fits, cut between characters.
std::string shortened(std::string_view text, std::size_t width) {
  std::string part = printable(text);
  if (display_width(part) <= width) return part;
  const auto drop_byte = [&] {
    const bool is_inner = (static_cast<unsigned char>(part.back()) & 0xC0U) == 0x80U;
    part.pop_back();
    return is_inner;
  };
  while (display_width(part) >= width) {
    while (drop_byte()) {
    }
  }
  return part + "…";
}

// Who helps on several levels has a colour of its own; all others share the first.
std::map<Index, const char*> colors_of(const ItemRelations& relations) {
  std::map<Index, int> counts;
  for (const ItemStep& step : relations.steps) {
    for (const Helper& helper : step.helpers) ++counts[helper.client];
  }
  std::map<Index, const char*> colors;
  std::size_t used = 0;
  for (const auto& [client, count] : counts) {
    colors[client] = color(count > 1 && used + 1 < report::kNumColors ? ++used : 0);
  }
  return colors;
}

double largest_weight(const ItemRelations& relations) {
  double largest = 1.0 / static_cast<double>(relations.num_clients);
  for (const ItemStep& step : relations.steps) {
    for (const Helper& helper : step.helpers) largest = std::max(largest, helper.weight);
  }
  return largest;
}

std::string describe_group(const ItemStep& step) {
  return step.num_items == 1
             ? fmt::format("level {}: the item alone, one of {}", step.level + 1, step.num_siblings)
             : fmt::format("level {}: a group of {} items, one of {} groups", step.level + 1,
                           step.num_items, step.num_siblings);
}

// The group and its most frequent items, at the left.
std::string list_items(const ItemStep& step, double top, double height) {
  std::vector<std::string> lines = {describe_group(step)};
  const std::size_t count = std::min(step.items.size(), kMostListed);
  for (std::size_t i = 0; i < count; ++i) lines.push_back(shortened(step.items[i], kTitleWidth));
  const Index num_more = step.num_items - static_cast<Index>(count);
  if (num_more > 0) lines.push_back(fmt::format("and {} more", num_more));
  std::string script;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double from_top = top + kLine * (static_cast<double>(i) + 0.5);
    script += fmt::format("set label {} {} at screen {:.4f},{:.4f} left textcolor rgb '{}'\n",
                          10 + i, as_literal(lines[i]), (i == 0 ? 14.0 : 26.0) / kWidth,
                          1.0 - from_top / height, i == 0 ? "#000000" : "#444444");
  }
  return script;
}

// The weights of the helpers, at the right.
std::string draw_helpers(const ItemRelations& relations, std::size_t level,
                         const std::map<Index, const char*>& colors) {
  const ItemStep& step = relations.steps[level];
  const bool is_last = level + 1 == relations.steps.size();
  std::vector<std::string> labels;
  std::string data = fmt::format("$level{} << EOD\n", level);
  for (const Helper& helper : step.helpers) {
    data += fmt::format("{} {} 0x{} {:.3f}\n", labels.size(), helper.weight,
                        colors.at(helper.client) + 1, helper.weight);  // without the #
    labels.push_back(helper.client == relations.client ? "itself"
                                                       : fmt::format("client {}", helper.client));
  }
  const double equal = 1.0 / static_cast<double>(relations.num_clients);
  return data +
         fmt::format(
             "EOD\nset yrange [{}:-0.5]\nset ytics {}\nset xlabel {}\n"
             "set arrow 1 from {},graph 0 to {},graph 1 nohead dt 2 lc rgb '#222222' front\n"
             "plot $level{} using 2:1:(0):2:($1-0.36):($1+0.36):3 with boxxyerror lc rgb variable, "
             "'' using 2:1:4 with labels left offset 0.6,0, NaN with lines dt 2 lc rgb '#222222' "
             "title {}\n",
             static_cast<double>(labels.size()) - 0.5, report::tick_labels(labels),
             is_last ? as_literal(fmt::format("weight of a helper of client {}", relations.client))
                     : "''",
             equal, equal, level,
             is_last ? as_literal(fmt::format("equal weights of {} clients", relations.num_clients))
                     : "''");
}
}  // namespace

std::vector<report::Figure> draw_hierarchy(const ItemRelations& relations, const std::string& name,
                                           report::FigureFormat format) {
  if (relations.steps.empty()) return {};
  const double height =
      kTitleHeight + kLevel * static_cast<double>(relations.steps.size()) + kBottom;
  std::string script =
      report::begin_figure(format, static_cast<int>(kWidth), static_cast<int>(height));
  // Room for the number beyond the longest bar.
  script +=
      report::set_axis('x', report::scale_with_zero(0.0, 1.12 * largest_weight(relations), 5));
  script += fmt::format(
      "unset grid\nset grid xtics lc rgb '#dddddd' lt 1\nset border 1\nset tics scale 0 textcolor "
      "rgb "
      "'#222222'\nset label 1 {} at screen 0.5,{} center\nset lmargin at screen {}\n"
      "set rmargin at screen {}\nset key at screen {},{} center center horizontal\n"
      "set multiplot\n",
      as_literal(
          fmt::format("{}, round {}", shortened(relations.item, kTitleWidth), relations.round)),
      1.0 - 18 / height, 500 / kWidth, 1.0 - 24 / kWidth, 668 / kWidth, 14 / height);
  const auto colors = colors_of(relations);
  for (std::size_t level = 0; level < relations.steps.size(); ++level) {
    const double top = kTitleHeight + kLevel * static_cast<double>(level);
    script += fmt::format("set tmargin at screen {}\nset bmargin at screen {}\n",
                          1.0 - top / height, 1.0 - (top + kBars) / height);
    script += list_items(relations.steps[level], top, height);
    script += draw_helpers(relations, level, colors) + "unset label\n";
  }
  return {{.name = name, .script = script + "unset multiplot\n"}};
}
}  // namespace fedhur::study
