// A peer that says what the test wants, be it allowed or not.
#pragma once
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>
#include <vector>

#include "fedhur/message/wire_codec.hpp"
#include "fedhur/transport/grpc/federation.grpc.pb.h"
#include "fedhur/transport/grpc/frames.hpp"
#include "tests/transport/grpc_support.hpp"

namespace fedhur::transport {
inline v1::FromSite hello_frame(const std::vector<ClientId>& clients) {
  v1::FromSite frame;
  frame.mutable_hello()->set_protocol(kProtocol);
  frame.mutable_hello()->set_wire_version(message::kWireVersion);
  put_clients(clients, *frame.mutable_hello()->mutable_clients());
  return frame;
}

inline v1::FromSite ready_frame(const std::vector<ClientId>& clients) {
  std::vector<ClientProgress> progress;
  for (const ClientId client : clients) progress.push_back({client, 0, 0});
  v1::FromSite frame;
  put_progress(progress, *frame.mutable_ready()->mutable_progress());
  return frame;
}

// The reply of one client as chunks.
inline std::vector<v1::FromSite> reply_frames(ClientId client, Sequence sequence,
                                              std::span<const std::byte> message) {
  std::vector<v1::FromSite> frames;
  Splitter pieces(message);
  while (const auto piece = pieces.next()) {
    v1::Chunk& chunk = *frames.emplace_back().mutable_chunk();
    chunk.set_sequence(sequence);
    chunk.add_clients(static_cast<std::uint32_t>(client));
    put_piece(*piece, chunk);
  }
  return frames;
}

class RawSite {
 public:
  explicit RawSite(int port,
                   const std::shared_ptr<::grpc::ChannelCredentials>& credentials =
                       ::grpc::InsecureChannelCredentials(),
                   const std::string& host = "127.0.0.1") {
    ::grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = v1::Federation::NewStub(
        ::grpc::CreateCustomChannel(fmt::format("{}:{}", host, port), credentials, arguments));
    context_.set_deadline(std::chrono::system_clock::now() + kLong);
    stream_ = stub_->Connect(&context_);
  }
  bool send(const v1::FromSite& frame) { return stream_->Write(frame); }
  // An empty one when it is over.
  v1::FromServer read() {
    v1::FromServer frame;
    if (!stream_->Read(&frame)) frame.Clear();
    return frame;
  }
  // Hello, Welcome, Ready.
  [[nodiscard]] bool join(const std::vector<ClientId>& clients) {
    return send(hello_frame(clients)) && read().has_welcome() && send(ready_frame(clients));
  }
  // How the server ends it: "INVALID_ARGUMENT: why". Nothing more is sent or read.
  [[nodiscard]] std::string end() {
    while (read().kind_case() != v1::FromServer::KIND_NOT_SET) {
    }
    const ::grpc::Status status = stream_->Finish();
    return fmt::format("{}: {}", static_cast<int>(status.error_code()), status.error_message());
  }

 private:
  std::unique_ptr<v1::Federation::Stub> stub_;
  ::grpc::ClientContext context_;
  std::unique_ptr<::grpc::ClientReaderWriter<v1::FromSite, v1::FromServer>> stream_;
};
}  // namespace fedhur::transport
