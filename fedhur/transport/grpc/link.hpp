// Keeps a site in conversation with its server, over one connection after the other.
#pragma once
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "fedhur/base/random.hpp"
#include "fedhur/transport/grpc/federation.grpc.pb.h"
#include "fedhur/transport/grpc/hub_connection.hpp"

namespace fedhur::transport {
// One connection.
class HubStream {
 public:
  using Clock = std::chrono::steady_clock;

  HubStream(const HubConnectionConfig& config, const TlsTexts& texts);
  ~HubStream();
  HubStream(const HubStream&) = delete;
  HubStream& operator=(const HubStream&) = delete;

  // For one thread: open, read until false, finish.
  void open();
  [[nodiscard]] bool read(v1::FromServer& frame);
  [[nodiscard]] ::grpc::Status finish();
  // For any thread, between open and finish. False when the connection is over.
  bool write(const v1::FromSite& frame);
  // Nothing more will be written.
  void end_writing();
  // For any thread, at any time: whatever waits for the server waits no more.
  void cancel() { context_.TryCancel(); }
  // Likewise: cancels if nothing has come for too long.
  void expire(Clock::time_point now);

 private:
  std::unique_ptr<v1::Federation::Stub> stub_;
  ::grpc::ClientContext context_;
  std::unique_ptr<::grpc::ClientReaderWriter<v1::FromSite, v1::FromServer>> stream_;
  bool can_read_ = true;
  bool has_read_ = false;
  std::timed_mutex writing_;
  bool can_write_ = false;
  std::atomic<Clock::time_point> silent_until_;
};

// What the status means to a person at the site. `has_answered`: the server had sent something.
[[nodiscard]] std::string explain(const ::grpc::Status& status, const HubConnectionConfig& config,
                                  bool has_answered);
// Whether to try again makes no sense.
[[nodiscard]] bool is_final(const ::grpc::Status& status);

// Longer and longer pauses, none like another's: a server that comes back is not run over by all of
// its sites at once.
class Backoff {
 public:
  explicit Backoff(std::uint64_t seed) : rng_(seed) {}
  [[nodiscard]] std::chrono::milliseconds next();  // 0.1 to 0.2 s at first, 7.5 to 15 s at last
  void reset() { num_failures_ = 0; }

 private:
  Rng rng_;
  int num_failures_ = 0;
};

class Link {
 public:
  Link(HubConnectionConfig config, NetworkLog log);

  enum class Talk : std::uint8_t { done, lost };
  // Talks until `talk` is done, and connects again whenever it is lost. A Farewell instead of a
  // Welcome ends it as well if the run is over: `talk` gets none, Link returns that one. A server
  // that only leaves is waited for. False in `is_done` if stop() was called.
  using Converse =
      std::function<Talk(const std::shared_ptr<HubStream>& stream, const Welcome& welcome)>;
  struct End {
    bool is_done = false;
    std::optional<Farewell> farewell;
  };
  [[nodiscard]] End run(const Converse& converse);

  // For other threads, while run() goes on.
  void stop();
  void expire();  // to be called now and then: notices a silent server

 private:
  using Clock = HubStream::Clock;
  using Greeting = std::variant<std::monostate, Welcome, Farewell>;

  [[nodiscard]] std::shared_ptr<HubStream> begin();
  [[nodiscard]] Greeting shake_hands(HubStream& stream) const;
  [[nodiscard]] Welcome read_welcome(const v1::Welcome& frame) const;
  [[nodiscard]] Bytes read_catalogue(HubStream& stream) const;
  // False if stop() was called meanwhile.
  [[nodiscard]] bool pause(const std::string& reason, Clock::time_point lost_at);

  HubConnectionConfig config_;
  NetworkLog log_;
  TlsTexts texts_;
  Backoff backoff_;
  std::string last_reason_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool is_stopping_ = false;
  std::shared_ptr<HubStream> stream_;
};

[[nodiscard]] Farewell read_farewell(const v1::Farewell& frame);
}  // namespace fedhur::transport
