// What threads, the clock and the disk have to do with a hub. Its rules are tested without them.
#include "fedhur/base/record_log.hpp"
#include "tests/transport/network_support.hpp"

namespace fedhur::transport {
namespace {
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

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

TEST_F(HubTest, GoesOnWithoutThoseWhoMissTheDeadline) {
  start(3, kSoon, 2);
  const Session site = connect({0, 1, 2});
  Asked exchange = ask("train", 6);
  reply(site, 0, 1);
  reply(site, 2, 3);
  EXPECT_EQ(exchange.get(), (Values{{0, 1}, {2, 3}}));
  EXPECT_THAT(log(), Contains("round 7: no answer to 'train' within 0.03 s from client 1"));
  Asked next = ask("train", 7);
  reply(site, 0, 1);
  hub().disconnect(site);
  EXPECT_THAT(next.transport_error(), HasSubstr("round 8: 1 of 3 clients answered 'train'"));
}

TEST_F(HubTest, FreesASessionWhoseClientsHaveConnectedAnew) {
  start(1);
  const Session older = connect({0});
  auto waiting = std::async(std::launch::async, [&] { return hub().next_task(older, kForever); });
  connect({0});
  EXPECT_FALSE(waiting.get());
  EXPECT_FALSE(hub().next_task(older, kForever)) << "at once";
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
