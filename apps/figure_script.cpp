#include "apps/figure_script.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "apps/text.hpp"

namespace fedhur::apps {
namespace {
constexpr std::array kColors = {"#0072b2", "#d55e00", "#009e73", "#b8578f",
                                "#8a6d00", "#3d9bd9", "#5e4fa2", "#6b6b6b"};

constexpr const char* kStyle =
    "set border 3 lc rgb '#666666'\nset tics nomirror\nset grid ytics lc rgb '#dddddd' lt 1\n"
    "set key top left reverse Left noautotitle\nset style fill solid 0.9 noborder\n";

std::string terminal(FigureFormat format, int width, int height) {
  switch (format) {
    case FigureFormat::svg:
      return fmt::format(
          "set terminal svg size {},{} font 'Helvetica,13' background 'white' noenhanced\n", width,
          height);
    case FigureFormat::png:
      return fmt::format("set terminal pngcairo size {},{} font 'Sans,20' linewidth 2 noenhanced\n",
                         2 * width, 2 * height);
    case FigureFormat::pdf:
      return fmt::format("set terminal pdfcairo size {:.2f}in,{:.2f}in font 'Sans,10' noenhanced\n",
                         width / 100.0, height / 100.0);
  }
  throw std::logic_error("a format without a terminal");
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

const char* color(std::size_t index) { return kColors[index % kColors.size()]; }
}  // namespace fedhur::apps
