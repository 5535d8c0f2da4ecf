// One connection of a site to its server.
#pragma once
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include "fedhur/transport/grpc/federation.grpc.pb.h"
#include "fedhur/transport/grpc/hub_connection.hpp"

namespace fedhur::transport {
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
}  // namespace fedhur::transport
