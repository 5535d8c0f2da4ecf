// The metrics of ranking quality, and sums of them over users: the only form in which they leave a
// client.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fedhur/base/ids.hpp"
#include "fedhur/base/named_arrays.hpp"

namespace fedhur::evaluate {
// What metrics are computed from: the first k of a user's list.
struct JudgedList {
  std::vector<std::size_t> hits;  // their places from 0, ascending
  std::size_t k = 0;
  std::size_t num_truth = 0;  // above 0
};

// A row of the table of metrics, the one place that names them.
struct Metric {
  std::string_view name;     // "ndcg" of "ndcg@10"
  std::string_view label;    // for people: "NDCG" of "NDCG@10"
  std::string_view meaning;  // a sentence
  int rank;                  // where metrics are listed one after the other
  // In [0, 1]. Every client sends its sum over users. Null where there is no sum to send, and the
  // metric comes from the means of those above it in the table.
  double (*of_list)(const JudgedList& list) = nullptr;
  double (*of_means)(std::span<const double> means) = nullptr;
  bool is_higher_better = true;
};
// Those with sums first, in the order of their columns.
[[nodiscard]] std::span<const Metric> all_metrics();
[[nodiscard]] std::span<const Metric> summed_metrics();

using Metrics = std::map<std::string, double>;                   // "recall@10" -> mean over users
[[nodiscard]] std::string metric_label(std::string_view name);   // "recall@10" -> "Recall@10"
[[nodiscard]] const Metric* find_metric(std::string_view name);  // nullptr if it is unknown
// The cutoff of "recall@10"; 0 if it has none.
[[nodiscard]] Index cutoff_of(std::string_view name);
// Names of all of them: smaller k first, then by rank; unknown ones last.
[[nodiscard]] std::vector<std::string> metric_names(const std::vector<Metrics>& metrics);
// The metric of that kind to show where there is room for one: at 10 if it is there.
[[nodiscard]] std::string headline_metric(const Metrics& metrics, const std::string& kind);

// The sums of one user: 1, then a value for every summed metric, of the first k of a ranked list,
// best first. `truth` is sorted and not empty.
[[nodiscard]] Eigen::RowVectorXd judge(std::span<const ItemId> ranked,
                                       std::span<const ItemId> truth, Index k);
// No users, `num_rows` times.
[[nodiscard]] MatrixOf<double> no_sums(std::size_t num_rows);

// Whether every row begins with a number of users that can be, followed by sums of metrics over
// them: each metric lies in [0, 1], so that no sum exceeds the number.
[[nodiscard]] bool are_sums_over_users(const MatrixOf<double>& rows);

// Sums over users, for several cutoffs; users without truth are not in it.
class QualitySums {
 public:
  explicit QualitySums(std::vector<Index> cutoffs)
      : cutoffs_(std::move(cutoffs)), sums_(no_sums(cutoffs_.size())) {}
  void add(std::span<const ItemId> ranked, std::span<const ItemId> truth);
  [[nodiscard]] double num_users() const { return sums_.size() > 0 ? sums_(0, 0) : 0.0; }
  [[nodiscard]] Metrics means() const;  // over users; all 0 if there is none

  // As an array of a message and back: a row per cutoff, the number of users in front.
  [[nodiscard]] const MatrixOf<double>& to_array() const { return sums_; }
  void add_array(const MatrixOf<double>& array);  // ProtocolError on a wrong shape or value

 private:
  std::vector<Index> cutoffs_;
  MatrixOf<double> sums_;
};
}  // namespace fedhur::evaluate
