// What a hub promises while everybody is there: one answer of each client, whatever the network
// does to it.
#include "fedhur/base/record_log.hpp"
#include "tests/transport/network_support.hpp"

namespace fedhur::transport {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(HubTest, AsksEveryClientAndReturnsTheAnswersInTheirOrder) {
  start(3);
  const Session first = connect({2, 0});
  const Session second = connect({1});
  Asked exchange = ask("train");
  EXPECT_EQ(take(first), "1 train for 0 2");
  EXPECT_EQ(take(first), "nothing");
  EXPECT_EQ(take(second), "1 train for 1");
  reply(first, 2, 20);
  reply(second, 1, 10);
  EXPECT_FALSE(exchange.is_over());
  reply(first, 0, 5);
  EXPECT_EQ(exchange.get(), (Values{{0, 5}, {1, 10}, {2, 20}}));
  EXPECT_EQ(hub().next_sequence(), 2U);
}

TEST_F(HubTest, EncodesAMessageOnceForAllSites) {
  start(2);
  const Session first = connect({0});
  const Session second = connect({1});
  Asked exchange = ask("train");
  const auto task = hub().next_task(first, 0ms);
  EXPECT_EQ(task->message, hub().next_task(second, 0ms)->message) << "the same bytes";
  EXPECT_EQ(hub().status().counters.tasks, 2U);
  EXPECT_EQ(hub().status().counters.task_bytes, 2 * task->message->size());
}

TEST_F(HubTest, SendsDifferentMessagesToClientsOfASiteAsDifferentTasks) {
  start(2);
  const Session site = connect({0, 1});
  std::vector<Request> requests;
  for (int client = 0; client < 2; ++client) {
    requests.push_back(
        {client_id(client), std::make_shared<const Message>(make_message("update", client + 7))});
  }
  Asked exchange(hub(), requests);
  for (int client = 0; client < 2; ++client) {
    const auto task = hub().next_task(site, kLong);
    ASSERT_TRUE(task);
    EXPECT_THAT(task->clients, ElementsAre(client_id(client)));
    EXPECT_EQ(message::decode(*task->message).arrays.number("value"), client + 7);
    reply(site, client, client);
  }
  EXPECT_EQ(exchange.get().size(), 2U);
}

TEST_F(HubTest, CountsTheFirstReplyOnly) {
  start(2);
  const Session site = connect({0, 1});
  Asked exchange = ask("train");
  reply(site, 0, 1);
  reply(site, 0, 2);
  reply(site, 0, 3);
  reply(site, 1, 4);
  EXPECT_EQ(exchange.get(), (Values{{0, 1}, {1, 4}}));
  EXPECT_EQ(hub().status().counters.duplicates, 2U);
  EXPECT_EQ(hub().status().counters.replies, 2U);
}

TEST_F(HubTest, TakesNoNoticeOfRepliesToOtherExchanges) {
  start(2);
  const Session site = connect({0, 1});
  Asked first = ask("train");
  reply(site, 0, 1);
  reply(site, 1, 2);
  EXPECT_EQ(first.get(), (Values{{0, 1}, {1, 2}}));
  reply(site, 0, 1, make_message("train", 8));  // between two exchanges
  Asked second = ask("train");
  reply(site, 0, 1, make_message("train", 9));  // late
  reply(site, 0, 3, make_message("train", 9));  // of an exchange that has not begun
  reply(site, 0, 0, make_message("train", 9));
  EXPECT_EQ(take(site), "2 train for 0 1") << "that has not told the hub that it was answered";
  reply(site, 1, 2, make_message("train", 4));
  reply(site, 0, 2, make_message("train", 3));
  EXPECT_EQ(second.get(), (Values{{0, 3}, {1, 4}}));
  EXPECT_EQ(hub().status().counters.late, 4U);
  EXPECT_EQ(hub().status().counters.duplicates, 0U);
}

TEST_F(HubTest, TakesRepliesOnlyFromTheSessionOfTheClient) {
  start(2);
  const Session first = connect({0});
  const Session second = connect({1});
  Asked exchange = ask("train");
  reply(second, 0, 9);
  reply(77, 0, 9);
  reply(first, 5, 9);
  EXPECT_EQ(hub().status().answered, 0);
  EXPECT_EQ(hub().status().counters.late, 3U);
  reply(first, 0, 1);
  reply(second, 1, 2);
  EXPECT_EQ(exchange.get(), (Values{{0, 1}, {1, 2}}));
}

TEST_F(HubTest, TakesOneOfManyRepliesThatComeAtOnce) {
  const TempFolder folder;
  {
    ReplyJournal journal(folder / "journal");
    start({.num_clients = 3, .deadline_seconds = kNever, .format = {}}, &journal);
    const Session site = connect({0, 1, 2});
    Asked exchange = ask("train");
    {
      std::vector<std::jthread> threads;
      for (int thread = 0; thread < 6; ++thread) {
        threads.emplace_back([&, thread] {
          for (int i = 0; i < 15; ++i) reply(site, i % 3, 1, make_message("train", thread));
        });
      }
    }
    EXPECT_EQ(exchange.get().size(), 3U);
    const auto counters = hub().status().counters;
    EXPECT_EQ(counters.replies, 3U);
    EXPECT_EQ(counters.duplicates + counters.late, 87U);
    kill();
  }
  RecordLog log(folder / "journal");
  EXPECT_EQ(log.take_records().size(), 4U) << "three replies and the end";
}

// Replies that cannot be used, and what the log says of each.
struct BadReply {
  const char* name;
  Reply reply;
  const char* complaint;
};
class Refusal : public HubTest, public testing::WithParamInterface<BadReply> {};
INSTANTIATE_TEST_SUITE_P(
    All, Refusal,
    testing::Values(BadReply{"Garbage",
                             {.message = std::make_shared<const std::vector<std::byte>>(9)},
                             "client 1: these bytes are not a message"},
                    BadReply{"NoBytes",
                             {.message = std::make_shared<const std::vector<std::byte>>()},
                             "client 1: bytes end too early"},
                    BadReply{"NoMessage", {}, "client 1: sent nothing"},
                    BadReply{"AProblem",
                             {.message = nullptr, .problem = "I do not\nunderstand"},
                             "client 1: I do not understand"},
                    BadReply{"OtherKind",
                             {.message = bytes_of(make_message("update", 1))},
                             "client 1: answered 'update' to 'train'"},
                    BadReply{"OtherRound",
                             {.message = bytes_of(make_message("train", 1, 4))},
                             "client 1: answered for round 5 in round 1"},
                    BadReply{"NotAccepted",
                             {.message = bytes_of(make_message("train", -1))},
                             "client 1: negative"},
                    BadReply{"CheckThatFails",
                             {.message = bytes_of(make_message("train", -2))},
                             "client 1: a mistake of ours"}),
    [](const auto& given) { return std::string(given.param.name); });

TEST_P(Refusal, NamesTheClientAndDisturbsNobodyElse) {
  start(3, kNever, 2);
  const Session site = connect({0, 1, 2});
  Asked exchange = ask("train", 0, {}, [](const Message& answer) {
    const double value = answer.arrays.number("value");
    if (value == -1) throw ProtocolError("negative");
    if (value == -2) throw std::logic_error("a mistake of ours");
  });
  reply(site, 0, 10);
  Reply bad = GetParam().reply;
  bad.sequence = 1;
  bad.client = client_id(1);
  hub().accept(site, bad);
  reply(site, 1, 5);  // too late to change its mind
  reply(site, 2, 30);
  EXPECT_EQ(exchange.get(), (Values{{0, 10}, {2, 30}}));
  EXPECT_THAT(log(), Contains(HasSubstr(std::string("round 1: refused the answer to 'train': ") +
                                        GetParam().complaint)));
  EXPECT_EQ(hub().status().counters.refused, 1U);
  EXPECT_EQ(hub().status().counters.duplicates, 1U);
  EXPECT_THAT(ids_of(hub().take_absentees()), ElementsAre(1));
  EXPECT_TRUE(hub().status().absent.empty()) << "it is there, and asked again";
  Asked next = ask("update");
  EXPECT_EQ(take(site), "2 update for 0 1 2");
}

TEST_F(HubTest, KeepsWordsFromOutsideShortAndOnOneLine) {
  start(1);
  const Session site = connect({0});
  Asked exchange = ask("train");
  hub().accept(site, {.sequence = 1,
                      .client = {},
                      .message = nullptr,
                      .problem = "a\tb\x1b[2J" + std::string(100'000, 'x')});
  EXPECT_THAT(exchange.transport_error(), HasSubstr("0 of 1 clients answered 'train'"));
  ASSERT_EQ(log().size(), 2U);
  EXPECT_THAT(log().back(), HasSubstr("client 0: a b [2Jxxx"));
  EXPECT_LT(log().back().size(), 500U);
}

TEST_F(HubTest, LetsTheNewestSessionOfAClientWin) {
  start(2);
  const Session older = connect({0, 1});
  Asked exchange = ask("train");
  const Session newer = connect({0});
  EXPECT_TRUE(hub().is_open(older)) << "client 1 is still there";
  EXPECT_EQ(take(older), "1 train for 1");
  EXPECT_EQ(take(newer), "1 train for 0");
  reply(older, 0, 9);
  reply(newer, 0, 1);
  const Session newest = connect({1});
  EXPECT_FALSE(hub().is_open(older));
  EXPECT_FALSE(hub().next_task(older, kForever)) << "at once";
  hub().disconnect(older);
  EXPECT_THAT(ids_of(hub().status().connected), ElementsAre(0, 1));
  EXPECT_EQ(take(newest), "1 train for 1");
  reply(newest, 1, 2);
  EXPECT_EQ(exchange.get(), (Values{{0, 1}, {1, 2}}));
}

TEST_F(HubTest, NeverHandsOutATaskThatIsForNobody) {
  start(2);
  const Session older = connect({0, 1});
  Asked exchange = ask("train");
  const Session newer = connect({0, 1});
  EXPECT_EQ(take(older), "nothing");
  EXPECT_EQ(take(newer), "1 train for 0 1");
}

TEST_F(HubTest, AsksAClientThatConnectsDuringTheExchange) {
  start(2);
  Asked exchange = ask("train");
  const Session first = connect({1});
  EXPECT_EQ(take(first), "1 train for 1");
  hub().disconnect(first);
  EXPECT_THAT(hub().status().connected, testing::IsEmpty());
  const Session second = connect({0, 1});
  EXPECT_EQ(take(second), "1 train for 0 1") << "the first copy was lost with its connection";
  reply(second, 0, 1);
  reply(second, 1, 2);
  EXPECT_EQ(exchange.get().size(), 2U);
  const auto counters = hub().status().counters;
  EXPECT_EQ(counters.connections, 2U);
  EXPECT_EQ(counters.disconnections, 1U);
}

TEST_F(HubTest, KnowsItsClients) {
  start(2);
  EXPECT_THROW(connect({0, 2}), ProtocolError);
  EXPECT_TRUE(hub().status().connected.empty());
  const auto message = std::make_shared<const Message>(make_message("train", 0));
  const std::vector<Request> foreign = {{client_id(2), message}};
  EXPECT_THROW((void)hub().exchange(foreign), std::logic_error);
  const std::vector<Request> twice = {{client_id(1), message}, {client_id(1), message}};
  EXPECT_THROW((void)hub().exchange(twice), std::logic_error);
  EXPECT_EQ(hub().next_sequence(), 1U) << "nothing has happened";
  EXPECT_TRUE(hub().exchange({}).empty());
}

TEST_F(HubTest, TellsHowItIs) {
  start(3);
  EXPECT_EQ(hub().status().kind, "");
  const Session site = connect({0, 2});
  Asked exchange = ask("train", 4, {0, 2});
  reply(site, 2, 1);
  const HubStatus status = hub().status();
  EXPECT_EQ(status.kind, "train");
  EXPECT_EQ(status.round, 4);
  EXPECT_EQ(status.sequence, 1U);
  EXPECT_EQ(status.asked, 2);
  EXPECT_EQ(status.answered, 1);
  EXPECT_THAT(ids_of(status.connected), ElementsAre(0, 2));
}

TEST_F(HubTest, FreesAllWhoWaitWhenItIsClosed) {
  start(2);
  const Session site = connect({0});
  auto waiting = std::async(std::launch::async, [&] { return hub().next_task(site, kForever); });
  auto early = std::async(std::launch::async, [&] { return hub().wait_for_clients({}); });
  Asked exchange = ask("train", 0, {1});
  hub().close("the run is over");
  hub().close("a second reason");
  EXPECT_EQ(exchange.transport_error(), "the run is over");
  EXPECT_FALSE(waiting.get());
  EXPECT_THROW((void)early.get(), TransportError);
  EXPECT_EQ(hub().closing(), "the run is over");
  EXPECT_FALSE(hub().is_open(site));
  EXPECT_FALSE(hub().is_open(connect({1})));
  EXPECT_EQ(Asked(hub(), {}).transport_error(), "the run is over");
}

TEST_F(HubTest, IsClosedWithoutAReasonToo) {
  start(1);
  EXPECT_EQ(hub().closing(), "");
  Asked exchange = ask("train");
  hub().close("");
  (void)exchange.transport_error();
  EXPECT_EQ(hub().closing(), "closed");
}

TEST_F(HubTest, WaitsForAllClients) {
  start(2);
  auto waiting = std::async(std::launch::async, [&] { return hub().wait_for_clients({}); });
  connect({1});
  EXPECT_EQ(waiting.wait_for(5ms), std::future_status::timeout);
  connect({0});
  EXPECT_TRUE(waiting.get());
}

TEST_F(HubTest, BeginsWithAQuorumAfterTheDeadline) {
  start(3, kSoon, 2);
  auto waiting = std::async(std::launch::async, [&] { return hub().wait_for_clients({}); });
  const Session site = connect({1});
  EXPECT_EQ(waiting.wait_for(60ms), std::future_status::timeout) << "one is no quorum";
  connect({0});
  EXPECT_TRUE(waiting.get());
  hub().disconnect(site);
}

TEST_F(HubTest, StopsWaitingForClientsWhenTold) {
  start(1);
  int asked = 0;
  EXPECT_FALSE(hub().wait_for_clients([&] {
    EXPECT_TRUE(hub().status().connected.empty()) << "it may use the hub";
    return ++asked == 2;
  }));
}

TEST_F(HubTest, TakesADeadlineOfAnyLength) {
  for (const double seconds : {1e10, 1e300, std::numeric_limits<double>::infinity()}) {
    start(1, seconds);
    const Session site = connect({0});
    Asked exchange = ask("train");
    reply(site, 0, 1);
    EXPECT_EQ(exchange.get().size(), 1U) << seconds;
    EXPECT_FALSE(hub().next_task(connect({}), std::chrono::milliseconds::max()));
  }
}
}  // namespace
}  // namespace fedhur::transport
