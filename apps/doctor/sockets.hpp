// Names, addresses and sockets, step by step: what a connection goes through before any protocol.
#pragma once
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "fedhur/base/descriptor.hpp"
#include "fedhur/transport/grpc/tls.hpp"

namespace fedhur::apps {
struct SocketAddress {
  sockaddr_storage bytes = {};
  socklen_t size = 0;
};
[[nodiscard]] std::string to_text(const SocketAddress& address);  // "10.0.0.5:8470", "[::1]:8470"

struct Resolved {
  std::vector<SocketAddress> addresses;
  std::string problem;  // why there are none, in the system's words
};
// Within `patience`. A port of 0 stays 0.
[[nodiscard]] Resolved resolve_name(const transport::Address& address,
                                    std::chrono::milliseconds patience);

struct Connected {
  std::unique_ptr<Descriptor> socket;
  int error = 0;  // errno; 0 if it is connected
  std::chrono::milliseconds took{0};
};
[[nodiscard]] Connected connect_to(const SocketAddress& address,
                                   std::chrono::milliseconds patience);

// errno of an attempt to take the address as a server would; 0 if it is free. It does
// not accept connections.
[[nodiscard]] int try_to_bind(const SocketAddress& address);
// The addresses of this machine, loopback last.
[[nodiscard]] std::vector<std::string> own_addresses();
}  // namespace fedhur::apps
