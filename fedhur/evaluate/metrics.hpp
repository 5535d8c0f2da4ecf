// Ranking quality of one list, and sums of it over users: the only form in which it leaves a
// client.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fedhur/base/ids.hpp"
#include "fedhur/base/named_arrays.hpp"

namespace fedhur::evaluate {
struct ListQuality {
  double precision = 0.0;
  double recall = 0.0;
  double mrr = 0.0;
  double ndcg = 0.0;
};

// Of the first k of a ranked list, best first. `truth` is sorted and not empty.
[[nodiscard]] ListQuality judge(std::span<const ItemId> ranked, std::span<const ItemId> truth,
                                Index k);

// Whether every row begins with a number of users that can be, followed by sums of metrics over
// them: each metric lies in [0, 1], so that no sum exceeds the number.
[[nodiscard]] bool are_sums_over_users(const MatrixOf<double>& rows);

// Sums over users, for several cutoffs; users without truth are not in it.
class QualitySums {
 public:
  explicit QualitySums(std::vector<Index> cutoffs);
  void add(std::span<const ItemId> ranked, std::span<const ItemId> truth);
  [[nodiscard]] double num_users() const { return num_users_; }
  // User means by name: "recall@10", "mrr@10", "ndcg@10", "precision@10", and "f1@10" of the mean
  // precision and recall. All 0 if there is no user.
  [[nodiscard]] std::map<std::string, double> means() const;

  // As an array of a message and back: a row per cutoff, the number of users in front.
  [[nodiscard]] MatrixOf<double> to_array() const;
  void add_array(const MatrixOf<double>& array);  // ProtocolError on a wrong shape or value

 private:
  std::vector<Index> cutoffs_;
  std::vector<ListQuality> sums_;
  double num_users_ = 0.0;
};
}  // namespace fedhur::evaluate
