#include "fedhur/study/conflicts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/data/conflicts.hpp"
#include "fedhur/experiment/run_folder.hpp"
#include "fedhur/report/report_model.hpp"

namespace fedhur::study {
namespace {
constexpr std::size_t kFedCia = 1;  // its place among the methods

ConflictScene permuted(std::string name, double share, int groups) {
  return {std::move(name),
          {fmt::format("conflict.clients={}", share), fmt::format("conflict.groups={}", groups)}};
}

std::vector<ConflictScene> make_permuted_scenes() {
  std::vector<ConflictScene> scenes;
  for (const double share : {0.0, 0.1, 0.25, 0.5}) {
    scenes.push_back(
        permuted(share == 0.0 ? "no conflict" : fmt::format("{} of the clients, all groups", share),
                 share, static_cast<int>(data::kConflictGroups)));
    scenes.back().share = share;
  }
  scenes.front().groups = 0.0;
  scenes.back().groups = static_cast<double>(data::kConflictGroups);
  for (const int groups : {1, 3, 6}) {
    scenes.push_back(
        permuted(fmt::format("0.5 of the clients, {} of 10 groups", groups), 0.5, groups));
    scenes.back().groups = groups;
  }
  return scenes;
}

std::vector<ConflictStudy> make_studies() {
  return {
      {"conflicts", "Methods where clients disagree on what an item is.", make_permuted_scenes()},
      {"federations",
       "Methods in federations of three other kinds.",
       {{"two domains", {"conflict.clients=0.5", "conflict.kind=apart"}},
        {"Dirichlet clients", {"clients.kind=dirichlet", "clients.concentration=0.1"}},
        {"one user per client", {"clients.kind=user"}}}}};
}

// FedHUR and, below it, its control.
void add_relations(std::vector<ConflictMethod>& methods, const std::string& structure,
                   const std::string& temperature, bool has_itself) {
  const auto make = [&](const std::string& kind) {
    return Row{
        fmt::format("{}, {}, tau {}{}", kind == "utility" ? "FedHUR" : kind, structure, temperature,
                    has_itself ? "" : ", others alone"),
        "fedhur",
        {"relation.structure=" + structure, "relation.kind=" + kind,
         "retrieval.temperature=" + temperature, fmt::format("retrieval.itself={}", has_itself)},
        kind == "utility"};
  };
  const std::size_t control = methods.size() + 1;
  const bool is_drawn = has_itself || structure == "single";
  methods.push_back({make("utility"), control, is_drawn});
  methods.push_back({make("common"), {}, structure == "hierarchical" && temperature == "1.0"});
  if (temperature != "1.0" && has_itself) methods.push_back({make("similarity"), control});
}

std::vector<ConflictMethod> make_methods() {
  std::vector<ConflictMethod> methods = {{{"FedMF", "fedmf"}, {}, true},
                                         {{"FedCIA", "fedcia"}, {}, true}};
  expects(methods[kFedCia].row.method == "fedcia", "FedCIA has its place");
  for (const char* const structure : {"hierarchical", "single"}) {
    for (const char* const temperature : {"1.0", "0.3"}) {
      add_relations(methods, structure, temperature, true);
    }
    add_relations(methods, structure, "0.3", false);
  }
  methods.push_back({{"FedSLIM", "fedslim"}, {}, true});
  return methods;
}

// Which clients of a run are of which kind; empty where nobody is told apart.
std::vector<bool> kinds_in(const Cell& cell, std::size_t num_clients) {
  const experiment::ExperimentConfig config = experiment::resolve(cell.run.settings).config;
  if (config.data.conflict.share == 0.0) return {};
  return data::conflicting_clients(static_cast<Index>(num_clients), config.data.conflict.share,
                                   Rng(config.seed));
}

std::optional<WeightShares> weights_of(const Cell& cell) {
  const auto file = experiment::RunFolder::open(cell.run.folder).inside();
  if (!std::filesystem::exists(file)) return std::nullopt;
  const report::Inside inside = report::inside_from_json(read_text_file(file));
  if (!inside.relations || inside.relations->levels.empty()) return std::nullopt;
  return weight_shares(*inside.relations,
                       kinds_in(cell, inside.relations->levels.front().weights.size()));
}

void add(std::vector<double>& sums, const std::vector<double>& terms) {
  sums.resize(std::max(sums.size(), terms.size()), 0.0);
  for (std::size_t i = 0; i < terms.size(); ++i) sums[i] += terms[i];
}

// Over the runs that have any; their levels are the same.
std::optional<WeightShares> mean_of(const std::vector<WeightShares>& all) {
  if (all.empty()) return std::nullopt;
  WeightShares mean;
  for (const WeightShares& one : all) {
    add(mean.own_kind, one.own_kind);
    add(mean.itself, one.itself);
    mean.own_kind_if_equal += one.own_kind_if_equal / static_cast<double>(all.size());
  }
  for (double& value : mean.own_kind) value /= static_cast<double>(all.size());
  for (double& value : mean.itself) value /= static_cast<double>(all.size());
  return mean;
}

std::optional<evaluate::PairedTest> test_lines(const ConflictLine& line,
                                               const ConflictLine& rival) {
  std::vector<double> own;
  std::vector<double> other;
  for (std::size_t i = 0; i < line.seeds.size(); ++i) {
    const auto at = std::ranges::find(rival.seeds, line.seeds[i]);
    if (at == rival.seeds.end()) continue;
    own.push_back(line.ndcg[i]);
    other.push_back(rival.ndcg[static_cast<std::size_t>(at - rival.seeds.begin())]);
  }
  if (own.empty()) return std::nullopt;
  return evaluate::paired_test(own, other);
}

ConflictLine line_of(std::size_t data, std::size_t row, const std::vector<Cell>& cells) {
  const std::size_t num_methods = conflict_methods().size();
  ConflictLine line{.data = data, .scene = row / num_methods, .method = row % num_methods};
  std::vector<WeightShares> weights;
  for (const Cell& cell : cells) {
    if (cell.data != data || cell.row != row) continue;
    if (cell.outcome.state != experiment::RunState::finished) continue;
    line.seeds.push_back(cell.seed);
    line.ndcg.push_back(report::value_or_nan(cell.outcome.result.test, "ndcg@10"));
    if (const auto shares = weights_of(cell)) weights.push_back(*shares);
  }
  line.weights = mean_of(weights);
  return line;
}
}  // namespace

const std::vector<ConflictStudy>& conflict_studies() {
  static const std::vector<ConflictStudy> kStudies = make_studies();
  return kStudies;
}

const ConflictStudy* find_conflict_study(const std::string& name) {
  const auto found = std::ranges::find(conflict_studies(), name, &ConflictStudy::name);
  return found == conflict_studies().end() ? nullptr : &*found;
}

const std::vector<ConflictMethod>& conflict_methods() {
  static const std::vector<ConflictMethod> kMethods = make_methods();
  return kMethods;
}

PaperTable runs_of(const ConflictStudy& study) {
  PaperTable table{study.name, study.title, {}};
  for (const ConflictScene& scene : study.scenes) {
    for (const ConflictMethod& method : conflict_methods()) {
      Row row = method.row;
      row.label += "; " + scene.name;
      for (const char* const size : {"clients.count=20", "stop.max_rounds=15"}) {
        row.assignments.emplace_back(size);
      }
      if (row.method != "fedslim") row.assignments.emplace_back("model.embedding_dim=32");
      row.assignments.insert(row.assignments.end(), scene.assignments.begin(),
                             scene.assignments.end());
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

std::optional<WeightShares> weight_shares(const report::Relations& relations,
                                          const std::vector<bool>& kinds) {
  const auto K = static_cast<double>(kinds.size());
  const auto num_conflicting = static_cast<double>(std::ranges::count(kinds, true));
  if (num_conflicting == 0.0 || num_conflicting == K) return std::nullopt;
  WeightShares shares;
  for (const double size : {num_conflicting, K - num_conflicting}) {
    shares.own_kind_if_equal += size / K * (size - 1.0) / (K - 1.0);
  }
  for (const report::WeightLevel& level : relations.levels) {
    if (level.weights.size() != kinds.size()) return std::nullopt;
    double own_kind = 0.0;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      double alike = 0.0;
      double others = 0.0;
      for (std::size_t j = 0; j < kinds.size(); ++j) {
        if (j == k) continue;
        others += level.weights[k][j];
        if (kinds[j] == kinds[k]) alike += level.weights[k][j];
      }
      own_kind += others > 0.0 ? alike / others : 0.0;
    }
    shares.own_kind.push_back(own_kind / K);
    shares.itself.push_back(level.own / K);  // it is told in equal shares
  }
  return shares;
}

ConflictSummary summarize(const ConflictStudy& study, const ReproductionConfig& config,
                          const std::vector<Cell>& cells) {
  const std::size_t num_methods = conflict_methods().size();
  ConflictSummary summary{.study = &study, .data = config.data};
  std::vector<ConflictLine>& lines = summary.lines;
  for (std::size_t data = 0; data < config.data.size(); ++data) {
    for (std::size_t scene = 0; scene < study.scenes.size(); ++scene) {
      const std::size_t first = lines.size();
      for (std::size_t method = 0; method < num_methods; ++method) {
        lines.push_back(line_of(data, scene * num_methods + method, cells));
      }
      for (std::size_t method = 0; method < num_methods; ++method) {
        ConflictLine& line = lines[first + method];
        const auto control = conflict_methods()[method].control;
        if (method != kFedCia) line.against_fedcia = test_lines(line, lines[first + kFedCia]);
        if (control) line.against_control = test_lines(line, lines[first + *control]);
      }
    }
  }
  return summary;
}
}  // namespace fedhur::study
