#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fedhur/base/text.hpp"
#include "fedhur/study/figures.hpp"

namespace fedhur::study {
namespace {
using evaluate::Spread;
using report::as_literal;
using report::begin_figure;
using report::color;
using report::plain;
using report::Scale;
using report::scale_around;
using report::scale_with_zero;
using report::set_axis;
using report::tick_labels;

// In pixels of a screen, as begin_figure() has them.
constexpr double kCharacter = 8.0;  // the width that text may need
constexpr double kTop = 40;         // the title
constexpr double kAxis = 54;        // ticks and label below a panel
constexpr double kKey = 34;         // below that

// What a figure shows of one row: a mean over seeds.
struct Mark {
  std::string label;
  std::string text;  // mean and deviation
  std::size_t num_seeds = 0;
  Spread spread;
  std::optional<double> published;
  bool is_proposal = false;

  // Metrics that the runs were not asked for are no numbers.
  [[nodiscard]] bool is_known() const { return num_seeds > 0 && std::isfinite(spread.mean); }
  [[nodiscard]] double low() const { return spread.mean - spread.deviation; }
  [[nodiscard]] double high() const { return spread.mean + spread.deviation; }
};
using Marks = std::vector<Mark>;

struct Panel {
  std::string heading;
  Marks marks;
};

Panel panel_of(const Summary& summary, const DataSummary& data, const std::string& name) {
  const auto column = std::ranges::find(summary.columns, name, &Column::name);
  expects(column != summary.columns.end(), "a table has the columns that are drawn");
  Panel panel{.heading = column->heading, .marks = {}};
  for (const RowSummary& row : data.rows) {
    const Row& planned = summary.table->rows[row.row];
    Mark mark{.label = planned.label,
              .text = "-",
              .num_seeds = row.seeds.size(),
              .spread = {},
              .published = published(summary.table->name, planned.label, data.data.name, name),
              .is_proposal = planned.is_proposal};
    if (mark.num_seeds > 0) {
      mark.text = format_spread(row, *column);
      mark.spread = evaluate::spread_of(row.values.at(name));
    }
    panel.marks.push_back(std::move(mark));
  }
  return panel;
}

bool has_any(const Panel& panel) { return std::ranges::any_of(panel.marks, &Mark::is_known); }

bool has_deviations(const Marks& marks) {
  return std::ranges::any_of(marks, [](const Mark& mark) { return mark.num_seeds > 1; });
}
bool has_published(const Marks& marks) {
  return std::ranges::any_of(marks, [](const Mark& mark) { return mark.published.has_value(); });
}

// "mean and deviation over 5 seeds"
std::string describe_seeds(const Marks& marks) {
  std::size_t fewest = SIZE_MAX;
  std::size_t most = 0;
  for (const Mark& mark : marks) {
    if (!mark.is_known()) continue;
    fewest = std::min(fewest, mark.num_seeds);
    most = std::max(most, mark.num_seeds);
  }
  if (most < 2) return "one seed";
  return fewest == most ? fmt::format("mean and deviation over {} seeds", most)
                        : fmt::format("mean and deviation over {} to {} seeds", fewest, most);
}

struct Symbol {
  int point;  // gnuplot's number of its shape
  const char* color;
  const char* text;
};
Symbol proposed_symbol() { return {.point = 5, .color = color(1), .text = "proposed"}; }
Symbol published_symbol() { return {.point = 12, .color = "#111111", .text = "published"}; }

// Above and below all panels: what is shown, and what the marks mean. Not as a key, whose place
// and width gnuplot derives from a single panel.
std::string set_surroundings(const std::string& data, const Marks& marks,
                             const std::vector<Symbol>& symbols, double width, double height) {
  std::string script = fmt::format("set label 1 {} at screen 0.5,{} center\n",
                                   as_literal(fmt::format("{}, {}", data, describe_seeds(marks))),
                                   1.0 - 0.45 * kTop / height);
  double taken = 0.0;
  const auto room = [](const Symbol& symbol) {
    return 40 + kCharacter * static_cast<double>(display_width(symbol.text));
  };
  for (const Symbol& symbol : symbols) taken += room(symbol);
  double from_left = (width - taken) / 2.0 + 12;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    script += fmt::format(
        "set label {} {} at screen {},{} left offset 1,-0.1 point pt {} ps 0.8 lc rgb '{}'\n",
        i + 2, as_literal(symbols[i].text), from_left / width, 0.4 * kKey / height,
        symbols[i].point, symbols[i].color);
    from_left += room(symbols[i]);
  }
  return script;
}

// place mean deviation published is_proposal
std::string mark_data(std::size_t panel, const Marks& marks, const std::vector<double>& places) {
  std::string data = fmt::format("$panel{} << EOD\n", panel);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const Mark& mark = marks[i];
    data +=
        fmt::format("{} {} {} {} {}\n", places[i], mark.is_known() ? mark.spread.mean : NAN,
                    mark.spread.deviation, mark.published.value_or(NAN), mark.is_proposal ? 1 : 0);
  }
  return data + "EOD\n";
}

// Bars have to begin at zero to tell the truth. Where that would leave all of them the same length
// for the eye, dots on a shorter axis show what there is to see.
bool suits_bars(const Marks& marks) {
  double least = INFINITY;
  double most = 0.0;
  for (const Mark& mark : marks) {
    if (!mark.is_known()) continue;
    least = std::min(least, mark.spread.mean);
    most = std::max(most, mark.spread.mean);
  }
  return least < 0.7 * most;
}

Scale value_scale(const Marks& marks, bool from_zero, int most_steps) {
  double lowest = INFINITY;
  double highest = -INFINITY;
  for (const Mark& mark : marks) {
    lowest = std::min(lowest, mark.published.value_or(lowest));
    highest = std::max(highest, mark.published.value_or(highest));
    if (!mark.is_known()) continue;
    lowest = std::min(lowest, mark.low());
    highest = std::max(highest, mark.high());
  }
  return from_zero ? scale_with_zero(lowest, highest, most_steps)
                   : scale_around(lowest, highest, most_steps);
}

std::size_t widest(const std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, display_width(text));
  return width;
}

// A row per line, its number at the right.
std::string draw_bar_panel(const Panel& panel, std::size_t number, bool is_bars,
                           const Scale& scale) {
  std::vector<double> places;
  std::vector<std::string> labels;
  std::vector<std::string> texts;
  for (const Mark& mark : panel.marks) {
    places.push_back(static_cast<double>(places.size()));
    labels.push_back(number == 0 ? mark.label : "");
    texts.push_back(mark.text);
  }
  const std::string data = fmt::format("$panel{}", number);
  const std::string colors =
      fmt::format("($5 == 1 ? 0x{} : 0x{})", color(1) + 1, color(0) + 1);  // without their #
  std::vector<std::string> plots;
  if (is_bars) {
    plots.push_back(fmt::format(
        "{} using 2:1:(0):2:($1-0.33):($1+0.33):{} with boxxyerror lc rgb variable", data, colors));
  }
  if (has_published(panel.marks)) {  // white inside, so that the deviation can be seen on it
    plots.push_back(fmt::format("{} using 4:1 with points pt 13 ps 0.9 lc rgb '#ffffff'", data));
    plots.push_back(fmt::format("{} using 4:1 with points pt {} ps 0.9 lw 1.2 lc rgb '{}'", data,
                                published_symbol().point, published_symbol().color));
  }
  if (has_deviations(panel.marks)) {
    plots.push_back(
        fmt::format("{} using 2:1:3 with xerrorbars pt 0 lw 1.5 lc rgb '#222222'", data));
  }
  if (!is_bars) {
    plots.push_back(
        fmt::format("{} using 2:1:{} with points pt 7 ps 0.75 lc rgb variable", data, colors));
  }
  return mark_data(number, panel.marks, places) + set_axis('x', scale) +
         fmt::format("set xlabel {}\nset ytics {}\nset y2tics {}\nplot {}\n",
                     as_literal(panel.heading), tick_labels(labels), tick_labels(texts),
                     fmt::join(plots, ", "));
}

std::string draw_bars(const std::vector<Panel>& panels, const std::string& data,
                      report::FigureFormat format) {
  const auto count = static_cast<double>(panels.size());
  std::vector<std::string> labels;
  std::vector<std::string> texts;
  for (const Panel& panel : panels) {
    for (const Mark& mark : panel.marks) {
      labels.push_back(mark.label);
      texts.push_back(mark.text);
    }
  }
  const double left = 16 + kCharacter * static_cast<double>(widest(labels));
  const double right = 16 + kCharacter * static_cast<double>(widest(texts));
  const double across = panels.size() > 1 ? 180 : 400;  // of one panel
  const double width = left + count * (across + right);
  const auto num_rows = static_cast<double>(panels.front().marks.size());
  const double height = kTop + 26 * num_rows + kAxis + kKey;
  std::vector<Symbol> symbols = {proposed_symbol()};
  const bool is_published =
      std::ranges::any_of(panels, [](const Panel& panel) { return has_published(panel.marks); });
  if (is_published) symbols.push_back(published_symbol());
  std::string script = begin_figure(format, static_cast<int>(width), static_cast<int>(height)) +
                       set_surroundings(data, panels.front().marks, symbols, width, height);
  script += fmt::format(
      "unset grid\nset yzeroaxis lc rgb '#666666' lt 1\nset grid xtics lc rgb '#dddddd' lt 1\nset "
      "border 1\nset tics scale 0 textcolor rgb "
      "'#222222'\nset style fill solid 0.75 noborder\nset yrange [{}:-0.5]\nset link y2\n"
      "set multiplot layout 1,{} margins screen {},{},{},{} spacing screen {}\n",
      num_rows - 0.5, panels.size(), left / width, 1.0 - right / width, (kAxis + kKey) / height,
      1.0 - kTop / height, right / width);
  for (std::size_t p = 0; p < panels.size(); ++p) {
    const bool is_bars = suits_bars(panels[p].marks);
    // Dots need lines that lead to them from their names.
    script += fmt::format("set grid {}\n", is_bars ? "noytics" : "ytics");
    script += draw_bar_panel(panels[p], p, is_bars,
                             value_scale(panels[p].marks, is_bars, panels.size() > 1 ? 3 : 6));
    script += "unset label\n";
  }
  return script + "unset multiplot\n";
}

std::string draw_curves(const std::vector<Panel>& panels, const Axis& axis, const std::string& data,
                        report::FigureFormat format) {
  constexpr double kWidth = 860;
  constexpr double kHeight = 340;
  constexpr double kLeft = 88;
  std::vector<double> places;
  std::vector<std::string> ticks;
  for (const Mark& mark : panels.front().marks) {
    places.push_back(std::stod(mark.label));
    ticks.push_back(fmt::format("{} {}", as_literal(mark.label), mark.label));
  }
  std::string script =
      begin_figure(format, static_cast<int>(kWidth), static_cast<int>(kHeight)) +
      set_surroundings(data, panels.front().marks, {proposed_symbol()}, kWidth, kHeight);
  const double room = 0.06 * (axis.is_log ? std::log2(places.back() / places.front())
                                          : places.back() - places.front());
  script += axis.is_log
                ? fmt::format("set logscale x 2\nset xrange [{}:{}]\n",
                              places.front() * std::exp2(-room), places.back() * std::exp2(room))
                : fmt::format("set xrange [{}:{}]\n", places.front() - room, places.back() + room);
  script += fmt::format(
      "set xtics ({})\nset tics scale 0.5 textcolor rgb '#222222'\nset xlabel {}\nset multiplot "
      "layout 1,{} "
      "margins screen {},{},{},{} spacing screen {}\n",
      fmt::join(ticks, ", "), as_literal(axis.label), panels.size(), kLeft / kWidth,
      1.0 - 16 / kWidth, (kAxis + kKey) / kHeight, 1.0 - kTop / kHeight, (kLeft + 10) / kWidth);
  for (std::size_t p = 0; p < panels.size(); ++p) {
    const Marks& marks = panels[p].marks;
    script += mark_data(p, marks, places) + set_axis('y', value_scale(marks, false, 5));
    script += fmt::format(
        "set ylabel {0}\nplot $panel{1} using 1:2:3 with yerrorlines lw 2 pt 7 ps 0.6 lc rgb "
        "'{2}', "
        "'' using 1:($5 == 1 ? $2 : NaN) with points pt {3} ps 0.9 lc rgb '{4}'\nunset label\n",
        as_literal(panels[p].heading), p, color(0), proposed_symbol().point,
        proposed_symbol().color);
  }
  return script + "unset multiplot\n";
}

void scale_to_unit(Panel& panel) {
  double least = INFINITY;
  double most = -INFINITY;
  for (const Mark& mark : panel.marks) {
    if (!mark.is_known()) continue;
    least = std::min(least, mark.spread.mean);
    most = std::max(most, mark.spread.mean);
  }
  const double range = most > least ? most - least : 1.0;
  for (Mark& mark : panel.marks) {
    mark.spread = {.mean = (mark.spread.mean - least) / range,
                   .deviation = mark.spread.deviation / range};
  }
  panel.heading += ", scaled";
}

struct Drawn {
  const char* column;
  const char* heading = nullptr;  // that of the table, where there is no longer one
};
std::vector<Drawn> columns_to_draw(const PaperTable& table, CurveScale scale) {
  if (table.measures_time) {
    return {{"mib_up", "MiB up per client and round"},
            {"mib_down", "MiB down per client and round"},
            {"seconds", "seconds in all"}};
  }
  if (table.axis && scale == CurveScale::unit) return {{"ndcg@10"}, {"recall@10"}, {"mrr@10"}};
  if (table.axis) return {{"ndcg@10"}, {"recall@10"}};
  return {{"ndcg@10"}};
}
}  // namespace

std::vector<report::Figure> draw_table(const Summary& summary, report::FigureFormat format,
                                       CurveScale scale) {
  const PaperTable& table = *summary.table;
  const bool is_scaled = table.axis && scale == CurveScale::unit;
  std::vector<report::Figure> figures;
  for (const DataSummary& data : summary.data) {
    std::vector<Panel> panels;
    for (const Drawn& drawn : columns_to_draw(table, scale)) {
      Panel panel = panel_of(summary, data, drawn.column);
      if (drawn.heading != nullptr) panel.heading = drawn.heading;
      if (!has_any(panel)) continue;
      if (is_scaled) scale_to_unit(panel);
      panels.push_back(std::move(panel));
    }
    if (panels.empty()) continue;
    const std::string& title = data.data.name;
    figures.push_back(
        {.name = fmt::format("{}-{}{}", table.name, plain(title), is_scaled ? "-scaled" : ""),
         .script = table.axis ? draw_curves(panels, *table.axis, title, format)
                              : draw_bars(panels, title, format)});
  }
  return figures;
}

std::vector<report::Figure> draw_correlations(const std::vector<CorrelationCell>& cells,
                                              const ReproductionConfig& config,
                                              report::FigureFormat format) {
  std::vector<report::Figure> figures;
  const auto lines = lines_of(cells, Reading::targets);
  for (std::size_t data = 0; data < config.data.size(); ++data) {
    std::vector<Panel> panels = {{"Pearson", {}}, {"Spearman", {}}};
    for (const CorrelationLine& line : lines) {
      if (line.data != data || line.metric != "ndcg") continue;
      const auto add = [&](Panel& panel, const std::vector<double>& values) {
        panel.marks.push_back({.label = fmt::format("{}, {}", line.relation, line.part),
                               .text = format_correlation(values),
                               .num_seeds = values.size(),
                               .spread = evaluate::spread_of(values),
                               .published = {},
                               .is_proposal = line.relation == "utility"});
      };
      add(panels[0], line.pearson);
      add(panels[1], line.spearman);
    }
    if (!has_any(panels.front())) continue;
    const std::string& title = config.data[data].name;
    figures.push_back(
        {.name = "correlation-" + plain(title), .script = draw_bars(panels, title, format)});
  }
  return figures;
}
}  // namespace fedhur::study
