// The tables and figures of the paper as runs to be made: which rows, with which settings, and what
// was published for them.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace fedhur::study {
struct Row {
  std::string label;                          // as printed
  std::string method;                         // whose tuned settings it starts from
  std::vector<std::string> assignments = {};  // on top of them, as for --set
  bool is_proposal = false;                   // ours; the others are its rivals
};

[[nodiscard]] Row proposal();  // FedHUR as it is

// Of a figure whose rows are points of a curve: their labels are numbers.
struct Axis {
  std::string label;    // what they count
  bool is_log = false;  // by powers of two
};

struct PaperTable {
  std::string name;   // "overall"
  std::string title;  // a sentence
  std::vector<Row> rows;
  bool measures_time = false;  // its runs have the machine for themselves
  std::optional<Axis> axis = {};
};

// overall, relations, query, scorer, efficiency; levels and directions are the two halves of the
// figure on sensitivity.
[[nodiscard]] const std::vector<PaperTable>& paper_tables();
// ConfigError that names the nearest one.
[[nodiscard]] const PaperTable& find_table(const std::string& name);

// The table with these rows only, in its own order; all of them if none is named. ConfigError that
// names the nearest one.
[[nodiscard]] PaperTable with_rows(PaperTable table, const std::vector<std::string>& labels);

// What the paper prints, where it is known: metric is "recall@10", "mrr@10", "ndcg@10", "mib_up",
// "mib_down", "round_seconds", "fine_tuning_seconds" or "seconds".
[[nodiscard]] std::optional<double> published(const std::string& table, const std::string& row,
                                              const std::string& data, const std::string& metric);

struct PublishedCorrelation {
  double pearson = 0.0;
  double spearman = 0.0;
};
// Of a relation's scores ("similarity", "utility") with the quality after aggregation.
[[nodiscard]] std::optional<PublishedCorrelation> published_correlation(const std::string& data,
                                                                        const std::string& relation,
                                                                        const std::string& part,
                                                                        const std::string& metric);

// On the data set that the paper's numbers are of; empty for any other.
[[nodiscard]] std::string note_on_published_data(const std::string& data);
}  // namespace fedhur::study
