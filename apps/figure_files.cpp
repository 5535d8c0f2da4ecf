#include "apps/figure_files.hpp"

#include <array>
#include <filesystem>

#include "apps/gnuplot.hpp"
#include "fedhur/base/file.hpp"

namespace fedhur::apps {
namespace fs = std::filesystem;
namespace {
struct Format {
  FigureFormat format;
  const char* ending;
  std::string FigureFolders::*folder;
};
constexpr std::array kFormats = {Format{FigureFormat::svg, ".svg", &FigureFolders::svg},
                                 Format{FigureFormat::png, ".png", &FigureFolders::png},
                                 Format{FigureFormat::pdf, ".pdf", &FigureFolders::pdf}};
}  // namespace

void add_figure_flags(CLI::App& app, FigureFolders& folders, const std::string& description) {
  app.add_option("--svg", folders.svg, description)->type_name("DIR");
  app.add_option("--png", folders.png, "The same as PNG")->type_name("DIR");
  app.add_option("--pdf", folders.pdf, "The same as PDF")->type_name("DIR");
}

std::vector<std::string> write_figures(const FigureFolders& folders, const DrawFigures& draw) {
  std::vector<std::string> files;
  for (const Format& format : kFormats) {
    const fs::path folder = folders.*format.folder;
    if (folder.empty()) continue;
    make_folder(folder);
    for (const Figure& figure : draw(format.format)) {
      const fs::path file = folder / (figure.name + format.ending);
      write_file_atomically(file, run_gnuplot(figure.script));
      write_file_atomically(file.string() + ".gp", figure.script);
      files.push_back(file.string());
    }
  }
  return files;
}

void check_figures(const FigureFolders& folders) {
  if (!folders.are_wanted()) return;
  for (const Format& format : kFormats) {
    const fs::path folder = folders.*format.folder;
    if (!folder.empty()) make_folder(folder);
  }
  (void)run_gnuplot("set print '-'\nprint 'here'\n");
}
}  // namespace fedhur::apps
