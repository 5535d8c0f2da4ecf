// How much a run will take, by its dimensions. Rough, and said to be.
#pragma once
#include <string>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/index.hpp"

namespace fedhur::apps {
struct SizeEstimate {
  double bytes = 0.0;
  std::string reckoning;  // how the number came about
};

// Of a server, on disk and in memory: what all clients send in a round.
[[nodiscard]] SizeEstimate estimate_server(Index clients, Index items, const ConfigTable& resolved);
// Of a site, on disk: what its clients keep.
[[nodiscard]] SizeEstimate estimate_site(Index clients, Index items, const ConfigTable& resolved);
}  // namespace fedhur::apps
