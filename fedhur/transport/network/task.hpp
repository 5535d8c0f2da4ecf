// What passes between a server and its sites, whatever carries it. A site is a process that hosts
// one or many clients.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fedhur/base/ids.hpp"

namespace fedhur::transport {
// Numbers the exchanges of a run: 1, 2, ... Server and sites agree on it across restarts.
using Sequence = std::uint64_t;
// An encoded message; many sites may be sent the same one.
using Bytes = std::shared_ptr<const std::vector<std::byte>>;

struct Task {  // one request to one or several clients of a site
  Sequence sequence = 0;
  std::vector<ClientId> clients;
  Bytes message;
  Sequence after = 0;    // what the clients were told before and must have worked on; 0 for nothing
  bool is_told = false;  // nobody waits for a reply; only a problem is sent
};

struct Reply {  // of one client
  Sequence sequence = 0;
  ClientId client{};
  Bytes message = nullptr;
  std::string problem = {};  // instead of a message: why the client could not answer
};

// How far a client has come, as its site says.
struct ClientProgress {
  ClientId client{};
  Sequence received = 0;  // the newest task that has arrived, or begun to
  Sequence answered = 0;  // the newest task whose reply was sent
};
}  // namespace fedhur::transport
