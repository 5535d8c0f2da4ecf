#include "fedhur/study/paper.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "fedhur/base/error.hpp"
#include "fedhur/base/nearest_name.hpp"

namespace fedhur::study {
namespace {
std::vector<Row> method_rows() {
  return {{"Popularity", "popularity"}, {"MF (local)", "local"},
          {"FedMF", "fedmf"},           {"FedNCF", "fedncf"},
          {"PFedRec", "pfedrec"},       {"GPFedRec", "gpfedrec"},
          {"FedRAP", "fedrap"},         {"FedCA", "fedca"},
          {"FedCIA", "fedcia"},         proposal()};
}

Row fedhur_row(std::string label, std::vector<std::string> assignments, bool is_proposal = false) {
  return {std::move(label), "fedhur", std::move(assignments), is_proposal};
}

std::vector<Row> relation_rows() {
  std::vector<Row> rows = {fedhur_row("none", {"relation.kind=none"})};
  for (const std::string structure : {"single", "hierarchical"}) {
    for (const std::string kind : {"similarity", "complementarity", "both", "utility"}) {
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

// Direct scores alone, and the scorer with each choice of its inputs that the paper compares.
std::vector<Row> scorer_rows() {
  const auto with = [](const std::string& label, const std::string& inputs, bool is_proposal) {
    return fedhur_row(label, {"scorer.refinement_weight=0.5", "scorer.inputs=" + inputs},
                      is_proposal);
  };
  return {fedhur_row("no scorer", {"scorer.refinement_weight=0"}),
          with("rho", R"(["strengths"])", false),
          with("nu", R"(["scale"])", false),
          with("s", R"(["total"])", false),
          with("rho, nu", R"(["strengths", "scale"])", false),
          with("rho, s", R"(["strengths", "total"])", false),
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

struct Printed {
  std::string_view table, row, data, metric;
  double value;
};
// FedRAP's MRR on ML-100K is left out: the paper prints its recall there once more.
constexpr std::array kPrinted = {
    Printed{"overall", "MF (local)", "ml-100k", "recall@10", .0756},
    Printed{"overall", "MF (local)", "ml-100k", "mrr@10", .3232},
    Printed{"overall", "MF (local)", "ml-100k", "ndcg@10", .1504},
    Printed{"overall", "FedMF", "ml-100k", "recall@10", .1813},
    Printed{"overall", "FedMF", "ml-100k", "mrr@10", .5501},
    Printed{"overall", "FedMF", "ml-100k", "ndcg@10", .3198},
    Printed{"overall", "FedNCF", "ml-100k", "recall@10", .1680},
    Printed{"overall", "FedNCF", "ml-100k", "mrr@10", .5568},
    Printed{"overall", "FedNCF", "ml-100k", "ndcg@10", .3170},
    Printed{"overall", "PFedRec", "ml-100k", "recall@10", .1681},
    Printed{"overall", "PFedRec", "ml-100k", "mrr@10", .5685},
    Printed{"overall", "PFedRec", "ml-100k", "ndcg@10", .3233},
    Printed{"overall", "GPFedRec", "ml-100k", "recall@10", .1162},
    Printed{"overall", "GPFedRec", "ml-100k", "mrr@10", .4550},
    Printed{"overall", "GPFedRec", "ml-100k", "ndcg@10", .2395},
    Printed{"overall", "FedRAP", "ml-100k", "recall@10", .0600},
    Printed{"overall", "FedRAP", "ml-100k", "ndcg@10", .1260},
    Printed{"overall", "FedCA", "ml-100k", "recall@10", .1184},
    Printed{"overall", "FedCA", "ml-100k", "mrr@10", .4107},
    Printed{"overall", "FedCA", "ml-100k", "ndcg@10", .2008},
    Printed{"overall", "FedCIA", "ml-100k", "recall@10", .1903},
    Printed{"overall", "FedCIA", "ml-100k", "mrr@10", .5855},
    Printed{"overall", "FedCIA", "ml-100k", "ndcg@10", .3440},
    Printed{"overall", "FedHUR", "ml-100k", "recall@10", .1973},
    Printed{"overall", "FedHUR", "ml-100k", "mrr@10", .6146},
    Printed{"overall", "FedHUR", "ml-100k", "ndcg@10", .3693},
    Printed{"efficiency", "FedCIA", "ml-100k", "mib_up", .82},
    Printed{"efficiency", "FedCIA", "ml-100k", "mib_down", .82},
    Printed{"efficiency", "FedCIA", "ml-100k", "seconds", 610},
    Printed{"efficiency", "FedHUR", "ml-100k", "mib_up", .92},
    Printed{"efficiency", "FedHUR", "ml-100k", "mib_down", 1.16},
    Printed{"efficiency", "FedHUR", "ml-100k", "seconds", 700},
};
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

std::optional<double> published(const std::string& table, const std::string& row,
                                const std::string& data, const std::string& metric) {
  const auto* const found = std::ranges::find_if(kPrinted, [&](const Printed& printed) {
    return printed.table == table && printed.row == row && printed.data == data &&
           printed.metric == metric;
  });
  if (found == kPrinted.end()) return std::nullopt;
  return found->value;
}
}  // namespace fedhur::study
