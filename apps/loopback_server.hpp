// Serves a page that goes on asking to browsers on this machine.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "apps/page_state.hpp"

namespace fedhur::apps {
struct LiveContent {  // called from several threads; what they throw is told to the page
  std::function<std::string()> page;                          // HTML
  std::function<std::string(const PageState& known)> update;  // JSON
};

class LiveServer {
 public:
  // Binds to 127.0.0.1; port 0 takes a free one. ConfigError if the port is taken or not allowed.
  LiveServer(int port, LiveContent content);
  ~LiveServer();  // answers what was asked, then ends
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;
  [[nodiscard]] int port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};
}  // namespace fedhur::apps
