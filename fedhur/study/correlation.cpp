#include "fedhur/study/correlation.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "fedhur/linalg/normalize.hpp"
#include "fedhur/methods/fedhur_round.hpp"
#include "fedhur/study/playing.hpp"

namespace fedhur::study {
namespace {
using experiment::Simulation;
using Scores = MatrixOf<double>;  // targets x candidates
constexpr std::array<const char*, 3> kParts = {"train", "valid", "test"};
using Qualities = std::array<Eigen::VectorXd, 3>;  // by part, of every client; NaN without rows

// The scores of the round, each scope's standardised over candidates, and averaged over scopes.
Scores scores_of(const ConfigTable& table, const std::string& relation, const State& state,
                 Round round) {
  Simulation simulation = simulate(table, {"relation.kind=" + relation});
  const auto K = simulation.num_clients();
  Scores total = Scores::Zero(K, K);
  const methods::RoundWatcher watcher = {
      .round = round, .show = [&](const methods::FedHurRound& now) {
        for (const server::Retrieval& retrieval : now.personal.retrievals) {
          for (Index k = 0; k < K; ++k) {
            Eigen::VectorXd row = retrieval.direct_scores.row(k).transpose();
            linalg::standardize(row);
            total.row(k) += row.transpose();
          }
        }
      }};
  replace_server(simulation, simulation.config, &watcher);
  restore(state, simulation);
  play(simulation, round);
  return total;
}

// NDCG over the whole ranking: it moves with every change of a rank, where a cutoff of ten hardly
// moves for a client of a few users.
Qualities judge_clients(const Simulation& simulation) {
  const auto K = simulation.num_clients();
  const Index n = simulation.dataset.num_items();
  const std::string metric = fmt::format("ndcg@{}", n);
  Qualities qualities;
  for (auto& part : qualities) part = Eigen::VectorXd::Constant(K, std::nan(""));
  simulation.executor.for_each(K, [&](Index k) {
    const experiment::Member& client = simulation.party[static_cast<std::size_t>(k)];
    const data::ClientData& data = client.data();
    const data::UserItems nothing(std::vector<std::vector<ItemId>>(data.users.size()));
    const data::ClientData of_training = {
        .users = data.users, .train = nothing, .valid = nothing, .test = data.train};
    const auto held_out = evaluate::rank_all_users(client.half().recommender(), data, {n});
    const auto trained = evaluate::rank_all_users(client.half().recommender(), of_training, {n});
    const auto put = [&](std::size_t part, const evaluate::QualitySums& sums) {
      if (sums.num_users() > 0.0) qualities[part](k) = sums.means().at(metric);
    };
    put(0, trained.test);
    put(1, held_out.valid);
    put(2, held_out.test);
  });
  return qualities;
}

// By part: what each candidate (column) changes for each target (row).
std::optional<std::array<Scores, 3>> changes_by_candidate(
    const ConfigTable& table, const State& state, Round round,
    const std::function<bool()>& should_stop) {
  Simulation none = simulate(table, {"relation.kind=none"});
  restore(state, none);
  play(none, round);
  const Qualities before = judge_clients(none);

  Simulation simulation = simulate(table, {"relation.kind=candidate"});
  const auto K = simulation.num_clients();
  std::array<Scores, 3> changes;
  for (auto& part : changes) part.resize(K, K);
  for (Index candidate = 0; candidate < K; ++candidate) {
    if (should_stop && should_stop()) return std::nullopt;
    ConfigTable own = table;
    experiment::add_assignment(own, "relation.kind=candidate");
    experiment::add_assignment(own, fmt::format("relation.candidate={}", candidate));
    replace_server(simulation, experiment::resolve(own).config, nullptr);
    restore(state, simulation);
    play(simulation, round);
    const Qualities after = judge_clients(simulation);
    for (std::size_t part = 0; part < 3; ++part) {
      changes[part].col(candidate) = after[part] - before[part];
    }
  }
  return changes;
}

CorrelationOf correlation_of(const std::string& relation, const std::string& part,
                             const Scores& scores, const Scores& changes) {
  CorrelationOf result{.relation = relation, .part = part, .pearson = {}, .spearman = {}};
  for (Index k = 0; k < scores.rows(); ++k) {
    std::vector<double> score;
    std::vector<double> change;
    for (Index j = 0; j < scores.cols(); ++j) {
      if (j == k || std::isnan(changes(k, j))) continue;
      score.push_back(scores(k, j));
      change.push_back(changes(k, j));
    }
    if (change.empty()) continue;
    result.pearson.push_back(evaluate::pearson(score, change));
    result.spearman.push_back(evaluate::spearman(score, change));
  }
  return result;
}
}  // namespace

std::vector<CorrelationOf> correlate(const ConfigTable& table, Round rounds,
                                     const std::function<bool()>& should_stop) {
  State state;
  {
    Simulation simulation = simulate(table, {});
    for (Round round = 0; round < rounds; ++round) {
      if (should_stop && should_stop()) return {};
      play(simulation, round);
    }
    state = save(simulation);
  }
  const auto changes = changes_by_candidate(table, state, rounds, should_stop);
  if (!changes) return {};
  std::vector<CorrelationOf> all;
  for (const std::string relation : {"similarity", "utility"}) {
    const Scores scores = scores_of(table, relation, state, rounds);
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      all.push_back(correlation_of(relation, kParts[part], scores, (*changes)[part]));
    }
  }
  return all;
}
}  // namespace fedhur::study
