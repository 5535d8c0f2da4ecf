// The report of a run that goes on, served to browsers on this machine.
#pragma once
#include <filesystem>
#include <memory>

namespace fedhur::apps {
// Reads the run folder whenever it is asked, and changes nothing in there.
class LiveServer {
 public:
  // Binds to 127.0.0.1; port 0 takes a free one. ConfigError if the port is taken or not allowed.
  LiveServer(std::filesystem::path run, int port);
  ~LiveServer();  // answers what was asked, then ends
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;
  [[nodiscard]] int port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};
}  // namespace fedhur::apps
