#include "fedhur/report/figure_script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "fedhur/base/text.hpp"

namespace fedhur::report {
namespace {
constexpr std::array<const char*, kNumColors> kColors = {
    "#0072b2", "#d55e00", "#009e73", "#b8578f", "#8a6d00", "#3d9bd9", "#5e4fa2", "#6b6b6b"};

constexpr const char* kStyle =
    "set border 3 lc rgb '#666666'\nset tics nomirror\nset grid ytics lc rgb '#dddddd' lt 1\n"
    "set key top left reverse Left noautotitle\nset style fill solid 0.9 noborder\n";

// Points of size 1 are to have the ten pixels of a screen that SVG gives them.
std::string terminal(FigureFormat format, int width, int height) {
  switch (format) {
    case FigureFormat::svg:
      return fmt::format(
          "set terminal svg size {},{} font 'Helvetica,13' background 'white' noenhanced\n", width,
          height);
    case FigureFormat::png:
      return fmt::format(
          "set terminal pngcairo size {},{} font 'Sans,20' linewidth 2 pointscale 3.2 noenhanced\n",
          2 * width, 2 * height);
    case FigureFormat::pdf:
      return fmt::format(
          "set terminal pdfcairo size {:.2f}in,{:.2f}in font 'Sans,10' pointscale 1.2 noenhanced\n",
          width / 100.0, height / 100.0);
  }
  throw std::logic_error("a format without a terminal");
}

// One, two or five of some power of ten, so that at most so many make up the span.
double tick_step(double span, int most) {
  double step = std::pow(10.0, std::floor(std::log10(span / most)));
  for (const double factor : {2.0, 2.5, 2.0}) {
    if (span / step > most) step *= factor;
  }
  return step;
}
}  // namespace

std::string begin_figure(FigureFormat format, int width, int height) {
  return terminal(format, width, height) + kStyle;
}

std::string as_literal(std::string_view text) {
  std::string result = "'";
  for (const char c : printable(text)) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

std::string plain(std::string_view label) {
  std::string text;
  for (const char c : label) {
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    text += is_plain || c == '-' || c == '_' || c == '.' ? c : '_';
  }
  return text;
}

const char* color(std::size_t index) { return kColors[index % kNumColors]; }

std::string tick_labels(const std::vector<std::string>& labels) {
  std::vector<std::string> ticks;
  for (const std::string& label : labels) {
    ticks.push_back(fmt::format("{} {}", as_literal(label), ticks.size()));
  }
  return fmt::format("({})", fmt::join(ticks, ", "));
}

Scale scale_with_zero(double lowest, double highest, int most_steps) {
  const double low = std::min(0.0, lowest);
  const double high = std::max(0.0, highest);
  const double step = tick_step(high > low ? high - low : 1.0, most_steps);
  // What ends at a tick, but for rounding, needs no further one.
  return {.low = step * std::floor(low / step + 1e-9),
          .high = high > low ? step * std::ceil(high / step - 1e-9) : 1.0,
          .step = step};
}

Scale scale_around(double lowest, double highest, int most_steps) {
  // Where all values are the same, their neighbourhood.
  const double span = std::max({highest - lowest, 0.01 * std::abs(highest), 1e-6});
  const double margin = 0.08 * span + (span - (highest - lowest)) / 2.0;
  return {.low = lowest - margin, .high = highest + margin, .step = tick_step(span, most_steps)};
}

std::string set_axis(char axis, const Scale& scale) {
  // As many digits as the steps have, so that all ticks have as many.
  const int digits = std::max(0, -static_cast<int>(std::floor(std::log10(scale.step) + 1e-9)));
  return fmt::format("set {0}range [{1}:{2}]\nset {0}tics {3}\nset format {0} '%.{4}f'\n", axis,
                     scale.low, scale.high, scale.step, digits);
}
}  // namespace fedhur::report
