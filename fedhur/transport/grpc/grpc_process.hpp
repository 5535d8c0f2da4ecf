// Settings of gRPC that hold for the whole process.
#pragma once
#include "fedhur/transport/network/hub.hpp"

namespace fedhur::transport {
// Sends gRPC's own log here instead of to standard error. It has what no session sees, such as
// failed TLS handshakes. An empty function restores the default.
void forward_grpc_log(NetworkLog log);
// Turns off the deadlock detection in the locks below gRPC. Debian builds them with it, and it
// costs time with every lock.
void disable_lock_checks();
}  // namespace fedhur::transport
