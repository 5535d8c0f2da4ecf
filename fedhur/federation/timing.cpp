#include "fedhur/federation/timing.hpp"

#include <array>
#include <utility>

#include "fedhur/base/stopwatch.hpp"

namespace fedhur::federation {
std::vector<Answer> TimingFederation::exchange(std::span<const Request> requests) {
  const Stopwatch watch;
  std::vector<Answer> answers = inner_->exchange(requests);
  if (!requests.empty()) by_kind_[requests.front().message->kind] += watch.seconds();
  return answers;
}

void TimingFederation::tell(std::span<const Request> requests) {
  const Stopwatch watch;
  inner_->tell(requests);
  if (!requests.empty()) by_kind_[requests.front().message->kind] += watch.seconds();
}

Seconds TimingFederation::take() { return std::exchange(by_kind_, {}); }

Seconds phases_of_round(const Seconds& by_kind, double total) {
  constexpr std::array<std::pair<const char*, const char*>, 4> kPhases = {
      {{"count", "counting"},
       {"train", "local_training"},
       {"query", "query"},
       {"finetune", "fine_tuning"}}};
  Seconds phases;
  double server = total;
  for (const auto& [kind, phase] : kPhases) {
    const auto found = by_kind.find(kind);
    if (found == by_kind.end()) continue;
    phases[phase] = found->second;
    server -= found->second;
  }
  phases["server"] = server;
  return phases;
}
}  // namespace fedhur::federation
