// When do relations between clients pay? Federations whose clients disagree, from not at all to
// half of them about everything, and methods that can take sides beside those that cannot.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "fedhur/evaluate/statistics.hpp"
#include "fedhur/report/figure_script.hpp"
#include "fedhur/report/inside_report.hpp"
#include "fedhur/study/reproduction.hpp"

namespace fedhur::study {
// A federation of the study, by what it takes to make it.
struct ConflictScene {
  std::string name;
  std::vector<std::string> assignments;
  std::optional<double> share = {};   // of conflicting clients, all groups: a point of a curve
  std::optional<double> groups = {};  // that half of the clients see permuted: likewise
};

// Scenes that one artefact shows.
struct ConflictStudy {
  std::string name;   // "conflicts"
  std::string title;  // a sentence
  std::vector<ConflictScene> scenes;
};
// conflicts: items permuted for more and more clients and groups. federations: clients that differ
// in other ways.
[[nodiscard]] const std::vector<ConflictStudy>& conflict_studies();
// Null if there is none.
[[nodiscard]] const ConflictStudy* find_conflict_study(const std::string& name);

struct ConflictMethod {
  Row row;
  std::optional<std::size_t> control = {};  // the method with the same weights for all targets
  bool is_drawn = false;
};
[[nodiscard]] const std::vector<ConflictMethod>& conflict_methods();

// All of it as runs: row s * (number of methods) + m is method m in scene s. They are small on
// purpose (20 clients, width 32, 15 rounds); settings of all runs override that.
[[nodiscard]] PaperTable runs_of(const ConflictStudy& study);

// Whom FedHUR's weights go to, by level.
struct WeightShares {
  std::vector<double> own_kind;  // of what a target gives to others: to clients of its own kind
  std::vector<double> itself;    // what it gives to itself
  double own_kind_if_equal = 0.0;
};
// `kinds` has one entry per client. Nothing where the weights are not those of single clients, or
// where all clients are of one kind.
[[nodiscard]] std::optional<WeightShares> weight_shares(const report::Relations& relations,
                                                        const std::vector<bool>& kinds);

struct ConflictLine {  // a method in a scene
  std::size_t data = 0;
  std::size_t scene = 0;  // of the study
  std::size_t method = 0;
  std::vector<std::uint64_t> seeds = {};  // whose runs are finished
  std::vector<double> ndcg = {};          // one per seed
  std::optional<evaluate::PairedTest> against_fedcia = {};
  std::optional<evaluate::PairedTest> against_control = {};
  std::optional<WeightShares> weights = {};  // means over seeds
};
struct ConflictSummary {
  const ConflictStudy* study = nullptr;
  std::vector<DataSource> data = {};
  std::vector<ConflictLine> lines = {};  // in the order of data, scenes and methods
};
// `cells` are those of runs_of(study).
[[nodiscard]] ConflictSummary summarize(const ConflictStudy& study,
                                        const ReproductionConfig& config,
                                        const std::vector<Cell>& cells);

[[nodiscard]] std::string to_markdown(const ConflictSummary& summary,
                                      const std::vector<std::string>& notes);
[[nodiscard]] std::string to_csv(const ConflictSummary& summary);
[[nodiscard]] std::string to_json(const ConflictSummary& summary,
                                  const std::vector<std::string>& notes);
// A figure per data set of which any run is finished: NDCG@10 by the share of conflicting clients,
// and by the number of groups that half of the clients see permuted. None without such scenes.
[[nodiscard]] std::vector<report::Figure> draw_conflicts(const ConflictSummary& summary,
                                                         report::FigureFormat format);
}  // namespace fedhur::study
