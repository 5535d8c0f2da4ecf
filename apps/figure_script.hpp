// What all scripts of figures have in common.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fedhur::apps {
enum class FigureFormat : std::uint8_t { svg, png, pdf };

struct Figure {
  std::string name;    // of the file, without its ending
  std::string script;  // with its data; writes to standard output
};

// Terminal and style. The size is in pixels of a screen.
[[nodiscard]] std::string begin_figure(FigureFormat format, int width, int height);
// As gnuplot takes it literally, whatever it holds.
[[nodiscard]] std::string as_literal(std::string_view text);
[[nodiscard]] const char* color(std::size_t index);  // as on the report's page
}  // namespace fedhur::apps
