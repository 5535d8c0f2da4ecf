#include "fedhur/report/round_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fedhur/report/json_text.hpp"

namespace fedhur::report {
namespace {
Json metrics_to_json(const Metrics& metrics) {
  Json json = Json::object();
  for (const std::string& name : evaluate::metric_names({metrics})) json[name] = metrics.at(name);
  return json;
}

std::map<std::string, double> numbers_from_json(const Json& json) {
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : json.items()) {
    numbers[name] =
        value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  }
  return numbers;
}
}  // namespace

std::string to_json(const RoundReport& report) {
  Json json;
  json["round"] = report.round + 1;
  json["valid"] = metrics_to_json(report.valid);
  json["test"] = metrics_to_json(report.test);
  json["loss"] = report.loss;
  json["best"] = report.is_best;
  json["seconds"] = report.seconds;
  Json traffic = Json::object();
  for (const auto& [kind, bytes] : report.traffic) {
    traffic[kind] = {{"up", bytes.up}, {"down", bytes.down}};
  }
  json["bytes"] = traffic;
  for (const auto& [name, value] : report.numbers) json[name] = value;
  if (!report.absent.empty()) json["absent"] = report.absent;
  return json.dump();
}

RoundReport round_report_from_json(const std::string& line) {
  return parse_json(line, "a round's report", [](const Json& json) {
    RoundReport report;
    report.round = json.at("round").get<Round>() - 1;
    report.valid = numbers_from_json(json.at("valid"));
    report.test = numbers_from_json(json.at("test"));
    report.loss = json.at("loss").is_null() ? 0.0 : json.at("loss").get<double>();
    report.is_best = json.at("best").get<bool>();
    report.seconds = numbers_from_json(json.at("seconds"));
    for (const auto& [kind, bytes] : json.at("bytes").items()) {
      report.traffic[kind] = {bytes.at("up").get<std::uint64_t>(),
                              bytes.at("down").get<std::uint64_t>()};
    }
    if (json.contains("absent")) json.at("absent").get_to(report.absent);
    static constexpr std::array kOwn = {"round", "valid",   "test", "loss",
                                        "best",  "seconds", "bytes"};
    for (const auto& [name, value] : json.items()) {
      if (std::find(kOwn.begin(), kOwn.end(), name) == kOwn.end() && value.is_number()) {
        report.numbers[name] = value.get<double>();
      }
    }
    return report;
  });
}

Json describe(const RunResult& result) {
  Json json;
  json["method"] = result.method;
  json["data"] = result.data;
  json["seed"] = result.seed;
  json["clients"] = result.num_clients;
  json["users"] = result.num_users;
  json["items"] = result.num_items;
  json["rounds"] = result.num_rounds;
  json["best_round"] = result.best_round;
  json["valid"] = metrics_to_json(result.valid);
  json["test"] = metrics_to_json(result.test);
  Json seconds = Json::object();
  for (const char* phase : {"total", "local_training", "server", "fine_tuning", "evaluation"}) {
    seconds[phase] = result.seconds.contains(phase) ? result.seconds.at(phase) : 0.0;
  }
  for (const auto& [phase, value] : result.seconds) seconds[phase] = value;
  json["seconds"] = seconds;
  json["bytes_per_client_round"] = {{"up", std::llround(result.bytes_up)},
                                    {"down", std::llround(result.bytes_down)}};
  json["peak_rss_mb"] = std::llround(result.peak_rss_mb);
  json["run"] = result.run;
  return json;
}

std::string to_json(const RunResult& result) { return to_line(describe(result)); }

RunResult run_result_from_json(const std::string& text) {
  return parse_json(text, "a run's result", [](const Json& json) {
    RunResult result;
    json.at("method").get_to(result.method);
    json.at("data").get_to(result.data);
    json.at("seed").get_to(result.seed);
    json.at("clients").get_to(result.num_clients);
    json.at("users").get_to(result.num_users);
    json.at("items").get_to(result.num_items);
    json.at("rounds").get_to(result.num_rounds);
    json.at("best_round").get_to(result.best_round);
    result.valid = numbers_from_json(json.at("valid"));
    result.test = numbers_from_json(json.at("test"));
    result.seconds = numbers_from_json(json.at("seconds"));
    json.at("bytes_per_client_round").at("up").get_to(result.bytes_up);
    json.at("bytes_per_client_round").at("down").get_to(result.bytes_down);
    json.at("peak_rss_mb").get_to(result.peak_rss_mb);
    json.at("run").get_to(result.run);
    return result;
  });
}
}  // namespace fedhur::report
