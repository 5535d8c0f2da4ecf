// Clients that miss a deadline, and how they catch up; tasks and replies that the network loses.
#include "tests/transport/network_support.hpp"

namespace fedhur::transport {
namespace {
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(ExchangesTest, GoesOnWithoutThoseWhoMissTheDeadline) {
  start(3, 2, 0.03);
  const Session site = connect({0, 1, 2});
  ask("train", 6);
  reply(site, 0, 1);
  reply(site, 2, 3);
  EXPECT_EQ(end_at_deadline(), (Values{{0, 1}, {2, 3}}));
  EXPECT_THAT(log, Contains("round 7: no answer to 'train' within 0.03 s from client 1"));
  EXPECT_THAT(ids_of(exchanges->status().absent), ElementsAre(1));
  EXPECT_THAT(ids_of(exchanges->take_absentees()), ElementsAre(1));
  EXPECT_THAT(exchanges->take_absentees(), IsEmpty()) << "they were taken";
}

TEST_F(ExchangesTest, FailsWithASentenceBelowTheQuorum) {
  start(14, 3, 0.03);
  const Session site = connect({0, 1});
  ask("update", 1);
  reply(site, 0, 1);
  reply(site, 1, 1);
  pass_deadline();
  EXPECT_EQ(error_at_end(),
            "round 2: 2 of 14 clients answered 'update', expected at least 3; missing: "
            "clients 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more");
  EXPECT_EQ(exchanges->status().kind, "") << "the exchange is over";
}

TEST_F(ExchangesTest, NeedsEverybodyWithoutAQuorum) {
  start(2);
  const Session site = connect({0, 1});
  ask("train");
  reply(site, 0, 1);
  pass_deadline();
  EXPECT_THAT(error_at_end(), HasSubstr("expected at least 2; missing: client 1"));
}

TEST_F(ExchangesTest, NeedsNoMoreThanItAsks) {
  start(3, 2, 0.03);
  const Session site = connect({0, 1, 2});
  ask("train", 0, {1});
  reply(site, 1, 1);
  EXPECT_EQ(end().size(), 1U);
}

// Clients become absent without waiting if they were before the server was restarted.
class Absence : public ExchangesTest {
 protected:
  // The first exchanges, one of each kind, ended without `missing`; no later deadline passes.
  void start_without(const std::set<int>& missing, const std::vector<std::string>& kinds,
                     Index quorum) {
    start(3, quorum);
    Values heard;
    for (int client = 0; client < 3; ++client) {
      if (!missing.contains(client)) heard[client] = 0;
    }
    for (const std::string& kind : kinds) {
      ask_again(kind, heard, true);
      EXPECT_EQ(end(), heard);
    }
  }
};

TEST_F(Absence, IsNotWaitedFor) {
  start_without({2}, {"train"}, 2);
  const Session site = connect({0, 1});
  ask("update");
  reply(site, 0, 1);
  reply(site, 1, 2);
  EXPECT_EQ(end(), (Values{{0, 1}, {1, 2}})) << "well before the deadline";
  EXPECT_THAT(ids_of(exchanges->take_absentees()), ElementsAre(2));
}

TEST_F(Absence, IsWaitedForWhenTheQuorumNeedsIt) {
  start_without({2}, {"train"}, 3);
  const Session site = connect({0, 1}, 1);
  ask("update");
  reply(site, 0, 1);
  reply(site, 1, 2);
  EXPECT_FALSE(is_over());
  const Session back = connect({2});
  EXPECT_EQ(take(back), "1 train for 2") << "what it missed comes first";
  EXPECT_EQ(take(back), "2 update for 2");
  reply(back, 2, 1, 0.0);
  reply(back, 2, 3);
  EXPECT_EQ(end().size(), 3U);
}

TEST_F(Absence, EndsWithACatchUpOnTheNewestOfEachKind) {
  start_without({1, 2}, {"train", "update", "evaluate", "train"}, 1);
  ask("update");
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
  ask("evaluate");
  const Session site = connect({1, 2, 0}, 0);  // client 0 comes last, its first task is the oldest
  EXPECT_EQ(take(site), "1 update for 0");
  EXPECT_EQ(take(site), "2 train for 0");
  EXPECT_EQ(take(site), "3 evaluate for 1 2 0");
}

TEST_F(Absence, CatchesUpAgainWhenTheConnectionBreaksOnTheWay) {
  start_without({2}, {"update"}, 2);
  ask("train");
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Session back = connect({2}, 0);
    EXPECT_EQ(take(back), "1 update for 2");
    if (attempt == 1) {
      EXPECT_EQ(take(back), "2 train for 2");
    }
    exchanges->disconnect(back);
  }
  // It had begun to receive the first when the connection broke: it needs it still.
  const Session back =
      exchanges->connect("a site", {{.client = client_id(2), .received = 1, .answered = 0}});
  EXPECT_EQ(take(back), "1 update for 2");
}

TEST_F(Absence, EndsWithOneTaskOfEachKindThoughTheNewestIsAskedRightNow) {
  start_without({2}, {"train", "update"}, 2);
  const Session before = connect({0, 1, 2}, 0);
  ask("update");
  exchanges->disconnect(before);
  const Session site = connect({0, 1, 2}, 0);
  EXPECT_EQ(take(site), "1 train for 2");
  EXPECT_EQ(take(site), "3 update for 0 1 2");
  EXPECT_EQ(take(site), "nothing");
}

TEST_F(Absence, OfAnEarlierLifeIsOverForWhoeverIsConnectedNow) {
  start(2, 1);
  const Session site = connect({0, 1}, 0);
  ask_again("train", {{0, 5}}, true);
  EXPECT_EQ(end(), (Values{{0, 5}}));
  ask("update");
  EXPECT_EQ(take(site), "1 train for 1");
  EXPECT_EQ(take(site), "2 update for 0 1");
  reply(site, 0, 1);
  EXPECT_FALSE(is_over()) << "client 1 is waited for";
  reply(site, 1, 2);
  EXPECT_EQ(end().size(), 2U);
}

TEST_F(ExchangesTest, HearsASlowClientsLateReplyAndAsksItAgain) {
  start(2, 1, 0.03);
  const Session site = connect({0, 1});
  ask("train");
  EXPECT_EQ(take(site), "1 train for 0 1");
  reply(site, 0, 1);
  EXPECT_EQ(end_at_deadline(), (Values{{0, 1}}));
  ask("update");
  EXPECT_EQ(take(site), "2 update for 0") << "client 1 has its hands full";
  reply(site, 1, 1, 9.0);
  EXPECT_THAT(exchanges->status().absent, IsEmpty());
  EXPECT_EQ(take(site), "2 update for 1");
  reply(site, 1, 2);
  reply(site, 0, 1);
  EXPECT_EQ(end(), (Values{{0, 1}, {1, 2}})) << "the late reply has changed nothing";
  EXPECT_EQ(exchanges->status().counters.late, 1U);
}

TEST_F(ExchangesTest, DoesNotBelieveThatAClientIsAheadOfTheRun) {
  start(2, 1, 0.03);
  const Session site = connect({0, 1});
  ask("train");
  EXPECT_EQ(take(site), "1 train for 0 1");
  reply(site, 0, 1);
  EXPECT_EQ(end_at_deadline().size(), 1U);
  reply(site, 1, 99, 1.0);
  EXPECT_THAT(ids_of(exchanges->status().absent), ElementsAre(1));
  report(site, 1, 0, 0);
  report(site, 1, 0, 0);
  EXPECT_EQ(take(site), "1 train for 1") << "it needs that still";
}

// The reply of a client that missed the deadline is lost, or its task was.
TEST_F(ExchangesTest, TakesBackAnAbsentClientThatHasNothingToDo) {
  for (const Sequence seen : {0U, 1U}) {
    start(2, 1, 0.03);
    const Session site = connect({0, 1});
    ask("train");
    EXPECT_EQ(take(site), "1 train for 0 1");
    reply(site, 0, 1);
    EXPECT_EQ(end_at_deadline().size(), 1U);
    for (int i = 0; i < 5; ++i) report(site, 1, 1, 0);
    EXPECT_THAT(ids_of(exchanges->status().absent), ElementsAre(1)) << "it works on it still";
    report(site, 1, seen, seen);
    report(site, 1, seen, seen);
    EXPECT_THAT(exchanges->status().absent, IsEmpty());
    EXPECT_EQ(take(site), seen == 0 ? "1 train for 1" : "nothing");
    EXPECT_EQ(exchanges->status().counters.resent, 1 - seen);
    ask("update");
    EXPECT_EQ(take(site), "2 update for 0 1");
  }
}

TEST_F(ExchangesTest, SendsALostTaskAgain) {
  start(2);
  const Session site = connect({0, 1});
  ask("train");
  EXPECT_EQ(take(site), "1 train for 0 1");
  report(site, 1, 0, 0);
  EXPECT_EQ(take(site), "nothing") << "the report may have crossed the task";
  report(site, 1, 0, 0);
  EXPECT_EQ(take(site), "1 train for 1");
  report(site, 1, 0, 0);
  EXPECT_EQ(take(site), "nothing") << "nor does one of them send it a third time";
  EXPECT_EQ(exchanges->status().counters.resent, 1U);
}

TEST_F(ExchangesTest, AsksAgainForALostReply) {
  start(1);
  const Session site = connect({0});
  ask("train");
  EXPECT_EQ(take(site), "1 train for 0");
  report(site, 0, 1, 1);
  report(site, 0, 1, 1);
  EXPECT_EQ(take(site), "1 train for 0");
}

TEST_F(ExchangesTest, LeavesClientsAloneThatWork) {
  start(1);
  const Session site = connect({0});
  ask("train");
  EXPECT_EQ(take(site), "1 train for 0");
  report(site, 0, 0, 0);
  for (int i = 0; i < 50; ++i) report(site, 0, 1, 0);
  report(site, 0, 0, 0);
  for (int i = 0; i < 50; ++i) report(site, 0, 1, 0);
  EXPECT_EQ(take(site), "nothing");
  EXPECT_EQ(exchanges->status().counters.resent, 0U);
}

TEST_F(ExchangesTest, LeavesClientsAloneThatAreAskedNothing) {
  start(2);
  const Session site = connect({0, 1});
  for (int i = 0; i < 5; ++i) report(site, 0, 0, 0);
  ask("train", 0, {0});
  EXPECT_EQ(take(site), "1 train for 0");
  for (int i = 0; i < 5; ++i) report(site, 1, 0, 0);
  reply(site, 0, 1);
  EXPECT_EQ(end().size(), 1U);
  for (int i = 0; i < 5; ++i) report(site, 0, 1, 1);
  EXPECT_EQ(take(site), "nothing");
  EXPECT_EQ(exchanges->status().counters.resent, 0U);
}

TEST_F(ExchangesTest, SendsNoSecondCopyOfWhatIsStillInTheQueue) {
  start(2);
  const Session site = connect({0, 1});
  ask("train");
  for (int i = 0; i < 10; ++i) report(site, 0, 0, 0);
  EXPECT_EQ(take(site), "1 train for 0 1");
  EXPECT_EQ(take(site), "nothing");
}

TEST_F(ExchangesTest, SendsNoSecondCopyOfWhatWasAnsweredMeanwhile) {
  start(2);
  const Session site = connect({0, 1});
  ask("train");
  EXPECT_EQ(take(site), "1 train for 0 1");
  for (int i = 0; i < 4; ++i) report(site, 0, 0, 0);
  reply(site, 0, 1);
  EXPECT_EQ(take(site), "nothing");
}

TEST_F(ExchangesTest, TakesProgressOnlyFromTheSessionOfTheClient) {
  start(2);
  const Session site = connect({0});
  const Session other = connect({1});
  ask("train");
  EXPECT_EQ(take(site), "1 train for 0");
  for (int i = 0; i < 5; ++i) report(other, 0, 0, 0);
  for (int i = 0; i < 5; ++i) report(99, 0, 0, 0);
  for (int i = 0; i < 5; ++i) report(site, 7, 0, 0);
  EXPECT_EQ(take(site), "nothing");
}
}  // namespace
}  // namespace fedhur::transport
