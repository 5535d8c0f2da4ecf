#include "fedhur/transport/grpc/grpc_server.hpp"

#include <fmt/format.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "fedhur/transport/grpc/federation.grpc.pb.h"
#include "fedhur/transport/grpc/frames.hpp"
#include "fedhur/transport/grpc/grpc_process.hpp"
#include "fedhur/transport/grpc/session.hpp"

namespace fedhur::transport {
using ::grpc::Status;
using ::grpc::StatusCode;
namespace {
constexpr std::size_t kLargestConfiguration = std::size_t{1} << 20U;
constexpr auto kWatchInterval = std::chrono::milliseconds(250);
constexpr auto kFarewellTime = std::chrono::seconds(5);

std::size_t most_sessions(Index num_clients) {
  return 4 * static_cast<std::size_t>(num_clients) + 16;
}

GrpcServerConfig checked(GrpcServerConfig config) {
  check_security(config.listen, config.security);
  const Welcome& welcome = config.welcome;
  expects(welcome.num_clients > 0 && !welcome.run_id.empty(),
          "a federation with clients and a name");
  if (welcome.configuration.size() > kLargestConfiguration) {
    throw ConfigError(fmt::format("the configuration has {} bytes, expected at most {}",
                                  welcome.configuration.size(), kLargestConfiguration));
  }
  return config;
}

std::shared_ptr<::grpc::ServerCredentials> server_credentials(const Security& security,
                                                              const TlsTexts& texts) {
  if (!security) return ::grpc::InsecureServerCredentials();
  ::grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = texts.ca;
  options.pem_key_cert_pairs.push_back({texts.key, texts.certificate});
  return ::grpc::SslServerCredentials(options);
}
}  // namespace

struct GrpcServer::State final : v1::Federation::Service {
  State(GrpcServerConfig server_config, Hub& served_hub, NetworkLog network_log)
      : config(checked(std::move(server_config))),
        log(network_log ? std::move(network_log) : [](Severity, const std::string&) {}),
        texts(config.security ? read_tls_files(*config.security, pki::Purpose::server)
                              : TlsTexts{}),
        gatekeeper(config.security, texts.ca, config.welcome.num_clients, log),
        host{.config = config,
             .hub = served_hub,
             .gatekeeper = gatekeeper,
             .log = log,
             .is_finished = is_finished} {}

  Status Connect(::grpc::ServerContext* context, Session::Stream* stream) override {
    Session session(host, *context, *stream);
    std::unique_lock lock(mutex);
    if (sessions.size() >= most_sessions(config.welcome.num_clients)) {
      lock.unlock();
      log(Severity::warning, fmt::format("refused {}: too many sites are connected",
                                         readable_address(context->peer())));
      return {StatusCode::RESOURCE_EXHAUSTED, "too many sites are connected; try again later"};
    }
    sessions.insert(&session);
    lock.unlock();
    Status status = session.run();
    lock.lock();
    sessions.erase(&session);
    changed.notify_all();
    return status;
  }

  void start() {
    disable_lock_checks();
    const int keepalive = static_cast<int>(config.keepalive.count());
    ::grpc::ServerBuilder builder;
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // two servers on a port share sites
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                               keepalive / 2);
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 20'000);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 4);  // an honest site has one
    builder.SetMaxReceiveMessageSize(kLargestFrame);
    constexpr int kOtherThreads = 16;
    ::grpc::ResourceQuota quota("fedhur");
    quota.SetMaxThreads(static_cast<int>(most_sessions(config.welcome.num_clients)) +
                        kOtherThreads);
    builder.SetResourceQuota(quota);
    builder.AddListeningPort(config.listen, server_credentials(config.security, texts), &port);
    builder.RegisterService(this);
    server = builder.BuildAndStart();
    if (!server || port == 0) {
      throw TransportError(
          fmt::format("cannot listen on {}: the port may be taken", config.listen));
    }
    watchdog = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  }

  void watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      for (Session* session : sessions) session->expire(Session::Clock::now());
      (void)changed.wait_for(lock, stop, kWatchInterval, [] { return false; });
    }
  }

  GrpcServerConfig config;
  NetworkLog log;
  TlsTexts texts;
  Gatekeeper gatekeeper;
  std::atomic<bool> is_finished = false;
  SessionHost host;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::set<Session*> sessions;
  int port = 0;
  std::unique_ptr<::grpc::Server> server;
  std::jthread watchdog;
};

GrpcServer::GrpcServer(GrpcServerConfig config, Hub& hub, NetworkLog log)
    : state_(std::make_unique<State>(std::move(config), hub, std::move(log))) {
  state_->start();
}

GrpcServer::~GrpcServer() {
  state_->server->Shutdown(std::chrono::system_clock::now());
  state_->server->Wait();
}

int GrpcServer::port() const { return state_->port; }

void GrpcServer::close(const Farewell& farewell) {
  state_->is_finished = farewell.is_finished;
  state_->host.hub.close(farewell.reason);
  std::unique_lock lock(state_->mutex);
  (void)state_->changed.wait_for(lock, kFarewellTime, [&] { return state_->sessions.empty(); });
}

Index GrpcServer::num_sessions() const {
  const std::lock_guard lock(state_->mutex);
  return static_cast<Index>(state_->sessions.size());
}
}  // namespace fedhur::transport
