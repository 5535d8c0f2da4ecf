// What a client is told needs no answer: nobody waits for it, and still it is worked on once, in
// its place, whatever the network and the processes do.
#include "fedhur/transport/network/site.hpp"
#include "tests/transport/network_support.hpp"

namespace fedhur::transport {
namespace {
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class HubTells : public ExchangesTest {
 protected:
  // All that there is for a session: "told 1 update for 0 1", "asked 2 train for 0 1 after 1".
  std::vector<std::string> take_all(Session session) {
    std::vector<std::string> lines;
    while (const auto next = exchanges->next_task(session)) {
      std::string line = (next->task.is_told ? "told " : "asked ") + text_of(*next);
      if (next->after > 0) line += fmt::format(" after {}", next->after);
      lines.push_back(line);
    }
    return lines;
  }
};

TEST_F(HubTells, AtOnceAndAnswersOfTheNextExchangeAreEnough) {
  start(2);
  const Session site = connect({0, 1});
  tell("update");
  EXPECT_THAT(take_all(site), ElementsAre("told 1 update for 0 1"));
  ask("train");
  EXPECT_THAT(take_all(site), ElementsAre("asked 2 train for 0 1 after 1"));
  reply(site, 0, 5);
  reply(site, 1, 6);
  EXPECT_EQ(end(), (Values{{0, 5}, {1, 6}}));
  exchanges->disconnect(site);
  EXPECT_THAT(take_all(connect({0, 1}, 2)), IsEmpty()) << "who has answered has heard it";
  EXPECT_TRUE(exchanges->take_absentees().empty());
}

TEST_F(HubTells, AgainWhatWasLostWithAConnection) {
  start(2);
  const Session first = connect({0, 1});
  tell("update");
  tell("keep");
  EXPECT_THAT(take_all(first), ElementsAre("told 1 update for 0 1", "told 2 keep for 0 1 after 1"));
  exchanges->disconnect(first);
  EXPECT_THAT(take_all(connect({0}, 0)),
              ElementsAre("told 1 update for 0", "told 2 keep for 0 after 1"));
  EXPECT_THAT(take_all(connect({1}, 1)), ElementsAre("told 2 keep for 1")) << "it has the other";
}

TEST_F(HubTells, AgainToASiteThatShowsNoSignOfIt) {
  start(1);
  const Session site = connect({0});
  tell("update", 0, {0});
  (void)take_all(site);
  report(site, 0, 1, 0);
  report(site, 0, 1, 0);
  EXPECT_THAT(take_all(site), IsEmpty()) << "it is at work";
  report(site, 0, 1, 1);
  report(site, 0, 1, 1);
  EXPECT_THAT(take_all(site), IsEmpty()) << "it has worked on it";
  tell("keep", 0, {0});
  (void)take_all(site);
  report(site, 0, 1, 1);
  report(site, 0, 1, 1);
  EXPECT_THAT(take_all(site), ElementsAre("told 2 keep for 0"));
}

TEST_F(HubTells, ThoseWhoWereAwayTheNewestOfEachKind) {
  start(2, 1, 0.03);
  const Session site = connect({0});
  ask("train");
  reply(site, 0, 1);
  EXPECT_EQ(end_at_deadline().size(), 1U);
  for (Round round = 0; round < 3; ++round) {
    tell("update", round);
    tell("keep", round);
  }
  EXPECT_THAT(take_all(connect({1})), ElementsAre("asked 1 train for 1", "told 6 update for 1",
                                                  "told 7 keep for 1 after 6"));
}

TEST_F(HubTells, EverythingToThoseWhoAreOnlyBehind) {
  start(1);
  tell("update", 0, {0});
  tell("update", 1, {0});
  EXPECT_THAT(take_all(connect({0})),
              ElementsAre("told 1 update for 0", "told 2 update for 0 after 1"));
}

TEST_F(HubTells, TheLogWhoCouldNotDoIt) {
  start(2, 1);
  const Session site = connect({0, 1});
  tell("update", 3);
  fail(site, 1, 1, "what\nis an update?");
  EXPECT_THAT(log, Contains("round 4: client 1 could not do 'update': what is an update?"));
  EXPECT_EQ(exchanges->status().counters.refused, 1U);
  EXPECT_THAT(ids_of(exchanges->take_absentees()), ElementsAre(1));
  ask("train", 4);
  reply(site, 0, 5);
  reply(site, 1, 6);
  EXPECT_EQ(end().size(), 2U) << "it goes on with the others";
}

TEST_F(HubTells, InItsNextLifeOnlyThoseWhoHaveNotHeardIt) {
  start(2);  // where client 1 has done what it was told, and client 0 has answered besides
  const Session site = connect({0, 1}, 1);
  report(site, 0, 2, 2);
  tell("update");
  ask_again("train", {{0, 5}}, false);
  EXPECT_THAT(take_all(site), ElementsAre("asked 2 train for 1"));
  reply(site, 1, 6);
  EXPECT_EQ(end(), (Values{{0, 5}, {1, 6}}));
}

TEST_F(HubTells, NobodyWhenItIsClosedOrAsksForTheImpossible) {
  start(2);
  EXPECT_THROW(tell("update", 0, {2}), std::logic_error);
  EXPECT_THROW(tell("update", 0, {1, 1}), std::logic_error);
  EXPECT_EQ(exchanges->next_sequence(), 1U) << "nothing has happened";
  exchanges->close(TransportError("the run is over"));
  EXPECT_THROW(tell("update"), TransportError);
}

// The other end.
class ToldSite : public testing::Test, protected TaskJournal {
 protected:
  class Client : public federation::ClientMethod {
   public:
    [[nodiscard]] Message answer(const Message& request) override {
      kinds.push_back(request.kind);
      if (request.kind == "nonsense") throw ProtocolError("what is 'nonsense'?");
      return make_message(request.kind, static_cast<double>(kinds.size()), request.round);
    }
    std::vector<std::string> kinds;
  };

  std::vector<std::string> work(const std::vector<Task>& tasks) {
    std::vector<std::string> replies;
    site.work(tasks, [&](const Reply& reply) {
      EXPECT_TRUE(is_synced);
      replies.push_back(fmt::format("{} {}", reply.sequence, reply.problem));
    });
    return replies;
  }
  static Task told(Sequence sequence, const std::string& kind, Sequence after = 0) {
    Task task = asked(sequence, kind, after);
    task.is_told = true;
    return task;
  }
  static Task asked(Sequence sequence, const std::string& kind, Sequence after = 0) {
    return {.sequence = sequence,
            .clients = {client_id(3)},
            .message = bytes_of(make_message(kind, 0)),
            .after = after};
  }
  [[nodiscard]] std::pair<Sequence, Sequence> progress() {
    const ClientProgress own = site.progress().at(0);
    return {own.received, own.answered};
  }
  void begin_round(Round /*round*/) override {}
  void append(const Task& /*task*/) override { is_synced = false; }
  void sync() override { is_synced = true; }

  bool is_synced = true;
  Client client;
  Executor executor{1};
  Site site{{{client_id(3), &client}}, executor, message::WireFormat{}, this};
};
using Pair = std::pair<Sequence, Sequence>;

TEST_F(ToldSite, WorksInOrderAndSaysNothing) {
  EXPECT_THAT(work({told(1, "update"), told(2, "keep", 1)}), IsEmpty());
  EXPECT_THAT(client.kinds, ElementsAre("update", "keep"));
  EXPECT_FALSE(is_synced) << "the disk has time until somebody relies on it";
  EXPECT_THAT(work({asked(3, "train", 2)}), ElementsAre("3 "));
  EXPECT_EQ(progress(), Pair(3, 3));
}

TEST_F(ToldSite, SettlesBeforeItTellsItsProgress) {
  site.note_arrival(1, std::vector{client_id(3)});
  EXPECT_EQ(progress(), Pair(1, 0));
  (void)work({told(1, "update")});
  ASSERT_FALSE(is_synced);
  EXPECT_EQ(progress(), Pair(1, 1));
  EXPECT_TRUE(is_synced);
  EXPECT_THAT(site.seen(), ElementsAre(1U));
}

TEST_F(ToldSite, PassesOverATaskWhosePredecessorIsMissing) {
  site.note_arrival(2, std::vector{client_id(3)});
  EXPECT_THAT(work({asked(2, "train", 1)}), IsEmpty());
  EXPECT_THAT(client.kinds, IsEmpty());
  EXPECT_EQ(progress(), Pair(0, 0)) << "it does not count as busy";
  EXPECT_THAT(work({asked(2, "train", 1), told(1, "update")}), ElementsAre("2 "))
      << "together they are in order";
  EXPECT_THAT(client.kinds, ElementsAre("update", "train"));
}

TEST_F(ToldSite, WorksOnWhatItIsToldOnce) {
  EXPECT_THAT(work({told(1, "update"), told(1, "update")}), IsEmpty());
  EXPECT_THAT(work({told(1, "update")}), IsEmpty());
  EXPECT_THAT(work({asked(2, "train", 1)}), ElementsAre("2 "));
  EXPECT_THAT(work({told(1, "update"), asked(2, "train", 1)}), ElementsAre("2 "));
  EXPECT_THAT(client.kinds, ElementsAre("update", "train"));
}

TEST_F(ToldSite, SaysWhyItCouldNotDoIt) {
  for (int repetition = 0; repetition < 2; ++repetition) {
    EXPECT_THAT(work({told(1, "nonsense")}), ElementsAre("1 what is 'nonsense'?"));
  }
  EXPECT_THAT(client.kinds, ElementsAre("nonsense"));
  EXPECT_THAT(work({asked(2, "train", 1)}), ElementsAre("2 ")) << "and it goes on";
}
}  // namespace
}  // namespace fedhur::transport
