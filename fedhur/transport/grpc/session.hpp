// One connection of one site, as the server sees it.
#pragma once
#include <grpcpp/server_context.h>
#include <grpcpp/support/sync_stream.h>

#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <string>

#include "fedhur/transport/grpc/federation.grpc.pb.h"
#include "fedhur/transport/grpc/gatekeeper.hpp"
#include "fedhur/transport/grpc/grpc_server.hpp"
#include "fedhur/transport/network/chunks.hpp"

namespace fedhur::transport {
// What all sessions of a server share.
struct SessionHost {
  const GrpcServerConfig& config;
  Hub& hub;
  const Gatekeeper& gatekeeper;
  const NetworkLog& log;
  const std::atomic<bool>& is_finished;  // if the hub is closed: because all is done
};

class Session {
 public:
  using Stream = ::grpc::ServerReaderWriter<v1::FromServer, v1::FromSite>;
  using Clock = std::chrono::steady_clock;

  Session(SessionHost& host, ::grpc::ServerContext& context, Stream& stream);
  // The whole conversation, in the calling thread and one more.
  [[nodiscard]] ::grpc::Status run();
  // From any thread while run() goes on: breaks the connection if it should have moved on by now.
  void expire(Clock::time_point now);

 private:
  struct Partial {  // a reply that has not arrived completely
    Sequence sequence = 0;
    Assembler assembler;
  };

  void converse();
  [[nodiscard]] bool welcome(const v1::Hello& hello, const std::vector<ClientId>& clients);
  [[nodiscard]] bool say_farewell();
  [[nodiscard]] std::vector<ClientProgress> read_ready(const std::vector<ClientId>& granted,
                                                       const v1::FromSite& frame) const;
  void read_frames(Hub::Session id);
  void take(Hub::Session id, const v1::Chunk& chunk);
  void write_tasks(Hub::Session id);
  // As chunks that are otherwise like `frame`. False when the connection is over.
  [[nodiscard]] bool send(v1::FromServer& frame, Splitter pieces);
  // Until something must have arrived or been taken by the site.
  void expect_within(Clock::duration duration) { silent_until_ = Clock::now() + duration; }
  // Until all must be over; from now on nothing prolongs it.
  void end_within(Clock::duration duration);

  SessionHost& host_;
  ::grpc::ServerContext& context_;
  Stream& stream_;
  Peer peer_;
  std::set<ClientId> hosted_;
  std::map<ClientId, Partial> partials_;
  std::atomic<Clock::time_point> silent_until_;
  std::atomic<Clock::time_point> ends_ = Clock::time_point::max();
  std::atomic<bool> has_said_farewell_ = false;
  std::atomic<bool> is_leaving_ = false;  // the reader has ended, so the writer shall
};
}  // namespace fedhur::transport
