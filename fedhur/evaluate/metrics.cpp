#include "fedhur/evaluate/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <tuple>

namespace fedhur::evaluate {
namespace {
double gain_at(std::size_t place) { return 1.0 / std::log2(static_cast<double>(place) + 2.0); }

double precision(const JudgedList& list) {
  return static_cast<double>(list.hits.size()) / static_cast<double>(list.k);
}
double recall(const JudgedList& list) {
  return static_cast<double>(list.hits.size()) / static_cast<double>(list.num_truth);
}
double reciprocal_rank(const JudgedList& list) {
  return list.hits.empty() ? 0.0 : 1.0 / static_cast<double>(list.hits.front() + 1);
}
double ndcg(const JudgedList& list) {
  double gain = 0.0;
  for (const std::size_t place : list.hits) gain += gain_at(place);
  double ideal_gain = 0.0;
  for (std::size_t i = 0; i < std::min(list.k, list.num_truth); ++i) ideal_gain += gain_at(i);
  return gain / ideal_gain;
}
double f1(std::span<const double> means) {  // of the mean precision and the mean recall
  const double sum = means[0] + means[1];
  return sum > 0.0 ? 2.0 * means[0] * means[1] / sum : 0.0;
}

constexpr std::array kMetrics = {
    Metric{"precision", "Precision", "Share of the list that is in the truth.", 3, precision},
    Metric{"recall", "Recall", "Share of the truth that is in the list.", 0, recall},
    Metric{"mrr", "MRR", "One over the place of the first hit.", 1, reciprocal_rank},
    Metric{"ndcg", "NDCG", "Hits, worth less further down, as a share of the best list.", 2, ndcg},
    Metric{"f1", "F1", "Harmonic mean of mean precision and mean recall.", 4, nullptr, f1},
};
constexpr std::size_t kNumSums =
    std::ranges::count_if(kMetrics, [](const Metric& metric) { return metric.of_list != nullptr; });

// Sorts as metric_names() promises.
std::tuple<Index, int, std::string> key_of(const std::string& name) {
  const Metric* metric = find_metric(name);
  return {cutoff_of(name), metric == nullptr ? static_cast<int>(kMetrics.size()) : metric->rank,
          name};
}
}  // namespace

std::span<const Metric> all_metrics() { return kMetrics; }
std::span<const Metric> summed_metrics() { return all_metrics().first(kNumSums); }

const Metric* find_metric(std::string_view name) {
  const auto* found = std::ranges::find(kMetrics, name.substr(0, name.find('@')), &Metric::name);
  return found == kMetrics.end() ? nullptr : found;
}

std::string metric_label(std::string_view name) {
  const Metric* metric = find_metric(name);
  if (metric == nullptr) return std::string(name);
  return std::string(metric->label).append(name.substr(metric->name.size()));
}

Index cutoff_of(std::string_view name) {
  Index cutoff = 0;
  const std::size_t at = std::min(name.find('@'), name.size() - 1);
  (void)std::from_chars(name.data() + at + 1, name.data() + name.size(), cutoff);
  return cutoff;
}

std::vector<std::string> metric_names(const std::vector<Metrics>& metrics) {
  std::set<std::tuple<Index, int, std::string>> keys;
  for (const Metrics& some : metrics) {
    for (const auto& [name, value] : some) keys.insert(key_of(name));
  }
  std::vector<std::string> names;
  for (const auto& key : keys) names.push_back(std::get<2>(key));
  return names;
}

std::string headline_metric(const Metrics& metrics, const std::string& kind) {
  if (metrics.contains(kind + "@10")) return kind + "@10";
  for (const std::string& name : metric_names({metrics})) {
    if (name.starts_with(kind + "@")) return name;
  }
  return kind;
}

Eigen::RowVectorXd judge(std::span<const ItemId> ranked, std::span<const ItemId> truth, Index k) {
  expects(!truth.empty(), "only users with truth are judged");
  JudgedList list{.hits = {}, .k = static_cast<std::size_t>(k), .num_truth = truth.size()};
  for (std::size_t place = 0; place < std::min(ranked.size(), list.k); ++place) {
    if (std::ranges::binary_search(truth, ranked[place])) list.hits.push_back(place);
  }
  Eigen::RowVectorXd row(1 + static_cast<Index>(kNumSums));
  row(0) = 1.0;
  for (std::size_t i = 0; i < kNumSums; ++i) {
    row(static_cast<Index>(i) + 1) = kMetrics[i].of_list(list);
  }
  return row;
}

MatrixOf<double> no_sums(std::size_t num_rows) {
  return MatrixOf<double>::Zero(static_cast<Index>(num_rows), 1 + static_cast<Index>(kNumSums));
}

void QualitySums::add(std::span<const ItemId> ranked, std::span<const ItemId> truth) {
  for (std::size_t i = 0; i < cutoffs_.size(); ++i) {
    sums_.row(static_cast<Index>(i)) += judge(ranked, truth, cutoffs_[i]);
  }
}

Metrics QualitySums::means() const {
  Metrics result;
  const double scale = num_users() > 0.0 ? 1.0 / num_users() : 0.0;
  for (std::size_t i = 0; i < cutoffs_.size(); ++i) {
    std::vector<double> means;
    for (const Metric& metric : kMetrics) {
      const auto column = static_cast<Index>(means.size()) + 1;
      means.push_back(metric.of_list != nullptr ? scale * sums_(static_cast<Index>(i), column)
                                                : metric.of_means(means));
      result[fmt::format("{}@{}", metric.name, cutoffs_[i])] = means.back();
    }
  }
  return result;
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
  if (array.rows() != sums_.rows() || array.cols() != sums_.cols()) {
    throw ProtocolError(fmt::format("quality sums are {} x {}, expected {} x {}", array.rows(),
                                    array.cols(), sums_.rows(), sums_.cols()));
  }
  if (!are_sums_over_users(array) || (array.col(0).array() != array(0, 0)).any()) {
    throw ProtocolError("quality sums are not sums over users");
  }
  sums_ += array;
}
}  // namespace fedhur::evaluate
