#include "apps/loopback_server.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "fedhur/base/error.hpp"

namespace fedhur::apps {
namespace {
constexpr const char* kLoopback = "127.0.0.1";

// Other sites could ask under a name of theirs that leads to this machine.
bool is_asked_by_name(const httplib::Request& request, int port) {
  const std::string host = request.get_header_value("Host");
  return host == fmt::format("{}:{}", kLoopback, port) || host == fmt::format("localhost:{}", port);
}

void explain(httplib::Response& response, const std::exception_ptr& problem) {
  std::string text = "something unknown went wrong";
  try {
    std::rethrow_exception(problem);
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {  // the text above
  }
  response.status = 503;
  response.set_content(
      nlohmann::json{{"error", text}}.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace),
      "application/json");
}
}  // namespace

struct LoopbackServer::State {
  HttpRoutes routes;
  httplib::Server server;
  int port = 0;
  std::jthread thread;

  void add_routes() {
    // A connection per question: an idle one would keep a thread, and the end, waiting.
    server.set_keep_alive_max_count(1);
    server.set_keep_alive_timeout(1);
    server.set_read_timeout(2);
    server.new_task_queue = [] { return new httplib::ThreadPool(4); };
    server.set_default_headers(
        {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});
    server.set_exception_handler(
        [](const httplib::Request&, httplib::Response& response,
           const std::exception_ptr& problem) { explain(response, problem); });
    server.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          if (is_asked_by_name(request, port)) return httplib::Server::HandlerResponse::Unhandled;
          response.status = 403;
          return httplib::Server::HandlerResponse::Handled;
        });
    for (const auto& [path, answer] : routes) {
      server.Get(path, [&answer](const httplib::Request& request, httplib::Response& response) {
        const HttpReply reply =
            answer([&](const std::string& name) { return request.get_param_value(name); });
        response.status = reply.status;
        response.set_content(reply.body, reply.type);
      });
    }
  }

  void bind(int wanted, const std::string& flag) {
    // Without the library's default of sharing a port with another process.
    server.set_socket_options([](socket_t socket) {
      const int yes = 1;
      (void)::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    if (wanted == 0) {
      port = server.bind_to_any_port(kLoopback);
    } else {
      port = server.bind_to_port(kLoopback, wanted) ? wanted : -1;
    }
    if (port > 0) return;
    throw ConfigError(fmt::format(
        "cannot listen on port {} of {}, which another program may have taken: choose another "
        "{}, or 0 for any that is free",
        wanted, kLoopback, flag));
  }
};

LoopbackServer::LoopbackServer(int port, const std::string& flag, HttpRoutes routes)
    : state_(std::make_unique<State>()) {
  state_->routes = std::move(routes);
  state_->bind(port, flag);
  state_->add_routes();
  state_->thread = std::jthread([this] { (void)state_->server.listen_after_bind(); });
  // Before that, a stop would not be noticed.
  while (!state_->server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

LoopbackServer::~LoopbackServer() { state_->server.stop(); }

int LoopbackServer::port() const { return state_->port; }
}  // namespace fedhur::apps
