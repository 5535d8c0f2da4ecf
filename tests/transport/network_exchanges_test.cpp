// What a hub promises while everybody is there: one answer of each client, whatever the network
// does to it.
#include "tests/transport/network_support.hpp"

namespace fedhur::transport {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ExchangesTest, AsksEveryClientAndReturnsTheAnswersInTheirOrder) {
  start(3);
  const Session first = connect({2, 0});
  const Session second = connect({1});
  ask("train");
  EXPECT_EQ(take(first), "1 train for 0 2");
  EXPECT_EQ(take(first), "nothing");
  EXPECT_EQ(take(second), "1 train for 1");
  reply(first, 2, 20);
  reply(second, 1, 10);
  EXPECT_FALSE(is_over());
  reply(first, 0, 5);
  EXPECT_EQ(end(), (Values{{0, 5}, {1, 10}, {2, 20}}));
  EXPECT_EQ(exchanges->next_sequence(), 2U);
}

TEST_F(ExchangesTest, SendsDifferentMessagesToClientsOfASiteAsDifferentTasks) {
  start(2);
  const Session site = connect({0, 1});
  std::vector<Request> requests;
  for (int client = 0; client < 2; ++client) {
    requests.push_back(
        {client_id(client), std::make_shared<const Message>(make_message("update", client + 7))});
  }
  exchanges->begin(requests, now, {});
  for (int client = 0; client < 2; ++client) {
    const auto next = exchanges->next_task(site);
    ASSERT_TRUE(next);
    EXPECT_THAT(next->clients, ElementsAre(client_id(client)));
    EXPECT_EQ(next->task.message->message().arrays.number("value"), client + 7);
    reply(site, client, client);
  }
  EXPECT_EQ(end().size(), 2U);
}

TEST_F(ExchangesTest, CountsTheFirstReplyOnly) {
  start(2);
  const Session site = connect({0, 1});
  ask("train");
  reply(site, 0, 1);
  reply(site, 0, 2);
  reply(site, 0, 3);
  reply(site, 1, 4);
  EXPECT_EQ(end(), (Values{{0, 1}, {1, 4}}));
  EXPECT_EQ(exchanges->status().counters.duplicates, 2U);
  EXPECT_EQ(exchanges->status().counters.replies, 2U);
}

TEST_F(ExchangesTest, TakesNoNoticeOfRepliesToOtherExchanges) {
  start(2);
  const Session site = connect({0, 1});
  ask("train");
  reply(site, 0, 1);
  reply(site, 1, 2);
  EXPECT_EQ(end(), (Values{{0, 1}, {1, 2}}));
  reply(site, 0, 1, 8.0);  // between two exchanges
  ask("train");
  reply(site, 0, 1, 9.0);  // late
  reply(site, 0, 3, 9.0);  // of an exchange that has not begun
  reply(site, 0, 0, 9.0);
  EXPECT_EQ(take(site), "2 train for 0 1") << "that has not told the hub that it was answered";
  reply(site, 1, 2, 4.0);
  reply(site, 0, 2, 3.0);
  EXPECT_EQ(end(), (Values{{0, 3}, {1, 4}}));
  EXPECT_EQ(exchanges->status().counters.late, 4U);
  EXPECT_EQ(exchanges->status().counters.duplicates, 0U);
}

TEST_F(ExchangesTest, TakesRepliesOnlyFromTheSessionOfTheClient) {
  start(2);
  const Session first = connect({0});
  const Session second = connect({1});
  ask("train");
  reply(second, 0, 9);
  reply(77, 0, 9);
  reply(first, 5, 9);
  EXPECT_EQ(exchanges->status().answered, 0);
  EXPECT_EQ(exchanges->status().counters.late, 3U);
  reply(first, 0, 1);
  reply(second, 1, 2);
  EXPECT_EQ(end(), (Values{{0, 1}, {1, 2}}));
}

TEST_F(ExchangesTest, KeepsWordsFromOutsideShortAndOnOneLine) {
  start(1);
  const Session site = connect({0});
  ask("train");
  fail(site, 0, 1, "client 0: a\tb\x1b[2J" + std::string(100'000, 'x'));
  EXPECT_THAT(error_at_end(), HasSubstr("0 of 1 clients answered 'train'"));
  ASSERT_EQ(log.size(), 2U);
  EXPECT_THAT(log.back(), HasSubstr("client 0: a b [2Jxxx"));
  EXPECT_LT(log.back().size(), 500U);
}

TEST_F(ExchangesTest, LetsTheNewestSessionOfAClientWin) {
  start(2);
  const Session older = connect({0, 1});
  ask("train");
  const Session newer = connect({0});
  EXPECT_TRUE(exchanges->is_open(older)) << "client 1 is still there";
  EXPECT_EQ(take(older), "1 train for 1");
  EXPECT_EQ(take(newer), "1 train for 0");
  reply(older, 0, 9);
  reply(newer, 0, 1);
  const Session newest = connect({1});
  EXPECT_FALSE(exchanges->is_open(older));
  EXPECT_THAT(exchanges->take_stirred(), testing::Contains(older)) << "whoever waits learns it";
  EXPECT_EQ(take(older), "nothing");
  exchanges->disconnect(older);
  EXPECT_THAT(ids_of(exchanges->status().connected), ElementsAre(0, 1));
  EXPECT_EQ(take(newest), "1 train for 1");
  reply(newest, 1, 2);
  EXPECT_EQ(end(), (Values{{0, 1}, {1, 2}}));
}

TEST_F(ExchangesTest, NeverHandsOutATaskThatIsForNobody) {
  start(2);
  const Session older = connect({0, 1});
  ask("train");
  const Session newer = connect({0, 1});
  EXPECT_EQ(take(older), "nothing");
  EXPECT_EQ(take(newer), "1 train for 0 1");
}

TEST_F(ExchangesTest, AsksAClientThatConnectsDuringTheExchange) {
  start(2);
  ask("train");
  const Session first = connect({1});
  EXPECT_EQ(take(first), "1 train for 1");
  exchanges->disconnect(first);
  EXPECT_THAT(exchanges->status().connected, testing::IsEmpty());
  const Session second = connect({0, 1});
  EXPECT_EQ(take(second), "1 train for 0 1") << "the first copy was lost with its connection";
  reply(second, 0, 1);
  reply(second, 1, 2);
  EXPECT_EQ(end().size(), 2U);
  const auto counters = exchanges->status().counters;
  EXPECT_EQ(counters.connections, 2U);
  EXPECT_EQ(counters.disconnections, 1U);
}

TEST_F(ExchangesTest, KnowsItsClients) {
  start(2);
  EXPECT_THROW(connect({0, 2}), ProtocolError);
  EXPECT_TRUE(exchanges->status().connected.empty());
  const auto message = std::make_shared<const Message>(make_message("train", 0));
  const std::vector<Request> foreign = {{client_id(2), message}};
  EXPECT_THROW(exchanges->begin(foreign, now, {}), std::logic_error);
  const std::vector<Request> twice = {{client_id(1), message}, {client_id(1), message}};
  EXPECT_THROW(exchanges->begin(twice, now, {}), std::logic_error);
  EXPECT_EQ(exchanges->next_sequence(), 1U) << "nothing has happened";
  exchanges->begin({}, now, {});
  EXPECT_TRUE(end().empty());
}

TEST_F(ExchangesTest, TellsHowItIs) {
  start(3);
  EXPECT_EQ(exchanges->status().kind, "");
  const Session site = connect({0, 2});
  ask("train", 4, {0, 2});
  reply(site, 2, 1);
  const HubStatus status = exchanges->status();
  EXPECT_EQ(status.kind, "train");
  EXPECT_EQ(status.round, 4);
  EXPECT_EQ(status.sequence, 1U);
  EXPECT_EQ(status.asked, 2);
  EXPECT_EQ(status.answered, 1);
  EXPECT_THAT(ids_of(status.connected), ElementsAre(0, 2));
}

TEST_F(ExchangesTest, IsClosedWithoutAReasonToo) {
  start(1);
  EXPECT_EQ(exchanges->closing(), "");
  ask("train");
  exchanges->close(TransportError(""));
  EXPECT_EQ(error_at_end(), "");
  EXPECT_EQ(exchanges->closing(), "closed");
}

TEST_F(ExchangesTest, EndsWhenItIsClosed) {
  start(2);
  const Session site = connect({0});
  ask("train", 0, {1});
  (void)exchanges->take_stirred();
  exchanges->close(TransportError("the run is over"));
  exchanges->close(TransportError("a second reason"));
  EXPECT_THAT(exchanges->take_stirred(), ElementsAre(site));
  EXPECT_FALSE(exchanges->is_open(site));
  EXPECT_EQ(error_at_end(), "the run is over");
  EXPECT_THROW((void)exchanges->is_gathered(now), TransportError);
  EXPECT_THROW(ask("train"), TransportError);
  EXPECT_FALSE(exchanges->is_open(connect({1})));
  EXPECT_EQ(exchanges->closing(), "the run is over");
}

TEST_F(ExchangesTest, WaitsForAnAnswerThatIsLookedAtPastTheDeadline) {
  start(2, 1);
  const Session site = connect({0, 1});
  ask("train");
  reply(site, 0, 1);
  ASSERT_TRUE(exchanges->receive(site, {.sequence = 1, .client = client_id(1)}));
  pass_deadline();
  EXPECT_FALSE(is_over());
  exchanges->refuse(client_id(1), "client 1: not at all");
  EXPECT_EQ(end(), (Values{{0, 1}}));
}

TEST_F(ExchangesTest, GathersAllClients) {
  start(2);
  EXPECT_FALSE(exchanges->is_gathered(now));
  connect({1});
  EXPECT_FALSE(exchanges->is_gathered(now = 1e9)) << "without a quorum all are needed";
  connect({0});
  EXPECT_TRUE(exchanges->is_gathered(now));
}

TEST_F(ExchangesTest, GathersAQuorumUntilTheDeadline) {
  start(3, 2, 10);
  const Session site = connect({1});
  EXPECT_FALSE(exchanges->is_gathered(now = 60)) << "one is no quorum";
  connect({0});
  EXPECT_FALSE(exchanges->is_gathered(now = 70));
  EXPECT_EQ(exchanges->deadline(), 80);
  EXPECT_FALSE(exchanges->is_gathered(now = 79));
  EXPECT_TRUE(exchanges->is_gathered(now = 80));
  exchanges->disconnect(site);
  EXPECT_FALSE(exchanges->is_gathered(now)) << "it begins anew";
  connect({1});
  EXPECT_FALSE(exchanges->is_gathered(now = 89));
}
}  // namespace
}  // namespace fedhur::transport
