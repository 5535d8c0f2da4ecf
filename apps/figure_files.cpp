#include "apps/figure_files.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/base/text.hpp"

namespace fedhur::apps {
namespace fs = std::filesystem;
namespace {
struct Format {
  report::FigureFormat format;
  const char* ending;
  std::string FigureFolders::*folder;
};
constexpr std::array kFormats = {Format{report::FigureFormat::svg, ".svg", &FigureFolders::svg},
                                 Format{report::FigureFormat::png, ".png", &FigureFolders::png},
                                 Format{report::FigureFormat::pdf, ".pdf", &FigureFolders::pdf}};

// Writes what the script writes to its standard output. Error if gnuplot is not installed (with the
// package to install) or refuses the script (with what it says).
void run_gnuplot(const fs::path& script, const fs::path& output) {
  // Without the user's own settings, and from standard input: a name may begin with a dash.
  const std::string command = fmt::format("exec gnuplot --default-settings - < {} 2>&1 > {}",
                                          shell_quoted(script), shell_quoted(output));
  std::FILE* messages = ::popen(command.c_str(), "r");
  if (messages == nullptr) {
    throw Error(fmt::format("cannot start gnuplot: {}", std::strerror(errno)));
  }
  std::string said;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), messages) != nullptr) said += buffer.data();
  const int status = ::pclose(messages);
  if (status == 0) return;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    throw Error("figures are drawn by gnuplot, which is not installed: install gnuplot-nox");
  }
  throw Error(fmt::format("gnuplot could not draw a figure: {}", printable(said)));
}

void draw(const report::Figure& figure, const fs::path& file) {
  const fs::path script = file.string() + ".gp";
  const fs::path part = file.string() + ".part";
  write_file_atomically(script, figure.script);
  try {
    run_gnuplot(script, part);
    if (fs::file_size(part) == 0) throw Error("gnuplot could not draw a figure: it wrote nothing");
    fs::rename(part, file);
  } catch (const std::exception&) {
    std::error_code ignored;
    fs::remove(part, ignored);
    throw;
  }
}
}  // namespace

void add_figure_flags(CLI::App& app, FigureFolders& folders, const std::string& description) {
  app.add_option("--svg", folders.svg, description)->type_name("DIR");
  app.add_option("--png", folders.png, "The same as PNG")->type_name("DIR");
  app.add_option("--pdf", folders.pdf, "The same as PDF")->type_name("DIR");
}

std::vector<std::string> write_figures(const FigureFolders& folders, const DrawFigures& draw_all) {
  check_figures(folders);
  std::vector<std::string> files;
  for (const Format& format : kFormats) {
    const fs::path folder = folders.*format.folder;
    if (folder.empty()) continue;
    for (const report::Figure& figure : draw_all(format.format)) {
      const fs::path file = folder / (figure.name + format.ending);
      draw(figure, file);
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
  run_gnuplot("/dev/null", "/dev/null");
}
}  // namespace fedhur::apps
