#include "fuzz/service_input.hpp"

#include <fmt/format.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "fedhur/base/error.hpp"
#include "fedhur/message/wire_codec.hpp"
#include "fedhur/transport/grpc/federation.grpc.pb.h"
#include "fedhur/transport/grpc/frames.hpp"
#include "fedhur/transport/grpc/grpc_server.hpp"

namespace fedhur::fuzz {
namespace {
using ::grpc::StatusCode;
using transport::Hub;
constexpr ClientId kHonest = client_id(0);
constexpr ClientId kFuzzed = client_id(1);
constexpr int kMostSteps = 40;

// A federation of two that never ends. Certificates would keep the fuzzed peer from speaking for
// the honest client; without them the steps below do.
class Service {
 public:
  Service()
      : hub_({.num_clients = 2, .quorum = 1, .deadline_seconds = 0.004, .format = {}}, {}),
        server_({.welcome = {.run_id = "fuzz", .configuration = "seed = 1\n", .num_clients = 2},
                 .largest_reply = 4096},
                hub_, {}),
        stub_(v1::Federation::NewStub(::grpc::CreateChannel(
            fmt::format("127.0.0.1:{}", server_.port()), ::grpc::InsecureChannelCredentials()))),
        honest_([this](const std::stop_token& stop) { work_honestly(stop); }),
        asking_([this](const std::stop_token& stop) { ask_on(stop); }) {}
  ~Service() {
    for (std::jthread* thread : {&asking_, &honest_}) {
      thread->request_stop();
      thread->join();
    }
    server_.close({.is_finished = true, .reason = ""});
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  [[nodiscard]] v1::Federation::Stub& stub() { return *stub_; }
  // std::logic_error unless the honest client's next answer counts, soon, and is what it said.
  // On a busy machine it may miss a deadline or two.
  void check() {
    const int before = num_right_;
    for (int wait = 0; wait < 20'000 && num_right_ == before; ++wait) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (num_right_ == before) throw std::logic_error("the server does not go on");
    if (num_wrong_ > 0) throw std::logic_error("the honest client's answer was changed");
  }

 private:
  void work_honestly(const std::stop_token& stop) {
    const Hub::Session session = hub_.connect("honest", {{kHonest, 0, 0}});
    while (!stop.stop_requested()) {
      const auto task = hub_.next_task(session, std::chrono::milliseconds(20));
      if (!task || task->is_told) continue;
      hub_.accept(session,
                  {.sequence = task->sequence, .client = kHonest, .message = task->message});
    }
    hub_.disconnect(session);
  }
  void ask_on(const std::stop_token& stop) {
    for (int number = 0; !stop.stop_requested(); ++number) {
      message::Message question{.kind = "echo", .round = 1, .arrays = {}};
      question.arrays.set_number("value", number);
      try {
        if (number % 2 == 0) {
          federation::tell_all(hub_, {.kind = "note", .round = 1, .arrays = {}});
        }
        for (const auto& answer : federation::ask_all(hub_, std::move(question))) {
          if (answer.client != kHonest) continue;
          ++(answer.message.arrays.number("value") == number ? num_right_ : num_wrong_);
        }
      } catch (const TransportError&) {
        continue;  // no answer in time
      }
    }
  }

  Hub hub_;
  transport::GrpcServer server_;
  std::unique_ptr<v1::Federation::Stub> stub_;
  std::atomic<int> num_right_ = 0;
  std::atomic<int> num_wrong_ = 0;
  std::jthread honest_;
  std::jthread asking_;
};

// One connection of the fuzzed site.
class Conversation {
 public:
  explicit Conversation(v1::Federation::Stub& stub) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    stream_ = stub.Connect(&context_);
  }

  // False when the connection is over.
  bool step(std::uint8_t kind, std::span<const std::uint8_t> bytes) {
    v1::FromSite frame;
    switch (kind % 6) {
      case 0: {  // these bytes, as a frame
        (void)frame.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
        return send(frame);
      }
      case 1: {  // a good Hello
        frame.mutable_hello()->set_protocol(transport::kProtocol);
        frame.mutable_hello()->set_wire_version(message::kWireVersion);
        frame.mutable_hello()->add_clients(static_cast<std::uint32_t>(kFuzzed));
        return send(frame);
      }
      case 2: {  // a good Ready
        put_progress(std::array{transport::ClientProgress{kFuzzed, 0, 0}},
                     *frame.mutable_ready()->mutable_progress());
        return send(frame);
      }
      case 3:  // listen
        return listen();
      case 4: {  // a good reply to what was heard last
        *frame.mutable_chunk() = heard_;
        return send(frame);
      }
      default: {  // these bytes as a reply to it
        if (!frame.mutable_chunk()->ParsePartialFromArray(bytes.data(),
                                                          static_cast<int>(bytes.size()))) {
          frame.mutable_chunk()->set_payload(bytes.data(), bytes.size());
        }
        frame.mutable_chunk()->set_sequence(heard_.sequence());
        return send(frame);
      }
    }
  }

  ::grpc::Status end() {
    (void)stream_->WritesDone();
    v1::FromServer frame;
    while (stream_->Read(&frame)) {
    }
    return stream_->Finish();
  }

 private:
  // Nothing in the name of the honest client.
  static void disown(google::protobuf::RepeatedField<std::uint32_t>& clients) {
    for (std::uint32_t& client : clients) {
      if (client == static_cast<std::uint32_t>(kHonest)) {
        client = static_cast<std::uint32_t>(kFuzzed);
      }
    }
  }
  bool send(v1::FromSite& frame) {
    if (frame.has_hello()) disown(*frame.mutable_hello()->mutable_clients());
    if (frame.has_chunk()) disown(*frame.mutable_chunk()->mutable_clients());
    ++num_said_;
    return stream_->Write(frame);
  }
  // Only where a frame is to be read: a Welcome, a task when it has joined and after each reply.
  bool listen() {
    if (num_heard_ >= num_said_) return true;
    v1::FromServer frame;
    if (!stream_->Read(&frame)) return false;
    ++num_heard_;
    if (frame.has_chunk()) heard_ = frame.chunk();
    return true;
  }

  ::grpc::ClientContext context_;
  std::unique_ptr<::grpc::ClientReaderWriter<v1::FromSite, v1::FromServer>> stream_;
  v1::Chunk heard_;
  int num_said_ = 0;
  int num_heard_ = 0;
};

bool is_fine(StatusCode code) {
  return code == StatusCode::OK || code == StatusCode::INVALID_ARGUMENT ||
         code == StatusCode::FAILED_PRECONDITION || code == StatusCode::PERMISSION_DENIED ||
         code == StatusCode::UNAUTHENTICATED || code == StatusCode::RESOURCE_EXHAUSTED;
}
}  // namespace

void service_input(std::span<const std::uint8_t> input) {
  static Service service;  // starting one takes longer than thousands of inputs
  Conversation conversation(service.stub());
  bool is_on = true;
  for (int step = 0; step < kMostSteps && is_on && input.size() >= 2; ++step) {
    const std::size_t size = std::min<std::size_t>(input[1], input.size() - 2);
    is_on = conversation.step(input[0], input.subspan(2, size));
    input = input.subspan(2 + size);
  }
  const ::grpc::Status status = conversation.end();
  if (!is_fine(status.error_code())) {
    throw std::logic_error(fmt::format("the connection ended with {}: {}",
                                       static_cast<int>(status.error_code()),
                                       status.error_message()));
  }
  service.check();
}
}  // namespace fedhur::fuzz
