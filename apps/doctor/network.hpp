// Whether the two ends can come together: where a server listens, how a site gets there.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "apps/client_flags.hpp"
#include "apps/doctor/certificates.hpp"
#include "apps/server_flags.hpp"
#include "fedhur/transport/network/task.hpp"

namespace fedhur::apps {
// That a server can take its port, and that of --monitor.
void check_listening(const ServerFlags& flags, Checkup& checkup);

struct Reached {
  std::optional<transport::Welcome> welcome = {};     // what the server says of its run
  std::optional<DatedThing> server_certificate = {};  // seen in a handshake
};
// The way to the server: name, connection, TLS, and whether it takes this site. The server answers
// a site that asks and leaves; it counts as connected only once it says that it is ready to work,
// which this does not. `catalogue` is what the site has already, if any.
[[nodiscard]] Reached check_reachability(const ClientFlags& flags, const CheckedIdentity& identity,
                                         const std::optional<std::string>& catalogue,
                                         Checkup& checkup);
}  // namespace fedhur::apps
