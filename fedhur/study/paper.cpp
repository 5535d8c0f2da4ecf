#include "fedhur/study/paper.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fedhur/base/error.hpp"
#include "fedhur/base/nearest_name.hpp"

namespace fedhur::study {
namespace {
// FedSLIM is ours too, so no rival of FedHUR.
std::vector<Row> method_rows() {
  return {{"Popularity", "popularity"},
          {"MF (local)", "local"},
          {"FedMF", "fedmf"},
          {"FedNCF", "fedncf"},
          {"PFedRec", "pfedrec"},
          {"GPFedRec", "gpfedrec"},
          {"FedRAP", "fedrap"},
          {"FedCA", "fedca"},
          {"FedCIA", "fedcia"},
          {"FedSLIM", "fedslim", {}, true},
          proposal()};
}

Row fedhur_row(std::string label, std::vector<std::string> assignments, bool is_proposal = false) {
  return {std::move(label), "fedhur", std::move(assignments), is_proposal};
}

// `common` is a control that the paper has not: what it shows is not personal.
std::vector<Row> relation_rows() {
  std::vector<Row> rows = {fedhur_row("none", {"relation.kind=none"})};
  for (const std::string structure : {"single", "hierarchical"}) {
    for (const std::string kind : {"similarity", "complementarity", "both", "common", "utility"}) {
      rows.push_back(fedhur_row(structure + " " + kind,
                                {"relation.structure=" + structure, "relation.kind=" + kind},
                                structure == "hierarchical" && kind == "utility"));
    }
  }
  return rows;
}

std::vector<Row> query_rows() {
  return {fedhur_row("H", {"query.form=local"}), fedhur_row("H - HF", {"query.form=right"}),
          fedhur_row("H - FH", {"query.form=left"}),
          fedhur_row("H - (HF + FH)/2", {"query.form=utility"}, true)};
}

// The six choices of the scorer's inputs that the paper compares, and direct scores alone.
std::vector<Row> scorer_rows() {
  const auto with = [](const std::string& label, const std::string& inputs, bool is_proposal) {
    return fedhur_row(label, {"scorer.refinement_weight=0.5", "scorer.inputs=" + inputs},
                      is_proposal);
  };
  return {fedhur_row("no scorer", {"scorer.refinement_weight=0"}),
          with("s", R"(["total"])", false),
          with("rho", R"(["strengths"])", false),
          with("nu, s", R"(["scale", "total"])", false),
          with("rho, s", R"(["strengths", "total"])", false),
          with("rho, nu", R"(["strengths", "scale"])", false),
          with("rho, nu, s", R"(["strengths", "scale", "total"])", true)};
}

std::vector<Row> level_rows() {
  return {fedhur_row("0", {"relation.kind=none"}), fedhur_row("1", {"hierarchy.branching=[8]"}),
          fedhur_row("2", {"hierarchy.branching=[8, 4]"}),
          fedhur_row("3", {R"(hierarchy.branching=[8, 4, "items"])"}, true),
          fedhur_row("4", {R"(hierarchy.branching=[8, 4, 2, "items"])"})};
}

std::vector<Row> direction_rows() {
  std::vector<Row> rows;
  for (const int directions : {1, 4, 16, 64}) {
    rows.push_back(fedhur_row(fmt::format("{}", directions),
                              {fmt::format("query.directions={}", directions)}, directions == 16));
  }
  return rows;
}

}  // namespace

Row proposal() { return {"FedHUR", "fedhur", {}, true}; }

const std::vector<PaperTable>& paper_tables() {
  static const std::vector<PaperTable> kTables = {
      {"overall", "All methods, full ranking of the test part.", method_rows()},
      {"relations", "FedHUR with other relations between clients.", relation_rows()},
      {"query", "FedHUR with other forms of the query.", query_rows()},
      {"scorer", "FedHUR without and with the learned scorer, by its inputs.", scorer_rows()},
      {"efficiency", "Traffic per client and round, and time, of whole runs.", method_rows(), true},
      {"levels", "FedHUR by the number of levels of its item groups.", level_rows(), false,
       Axis{"levels of item groups"}},
      {"directions", "FedHUR by the number of directions of its queries.", direction_rows(), false,
       Axis{"directions of a query", true}},
  };
  return kTables;
}

const PaperTable& find_table(const std::string& name) {
  const auto found = std::ranges::find(paper_tables(), name, &PaperTable::name);
  if (found != paper_tables().end()) return *found;
  std::vector<std::string> known;
  for (const PaperTable& table : paper_tables()) known.push_back(table.name);
  throw ConfigError(
      fmt::format("there is no table '{}'{}", name,
                  hint(name, known, fmt::format("; expected one of {}", fmt::join(known, ", ")))));
}
PaperTable with_rows(PaperTable table, const std::vector<std::string>& labels) {
  if (labels.empty()) return table;
  std::vector<std::string> known;
  for (const Row& row : table.rows) known.push_back(row.label);
  for (const std::string& label : labels) {
    if (std::ranges::find(known, label) != known.end()) continue;
    throw ConfigError(
        fmt::format("--row: the table {} has no row '{}'{}", table.name, label,
                    hint(label, known, fmt::format("; expected {}", fmt::join(known, ", ")))));
  }
  std::erase_if(table.rows, [&](const Row& row) {
    return std::ranges::find(labels, row.label) == labels.end();
  });
  return table;
}
}  // namespace fedhur::study
