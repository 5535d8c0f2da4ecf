#include "fedhur/federation/traffic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "fedhur/message/wire_codec.hpp"
#include "fedhur/transport/in_process/in_process_federation.hpp"
#include "tests/support/support.hpp"

namespace fedhur::federation {
namespace {
// Answers with its id, and remembers the last request.
class EchoClient : public ClientMethod {
 public:
  explicit EchoClient(double id) : id_(id) {}
  Message answer(const Message& request) override {
    if (request.kind == "fail") throw ProtocolError("cannot do that");
    last_request = &request;
    Message reply{.kind = request.kind == "lie" ? "truth" : request.kind,
                  .round = request.round,
                  .arrays = {}};
    reply.arrays.set_number("id", id_);
    return reply;
  }
  const Message* last_request = nullptr;

 private:
  double id_;
};

struct World {
  EchoClient a{0}, b{1}, c{2};
  Executor executor{2};
  transport::InProcessFederation transport{{&a, &b, &c}, executor};
};

TEST(InProcessFederation, AnswersInClientOrderWhateverTheRequestsOrder) {
  World world;
  const auto message =
      std::make_shared<const Message>(Message{.kind = "x", .round = 0, .arrays = {}});
  const std::vector<Request> requests = {{client_id(2), message}, {client_id(0), message}};
  const auto answers = world.transport.exchange(requests);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].client, client_id(0));
  EXPECT_EQ(answers[1].message.arrays.number("id"), 2);
  EXPECT_EQ(world.b.last_request, nullptr);
}

TEST(InProcessFederation, AddsUpEveryAnswerOnceAndCountsItsBytes) {
  World world;
  CountingFederation counting(world.transport);
  const auto exchanged = ask_all(counting, {.kind = "x", .round = 0, .arrays = {}});
  const Traffic expected = counting.take().at("x");
  const auto sum = std::make_shared<std::atomic<int>>(0);
  const auto answers = sum_of(counting, all_clients(counting),
                              {.kind = "x", .round = 0, .arrays = {}}, {}, [sum](Answer& answer) {
                                *sum += 1 + static_cast<int>(answer.message.arrays.number("id"));
                                answer.message.arrays = {};
                              });
  EXPECT_EQ(*sum, 6);
  ASSERT_EQ(answers.size(), exchanged.size());
  EXPECT_EQ(answers[2].client, client_id(2));
  EXPECT_EQ(answers[2].message.arrays.size(), 0U) << "it was taken out";
  const Traffic traffic = counting.take().at("x");
  EXPECT_EQ(traffic.up, expected.up) << "of what arrived, not of what is left";
  EXPECT_EQ(traffic.down, expected.down);
}

TEST(InProcessFederation, AddsUpNothingThatItsCheckRefuses) {
  World world;
  const auto sum = std::make_shared<std::atomic<int>>(0);
  EXPECT_THROW(
      (void)sum_of(
          world.transport, all_clients(world.transport), {.kind = "x", .round = 0, .arrays = {}},
          [](const Message&) { throw ProtocolError("no"); }, [sum](Answer&) { ++*sum; }),
      ProtocolError);
  EXPECT_EQ(*sum, 0);
}

TEST(InProcessFederation, HandsOverWhatArrivesAndNotTheMessageItself) {
  World world;
  Message message{.kind = "x", .round = 4, .arrays = {}};
  message.arrays.set("m", Matrix(Matrix::Ones(2, 2)));
  const auto shared = std::make_shared<const Message>(message);
  (void)world.transport.exchange(std::vector<Request>{{client_id(0), shared}});
  EXPECT_NE(world.a.last_request, shared.get()) << "the client got the server's own object";
}

TEST(InProcessFederation, RoundsWhatItCarriesInBothDirections) {
  class Mirror : public ClientMethod {
   public:
    Message answer(const Message& request) override {
      received = request;
      Message reply = request;
      reply.arrays.set("fresh", Matrix(Matrix::Constant(2, 2, 0.1F)));
      return reply;
    }
    Message received;
  };
  Mirror mirror;
  const Executor executor(2);
  constexpr message::WireFormat kFormat{message::Precision::float16};
  transport::InProcessFederation federation({&mirror}, executor, kFormat);
  CountingFederation counting(federation, kFormat);
  Message message{.kind = "x", .round = 0, .arrays = {}};
  message.arrays.set("m", tests::random_matrix(7, 9, 1));
  const auto answers = ask_all(counting, message);
  const Message expected = message::transmit(message, kFormat);
  EXPECT_EQ(mirror.received.arrays.matrix("m"), expected.arrays.matrix("m"));
  EXPECT_NE(mirror.received.arrays.matrix("m"), message.arrays.matrix("m"));
  EXPECT_EQ(answers.at(0).message.arrays.matrix("fresh")(0, 0), 0.0999755859375F);
  const Traffic traffic = counting.take().at("x");
  EXPECT_EQ(traffic.down, message::encode(message, kFormat).size());
  EXPECT_EQ(traffic.up, message::encode(answers.at(0).message, kFormat).size());
}

TEST(InProcessFederation, NamesTheClientThatCouldNotAnswer) {
  World world;
  try {
    (void)ask_all(world.transport, {.kind = "fail", .round = 0, .arrays = {}});
    FAIL() << "no error";
  } catch (const ProtocolError& error) {
    EXPECT_THAT(error.what(), ::testing::MatchesRegex("client [0-2]: cannot do that"));
  }
  EXPECT_THROW((void)ask_all(world.transport, {.kind = "lie", .round = 0, .arrays = {}}),
               ProtocolError);
}

TEST(Traffic, CountsEncodedBytesByKind) {
  World world;
  CountingFederation counting(world.transport);
  Message message{.kind = "big", .round = 0, .arrays = {}};
  message.arrays.set("m", tests::random_matrix(4, 4, 1));
  const std::size_t size = message::encode(message).size();
  (void)ask_all(counting, message);
  (void)ask_all(counting, {.kind = "small", .round = 0, .arrays = {}});
  const TrafficByKind traffic = counting.take();
  EXPECT_EQ(traffic.at("big").down, 3 * size);
  EXPECT_LT(traffic.at("big").up, traffic.at("big").down);
  EXPECT_GT(traffic.at("small").up, 0U);
  EXPECT_TRUE(counting.take().empty());
}

TEST(Traffic, CountsWhatIsToldInOneDirection) {
  World world;
  CountingFederation counting(world.transport);
  Message message{.kind = "big", .round = 0, .arrays = {}};
  message.arrays.set("m", tests::random_matrix(4, 4, 1));
  const std::size_t size = message::encode(message).size();
  tell_all(counting, message);
  const std::vector<ClientId> some = {client_id(2), client_id(0)};
  tell(counting, some, {.kind = "small", .round = 0, .arrays = {}});
  const TrafficByKind traffic = counting.take();
  EXPECT_EQ(traffic.at("big").down, 3 * size);
  EXPECT_GT(traffic.at("small").down, 0U);
  EXPECT_EQ(traffic.at("big").up + traffic.at("small").up, 0U);
}

TEST(Traffic, BelievesATransportThatHasSeenTheBytes) {
  // Hears from all but the last, and gives sizes that no measuring would find.
  class Sparse : public Federation {
   public:
    [[nodiscard]] Index num_clients() const override { return 3; }
    [[nodiscard]] std::vector<Answer> exchange(std::span<const Request> requests) override {
      const Message& message = *requests.front().message;
      return {{.client = client_id(0), .message = message, .request_size = 1000, .size = 10},
              {.client = client_id(1), .message = message, .request_size = 2000, .size = 20}};
    }
  };
  Sparse sparse;
  CountingFederation counting(sparse);
  const Message message{.kind = "x", .round = 0, .arrays = {}};
  std::vector<Request> requests;
  for (Index client = 0; client < 3; ++client) {
    requests.push_back({client_id(client), std::make_shared<const Message>(message)});
  }
  (void)counting.exchange(requests);
  const Traffic traffic = counting.take().at("x");
  EXPECT_EQ(traffic.up, 30U);
  EXPECT_EQ(traffic.down, 3000 + message::encode(message).size()) << "one may never have been sent";
}

TEST(Traffic, CountsEveryRequestWhateverMessagesTheyShare) {
  World world;
  CountingFederation counting(world.transport);
  Message large{.kind = "x", .round = 0, .arrays = {}};
  large.arrays.set("m", tests::random_matrix(9, 5, 1));
  const auto first = std::make_shared<const Message>(large);
  const auto other =
      std::make_shared<const Message>(Message{.kind = "x", .round = 0, .arrays = {}});
  (void)counting.exchange(
      std::vector<Request>{{client_id(0), first}, {client_id(1), other}, {client_id(2), first}});
  EXPECT_EQ(counting.take().at("x").down,
            2 * message::encode(large).size() + message::encode(*other).size());
}
}  // namespace
}  // namespace fedhur::federation
