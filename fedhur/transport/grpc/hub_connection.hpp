// Connects a site to its server, and connects it again whenever the network or the server fails.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/transport/grpc/tls.hpp"
#include "fedhur/transport/network/hub.hpp"
#include "fedhur/transport/network/site.hpp"
#include "fedhur/transport/network/task.hpp"

namespace fedhur::transport {
struct HubConnectionConfig {
  std::string server;  // host:port; with TLS its certificate must have that host
  Security security = {};
  std::vector<ClientId> clients = {};  // to host; none: all that the certificate allows
  std::string software = {};           // name and version, for the server's log
  std::string catalogue_sha256 = {};   // of the copy that the site has
  std::uint64_t largest_task = std::uint64_t{1} << 30U;  // and catalogue, in bytes
  std::chrono::milliseconds beat{2'000};                 // how often the site tells its progress
  std::chrono::milliseconds keepalive{20'000};           // as the server's
  // Without a connection for so long: TransportError. None: it tries for ever.
  std::optional<std::chrono::milliseconds> give_up_after = {};
};

// Asked about five times a second, by the thread that has called.
using ShouldStop = std::function<bool()>;

class HubConnection {
 public:
  // ConfigError for an address or files that cannot be used.
  HubConnection(HubConnectionConfig config, NetworkLog log);

  // What the server has for this site, as soon as it can be reached; nothing if `should_stop` said
  // so, or the run is over. TransportError with the server's reason if it refuses the site.
  [[nodiscard]] std::optional<Welcome> connect(const ShouldStop& should_stop);
  // Works for the server until it says farewell; nothing if `should_stop` said so. Work that has
  // begun is ended first: at a stop no client begins another task. TransportError if the server
  // refuses the site or has begun another run, ProtocolError if it sends what no server may;
  // whatever a client throws comes out here, too. After connect().
  [[nodiscard]] std::optional<Farewell> serve(Site& site, const ShouldStop& should_stop);

 private:
  HubConnectionConfig config_;
  NetworkLog log_;
  std::string run_id_;  // after connect()
};
}  // namespace fedhur::transport
