// What one client holds: its users and their rows, by part.
#pragma once
#include <vector>

#include "fedhur/data/interactions.hpp"

namespace fedhur::data {
struct ClientData {
  std::vector<UserId> users;  // ascending; row u of the lists below belongs to users[u]
  UserItems train;
  UserItems valid;
  UserItems test;
};

// One per client, 0 .. num_clients - 1. `parts` has one entry per interaction, `user_clients` one
// per user of the data set.
[[nodiscard]] std::vector<ClientData> distribute(const Dataset& dataset,
                                                 const std::vector<Part>& parts,
                                                 const std::vector<ClientId>& user_clients);
}  // namespace fedhur::data
