// Answers programs on this machine that ask over HTTP: browsers and monitors.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace fedhur::apps {
struct HttpReply {
  std::string body;
  std::string type = "text/plain; charset=utf-8";
  int status = 200;
};
// The value of a parameter of the question, by its name; empty if there is none.
using HttpQuery = std::function<std::string(const std::string& name)>;
// By path. Called from several threads; what they throw becomes {"error": ...} with status 503.
using HttpRoutes = std::map<std::string, std::function<HttpReply(const HttpQuery& query)>>;

class LoopbackServer {
 public:
  // Binds to 127.0.0.1; port 0 takes a free one. ConfigError if the port is taken or not allowed,
  // with the flag that chose it.
  LoopbackServer(int port, const std::string& flag, HttpRoutes routes);
  ~LoopbackServer();  // answers what was asked, then ends
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  [[nodiscard]] int port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};
}  // namespace fedhur::apps
