// What a site promises: each task is worked on once, noted before, and answered with the same bytes
// however often it comes.
#include <atomic>

#include "fedhur/transport/network/site.hpp"
#include "tests/transport/network_support.hpp"

namespace fedhur::transport {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using Diary = std::vector<std::string>;

// Remembers how often it was asked, which shows in its answers.
class CountingClient : public federation::ClientMethod {
 public:
  [[nodiscard]] Message answer(const Message& request) override {
    if (is_busy.exchange(true)) throw std::logic_error("two tasks at once");
    if (while_working) while_working();
    ++num_asked;
    is_busy = false;
    if (request.kind == "nonsense") throw ProtocolError("what is 'nonsense'?");
    return make_message(request.kind, 100 * request.arrays.number("value") + num_asked,
                        request.round);
  }
  std::function<void()> while_working;
  std::atomic<bool> is_busy = false;
  int num_asked = 0;
};

class DiaryJournal : public TaskJournal {
 public:
  void begin_round(Round round) override { diary.push_back(fmt::format("round {}", round)); }
  void append(const Task& task) override {
    std::string text = fmt::format("append {} for", task.sequence);
    for (const ClientId client : task.clients) text += fmt::format(" {}", index_of(client));
    EXPECT_EQ(worked(), seen) << "a task is in the journal before the work";
    diary.push_back(text);
    is_synced = false;
  }
  void sync() override { is_synced = true; }
  std::atomic<bool> is_synced = true;
  std::function<int()> worked = [] { return 0; };
  int seen = 0;
  Diary diary;
};

class SiteTest : public testing::Test {
 protected:
  // Clients 3, 4 and 6.
  void host(TaskJournal* journal = nullptr, Sequence answered = 0) {
    std::vector<HostedClient> hosted;
    for (std::size_t i = 0; i < 3; ++i) {
      hosted.push_back({client_id(kIds[i]), &clients_[i], answered});
    }
    site_ = std::make_unique<Site>(hosted, executor_, message::WireFormat{}, journal);
  }
  [[nodiscard]] Site& site() { return *site_; }
  [[nodiscard]] CountingClient& client(int i) { return clients_[static_cast<std::size_t>(i)]; }

  static Task task(Sequence sequence, const std::vector<int>& clients, double value = 0,
                   Round round = 0, const std::string& kind = "train") {
    Task task{
        .sequence = sequence, .clients = {}, .message = bytes_of(make_message(kind, value, round))};
    for (const int client : clients) task.clients.push_back(client_id(client));
    return task;
  }
  // The replies as "3 answers 1 with 101", in the order of sending.
  Diary work(const std::vector<Task>& tasks) {
    Diary replies;
    std::mutex mutex;
    site().work(tasks, [&](const Reply& reply) {
      const std::lock_guard lock(mutex);
      replies.push_back(
          fmt::format("{} answers {} with {}", index_of(reply.client), reply.sequence,
                      reply.message ? fmt::format("{}", value_of(reply)) : reply.problem));
      sent_.push_back(reply);
    });
    return replies;
  }
  static double value_of(const Reply& reply) {
    return message::decode(*reply.message).arrays.number("value");
  }
  [[nodiscard]] Diary progress() {
    Diary lines;
    for (const ClientProgress& client : site().progress()) {
      lines.push_back(
          fmt::format("{}: {} {}", index_of(client.client), client.received, client.answered));
    }
    return lines;
  }
  std::vector<Reply> sent_;

 private:
  static constexpr std::array<Index, 3> kIds = {3, 4, 6};
  std::array<CountingClient, 3> clients_;
  Executor executor_{2};
  std::unique_ptr<Site> site_;
};

TEST_F(SiteTest, WorksOnATaskWithAllItsClients) {
  host();
  EXPECT_THAT(work({task(1, {3, 6, 9}, 5)}),
              UnorderedElementsAre("3 answers 1 with 501", "6 answers 1 with 501"))
      << "client 9 is hosted elsewhere";
  EXPECT_EQ(client(1).num_asked, 0);
  EXPECT_THAT(progress(), ElementsAre("3: 1 1", "4: 0 0", "6: 1 1"));
}

TEST_F(SiteTest, AnswersARepeatedTaskWithTheSameBytes) {
  host();
  (void)work({task(1, {3})});
  (void)work({task(1, {3, 4})});
  (void)work({task(1, {3}), task(1, {3})});
  ASSERT_EQ(sent_.size(), 5U);
  EXPECT_EQ(client(0).num_asked, 1);
  for (const Reply& reply : sent_) {
    EXPECT_EQ(*reply.message, *sent_.front().message) << index_of(reply.client);
  }
}

TEST_F(SiteTest, PassesOverWhatIsOlderThanTheLast) {
  host();
  (void)work({task(4, {3})});
  EXPECT_THAT(work({task(2, {3}), task(3, {3})}), IsEmpty());
  EXPECT_EQ(client(0).num_asked, 1);
  EXPECT_THAT(progress(), ElementsAre("3: 4 4", "4: 0 0", "6: 0 0"));
}

TEST_F(SiteTest, WorksOnEachTaskOnceHoweverOftenItComesInOneCall) {
  host();
  EXPECT_THAT(
      work({task(1, {3, 3, 4}), task(1, {4, 3}, 7), task(1, {6}, 9)}),
      UnorderedElementsAre("3 answers 1 with 1", "4 answers 1 with 1", "6 answers 1 with 901"));
}

TEST_F(SiteTest, WorksOnExchangesInTheirOrder) {
  host();
  EXPECT_THAT(work({task(5, {3}, 5), task(2, {3}, 2), task(3, {3}, 3)}),
              ElementsAre("3 answers 2 with 201", "3 answers 3 with 302", "3 answers 5 with 503"));
}

TEST_F(SiteTest, SaysWhyAClientCouldNotAnswer) {
  host();
  for (int repetition = 0; repetition < 2; ++repetition) {
    EXPECT_THAT(work({task(1, {3}, 0, 0, "nonsense")}),
                ElementsAre("3 answers 1 with what is 'nonsense'?"));
  }
  EXPECT_EQ(client(0).num_asked, 1) << "a repeated task is not tried again";
  EXPECT_THAT(work({task(2, {3})}), ElementsAre("3 answers 2 with 2")) << "and it goes on";
}

TEST_F(SiteTest, SaysSoWhenATaskCannotBeReadAndGoesOn) {
  DiaryJournal journal;
  host(&journal);
  Task bad = task(1, {3, 4});
  bad.message = std::make_shared<const std::vector<std::byte>>(3);
  site().note_arrival(1, bad.clients);
  EXPECT_THAT(work({bad, task(1, {6})}),
              UnorderedElementsAre("3 answers 1 with bytes end too early",
                                   "4 answers 1 with bytes end too early", "6 answers 1 with 1"));
  EXPECT_THAT(journal.diary, ElementsAre("round 0", "append 1 for 6"))
      << "no client has seen the other";
  EXPECT_THAT(progress(), ElementsAre("3: 0 0", "4: 0 0", "6: 1 1")) << "and no client is busy";
}

TEST_F(SiteTest, NotesATaskBeforeTheWorkAndOnlyForThoseToWhomItIsNew) {
  DiaryJournal journal;
  host(&journal);
  journal.worked = [&] { return client(0).num_asked + client(1).num_asked + client(2).num_asked; };
  (void)work({task(1, {3, 4})});
  journal.seen = 2;
  (void)work({task(1, {3, 4, 6})});
  journal.seen = 3;
  (void)work({task(1, {3, 4, 6}), task(1, {3})});
  EXPECT_THAT(journal.diary, ElementsAre("round 0", "append 1 for 3 4", "append 1 for 6"));
}

TEST_F(SiteTest, LetsNoReplyLeaveBeforeItsTaskIsSettled) {
  DiaryJournal journal;
  host(&journal);
  client(0).while_working = [&] {
    EXPECT_FALSE(journal.is_synced) << "the disk has time while clients work";
  };
  int num_sent = 0;
  const auto send = [&](const Reply& /*reply*/) {
    EXPECT_TRUE(journal.is_synced);
    ++num_sent;
  };
  site().work(std::vector{task(1, {3}), task(2, {3}, 0, 0, "nonsense"), task(3, {3})}, send);
  EXPECT_EQ(num_sent, 3);
}

TEST_F(SiteTest, BeginsARoundBeforeItsFirstTaskAndNeverAgain) {
  DiaryJournal journal;
  host(&journal);
  (void)work({task(1, {3}, 0, 2)});
  (void)work({task(2, {3}, 0, 2), task(4, {3}, 0, 3), task(5, {3}, 0, 3)});
  // A client that catches up works on an older round; that is no reason to begin one.
  (void)work({task(2, {4}, 0, 2), task(5, {4}, 0, 3), task(6, {3, 4}, 0, 4)});
  EXPECT_THAT(journal.diary, ElementsAre("round 2", "append 1 for 3", "append 2 for 3", "round 3",
                                         "append 4 for 3", "append 5 for 3", "append 2 for 4",
                                         "append 5 for 4", "round 4", "append 6 for 3 4"));
}

TEST_F(SiteTest, GoesOnWhereItsClientsAre) {
  host(nullptr, 7);
  EXPECT_THAT(progress(), ElementsAre("3: 7 7", "4: 7 7", "6: 7 7"));
  EXPECT_THAT(work({task(7, {3}), task(5, {4})}), IsEmpty()) << "the reply of then is not known";
  EXPECT_THAT(work({task(8, {3})}), ElementsAre("3 answers 8 with 1"));
}

TEST_F(SiteTest, TellsWhileItWorksThatItDoes) {
  host();
  const Task first = task(1, {3, 4});
  site().note_arrival(1, first.clients);
  EXPECT_THAT(progress(), ElementsAre("3: 1 0", "4: 1 0", "6: 0 0"));
  client(0).while_working = [&] { EXPECT_EQ(progress().at(0), "3: 1 0"); };
  site().work(std::vector{first}, [&](const Reply& reply) {
    if (reply.client == client_id(3)) {
      EXPECT_EQ(progress().at(0), "3: 1 0") << "a reply on its way is not lost";
    }
  });
  EXPECT_THAT(progress(), ElementsAre("3: 1 1", "4: 1 1", "6: 0 0"));
  site().work(std::vector{first}, [&](const Reply& reply) {
    EXPECT_EQ(progress().at(reply.client == client_id(3) ? 0 : 1).substr(2), " 1 0")
        << "nor is one that is sent again";
  });
  EXPECT_THAT(progress(), ElementsAre("3: 1 1", "4: 1 1", "6: 0 0"));
  site().note_arrival(9, std::vector{client_id(6), client_id(77)});
  EXPECT_EQ(progress().at(2), "6: 9 0");
}

TEST_F(SiteTest, HasSeenATaskWhoseReplyCouldNotBeSent) {
  host();
  struct Gone {};
  EXPECT_THROW(site().work(std::vector{task(1, {3})}, [](const Reply&) { throw Gone{}; }), Gone);
  EXPECT_EQ(progress().at(0), "3: 1 1");
  EXPECT_THAT(work({task(1, {3})}), ElementsAre("3 answers 1 with 1"));
}

TEST_F(SiteTest, ComesToTheSameStateThroughItsNotes) {
  class Notes : public TaskJournal {
   public:
    void begin_round(Round /*round*/) override {}
    void append(const Task& task) override { tasks.push_back(task); }
    void sync() override {}
    std::vector<Task> tasks;
  } notes;
  host(&notes);
  (void)work({task(1, {3, 4}), task(1, {6}, 2)});
  (void)work({task(2, {3, 4, 6}, 0, 0, "nonsense"), task(3, {4})});
  const auto last = sent_.back();
  const Diary before = progress();
  const int asked = client(1).num_asked;
  for (int i = 0; i < 3; ++i) client(i).num_asked = 0;
  host();  // as after a crash
  (void)work(notes.tasks);
  EXPECT_EQ(progress(), before);
  EXPECT_EQ(client(1).num_asked, asked);
  sent_.clear();
  (void)work({task(3, {4})});
  EXPECT_EQ(*sent_.at(0).message, *last.message) << "the reply that was lost with the process";
}
}  // namespace
}  // namespace fedhur::transport
