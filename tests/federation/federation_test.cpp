#include "fedhur/federation/federation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/unreliable_federation.hpp"

namespace fedhur::federation {
namespace {
class Echo : public ClientMethod {
 public:
  Message answer(const Message& request) override { return request; }
};

TEST(Federation, AsksAllOrSome) {
  Echo a;
  Echo b;
  Echo c;
  tests::UnreliableFederation federation({&a, &b, &c});
  EXPECT_EQ(clients_of(ask_all(federation, {.kind = "x", .round = 4, .arrays = {}})),
            all_clients(federation));
  const std::vector<ClientId> some = {client_id(0), client_id(2)};
  federation.is_absent = [](Index client, const Message&) { return client == 0; };
  const auto answers = ask(federation, some, {.kind = "y", .round = 4, .arrays = {}});
  EXPECT_THAT(federation.clients_asked("y", 4), testing::ElementsAre(0, 2));
  EXPECT_THAT(clients_of(answers), testing::ElementsAre(client_id(2)));
}

std::string error_of(const Message& reply, const AnswerCheck& check) {
  const Request request{
      .client = client_id(3),
      .message = std::make_shared<const Message>(Message{.kind = "x", .round = 4, .arrays = {}}),
      .check = check ? std::make_shared<const AnswerCheck>(check) : nullptr};
  try {
    check_answer({client_id(3), reply}, request);
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CheckAnswer, NamesTheClientThatDoesNotAnswerTheRequest) {
  const Message good{.kind = "x", .round = 4, .arrays = {}};
  EXPECT_EQ(error_of(good, {}), "no error");
  EXPECT_EQ(error_of({.kind = "y", .round = 4, .arrays = {}}, {}), "client 3: answered 'y' to 'x'");
  EXPECT_EQ(error_of({.kind = "x", .round = 5, .arrays = {}}, {}),
            "client 3: answered for round 6 in round 5");
  EXPECT_EQ(error_of(good, [](const Message&) {}), "no error");
  EXPECT_EQ(error_of(good, [](const Message& m) { (void)m.arrays.number("id"); }),
            "client 3: array 'id' is missing");
}
}  // namespace
}  // namespace fedhur::federation
