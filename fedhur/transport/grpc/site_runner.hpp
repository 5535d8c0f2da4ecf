// What a connected site does: takes tasks, works on them, sends replies and signs of life.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/transport/grpc/link.hpp"
#include "fedhur/transport/network/chunks.hpp"
#include "fedhur/transport/network/site.hpp"

namespace fedhur::transport {
class SiteRunner {
 public:
  SiteRunner(Site& site, const HubConnectionConfig& config, NetworkLog log, std::string run_id);

  // Each is for a thread of its own, until end().
  [[nodiscard]] Link::Talk talk(const std::shared_ptr<HubStream>& stream, const Welcome& welcome);
  void work();
  void beat();

  // For any thread.
  void end();
  // False if it has not ended meanwhile.
  [[nodiscard]] bool wait_for_end(std::chrono::milliseconds patience);
  [[nodiscard]] std::optional<Farewell> farewell() const;

 private:
  class Published;

  // `task` is what has not arrived completely.
  void take(const v1::Chunk& chunk, Assembler& assembler, Task& task);
  void enqueue(Task task);
  void send(const Reply& reply);
  [[nodiscard]] std::shared_ptr<HubStream> stream() const;

  Site& site_;
  const HubConnectionConfig& config_;
  NetworkLog log_;
  std::string run_id_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool has_ended_ = false;
  std::optional<Farewell> farewell_;
  std::shared_ptr<HubStream> stream_;  // where replies go; none while there is no connection
  std::vector<Task> queue_;
  std::uint64_t queued_bytes_ = 0;
};
}  // namespace fedhur::transport
