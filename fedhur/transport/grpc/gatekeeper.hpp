// Who may connect, and speak for whom.
#pragma once
#include <grpcpp/security/auth_context.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <string>
#include <vector>

#include "fedhur/base/error.hpp"
#include "fedhur/pki/certificate.hpp"
#include "fedhur/transport/grpc/federation.pb.h"
#include "fedhur/transport/grpc/tls.hpp"
#include "fedhur/transport/network/hub.hpp"

namespace fedhur::transport {
// Ends a session; the site is told the code and the sentence.
struct Refusal : Error {
  Refusal(::grpc::StatusCode status_code, const std::string& sentence)
      : Error(sentence), code(status_code) {}
  ::grpc::StatusCode code;
};

// "ipv4:10.0.0.7:40122" or "ipv6:%5B::1%5D:40122", as gRPC writes them, as people do.
[[nodiscard]] std::string readable_address(std::string address);

struct Peer {
  std::string name;  // for logs: "clinic (10.0.0.7:40122)", or the address alone
  std::optional<pki::CertificateInfo> certificate;  // none without TLS
};

// All of it may be called from several threads.
class Gatekeeper {
 public:
  // ConfigError if the revocation list cannot be read or is not the authority's.
  Gatekeeper(const Security& security, const std::string& ca_pem, Index num_clients,
             NetworkLog log);
  ~Gatekeeper();

  // UNAUTHENTICATED unless it has a good certificate.
  [[nodiscard]] Peer identify(const std::string& address, const ::grpc::AuthContext& context) const;
  // UNAUTHENTICATED once the certificate has expired or was revoked. The list is read again when
  // its file has changed.
  void check(const Peer& peer) const;
  // The clients that the peer may speak for. Refusal with a reason if it asks for others, or speaks
  // another version.
  [[nodiscard]] std::vector<ClientId> admit(const Peer& peer, const v1::Hello& hello) const;

 private:
  class Revocations;
  bool is_open_;  // no certificates needed
  std::string ca_pem_;
  Index num_clients_;
  std::unique_ptr<Revocations> revocations_;
};
}  // namespace fedhur::transport
