#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "apps/doctor/checks.hpp"
#include "apps/doctor/sockets.hpp"
#include "fedhur/base/error.hpp"
#include "fedhur/base/strings.hpp"
#include "fedhur/base/text.hpp"
#include "fedhur/transport/grpc/grpc_process.hpp"
#include "fedhur/transport/grpc/tls_probe.hpp"

namespace fedhur::apps {
namespace {
using std::chrono::milliseconds;
constexpr milliseconds kStepPatience{4'000};    // for a name, a connection, a handshake
constexpr milliseconds kHelloPatience{10'000};  // the server may send its catalogue
constexpr const char* kServerName = "server name";

// The address of a flag; nothing, after saying so, if it is none or must not be used.
std::optional<transport::Address> read_address(const std::string& text, const char* name,
                                               bool is_insecure, Checkup& checkup) {
  std::optional<transport::Address> address;
  (void)checkup.run(
      name,
      is_insecure
          ? "use 127.0.0.1:PORT on a single machine, and certificates between machines"
          : "write a name or an IP address, a colon and a port, such as fl.example.org:8470",
      [&] {
        transport::check_security(text,
                                  is_insecure ? transport::Security() : transport::TlsFiles());
        address = transport::parse_address(text);
        return std::nullopt;
      });
  return address;
}

// Why an address cannot be taken, by errno.
Finding bind_problem(int error, const std::string& where, const std::string& flag, ExitCode code) {
  switch (error) {
    case EADDRINUSE:
      return fail(where + " is taken: another program listens there",
                  "maybe this server runs already; 'ss -ltnp' tells who listens; otherwise choose "
                  "another port with " +
                      flag,
                  code);
    case EACCES:
      return fail(where + ": this user may not take that port",
                  "ports below 1024 are for root, or for a service with "
                  "AmbientCapabilities=CAP_NET_BIND_SERVICE: choose a higher one with " +
                      flag,
                  code);
    case EADDRNOTAVAIL:
      return fail(where + " is no address of this machine",
                  fmt::format("choose one of this machine's addresses with {}: {}, or 0.0.0.0 for "
                              "all of them",
                              flag, fmt::join(own_addresses(), ", ")),
                  code);
    default:
      return fail(fmt::format("{}: {}", where, std::strerror(error)),
                  "choose another address or port with " + flag, code);
  }
}

Finding check_port(const transport::Address& address, const char* flag, ExitCode code) {
  Resolved resolved = resolve_name(address, kStepPatience);
  if (address.host == "0.0.0.0") {  // gRPC takes the port for both protocols then
    const Resolved both = resolve_name({.host = "::", .port = address.port}, kStepPatience);
    resolved.addresses.insert(resolved.addresses.end(), both.addresses.begin(),
                              both.addresses.end());
  }
  if (resolved.addresses.empty()) {
    return fail(fmt::format("{}: {}", address.host, resolved.problem),
                fmt::format("choose an address of this machine with {}: {}", flag,
                            fmt::join(own_addresses(), ", ")),
                code);
  }
  for (const SocketAddress& candidate : resolved.addresses) {
    const int error = try_to_bind(candidate);
    if (error == 0 || error == EAFNOSUPPORT) continue;
    return bind_problem(error, to_text(candidate), flag, code);
  }
  return pass(address.port == 0
                  ? address.host + ": any port that is free; sites have to be told which"
                  : to_text(resolved.addresses.front()) + " is free");
}

// gRPC goes through a proxy that the environment names, but not to this machine itself.
std::string find_proxy(const std::string& host) {
  if (transport::is_loopback(host)) return "";
  for (const char* name : {"no_grpc_proxy", "no_proxy"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    for (const std::string_view ending : split_at(value, ',')) {
      if (!ending.empty() && host.ends_with(ending)) return "";
    }
    break;  // the first that is set counts
  }
  for (const char* name : {"grpc_proxy", "https_proxy", "http_proxy"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') return fmt::format("{}={}", name, value);
  }
  return "";
}

Finding connect_problem(int error, const std::string& found) {
  constexpr auto kCode = ExitCode::federation_failure;
  if (error == ECONNREFUSED) {
    return fail(found,
                "start 'fedhur server' there, or correct the port of --server; a firewall may "
                "refuse as well",
                kCode);
  }
  if (error == ETIMEDOUT) {
    return fail(found,
                "look whether that machine is on and the address is right; a firewall may swallow "
                "what is sent to this port: ask for it to be opened",
                kCode);
  }
  return fail(found, "look whether this machine's network is up and has a way there", kCode);
}

std::string describe_failure(int error, const std::string& where) {
  if (error == ECONNREFUSED) return where + " refuses connections: no program listens there";
  if (error != ETIMEDOUT) return fmt::format("{}: {}", where, std::strerror(error));
  return fmt::format("{} does not answer within {} s", where, kStepPatience.count() / 1000);
}

// A connection to the first of the addresses that answers, in `socket`.
Finding check_connection(const Resolved& resolved, std::unique_ptr<Descriptor>& socket) {
  int last_error = 0;
  std::vector<std::string> problems;
  for (const SocketAddress& address : resolved.addresses) {
    Connected connected = connect_to(address, kStepPatience);
    if (connected.error == 0) {
      socket = std::move(connected.socket);
      return pass(fmt::format("{} answers after {} ms", to_text(address), connected.took.count()));
    }
    // A refusal tells more than that there is no way by another protocol.
    if (last_error == 0 || connected.error == ECONNREFUSED) last_error = connected.error;
    problems.push_back(describe_failure(connected.error, to_text(address)));
  }
  return connect_problem(last_error, fmt::format("{}", fmt::join(problems, "; ")));
}

std::string mend_for_tls(const transport::TlsProbe& probe, const std::string& host,
                         bool has_ended) {
  using End = transport::TlsProbe::End;
  switch (probe.end) {
    case End::distrusted:
      return has_ended ? "if this machine's clock is right, the server's operator has to renew its "
                         "certificate: fedhur pki renew ca server.crt"
                       : "give --ca the ca.crt of the CA that has issued the server's certificate; "
                         "if it is that already, another server answers at this address";
    case End::other_host:
      return fmt::format(
          "name the server in --server as its certificate does, or have the CA issue "
          "one for this name, too: fedhur pki issue ca --server {}",
          host);
    case End::refused:
      return "the server trusts another CA, or this site's certificate has ended or is missing: "
             "its log says more";
    case End::no_tls:
      return "look whether --server has the port of 'fedhur server', and whether that was started "
             "with --insecure, for one machine alone";
    case End::silent:
    case End::accepted:
      break;
  }
  return "look whether --server has the port of 'fedhur server'; a firewall between may hold "
         "encrypted connections up";
}

const char* describe_tls_end(transport::TlsProbe::End end) {
  using End = transport::TlsProbe::End;
  if (end == End::refused) return "this site trusts the server, but not the other way round";
  const bool is_untrusted = end == End::distrusted || end == End::other_host;
  return is_untrusted ? "this site does not trust the server" : "no TLS connection";
}

Finding check_tls(int socket, const transport::Address& address, const CheckedIdentity& identity,
                  Reached& reached) {
  transport::TlsProbe probe;
  try {
    probe = transport::probe_tls(socket, address.host, identity.texts, kStepPatience);
  } catch (const Error& error) {  // such as a key that OpenSSL finds too weak
    return fail(error.what(), "have the CA issue a new certificate and key: fedhur pki issue",
                ExitCode::federation_failure);
  }
  std::optional<pki::CertificateInfo> server;
  try {
    if (!probe.certificate.empty()) server = pki::read_certificate(probe.certificate);
  } catch (const DataError&) {  // the probe has said so
  }
  if (server) {
    reached.server_certificate = {.name = "the server's certificate", .begin = server->not_before};
  }
  if (probe.end == transport::TlsProbe::End::accepted && server) {
    return pass(fmt::format("TLS 1.3; the server is {} for {}, until {}", server->name,
                            fmt::join(server->hosts, ", "), pki::format_time(server->not_after)));
  }
  const bool has_ended = server && server->not_after < transport::current_time();
  return fail(fmt::format("{}: {}", describe_tls_end(probe.end), probe.reason),
              mend_for_tls(probe, address.host, has_ended), ExitCode::federation_failure);
}

// What went wrong at the first try; the link itself would go on trying.
class FirstTrouble {
 public:
  void note(transport::Severity severity, const std::string& message) {
    if (severity != transport::Severity::warning) return;
    const std::lock_guard lock(mutex_);
    if (message_.empty()) message_ = message;
  }
  [[nodiscard]] std::string message() const {
    const std::lock_guard lock(mutex_);
    return message_.substr(0, message_.rfind("; trying again"));
  }

 private:
  mutable std::mutex mutex_;
  std::string message_;
};

std::string describe_welcome(const transport::Welcome& welcome) {
  std::vector<pki::ClientRange> clients;
  for (const ClientId client : welcome.clients) {
    clients.push_back({.first = index_of(client), .last = index_of(client)});
  }
  return fmt::format(
      "the server speaks the same protocol and welcomes this site: run {} of {} "
      "clients, of which this site may host {}",
      printable(welcome.run_id), welcome.num_clients, pki::to_text(clients));
}

std::string mend_for_refusal(std::string_view words) {
  if (words.find("revoked") != std::string_view::npos) {
    return "make a new key and have the CA sign it: fedhur pki request --name SITE";
  }
  return "these are the server's own words: mend here what they name, or ask its operator";
}

Finding check_hello(const ClientFlags& flags, const std::optional<std::string>& catalogue,
                    Reached& reached) {
  constexpr auto kCode = ExitCode::federation_failure;
  FirstTrouble trouble;
  const transport::NetworkLog tell = [&](transport::Severity severity, const std::string& message) {
    trouble.note(severity, message);
  };
  const auto end = std::chrono::steady_clock::now() + kHelloPatience;
  const auto has_trouble = [&] {
    return !trouble.message().empty() || std::chrono::steady_clock::now() > end;
  };
  try {
    transport::HubConnectionConfig config = connection_config(flags, catalogue);
    config.software += " doctor";
    config.give_up_after.reset();  // has_trouble() says when
    transport::HubConnection site(config, tell);
    reached.welcome = site.connect(has_trouble);
  } catch (const Error& error) {  // a refusal, with the server's own words
    return fail(error.what(), mend_for_refusal(error.what()), kCode);
  }
  if (reached.welcome) return pass(describe_welcome(*reached.welcome));
  const std::string why = trouble.message();
  return fail(why.empty() ? fmt::format("{} has not welcomed this site within {} s", flags.server,
                                        kHelloPatience.count() / 1000)
                          : why,
              flags.identity.is_insecure
                  ? "look whether the port is that of 'fedhur server'; one with certificates wants "
                    "--ca, --cert and --key instead of --insecure"
                  : "the server's log says more",
              kCode);
}

Finding check_name(const std::string& host, const Resolved& resolved) {
  if (resolved.addresses.empty()) {
    return fail(fmt::format("{}: {}", host, resolved.problem),
                "correct the host of --server, or ask the administrator of names (DNS, "
                "/etc/hosts) here",
                ExitCode::federation_failure);
  }
  std::vector<std::string> addresses;
  for (const SocketAddress& found : resolved.addresses) addresses.push_back(to_text(found));
  return pass(fmt::format("{} is {}", host, fmt::join(addresses, ", ")));
}

// By the steps that a connection takes; false if the next one makes no sense.
bool check_way(const transport::Address& address, const CheckedIdentity& identity, bool is_insecure,
               Reached& reached, Checkup& checkup) {
  const Resolved resolved = resolve_name(address, kStepPatience);
  if (!checkup.add(kServerName, check_name(address.host, resolved))) return false;
  std::unique_ptr<Descriptor> socket;
  if (!checkup.add("connection", check_connection(resolved, socket))) return false;
  if (is_insecure) return true;
  return checkup.add("TLS", identity.texts.ca.empty()
                                ? skip("without the CA's certificate no server can be trusted")
                                : check_tls(socket->get(), address, identity, reached));
}
}  // namespace

void check_listening(const ServerFlags& flags, Checkup& checkup) {
  constexpr const char* kListening = "listening";
  const auto address =
      read_address(listening_address(flags), kListening, flags.identity.is_insecure, checkup);
  if (address) {
    checkup.add(kListening, check_port(*address, "--listen", ExitCode::federation_failure));
  }
  if (!flags.monitor) return;
  (void)checkup.run(
      "monitor", "choose another port with --monitor, or 0 for any that is free", [&] {
        check_monitor_port(flags);
        return check_port({.host = "127.0.0.1", .port = static_cast<int>(*flags.monitor)},
                          "--monitor", ExitCode::wrong_usage);
      });
}

Reached check_reachability(const ClientFlags& flags, const CheckedIdentity& identity,
                           const std::optional<std::string>& catalogue, Checkup& checkup) {
  constexpr const char* kFederation = "federation";
  Reached reached;
  const bool is_insecure = flags.identity.is_insecure;
  if (flags.server.empty()) {
    checkup.add(kServerName, fail("--server is missing",
                                  "add --server HOST:PORT, such as --server fl.example.org:8470"));
    return reached;
  }
  const auto address = read_address(flags.server, kServerName, is_insecure, checkup);
  if (!address) return reached;
  const std::string proxy = find_proxy(address->host);
  bool is_reached = true;
  if (proxy.empty()) {
    is_reached = check_way(*address, identity, is_insecure, reached, checkup);
  } else {
    checkup.add("connection",
                skip(proxy + ": fedhur goes through that proxy, which hides the steps of the way"));
  }
  checkup.add(kFederation,
              !is_reached ? skip("there is no good connection to the server to ask over")
              : !identity.is_usable
                  ? skip("this site's identity has problems, which the server would only repeat")
                  : check_hello(flags, catalogue, reached));
  return reached;
}
}  // namespace fedhur::apps
