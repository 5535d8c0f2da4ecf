// A method is a server half and a client half that agree on messages. One file per method.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fedhur/base/parallel.hpp"
#include "fedhur/base/settings.hpp"
#include "fedhur/client/client.hpp"
#include "fedhur/federation/server_method.hpp"

namespace fedhur::methods {
struct RoundWatcher;  // methods/fedhur_round.hpp

struct ServerContext {  // what every server half is made from
  Index num_clients = 0;
  Index num_items = 0;
  Rng rng{0};  // of the whole experiment
  const Executor* executor = nullptr;
  const RoundWatcher* watcher = nullptr;  // may be none
  [[nodiscard]] bool watches(Round round) const;
};

struct ConfiguredMethod {
  std::function<std::unique_ptr<federation::ServerMethod>(const ServerContext&)> make_server;
  std::function<std::unique_ptr<client::Client>(client::ClientContext)> make_client;
  // Why it must not run over a network with these settings; empty if it may.
  std::string network_refusal{};
};

struct Method {
  std::string name;
  std::string summary;  // one line, for --help
  // Declares the method's settings, and so reads them; ConfigError where one is not allowed.
  std::function<ConfiguredMethod(Settings&)> configure;
  bool shows_rounds = false;  // to a RoundWatcher
};

// The same method, whose server half shows its rounds.
[[nodiscard]] inline Method showing_rounds(Method method) {
  method.shows_rounds = true;
  return method;
}

// Both halves have a common `Config` with declare_settings(settings, config), and are constructed
// from (config, context). What a network must not do without being told so is said by
// network_refusal(config), where there is one.
template <class Config, class ServerHalf, class ClientHalf>
[[nodiscard]] Method describe_method(const std::string& name, const std::string& summary) {
  const auto configure = [](Settings& settings) {
    Config config;
    declare_settings(settings, config);
    std::string refusal;
    if constexpr (requires { network_refusal(config); }) refusal = network_refusal(config);
    return ConfiguredMethod{
        .make_server =
            [config](const ServerContext& context) -> std::unique_ptr<federation::ServerMethod> {
          return std::make_unique<ServerHalf>(config, context);
        },
        .make_client = [config](client::ClientContext context) -> std::unique_ptr<client::Client> {
          return std::make_unique<ClientHalf>(config, std::move(context));
        },
        .network_refusal = std::move(refusal)};
  };
  return {.name = name, .summary = summary, .configure = configure, .shows_rounds = false};
}

// All methods, in the order of methods/CMakeLists.txt.
[[nodiscard]] std::vector<Method> all_methods();
// ConfigError that names the nearest known method.
[[nodiscard]] Method find_method(const std::string& name);
}  // namespace fedhur::methods
