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
// NDCG over the whole ranking moves with every change of a rank, where a cutoff of ten hardly moves
// for a client of a few users.
constexpr std::array<const char*, 4> kMetrics = {"recall@10", "mrr@10", "ndcg@10", "ndcg"};
template <class Value>
using Table = std::array<std::array<Value, kMetrics.size()>, kParts.size()>;
using Qualities = Table<Eigen::VectorXd>;  // of every client; NaN without rows

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

Qualities judge_clients(const Simulation& simulation) {
  const auto K = simulation.num_clients();
  const Index n = simulation.dataset.num_items();
  std::vector<Index> cutoffs = {10};
  if (n > 10) cutoffs.push_back(n);
  const std::string whole = fmt::format("ndcg@{}", cutoffs.back());
  Qualities qualities;
  for (auto& part : qualities) part.fill(Eigen::VectorXd::Constant(K, std::nan("")));
  simulation.executor.for_each(K, [&](Index k) {
    const experiment::Member& client = simulation.party[static_cast<std::size_t>(k)];
    const data::ClientData& data = client.data();
    const data::UserItems nothing(std::vector<std::vector<ItemId>>(data.users.size()));
    const data::ClientData of_training = {
        .users = data.users, .train = nothing, .valid = nothing, .test = data.train};
    const auto held_out = evaluate::rank_all_users(client.half().recommender(), data, cutoffs);
    const auto trained =
        evaluate::rank_all_users(client.half().recommender(), of_training, cutoffs);
    const auto put = [&](std::size_t part, const evaluate::QualitySums& sums) {
      if (sums.num_users() <= 0.0) return;
      const auto means = sums.means();
      for (std::size_t metric = 0; metric < kMetrics.size(); ++metric) {
        const std::string name = kMetrics[metric];
        qualities[part][metric](k) = means.at(name == "ndcg" ? whole : name);
      }
    };
    put(0, trained.test);
    put(1, held_out.valid);
    put(2, held_out.test);
  });
  return qualities;
}

// What each candidate (column) changes for each target (row).
std::optional<Table<Scores>> changes_by_candidate(const ConfigTable& table, const State& state,
                                                  Round round,
                                                  const std::function<bool()>& should_stop) {
  Simulation none = simulate(table, {"relation.kind=none"});
  restore(state, none);
  play(none, round);
  const Qualities before = judge_clients(none);

  Simulation simulation = simulate(table, {"relation.kind=candidate"});
  const auto K = simulation.num_clients();
  Table<Scores> changes;
  for (auto& part : changes) part.fill(Scores(K, K));
  for (Index candidate = 0; candidate < K; ++candidate) {
    if (should_stop && should_stop()) return std::nullopt;
    ConfigTable own = table;
    experiment::add_assignment(own, "relation.kind=candidate");
    experiment::add_assignment(own, fmt::format("relation.candidate={}", candidate));
    replace_server(simulation, experiment::resolve(own).config, nullptr);
    restore(state, simulation);
    play(simulation, round);
    const Qualities after = judge_clients(simulation);
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      for (std::size_t metric = 0; metric < kMetrics.size(); ++metric) {
        changes[part][metric].col(candidate) = after[part][metric] - before[part][metric];
      }
    }
  }
  return changes;
}

// Two quantities whose correlation is asked for.
struct Pairs {
  std::vector<double> scores;
  std::vector<double> changes;
};

void correlate_within_targets(const Scores& scores, const Scores& changes, CorrelationOf& result) {
  for (Index k = 0; k < scores.rows(); ++k) {
    Pairs pairs;
    for (Index j = 0; j < scores.cols(); ++j) {
      if (j == k || std::isnan(changes(k, j))) continue;
      pairs.scores.push_back(scores(k, j));
      pairs.changes.push_back(changes(k, j));
    }
    if (pairs.scores.empty()) continue;
    result.pearson.push_back(evaluate::pearson(pairs.scores, pairs.changes));
    result.spearman.push_back(evaluate::spearman(pairs.scores, pairs.changes));
  }
}

void correlate_candidates(const Scores& scores, const Scores& changes, CorrelationOf& result) {
  Pairs pairs;
  for (Index j = 0; j < scores.cols(); ++j) {
    Pairs of_targets;
    for (Index k = 0; k < scores.rows(); ++k) {
      if (j == k || std::isnan(changes(k, j))) continue;
      of_targets.scores.push_back(scores(k, j));
      of_targets.changes.push_back(changes(k, j));
    }
    if (of_targets.scores.empty()) continue;
    pairs.scores.push_back(evaluate::spread_of(of_targets.scores).mean);
    pairs.changes.push_back(evaluate::spread_of(of_targets.changes).mean);
  }
  result.candidate_pearson = evaluate::pearson(pairs.scores, pairs.changes);
  result.candidate_spearman = evaluate::spearman(pairs.scores, pairs.changes);
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
      for (std::size_t metric = 0; metric < kMetrics.size(); ++metric) {
        CorrelationOf one{.relation = relation, .part = kParts[part], .metric = kMetrics[metric]};
        correlate_within_targets(scores, (*changes)[part][metric], one);
        correlate_candidates(scores, (*changes)[part][metric], one);
        all.push_back(std::move(one));
      }
    }
  }
  return all;
}
}  // namespace fedhur::study
