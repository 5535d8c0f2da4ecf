// Carries tasks and replies between a hub and the sites that connect to this server.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "fedhur/transport/grpc/tls.hpp"
#include "fedhur/transport/network/hub.hpp"
#include "fedhur/transport/network/task.hpp"

namespace fedhur::transport {
struct GrpcServerConfig {
  std::string listen = "127.0.0.1:0";  // host:port; port 0 takes any that is free
  Security security = {};
  Welcome welcome = {};
  std::uint64_t largest_reply = std::uint64_t{1} << 30U;  // of one client, in bytes
  std::chrono::milliseconds keepalive{20'000};  // how often a silent peer is asked for a sign, and
                                                // how long it has to give one
};

class GrpcServer {
 public:
  // ConfigError for an address or files that cannot be used, TransportError if the port is taken.
  // The hub must outlive this.
  GrpcServer(GrpcServerConfig config, Hub& hub, NetworkLog log);
  // Breaks all connections; sites will try to come back.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  [[nodiscard]] int port() const;
  // Closes the hub, sends all sites away for good and waits until they have gone, for a few seconds
  // at most. A hub that was closed by others sends them away too, as before the end of the run.
  void close(const Farewell& farewell);
  [[nodiscard]] Index num_sessions() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};
}  // namespace fedhur::transport
