// What a server tells a site at the beginning and at the end.
#pragma once
#include <string>
#include <vector>

#include "fedhur/transport/network/task.hpp"

namespace fedhur::transport {
struct Welcome {
  std::string run_id;                  // differs from run to run; a restart goes on with the same
  std::string configuration;           // TOML
  Index num_clients = 0;               // of the federation
  std::vector<ClientId> clients = {};  // that the site may speak for; the server fills it in
  std::string catalogue_sha256 = {};   // hexadecimal; empty without a catalogue
  Bytes catalogue = nullptr;           // a site gets none if its copy is the same
};

struct Farewell {
  bool is_finished = false;  // false: the run has ended early
  std::string reason;
};
}  // namespace fedhur::transport
