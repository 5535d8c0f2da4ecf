// A TLS handshake for its own sake: where gRPC only says that one has failed, this says why.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "fedhur/transport/grpc/tls.hpp"

namespace fedhur::transport {
struct TlsProbe {
  enum class End : std::uint8_t {
    accepted,    // both ends are content, and the server speaks HTTP/2, as gRPC does
    distrusted,  // this end does not trust the server's certificate
    other_host,  // which is good, but for another host
    refused,     // the server has seen what this end shows, and does not go on
    no_tls,      // the other end speaks something else
    silent,      // there was no answer in time
  };
  End end = End::silent;
  std::string reason = {};       // a sentence; empty if accepted
  std::string certificate = {};  // of the server, PEM; empty if it has shown none
};

// Over a connected socket, which is left to the caller. Nothing of a run is touched: no call is
// made. A certificate and key that are empty are not shown; the CA's has to be there. `host` is
// what the server's certificate has to be for.
[[nodiscard]] TlsProbe probe_tls(int socket, const std::string& host, const TlsTexts& texts,
                                 std::chrono::milliseconds patience);
}  // namespace fedhur::transport
