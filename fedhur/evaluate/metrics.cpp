#include "fedhur/evaluate/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fedhur::evaluate {
ListQuality judge(std::span<const ItemId> ranked, std::span<const ItemId> truth, Index k) {
  expects(!truth.empty(), "only users with truth are judged");
  const auto length = std::min(ranked.size(), static_cast<std::size_t>(k));
  ListQuality quality;
  double hits = 0.0;
  double gain = 0.0;
  for (std::size_t position = 0; position < length; ++position) {
    if (!std::binary_search(truth.begin(), truth.end(), ranked[position])) continue;
    if (hits == 0.0) quality.mrr = 1.0 / static_cast<double>(position + 1);
    hits += 1.0;
    gain += 1.0 / std::log2(static_cast<double>(position) + 2.0);
  }
  double ideal_gain = 0.0;
  for (std::size_t position = 0; position < std::min(static_cast<std::size_t>(k), truth.size());
       ++position) {
    ideal_gain += 1.0 / std::log2(static_cast<double>(position) + 2.0);
  }
  quality.precision = hits / static_cast<double>(k);
  quality.recall = hits / static_cast<double>(truth.size());
  quality.ndcg = gain / ideal_gain;
  return quality;
}

QualitySums::QualitySums(std::vector<Index> cutoffs)
    : cutoffs_(std::move(cutoffs)), sums_(cutoffs_.size()) {}

void QualitySums::add(std::span<const ItemId> ranked, std::span<const ItemId> truth) {
  for (std::size_t i = 0; i < cutoffs_.size(); ++i) {
    const ListQuality quality = judge(ranked, truth, cutoffs_[i]);
    sums_[i].precision += quality.precision;
    sums_[i].recall += quality.recall;
    sums_[i].mrr += quality.mrr;
    sums_[i].ndcg += quality.ndcg;
  }
  num_users_ += 1.0;
}

std::map<std::string, double> QualitySums::means() const {
  std::map<std::string, double> means;
  const double scale = num_users_ > 0.0 ? 1.0 / num_users_ : 0.0;
  for (std::size_t i = 0; i < cutoffs_.size(); ++i) {
    const double precision = scale * sums_[i].precision;
    const double recall = scale * sums_[i].recall;
    const auto named = [&](const char* name) { return fmt::format("{}@{}", name, cutoffs_[i]); };
    means[named("precision")] = precision;
    means[named("recall")] = recall;
    means[named("mrr")] = scale * sums_[i].mrr;
    means[named("ndcg")] = scale * sums_[i].ndcg;
    means[named("f1")] =
        precision + recall > 0.0 ? 2.0 * precision * recall / (precision + recall) : 0.0;
  }
  return means;
}

MatrixOf<double> QualitySums::to_array() const {
  MatrixOf<double> array(static_cast<Index>(cutoffs_.size()), 5);
  for (std::size_t i = 0; i < cutoffs_.size(); ++i) {
    array.row(static_cast<Index>(i)) << num_users_, sums_[i].precision, sums_[i].recall,
        sums_[i].mrr, sums_[i].ndcg;
  }
  return array;
}

bool are_sums_over_users(const MatrixOf<double>& rows) {
  constexpr double kMostUsers = 4294967296.0;  // user ids have 32 bits
  constexpr double kRounding = 1e-9;
  if (!rows.allFinite() || rows.minCoeff() < 0.0) return false;
  for (Index i = 0; i < rows.rows(); ++i) {
    const double num_users = rows(i, 0);
    if (num_users != std::floor(num_users) || num_users > kMostUsers) return false;
    if (rows.row(i).maxCoeff() > num_users * (1.0 + kRounding)) return false;
  }
  return true;
}

void QualitySums::add_array(const MatrixOf<double>& array) {
  if (array.rows() != static_cast<Index>(cutoffs_.size()) || array.cols() != 5) {
    throw ProtocolError(fmt::format("quality sums are {} x {}, expected {} x 5", array.rows(),
                                    array.cols(), cutoffs_.size()));
  }
  const double num_users = array(0, 0);
  if (!are_sums_over_users(array) || (array.col(0).array() != num_users).any()) {
    throw ProtocolError("quality sums are not sums over users");
  }
  for (std::size_t i = 0; i < cutoffs_.size(); ++i) {
    const auto row = array.row(static_cast<Index>(i));
    sums_[i].precision += row(1);
    sums_[i].recall += row(2);
    sums_[i].mrr += row(3);
    sums_[i].ndcg += row(4);
  }
  num_users_ += num_users;
}
}  // namespace fedhur::evaluate
