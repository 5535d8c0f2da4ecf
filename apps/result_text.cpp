#include "apps/result_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <tuple>

#include "apps/text.hpp"

namespace fedhur::apps {
namespace {
constexpr std::array<std::string_view, 5> kFirstKinds = {"recall", "mrr", "ndcg", "precision",
                                                         "f1"};

using MetricKey = std::tuple<int, std::ptrdiff_t, std::string>;  // sorts as metric_names() promises

MetricKey key_of(const std::string& name) {
  const std::size_t at = std::min(name.find('@'), name.size());
  int cutoff = 0;
  if (at < name.size()) {
    (void)std::from_chars(name.data() + at + 1, name.data() + name.size(), cutoff);
  }
  const auto* const kind =
      std::find(kFirstKinds.begin(), kFirstKinds.end(), std::string_view(name).substr(0, at));
  return {cutoff, kind - kFirstKinds.begin(), name};
}

std::string metrics_table(const report::RunResult& result) {
  std::vector<std::vector<std::string>> rows = {{""}, {"valid"}, {"test"}};
  for (const std::string& name : metric_names({result.valid, result.test})) {
    rows[0].push_back(name);
    rows[1].push_back(format_metric(result.valid, name));
    rows[2].push_back(format_metric(result.test, name));
  }
  rows[1][0] = padded(rows[1][0], 11, Align::left);  // as wide as the words below
  return format_table(rows, {Align::left});
}

std::string seconds_text(const std::map<std::string, double>& seconds) {
  std::vector<std::pair<double, std::string>> phases;
  double total = 0.0;
  for (const auto& [phase, value] : seconds) {
    if (phase == "total") {
      total = value;
    } else if (value > 0.0) {
      phases.emplace_back(value, phase);
    }
  }
  std::ranges::sort(phases, std::greater<>());
  std::vector<std::string> parts;
  parts.reserve(phases.size());
  for (const auto& [value, phase] : phases) {
    parts.push_back(fmt::format("{} {:.1f} s", phase_text(phase), value));
  }
  const std::string detail = parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
  return fmt::format("{:.1f} s{}", total, detail);
}
}  // namespace

std::vector<std::string> metric_names(const std::vector<report::Metrics>& metrics) {
  std::set<MetricKey> keys;
  for (const report::Metrics& some : metrics) {
    for (const auto& [name, value] : some) keys.insert(key_of(name));
  }
  std::vector<std::string> names;
  std::ranges::transform(keys, std::back_inserter(names),
                         [](const MetricKey& key) { return std::get<2>(key); });
  return names;
}

std::string format_metric(const report::Metrics& metrics, const std::string& name) {
  const auto found = metrics.find(name);
  if (found == metrics.end() || !std::isfinite(found->second)) return "-";
  return fmt::format("{:.4f}", found->second);
}

std::string headline_metric(const report::Metrics& metrics, const std::string& kind) {
  if (metrics.contains(kind + "@10")) return kind + "@10";
  for (const std::string& name : metric_names({metrics})) {
    if (name.starts_with(kind + "@")) return name;
  }
  return kind;
}

std::string phase_text(const std::string& phase) {
  std::string text = phase;
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string format_result(const report::RunResult& result) {
  std::string text =
      fmt::format("{} on {}: {} users, {} items, {} clients, seed {}\n\n", result.method,
                  printable(result.data), format_count(result.num_users),
                  format_count(result.num_items), format_count(result.num_clients), result.seed);
  text += metrics_table(result) + "\n";
  text += fmt::format("best round   {} of {}\n", result.best_round, result.num_rounds);
  text += fmt::format("time         {}\n", seconds_text(result.seconds));
  text += fmt::format("traffic      {} up, {} down per client and round\n",
                      format_bytes(result.bytes_up), format_bytes(result.bytes_down));
  text += fmt::format("peak memory  {:.0f} MB\n", result.peak_rss_mb);
  return text + fmt::format("run folder: {}\n", result.run);
}
}  // namespace fedhur::apps
