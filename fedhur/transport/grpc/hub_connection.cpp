#include "fedhur/transport/grpc/hub_connection.hpp"

#include <fmt/format.h>

#include <future>
#include <thread>

#include "fedhur/base/error.hpp"
#include "fedhur/transport/grpc/grpc_process.hpp"
#include "fedhur/transport/grpc/link.hpp"
#include "fedhur/transport/grpc/site_runner.hpp"

namespace fedhur::transport {
namespace {
constexpr auto kPoll = std::chrono::milliseconds(500);

bool asks_to_stop(const ShouldStop& should_stop) { return should_stop && should_stop(); }
}  // namespace

struct HubConnection::State {
  HubConnectionConfig config;
  NetworkLog log;
  std::string run_id;
};

HubConnection::HubConnection(HubConnectionConfig config, NetworkLog log)
    : state_(std::make_unique<State>()) {
  disable_lock_checks();
  state_->config = std::move(config);
  state_->log = log ? std::move(log) : [](Severity, const std::string&) {};
  (void)Link(state_->config, state_->log);  // says at once what is wrong with the files
}
HubConnection::~HubConnection() = default;

std::optional<Welcome> HubConnection::connect(const ShouldStop& should_stop) {
  Link link(state_->config, state_->log);
  Welcome welcome;
  auto linking = std::async(std::launch::async, [&] {
    return link.run([&](const auto& /*stream*/, const Welcome& received) {
      welcome = received;
      return Link::Talk::done;
    });
  });
  while (linking.wait_for(kPoll) != std::future_status::ready) {
    if (asks_to_stop(should_stop)) link.stop();
    link.expire();
  }
  const Link::End end = linking.get();
  if (end.farewell) {
    const std::string& reason = end.farewell->reason;
    throw TransportError(fmt::format("{} has ended the run{}{}", state_->config.server,
                                     reason.empty() ? "" : ": ", reason));
  }
  if (!end.is_done) return std::nullopt;
  state_->run_id = welcome.run_id;
  state_->config.catalogue_sha256 = welcome.catalogue_sha256;
  return welcome;
}

std::optional<Farewell> HubConnection::serve(Site& site, const ShouldStop& should_stop) {
  expects(!state_->run_id.empty(), "a site connects before it serves");
  HubConnectionConfig config = state_->config;
  config.clients.clear();
  for (const ClientProgress& client : site.progress()) config.clients.push_back(client.client);
  Link link(config, state_->log);
  SiteRunner service(site, config, state_->log, state_->run_id);

  // Whichever ends first ends all.
  const auto ending = [&](auto&& activity) {
    return std::async(std::launch::async, [&service, activity] {
      struct End {
        SiteRunner& service;
        ~End() { service.end(); }
      } const end{service};
      return activity();
    });
  };
  auto linking = ending([&] {
    return link.run(
        [&](const auto& stream, const Welcome& welcome) { return service.talk(stream, welcome); });
  });
  auto working = ending([&] { service.work(); });
  auto beating = ending([&] { service.beat(); });
  while (!service.wait_for_end(kPoll)) {
    if (asks_to_stop(should_stop)) service.end();
    link.expire();
  }
  link.stop();
  linking.wait();
  beating.get();
  working.get();  // what a client has thrown says more than what the connection makes of it
  const Link::End end = linking.get();
  return end.farewell ? end.farewell : service.farewell();
}
}  // namespace fedhur::transport
