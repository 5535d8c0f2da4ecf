#include "fedhur/evaluate/evaluation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "fedhur/base/fixed_point_sum.hpp"
#include "fedhur/base/settings.hpp"

namespace fedhur::evaluate {
using message::Message;

void declare_settings(Settings& settings, EvaluationConfig& config) {
  settings.add("evaluate.k", config.cutoffs, between(1, 10000), Length{},
               "every k of the metrics @k");
  std::sort(config.cutoffs.begin(), config.cutoffs.end());
  const auto repeated = std::unique(config.cutoffs.begin(), config.cutoffs.end());
  config.cutoffs.erase(repeated, config.cutoffs.end());
  config.criterion = fmt::format("f1@{}", headline_cutoff(config.cutoffs));  // the paper's f1@10
  std::vector<std::string_view> kinds;
  for (const Metric& metric : all_metrics()) kinds.push_back(metric.name);
  const std::string_view last = kinds.back();
  kinds.pop_back();
  const std::string allowed =
      fmt::format("{} or {}, an @ and one of evaluate.k", fmt::join(kinds, ", "), last);
  settings.add("evaluate.criterion", config.criterion,
               "of the validation split; selects the best round and decides when to stop. By "
               "default F1 at 10, or at the smallest k if 10 is not among them",
               allowed);
  settings.require(QualitySums(config.cutoffs).means().contains(config.criterion),
                   "evaluate.criterion", allowed);
}

Message quality_reply(const Quality& quality, Round round) {
  Message reply{.kind = "evaluate", .round = round, .arrays = {}};
  reply.arrays.set("valid", quality.valid.to_array());
  reply.arrays.set("test", quality.test.to_array());
  reply.arrays.set("test_by_activity", quality.test_breakdown.by_activity());
  reply.arrays.set("test_by_popularity", quality.test_breakdown.by_popularity());
  return reply;
}

namespace {
Quality no_users(const std::vector<Index>& cutoffs) {
  return {QualitySums(cutoffs), QualitySums(cutoffs), Breakdown(headline_cutoff(cutoffs))};
}

void add(Quality& total, const NamedArrays& sums) {
  total.valid.add_array(sums.doubles("valid"));
  total.test.add_array(sums.doubles("test"));
  total.test_breakdown.add_arrays(sums.doubles("test_by_activity"),
                                  sums.doubles("test_by_popularity"));
}

// Ranked lists hold at most so many items of interest; counts of items are whole numbers, which a
// sum over all clients keeps.
constexpr double kMostItemsPerUser = 0x1p18;

void check_quality(const NamedArrays& sums, const std::vector<Index>& cutoffs, double most_users) {
  Quality own = no_users(cutoffs);
  add(own, sums);
  if (own.test_breakdown.num_users() != own.test.num_users()) {
    throw ProtocolError("a breakdown of quality is not one of the users who were tested");
  }
  const double num_users = std::max(own.valid.num_users(), own.test.num_users());
  if (num_users > most_users) {
    throw ProtocolError(
        fmt::format("quality is of {} users, expected at most {}", num_users, most_users));
  }
  if (sums.doubles("test_by_popularity").maxCoeff() > most_users * kMostItemsPerUser) {
    throw ProtocolError("a breakdown of quality has more items than its users can");
  }
}

// The arrays of all answers, added up.
class Sums {
 public:
  explicit Sums(const Quality& shapes) {
    const Message like = quality_reply(shapes, 0);
    for (const auto& [name, array] : like.arrays.entries()) {
      const MatrixOf<double>& shape = like.arrays.doubles(name);
      const double per_user = name == "test_by_popularity" ? kMostItemsPerUser : 1.0;
      sums_[name] = std::make_unique<FixedPointSum>(shape.rows(), shape.cols(),
                                                    per_user * federation::kMostUsers);
    }
  }
  void add(const NamedArrays& answer) {
    for (const auto& [name, sum] : sums_) sum->add(answer.doubles(name));
  }
  [[nodiscard]] NamedArrays arrays() const {
    NamedArrays arrays;
    for (const auto& [name, sum] : sums_) arrays.set(name, sum->in_doubles());
    return arrays;
  }

 private:
  std::map<std::string, std::unique_ptr<FixedPointSum>> sums_;
};
}  // namespace

Quality evaluate_clients(federation::Federation& federation, Round round,
                         const std::vector<Index>& cutoffs) {
  const double most = federation::most_users(federation.num_clients());
  const auto sums = std::make_shared<Sums>(no_users(cutoffs));
  (void)sum_of(
      federation, all_clients(federation), {.kind = "evaluate", .round = round, .arrays = {}},
      [cutoffs, most](const Message& answer) { check_quality(answer.arrays, cutoffs, most); },
      [sums](federation::Answer& answer) {
        sums->add(answer.message.arrays);
        answer.message.arrays = {};
      });
  Quality total = no_users(cutoffs);
  add(total, sums->arrays());
  return total;
}
}  // namespace fedhur::evaluate
