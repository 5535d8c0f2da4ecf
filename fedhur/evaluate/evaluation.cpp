#include "fedhur/evaluate/evaluation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fedhur::evaluate {
using message::Message;

void read_settings(ConfigTable& table, EvaluationConfig& config) {
  ConfigSection section(table, "evaluate");
  std::vector<ConfigScalar> cutoffs;
  for (const Index k : config.cutoffs) cutoffs.emplace_back(static_cast<std::int64_t>(k));
  section.read("k", cutoffs);
  config.cutoffs.clear();
  for (const ConfigScalar& k : cutoffs) {
    const auto* number = std::get_if<std::int64_t>(&k);
    section.require(number != nullptr && *number >= 1 && *number <= 10000, "k",
                    "a list of whole numbers from 1 to 10000");
    config.cutoffs.push_back(static_cast<Index>(*number));
  }
  section.require(!config.cutoffs.empty(), "k", "at least one number");
  std::sort(config.cutoffs.begin(), config.cutoffs.end());
  const auto repeated = std::unique(config.cutoffs.begin(), config.cutoffs.end());
  config.cutoffs.erase(repeated, config.cutoffs.end());
  if (!table.contains("evaluate.criterion")) {
    // The paper's f1@10, or the smallest cutoff where 10 is not among them.
    config.criterion = fmt::format("f1@{}", headline_cutoff(config.cutoffs));
  }
  section.read("criterion", config.criterion);
  std::vector<std::string_view> kinds;
  for (const Metric& metric : all_metrics()) kinds.push_back(metric.name);
  const std::string_view last = kinds.back();
  kinds.pop_back();
  section.require(
      QualitySums(config.cutoffs).means().contains(config.criterion), "criterion",
      fmt::format("{} or {}, an @ and one of evaluate.k", fmt::join(kinds, ", "), last));
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

void check_quality(const NamedArrays& sums, const std::vector<Index>& cutoffs) {
  Quality own = no_users(cutoffs);
  add(own, sums);
  if (own.test_breakdown.num_users() != own.test.num_users()) {
    throw ProtocolError("a breakdown of quality is not one of the users who were tested");
  }
}
}  // namespace

Quality evaluate_clients(federation::Federation& federation, Round round,
                         const std::vector<Index>& cutoffs) {
  Quality total = no_users(cutoffs);
  for (const auto& answer :
       ask_all(federation, {.kind = "evaluate", .round = round, .arrays = {}},
               [cutoffs](const Message& sums) { check_quality(sums.arrays, cutoffs); })) {
    add(total, answer.message.arrays);
  }
  return total;
}
}  // namespace fedhur::evaluate
