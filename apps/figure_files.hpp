// Figures as files: the flags that ask for them, and the pictures with their scripts.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "fedhur/report/figure_script.hpp"

namespace fedhur::apps {
struct FigureFolders {  // empty: none of this format
  std::string svg;
  std::string png;
  std::string pdf;

  [[nodiscard]] bool are_wanted() const { return !svg.empty() || !png.empty() || !pdf.empty(); }
};

void add_figure_flags(CLI::App& app, FigureFolders& folders, const std::string& description);

// The files of all figures in all formats that are asked for; beside each lies its script, to be
// changed and drawn again: gnuplot quality.svg.gp > quality.svg. ConfigError if a folder cannot be
// made, Error from gnuplot.
using DrawFigures = std::function<std::vector<report::Figure>(report::FigureFormat)>;
std::vector<std::string> write_figures(const FigureFolders& folders, const DrawFigures& draw_all);
// The same errors before there is anything to draw.
void check_figures(const FigureFolders& folders);
}  // namespace fedhur::apps
