#include "fedhur/transport/grpc/gatekeeper.hpp"

#include <fmt/format.h>
#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <system_error>
#include <tuple>

#include "fedhur/message/wire_codec.hpp"
#include "fedhur/pki/pem_kind.hpp"
#include "fedhur/pki/revocation.hpp"
#include "fedhur/transport/grpc/frames.hpp"

namespace fedhur::transport {
using ::grpc::StatusCode;
std::string readable_address(std::string address) {
  for (const std::string_view scheme : {"ipv4:", "ipv6:"}) {
    if (address.starts_with(scheme)) address.erase(0, scheme.size());
  }
  for (const auto& [code, character] : {std::pair("%5B", '['), std::pair("%5D", ']')}) {
    const auto at = address.find(code);
    if (at != std::string::npos) address.replace(at, 3, 1, character);
  }
  return printable(address);
}

namespace {
void check_version(const char* what, std::uint32_t server, std::uint32_t site) {
  if (server == site) return;
  throw Refusal(StatusCode::FAILED_PRECONDITION,
                fmt::format("the server speaks {} {}, this site {}: upgrade the {}", what, server,
                            site, server < site ? "server" : "site"));
}
}  // namespace

// A file that is replaced while the server runs.
class Gatekeeper::Revocations {
 public:
  Revocations(std::filesystem::path path, std::string ca_pem, NetworkLog log)
      : path_(std::move(path)), ca_pem_(std::move(ca_pem)), log_(std::move(log)) {
    try {
      read(stamp());
    } catch (const DataError& error) {
      throw ConfigError(fmt::format("{}: {}", path_.string(), error.what()));
    }
  }

  [[nodiscard]] bool contains(const std::string& serial) {
    const std::lock_guard lock(mutex_);
    if (const Stamp now = stamp(); now != read_at_) refresh(now);
    return list_->contains(serial);
  }

 private:
  using Stamp = std::tuple<std::filesystem::file_time_type, std::uintmax_t>;
  [[nodiscard]] Stamp stamp() const {
    std::error_code ignored;  // a missing file has a stamp of its own
    return {std::filesystem::last_write_time(path_, ignored),
            std::filesystem::file_size(path_, ignored)};
  }

  void read(const Stamp& now) {
    read_at_ = now;  // before reading: what changes meanwhile is read again
    list_ = pki::RevocationList::read(pki::read_pem_file(path_), ca_pem_);
    if (list_->next_update() < current_time()) {
      log_(Severity::warning, fmt::format("{}: there should be a newer revocation list since {}",
                                          path_.string(), pki::format_time(list_->next_update())));
    }
  }

  // Better the list of before than none.
  void refresh(const Stamp& now) {
    try {
      read(now);
      log_(Severity::info, fmt::format("{}: read again", path_.string()));
    } catch (const Error& error) {
      log_(Severity::warning, fmt::format("{}: {}; the revocations read before stay in force",
                                          path_.string(), error.what()));
    }
  }

  std::filesystem::path path_;
  std::string ca_pem_;
  NetworkLog log_;
  std::mutex mutex_;
  Stamp read_at_;
  std::optional<pki::RevocationList> list_;
};

Gatekeeper::Gatekeeper(const Security& security, const std::string& ca_pem, Index num_clients,
                       NetworkLog log)
    : is_open_(!security), ca_pem_(ca_pem), num_clients_(num_clients) {
  if (security && security->revoked) {
    revocations_ = std::make_unique<Revocations>(*security->revoked, ca_pem, std::move(log));
  }
}
Gatekeeper::~Gatekeeper() = default;

Peer Gatekeeper::identify(const std::string& address, const ::grpc::AuthContext& context) const {
  Peer peer{.name = address, .certificate = {}};
  if (is_open_) return peer;
  const auto certificates = context.FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (!context.IsPeerAuthenticated() || certificates.size() != 1) {
    throw Refusal(StatusCode::UNAUTHENTICATED, "a connection without a certificate");
  }
  // TLS has looked at it already; this repeats it with rules that do not depend on how gRPC was
  // built, and in words.
  const std::string pem(certificates.front().data(), certificates.front().size());
  if (const auto fault = pki::find_fault(pem, ca_pem_, pki::Purpose::client, current_time())) {
    throw Refusal(StatusCode::UNAUTHENTICATED, *fault);
  }
  try {
    peer.certificate = pki::read_certificate(pem);
  } catch (const DataError& error) {
    throw Refusal(StatusCode::UNAUTHENTICATED, error.what());
  }
  peer.name = fmt::format("{} ({})", peer.certificate->name, peer.name);
  check(peer);
  return peer;
}

void Gatekeeper::check(const Peer& peer) const {
  if (!peer.certificate) return;
  const pki::CertificateInfo& certificate = *peer.certificate;
  if (current_time() > certificate.not_after) {
    throw Refusal(StatusCode::UNAUTHENTICATED,
                  fmt::format("the certificate of {} has expired on {}", certificate.name,
                              pki::format_time(certificate.not_after)));
  }
  if (revocations_ && revocations_->contains(certificate.serial)) {
    throw Refusal(StatusCode::UNAUTHENTICATED,
                  fmt::format("the certificate of {} with serial number {} was revoked",
                              certificate.name, certificate.serial));
  }
}

std::vector<ClientId> Gatekeeper::admit(const Peer& peer, const v1::Hello& hello) const {
  check_version("protocol", kProtocol, hello.protocol());
  check_version("wire version", message::kWireVersion, hello.wire_version());
  if (hello.clients_size() > num_clients_) {
    throw Refusal(StatusCode::INVALID_ARGUMENT,
                  fmt::format("{} clients are asked for, this federation has {}",
                              hello.clients_size(), num_clients_));
  }
  std::set<ClientId> clients;
  for (const ClientId client : clients_of(hello.clients())) {
    if (index_of(client) >= num_clients_) {
      throw Refusal(StatusCode::INVALID_ARGUMENT,
                    fmt::format("there is no client {}: this federation has {}, from 0 on",
                                index_of(client), num_clients_));
    }
    if (peer.certificate && !pki::covers(peer.certificate->clients, index_of(client))) {
      throw Refusal(StatusCode::PERMISSION_DENIED,
                    fmt::format("the certificate of {} does not allow client {}, only {}",
                                peer.certificate->name, index_of(client),
                                printable(pki::to_text(peer.certificate->clients), 100)));
    }
    if (!clients.insert(client).second) {
      throw Refusal(StatusCode::INVALID_ARGUMENT,
                    fmt::format("client {} is asked for twice", index_of(client)));
    }
  }
  if (hello.clients().empty() && peer.certificate) {
    for (Index client = 0; client < num_clients_; ++client) {
      if (pki::covers(peer.certificate->clients, client)) clients.insert(client_id(client));
    }
  }
  if (clients.empty() && peer.certificate) {
    throw Refusal(
        StatusCode::PERMISSION_DENIED,
        fmt::format("the certificate of {} allows clients {}, this federation has {}, "
                    "from 0 on",
                    peer.certificate->name, printable(pki::to_text(peer.certificate->clients), 100),
                    num_clients_));
  }
  if (clients.empty()) {
    throw Refusal(StatusCode::INVALID_ARGUMENT,
                  "without a certificate a site has to say which clients it hosts");
  }
  return {clients.begin(), clients.end()};
}
}  // namespace fedhur::transport
