// gRPC's own log, of which a process has one.
#pragma once
#include "fedhur/transport/network/hub.hpp"

namespace fedhur::transport {
// From now on its errors come here instead of the process's error stream: among them peers that
// fail in the TLS handshake, of which no session hears. Nothing to let it print again.
void forward_grpc_log(NetworkLog log);
}  // namespace fedhur::transport
