// What all scripts of figures have in common.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fedhur::report {
enum class FigureFormat : std::uint8_t { svg, png, pdf };

struct Figure {
  std::string name;    // of the file, without its ending
  std::string script;  // with its data; writes to standard output
};

// Terminal and style. The size is in pixels of a screen.
[[nodiscard]] std::string begin_figure(FigureFormat format, int width, int height);
// As gnuplot takes it literally, whatever it holds.
[[nodiscard]] std::string as_literal(std::string_view text);
// A file name's worth of a label.
[[nodiscard]] std::string plain(std::string_view label);
constexpr std::size_t kNumColors = 8;
[[nodiscard]] const char* color(std::size_t index);  // as on the report's page; then again
// Labels of the places 0, 1, ... of an axis.
[[nodiscard]] std::string tick_labels(const std::vector<std::string>& labels);

// Where an axis begins and ends, and from one tick to the next.
struct Scale {
  double low = 0.0;
  double high = 1.0;
  double step = 0.2;
};
// For what has to be seen in full length, and where differences are what matters.
[[nodiscard]] Scale scale_with_zero(double lowest, double highest, int most_steps);
[[nodiscard]] Scale scale_around(double lowest, double highest, int most_steps);
[[nodiscard]] std::string set_axis(char axis, const Scale& scale);  // 'x' or 'y'
}  // namespace fedhur::report
