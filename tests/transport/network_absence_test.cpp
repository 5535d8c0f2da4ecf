// Clients that miss a deadline, and how they catch up; tasks and replies that the network loses.
#include "tests/transport/network_support.hpp"

namespace fedhur::transport {
namespace {
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(HubTest, GoesOnWithoutThoseWhoMissTheDeadline) {
  start(3, kSoon, 2);
  const Session site = connect({0, 1, 2});
  Asked exchange = ask("train", 6);
  reply(site, 0, 1);
  reply(site, 2, 3);
  EXPECT_EQ(exchange.get(), (Values{{0, 1}, {2, 3}}));
  EXPECT_THAT(log(), Contains("round 7: no answer to 'train' within 0.03 s from client 1"));
  EXPECT_THAT(ids_of(hub().status().absent), ElementsAre(1));
  EXPECT_THAT(ids_of(hub().take_absentees()), ElementsAre(1));
  EXPECT_THAT(hub().take_absentees(), IsEmpty()) << "they were taken";
}

TEST_F(HubTest, FailsWithASentenceBelowTheQuorum) {
  start(14, kSoon, 3);
  const Session site = connect({0, 1});
  Asked exchange = ask("update", 1);
  reply(site, 0, 1);
  reply(site, 1, 1);
  EXPECT_EQ(exchange.transport_error(),
            "round 2: 2 of 14 clients answered 'update', expected at least 3; missing: "
            "clients 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more");
  EXPECT_EQ(hub().status().kind, "") << "the exchange is over";
}

TEST_F(HubTest, NeedsEverybodyWithoutAQuorum) {
  start(2, kSoon);
  const Session site = connect({0, 1});
  Asked exchange = ask("train");
  reply(site, 0, 1);
  EXPECT_THAT(exchange.transport_error(), HasSubstr("expected at least 2; missing: client 1"));
}

TEST_F(HubTest, NeedsNoMoreThanItAsks) {
  start(3, kSoon, 2);
  const Session site = connect({0, 1, 2});
  Asked exchange = ask("train", 0, {1});
  reply(site, 1, 1);
  EXPECT_EQ(exchange.get().size(), 1U);
}

// Clients become absent without waiting when an earlier life of the server says so.
class Absence : public HubTest {
 protected:
  // The first exchanges, one of each kind, ended without `missing`; then a hub whose deadline is
  // never over.
  void start_without(const std::vector<int>& missing, const std::vector<std::string>& kinds,
                     Index quorum, Index num_clients = 3) {
    std::vector<ClientId> counted;
    for (int client = 0; client < num_clients; ++client) {
      if (std::ranges::find(missing, client) == missing.end()) counted.push_back(client_id(client));
    }
    {
      ReplyJournal before(folder_ / "journal");
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        const auto bytes = bytes_of(make_message(kinds[i], 0));
        for (const ClientId client : counted) before.add(i + 1, client, *bytes);
        before.end(i + 1, counted);
      }
    }
    journal_ = std::make_unique<ReplyJournal>(folder_ / "journal");
    start({.num_clients = num_clients, .quorum = quorum, .deadline_seconds = kNever, .format = {}},
          journal_.get());
    for (const std::string& kind : kinds) EXPECT_EQ(ask(kind).get().size(), counted.size());
  }

 private:
  TempFolder folder_;
  std::unique_ptr<ReplyJournal> journal_;
};

TEST_F(Absence, IsNotWaitedFor) {
  start_without({2}, {"train"}, 2);
  const Session site = connect({0, 1});
  Asked exchange = ask("update");
  reply(site, 0, 1);
  reply(site, 1, 2);
  EXPECT_EQ(exchange.get(), (Values{{0, 1}, {1, 2}})) << "well before the deadline";
  EXPECT_THAT(ids_of(hub().take_absentees()), ElementsAre(2));
}

TEST_F(Absence, IsWaitedForWhenTheQuorumNeedsIt) {
  start_without({2}, {"train"}, 3);
  const Session site = connect({0, 1}, 1);
  Asked exchange = ask("update");
  reply(site, 0, 1);
  reply(site, 1, 2);
  std::this_thread::sleep_for(5ms);
  EXPECT_FALSE(exchange.is_over());
  const Session back = connect({2});
  EXPECT_EQ(take(back), "1 train for 2") << "what it missed comes first";
  EXPECT_EQ(take(back), "2 update for 2");
  reply(back, 2, 1, make_message("train", 0));
  reply(back, 2, 3);
  EXPECT_EQ(exchange.get().size(), 3U);
}

TEST_F(Absence, EndsWithACatchUpOnTheNewestOfEachKind) {
  start_without({1, 2}, {"train", "update", "evaluate", "train"}, 1);
  Asked exchange = ask("update");
  const Session site = connect({0, 1}, 0);
  EXPECT_EQ(take(site), "3 evaluate for 1") << "in order, whatever else is in the queue";
  EXPECT_EQ(take(site), "4 train for 1");
  EXPECT_EQ(take(site), "5 update for 0 1");
  EXPECT_EQ(take(site), "nothing");
  // One that has seen some of it, and one that has seen all.
  const Session other = connect({2}, 3);
  EXPECT_EQ(take(other), "4 train for 2");
  EXPECT_EQ(take(other), "5 update for 2");
  EXPECT_EQ(take(connect({2}, 4)), "5 update for 2");
}

TEST_F(Absence, KeepsTheOrderOfEveryClientWhenTheyMissedDifferentTasks) {
  start_without({0}, {"update", "train"}, 2);
  Asked exchange = ask("evaluate");
  const Session site = connect({1, 2, 0}, 0);  // client 0 comes last, its first task is the oldest
  EXPECT_EQ(take(site), "1 update for 0");
  EXPECT_EQ(take(site), "2 train for 0");
  EXPECT_EQ(take(site), "3 evaluate for 1 2 0");
}

TEST_F(Absence, CatchesUpAgainWhenTheConnectionBreaksOnTheWay) {
  start_without({2}, {"update"}, 2);
  Asked exchange = ask("train");
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Session back = connect({2}, 0);
    EXPECT_EQ(take(back), "1 update for 2");
    if (attempt == 1) {
      EXPECT_EQ(take(back), "2 train for 2");
    }
    hub().disconnect(back);
  }
  // It had begun to receive the first when the connection broke: it needs it still.
  const Session back =
      hub().connect("a site", {{.client = client_id(2), .received = 1, .answered = 0}});
  EXPECT_EQ(take(back), "1 update for 2");
}

TEST_F(Absence, EndsWithOneTaskOfEachKindThoughTheNewestIsAskedRightNow) {
  start_without({2}, {"train", "update"}, 2);
  const Session before = connect({0, 1, 2}, 0);
  Asked exchange = ask("update");
  hub().disconnect(before);
  const Session site = connect({0, 1, 2}, 0);
  EXPECT_EQ(take(site), "1 train for 2");
  EXPECT_EQ(take(site), "3 update for 0 1 2");
  EXPECT_EQ(take(site), "nothing");
}

TEST_F(Absence, OfAnEarlierLifeIsOverForWhoeverIsConnectedNow) {
  const TempFolder folder;
  {
    ReplyJournal before(folder / "journal");
    before.add(1, client_id(0), *bytes_of(make_message("train", 5)));
    before.end(1, {client_id(0)});
  }
  ReplyJournal journal(folder / "journal");
  start({.num_clients = 2, .quorum = 1, .deadline_seconds = kNever, .format = {}}, &journal);
  const Session site = connect({0, 1}, 0);
  EXPECT_EQ(ask("train").get(), (Values{{0, 5}}));
  Asked exchange = ask("update");
  EXPECT_EQ(take(site), "1 train for 1");
  EXPECT_EQ(take(site), "2 update for 0 1");
  reply(site, 0, 1);
  std::this_thread::sleep_for(5ms);
  EXPECT_FALSE(exchange.is_over()) << "client 1 is waited for";
  reply(site, 1, 2);
  EXPECT_EQ(exchange.get().size(), 2U);
  kill();
}

TEST_F(HubTest, HearsASlowClientsLateReplyAndAsksItAgain) {
  start(2, kSoon, 1);
  const Session site = connect({0, 1});
  Asked first = ask("train");
  EXPECT_EQ(take(site), "1 train for 0 1");
  reply(site, 0, 1);
  EXPECT_EQ(first.get(), (Values{{0, 1}}));
  Asked second = ask("update");
  EXPECT_EQ(take(site), "2 update for 0") << "client 1 has its hands full";
  reply(site, 1, 1, make_message("train", 9));
  EXPECT_THAT(hub().status().absent, IsEmpty());
  EXPECT_EQ(take(site), "2 update for 1");
  reply(site, 1, 2);
  reply(site, 0, 1);
  EXPECT_EQ(second.get(), (Values{{0, 1}, {1, 2}})) << "the late reply has changed nothing";
  EXPECT_EQ(hub().status().counters.late, 1U);
}

TEST_F(HubTest, DoesNotBelieveThatAClientIsAheadOfTheRun) {
  start(2, kSoon, 1);
  const Session site = connect({0, 1});
  Asked first = ask("train");
  EXPECT_EQ(take(site), "1 train for 0 1");
  reply(site, 0, 1);
  EXPECT_EQ(first.get().size(), 1U);
  reply(site, 1, 99, make_message("train", 1));
  EXPECT_THAT(ids_of(hub().status().absent), ElementsAre(1));
  report(site, 1, 0, 0);
  report(site, 1, 0, 0);
  EXPECT_EQ(take(site), "1 train for 1") << "it needs that still";
}

// The reply of a client that missed the deadline is lost, or its task was.
TEST_F(HubTest, TakesBackAnAbsentClientThatHasNothingToDo) {
  for (const Sequence seen : {0U, 1U}) {
    start(2, kSoon, 1);
    const Session site = connect({0, 1});
    Asked first = ask("train");
    EXPECT_EQ(take(site), "1 train for 0 1");
    reply(site, 0, 1);
    EXPECT_EQ(first.get().size(), 1U);
    for (int i = 0; i < 5; ++i) report(site, 1, 1, 0);
    EXPECT_THAT(ids_of(hub().status().absent), ElementsAre(1)) << "it works on it still";
    report(site, 1, seen, seen);
    report(site, 1, seen, seen);
    EXPECT_THAT(hub().status().absent, IsEmpty());
    EXPECT_EQ(take(site), seen == 0 ? "1 train for 1" : "nothing");
    EXPECT_EQ(hub().status().counters.resent, 1 - seen);
    Asked second = ask("update");
    EXPECT_EQ(take(site), "2 update for 0 1");
  }
}

TEST_F(HubTest, SendsALostTaskAgain) {
  start(2);
  const Session site = connect({0, 1});
  Asked exchange = ask("train");
  EXPECT_EQ(take(site), "1 train for 0 1");
  report(site, 1, 0, 0);
  EXPECT_EQ(take(site), "nothing") << "the report may have crossed the task";
  report(site, 1, 0, 0);
  EXPECT_EQ(take(site), "1 train for 1");
  report(site, 1, 0, 0);
  EXPECT_EQ(take(site), "nothing") << "nor does one of them send it a third time";
  EXPECT_EQ(hub().status().counters.resent, 1U);
}

TEST_F(HubTest, AsksAgainForALostReply) {
  start(1);
  const Session site = connect({0});
  Asked exchange = ask("train");
  EXPECT_EQ(take(site), "1 train for 0");
  report(site, 0, 1, 1);
  report(site, 0, 1, 1);
  EXPECT_EQ(take(site), "1 train for 0");
}

TEST_F(HubTest, LeavesClientsAloneThatWork) {
  start(1);
  const Session site = connect({0});
  Asked exchange = ask("train");
  EXPECT_EQ(take(site), "1 train for 0");
  report(site, 0, 0, 0);
  for (int i = 0; i < 50; ++i) report(site, 0, 1, 0);
  report(site, 0, 0, 0);
  for (int i = 0; i < 50; ++i) report(site, 0, 1, 0);
  EXPECT_EQ(take(site), "nothing");
  EXPECT_EQ(hub().status().counters.resent, 0U);
}

TEST_F(HubTest, LeavesClientsAloneThatAreAskedNothing) {
  start(2);
  const Session site = connect({0, 1});
  for (int i = 0; i < 5; ++i) report(site, 0, 0, 0);
  Asked exchange = ask("train", 0, {0});
  EXPECT_EQ(take(site), "1 train for 0");
  for (int i = 0; i < 5; ++i) report(site, 1, 0, 0);
  reply(site, 0, 1);
  EXPECT_EQ(exchange.get().size(), 1U);
  for (int i = 0; i < 5; ++i) report(site, 0, 1, 1);
  EXPECT_EQ(take(site), "nothing");
  EXPECT_EQ(hub().status().counters.resent, 0U);
}

TEST_F(HubTest, SendsNoSecondCopyOfWhatIsStillInTheQueue) {
  start(2);
  const Session site = connect({0, 1});
  Asked exchange = ask("train");
  for (int i = 0; i < 10; ++i) report(site, 0, 0, 0);
  EXPECT_EQ(take(site), "1 train for 0 1");
  EXPECT_EQ(take(site), "nothing");
}

TEST_F(HubTest, SendsNoSecondCopyOfWhatWasAnsweredMeanwhile) {
  start(2);
  const Session site = connect({0, 1});
  Asked exchange = ask("train");
  EXPECT_EQ(take(site), "1 train for 0 1");
  for (int i = 0; i < 4; ++i) report(site, 0, 0, 0);
  reply(site, 0, 1);
  EXPECT_EQ(take(site), "nothing");
}

TEST_F(HubTest, TakesProgressOnlyFromTheSessionOfTheClient) {
  start(2);
  const Session site = connect({0});
  const Session other = connect({1});
  Asked exchange = ask("train");
  EXPECT_EQ(take(site), "1 train for 0");
  for (int i = 0; i < 5; ++i) report(other, 0, 0, 0);
  for (int i = 0; i < 5; ++i) report(99, 0, 0, 0);
  for (int i = 0; i < 5; ++i) report(site, 7, 0, 0);
  EXPECT_EQ(take(site), "nothing");
}
}  // namespace
}  // namespace fedhur::transport
