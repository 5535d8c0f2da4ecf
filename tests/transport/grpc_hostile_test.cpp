// Peers that do not keep to the protocol are sent away, and the others do not notice.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <array>

#include "tests/transport/grpc_raw.hpp"

namespace fedhur::transport {
namespace {
using ::grpc::StatusCode;
using testing::HasSubstr;
using testing::StartsWith;

// Clients 0 and 1 are honest, 2 is played by the test, in plaintext.
class GrpcHostile : public GrpcTest {
 protected:
  void SetUp() override {
    server_config_.largest_reply = 2'000'000;
    start(3);
    for (Household* household : {&first_, &second_}) sites_.push_back(run(*household));
    ASSERT_TRUE(eventually([&] { return hub().status().connected.size() == 2; }));
  }
  void TearDown() override {
    // Both honest ones have answered throughout and are still there.
    const auto answers =
        federation::ask(hub(), std::vector{client_id(0), client_id(1)}, make_message("work", 9));
    EXPECT_EQ(answers.size(), 2U);
    EXPECT_EQ(hub().status().counters.connections - num_joined_, 2U);
    for (const auto& site : sites_) EXPECT_FALSE(site->is_over());
    sites_.clear();
    GrpcTest::TearDown();
  }

  // A peer that has joined as client 2.
  std::unique_ptr<RawSite> join() {
    auto peer = std::make_unique<RawSite>(port_);
    EXPECT_TRUE(peer->join({kClient}));
    const auto expected = ++num_joined_ + 2;
    EXPECT_TRUE(eventually([&] { return hub().status().counters.connections == expected; }));
    return peer;
  }
  void expect_refused(RawSite& peer, StatusCode code, const std::string& why) {
    const std::string end = peer.end();
    EXPECT_THAT(end, StartsWith(fmt::format("{}:", static_cast<int>(code))));
    EXPECT_THAT(end, HasSubstr(why));
    EXPECT_TRUE(eventually([&] { return lines().have("refused 127.0.0.1:"); }));
    EXPECT_TRUE(lines().have(why)) << "the server's log says it, too";
  }
  void expect_breach(const std::vector<v1::FromSite>& frames, const std::string& why) {
    const auto peer = join();
    for (const v1::FromSite& frame : frames) (void)peer->send(frame);
    expect_refused(*peer, StatusCode::INVALID_ARGUMENT, why);
  }

  static constexpr ClientId kClient = client_id(2);
  static std::vector<v1::FromSite> large_reply() {
    return reply_frames(kClient, 1, std::vector<std::byte>(3 * kPieceBytes, std::byte{7}));
  }
  std::uint64_t num_joined_ = 0;

 private:
  Household first_{{0}};
  Household second_{{1}};
  std::vector<std::unique_ptr<RunningSite>> sites_;
};

TEST_F(GrpcHostile, SpeakersOfAnotherVersionAreToldWhoHasToUpgrade) {
  const std::vector<std::pair<int, std::string>> kCases = {{1, "server"}, {-1, "site"}};
  for (const auto& [step, who] : kCases) {
    RawSite protocol(port_);
    v1::FromSite hello = hello_frame({kClient});
    hello.mutable_hello()->set_protocol(kProtocol + static_cast<std::uint32_t>(step));
    EXPECT_TRUE(protocol.send(hello));
    expect_refused(protocol, StatusCode::FAILED_PRECONDITION,
                   fmt::format("the server speaks protocol {0}, this site {1}: upgrade the {2}",
                               kProtocol, kProtocol + step, who));
    RawSite wire(port_);
    hello = hello_frame({kClient});
    const auto version = message::kWireVersion + static_cast<std::uint32_t>(step);
    hello.mutable_hello()->set_wire_version(version);
    EXPECT_TRUE(wire.send(hello));
    expect_refused(wire, StatusCode::FAILED_PRECONDITION,
                   fmt::format("this site {}: upgrade the {}", version, who));
  }
}

TEST_F(GrpcHostile, AnythingBeforeHelloIsRefused) {
  for (const v1::FromSite& frame :
       {v1::FromSite(), ready_frame({kClient}), large_reply().front()}) {
    RawSite peer(port_);
    EXPECT_TRUE(peer.send(frame));
    expect_refused(peer, StatusCode::INVALID_ARGUMENT, "expected Hello");
  }
}

TEST_F(GrpcHostile, UnknownAndRepeatedClientsAreRefused) {
  const std::vector<std::pair<std::vector<ClientId>, std::string>> kCases = {
      {{kClient, client_id(3)}, "there is no client 3: this federation has 3, from 0 on"},
      {{client_id(0xffffffff)}, "there is no client 4294967295"},
      {{kClient, kClient}, "client 2 is asked for twice"},
      {{}, "without a certificate a site has to say which clients it hosts"}};
  for (const auto& [clients, why] : kCases) {
    RawSite peer(port_);
    EXPECT_TRUE(peer.send(hello_frame(clients)));
    expect_refused(peer, StatusCode::INVALID_ARGUMENT, why);
  }
}

TEST_F(GrpcHostile, ReadyIsForGrantedClientsAlone) {
  for (const std::vector<ClientId>& clients :
       {std::vector{client_id(0)}, {kClient, kClient}, std::vector<ClientId>{}}) {
    RawSite peer(port_);
    EXPECT_TRUE(peer.send(hello_frame({kClient})));
    EXPECT_TRUE(peer.read().has_welcome());
    EXPECT_TRUE(peer.send(ready_frame(clients)));
    expect_refused(peer, StatusCode::INVALID_ARGUMENT, "Ready with");
  }
}

TEST_F(GrpcHostile, ASecondHelloIsRefused) {
  expect_breach({hello_frame({kClient})}, "expected Chunk or Beat");
  expect_breach({ready_frame({kClient})}, "expected Chunk or Beat");
  expect_breach({v1::FromSite()}, "expected Chunk or Beat");
}

TEST_F(GrpcHostile, ClientsOfOthersAreRefused) {
  const std::vector<std::byte> reply(10);
  expect_breach(reply_frames(client_id(0), 1, reply), "expected one that this site hosts");
  expect_breach(reply_frames(client_id(77), 1, reply), "expected one that this site hosts");
  auto nobody = reply_frames(kClient, 1, reply);
  nobody.front().mutable_chunk()->clear_clients();
  expect_breach(nobody, "a reply of 0 clients");
  auto both = reply_frames(kClient, 1, reply);
  both.front().mutable_chunk()->add_clients(0);
  expect_breach(both, "a reply of 2 clients");
}

TEST_F(GrpcHostile, RepliesThatAreTooLargeAreRefused) {
  expect_breach(reply_frames(kClient, 1, std::vector<std::byte>(2'000'001)),
                "a message of 2000001 bytes, expected at most 2000000");
  auto boast = large_reply();
  boast.front().mutable_chunk()->set_total_size(~std::uint64_t{0});
  expect_breach(boast, "expected at most 2000000");
}

TEST_F(GrpcHostile, ChunksOutOfOrderAreRefused) {
  auto frames = large_reply();
  std::swap(frames[1], frames[2]);
  expect_breach(frames, "client 2: a piece at byte 262144 of a message of 393216");
  frames = large_reply();
  expect_breach({frames[1]}, "expected its first piece");
  expect_breach({frames[0], frames[0]}, "a piece at byte 0");
  auto other = reply_frames(kClient, 2, std::vector<std::byte>(10));
  expect_breach({frames[0], other[0]}, "a reply to task 2 amid the one to task 1");
}

TEST_F(GrpcHostile, ChunksThatDoNotMatchTheirDigestAreRefused) {
  auto frames = large_reply();
  frames.back().mutable_chunk()->mutable_payload()->back() = 'x';
  expect_breach(frames, "does not match its digest");
}

TEST_F(GrpcHostile, AProblemComesWithoutAReply) {
  auto frames = reply_frames(kClient, 1, std::vector<std::byte>(10));
  frames.front().mutable_chunk()->set_problem("no idea");
  expect_breach(frames, "a problem together with a reply");
}

TEST_F(GrpcHostile, FramesThatAreTooLargeAreRefused) {
  const auto peer = join();
  v1::FromSite frame = large_reply().front();
  frame.mutable_chunk()->mutable_payload()->resize(3 << 20);
  (void)peer->send(frame);
  EXPECT_THAT(peer->end(),
              StartsWith(fmt::format("{}:", static_cast<int>(StatusCode::RESOURCE_EXHAUSTED))));
}

// Sends bytes that are no frame at all, as the first or after Ready; how the server ends it.
std::string end_of_garbage(int port, bool is_first) {
  const auto bytes_of_frame = [](const v1::FromSite& frame) {
    return ::grpc::ByteBuffer(std::array{::grpc::Slice(frame.SerializeAsString())}.data(), 1);
  };
  ::grpc::GenericStub stub(::grpc::CreateChannel(fmt::format("127.0.0.1:{}", port),
                                                 ::grpc::InsecureChannelCredentials()));
  ::grpc::ClientContext context;
  ::grpc::CompletionQueue queue;
  const auto wait = [&queue] {
    void* tag = nullptr;
    bool is_done = false;
    return queue.Next(&tag, &is_done) && is_done;
  };
  const auto call = stub.PrepareCall(&context, "/fedhur.v1.Federation/Connect", &queue);
  call->StartCall(nullptr);
  EXPECT_TRUE(wait());
  if (!is_first) {
    ::grpc::ByteBuffer welcome;
    call->Write(bytes_of_frame(hello_frame({client_id(2)})), nullptr);
    EXPECT_TRUE(wait());
    call->Read(&welcome, nullptr);
    EXPECT_TRUE(wait());
    call->Write(bytes_of_frame(ready_frame({client_id(2)})), nullptr);
    EXPECT_TRUE(wait());
  }
  const ::grpc::Slice garbage(std::string(1000, '\xff'));
  call->Write(::grpc::ByteBuffer(&garbage, 1), nullptr);
  EXPECT_TRUE(wait());
  ::grpc::Status status;
  call->Finish(&status, nullptr);
  EXPECT_TRUE(wait());
  return fmt::format("{}: {}", static_cast<int>(status.error_code()), status.error_message());
}

TEST_F(GrpcHostile, BytesThatAreNoFrameAreRefused) {
  EXPECT_THAT(end_of_garbage(port_, true), HasSubstr("expected Hello"));
  EXPECT_THAT(end_of_garbage(port_, false), HasSubstr("a frame that cannot be read"));
  ++num_joined_;
  EXPECT_TRUE(lines().have("a frame that cannot be read"));
}

TEST_F(GrpcHostile, OldRepliesAreCountedAndForgotten) {
  const auto peer = join();
  const auto old = message::encode(make_message("work", 1));
  for (int i = 0; i < 10; ++i) {
    for (const v1::FromSite& frame : reply_frames(kClient, 0, old)) ASSERT_TRUE(peer->send(frame));
  }
  EXPECT_TRUE(eventually([&] { return hub().status().counters.late == 10; }));
}

TEST_F(GrpcHostile, AFloodOfHellosIsServedOrRefusedButNeverStored) {
  // More than there may be sessions; each waits for a Ready that does not come.
  std::vector<std::unique_ptr<RawSite>> peers;
  int num_welcome = 0;
  for (int i = 0; i < 60; ++i) {
    peers.push_back(std::make_unique<RawSite>(port_));
    if (peers.back()->send(hello_frame({kClient})) && peers.back()->read().has_welcome()) {
      ++num_welcome;
    }
  }
  EXPECT_GE(num_welcome, 10);
  EXPECT_LE(server().num_sessions(), 4 * 3 + 16);
  EXPECT_THAT(peers.back()->end(),
              StartsWith(fmt::format("{}:", static_cast<int>(StatusCode::RESOURCE_EXHAUSTED))));
  peers.clear();
  EXPECT_TRUE(eventually([&] { return server().num_sessions() == 2; }));
  (void)join();
}

class GrpcDeaf : public GrpcHostile {
 protected:
  GrpcDeaf() {
    deadline_seconds_ = 5;
    quorum_ = 2;
  }
};

TEST_F(GrpcDeaf, PeersThatDoNotReadHoldNobodyUp) {
  const auto peer = join();
  constexpr Index kTwentyMegabytes = 5'000'000;  // floats: more than all buffers on the way
  const auto answers = federation::ask_all(hub(), make_message("listen", 1, kTwentyMegabytes));
  EXPECT_EQ(answers.size(), 2U);
  // The server's writer is stuck; the session ends all the same.
  (void)peer->send(hello_frame({kClient}));
  EXPECT_TRUE(eventually([&] { return server().num_sessions() == 2; }));
}

TEST_F(GrpcHostile, AnHonestSiteIsToldWhyItIsRefused) {
  Household household({7});
  EXPECT_THAT(run(household)->outcome(),
              HasSubstr("refuses this site: there is no client 7: this federation has 3"));
}
}  // namespace
}  // namespace fedhur::transport
