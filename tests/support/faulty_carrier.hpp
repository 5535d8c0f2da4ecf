// Connects a hub with sites in this process through a network that loses, delays, doubles, damages
// and reorders what it carries and breaks connections, as the seed says. The same carrier without
// faults is the plainest that a hub can have.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fedhur/base/random.hpp"
#include "fedhur/transport/network/hub.hpp"
#include "fedhur/transport/network/site.hpp"

namespace fedhur::tests {
// How likely each fate is for a frame, whatever happens to the others.
struct FaultRates {
  double drop = 0;
  double duplicate = 0;
  double corrupt = 0;     // a byte changes; the receiver notices and drops the frame
  double delay = 0;       // later frames overtake it
  double disconnect = 0;  // the frame is the last of its connection, and lost
};

struct FaultConfig {
  FaultRates down;  // of tasks
  FaultRates up;    // of replies and progress
  std::chrono::microseconds longest_delay{3000};
  std::chrono::microseconds beat{1500};  // between two reports of a site's progress
};

struct FaultCounts {
  std::atomic<std::uint64_t> frames = 0;
  std::atomic<std::uint64_t> dropped = 0;
  std::atomic<std::uint64_t> duplicated = 0;
  std::atomic<std::uint64_t> corrupted = 0;
  std::atomic<std::uint64_t> noticed = 0;  // of those that arrived corrupted
  std::atomic<std::uint64_t> delayed = 0;
  std::atomic<std::uint64_t> disconnected = 0;
  std::atomic<std::uint64_t> died = 0;  // sites
};

// What a site's work throws when its process is killed. The carrier starts it again.
struct SiteDied {};

class FaultyCarrier {
 public:
  // The hub and the counts outlive it.
  FaultyCarrier(transport::Hub& hub, const FaultConfig& config, const Rng& rng,
                FaultCounts& counts);
  // Breaks all connections; no site works on anything then. The hub goes on.
  ~FaultyCarrier();
  FaultyCarrier(const FaultyCarrier&) = delete;
  FaultyCarrier& operator=(const FaultyCarrier&) = delete;

  // Connects a site. `next_life` is asked for it at once, and for another when it has died; what it
  // returns lives until then, or until this is destroyed.
  using NextLife = std::function<transport::Site*()>;
  void add(const std::string& name, const NextLife& next_life);

 private:
  class Line;
  class Link;
  transport::Hub* hub_;
  FaultConfig config_;
  Rng rng_;
  FaultCounts* counts_;
  std::vector<std::unique_ptr<Link>> links_;
};
}  // namespace fedhur::tests
