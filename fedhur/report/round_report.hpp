// What a round and a run have to say, as values and as JSON.
#pragma once
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "fedhur/base/ids.hpp"
#include "fedhur/evaluate/metrics.hpp"
#include "fedhur/federation/traffic.hpp"

namespace fedhur::report {
using evaluate::Metrics;

struct RoundReport {
  Round round = 0;
  Metrics valid;
  Metrics test;
  double loss = 0.0;
  bool is_best = false;                   // by the validation criterion, so far
  std::map<std::string, double> seconds;  // by phase, evaluation included
  federation::TrafficByKind traffic;      // summed over clients
  std::map<std::string, double> numbers;  // whatever else the method measured
  std::vector<Index> absent;              // clients that missed a part of it
};

struct RunResult {
  std::string method;
  std::string data;
  std::uint64_t seed = 0;
  Index num_clients = 0;
  Index num_users = 0;
  Index num_items = 0;
  Round num_rounds = 0;  // that were run
  Round best_round = 0;  // 1-based for people: the first round is 1
  Metrics valid;         // of the best round
  Metrics test;
  std::map<std::string, double> seconds;  // total and by phase
  double bytes_up = 0.0;                  // per client and round, evaluation not counted
  double bytes_down = 0.0;
  double peak_rss_mb = 0.0;
  std::string run;  // the run folder
};

// Messages of other kinds are asked for by the experiment, to evaluate; no traffic of a method.
[[nodiscard]] inline bool belongs_to_method(std::string_view kind) {
  return kind != "evaluate" && kind != "keep";
}

[[nodiscard]] std::string to_json(const RoundReport& report);  // one line
[[nodiscard]] RoundReport round_report_from_json(
    const std::string& line);  // DataError if it is none
[[nodiscard]] nlohmann::ordered_json describe(const RunResult& result);
[[nodiscard]] std::string to_json(const RunResult& result);             // one line
[[nodiscard]] RunResult run_result_from_json(const std::string& text);  // DataError if it is none
}  // namespace fedhur::report
