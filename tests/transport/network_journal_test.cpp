// A server that was killed resumes from its journal, and asks no client twice.
#include <fstream>

#include "fedhur/base/file.hpp"
#include "fedhur/base/record_log.hpp"
#include "tests/support/small_disk.hpp"
#include "tests/transport/network_support.hpp"

namespace fedhur::transport {
namespace {
using fedhur::tests::SmallDisk;
using testing::ElementsAre;
using testing::HasSubstr;

Bytes text_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
}

TEST(ReplyJournal, GivesBackEachExchangeOnce) {
  const TempFolder folder;
  {
    ReplyJournal journal(folder / "journal");
    EXPECT_TRUE(journal.take(1).replies.empty());
    journal.add(5, client_id(2), *text_bytes("two"));
    journal.add(6, client_id(0), *text_bytes("other"));
    journal.add(5, client_id(0), *text_bytes(""));
    journal.end(5, {client_id(0), client_id(2)});
    EXPECT_TRUE(journal.take(5).replies.empty()) << "only what was there before";
  }
  ReplyJournal journal(folder / "journal");
  const auto ended = journal.take(5);
  EXPECT_TRUE(ended.is_ended);
  EXPECT_THAT(ids_of(ended.counted), ElementsAre(0, 2));
  ASSERT_EQ(ended.replies.size(), 2U);
  EXPECT_EQ(*ended.replies.at(client_id(2)), *text_bytes("two"));
  EXPECT_TRUE(ended.replies.at(client_id(0))->empty());
  const auto open = journal.take(6);
  EXPECT_FALSE(open.is_ended);
  EXPECT_EQ(open.replies.size(), 1U);
  EXPECT_TRUE(journal.take(5).replies.empty());
  EXPECT_FALSE(journal.take(5).is_ended);
}

TEST(ReplyJournal, CountsTheFirstOfTwo) {
  const TempFolder folder;
  {
    ReplyJournal journal(folder / "journal");
    journal.add(1, client_id(0), *text_bytes("first"));
    journal.add(1, client_id(0), *text_bytes("second"));
    journal.end(1, {client_id(0)});
    journal.end(1, {client_id(0), client_id(1)});
  }
  const auto exchange = ReplyJournal(folder / "journal").take(1);
  EXPECT_EQ(*exchange.replies.at(client_id(0)), *text_bytes("first"));
  EXPECT_THAT(ids_of(exchange.counted), ElementsAre(0));
}

TEST(ReplyJournal, ForgetsWhatWasTakenWhenCleared) {
  const TempFolder folder;
  {
    ReplyJournal journal(folder / "journal");
    journal.add(1, client_id(0), *text_bytes("old"));
  }
  {
    ReplyJournal journal(folder / "journal");
    (void)journal.take(1);
    journal.clear();
    (void)journal.take(2);
    journal.add(2, client_id(0), *text_bytes("new"));
  }
  ReplyJournal journal(folder / "journal");
  EXPECT_TRUE(journal.take(1).replies.empty());
  EXPECT_EQ(journal.take(2).replies.size(), 1U);
}

// A server that is killed writes fewer checkpoints than one that goes through the same rounds
// again.
TEST(ReplyJournal, RemembersWhatAnEarlierLifeHeardBeyondTheCheckpoint) {
  const TempFolder folder;
  {
    ReplyJournal journal(folder / "journal");
    for (const Sequence sequence : {1U, 2U, 3U}) {
      journal.add(sequence, client_id(0), *text_bytes("heard"));
      journal.end(sequence, {client_id(0)});
    }
  }
  for (int life = 0; life < 2; ++life) {
    ReplyJournal journal(folder / "journal");
    EXPECT_TRUE(journal.take(1).is_ended);
    EXPECT_TRUE(journal.take(2).is_ended);
    journal.clear();
    EXPECT_FALSE(journal.take(2).is_ended);
    if (life == 0) continue;  // killed here
    EXPECT_EQ(journal.take(3).replies.size(), 1U);
    journal.clear();
  }
  EXPECT_EQ(std::filesystem::file_size(folder / "journal"), 0U)
      << "now all of it is in a checkpoint";
}

TEST(ReplyJournal, RefusesALogOfSomethingElse) {
  const TempFolder folder;
  for (const char* content : {"", "\x07", "\x00", "\x01\x02\x03", "\x09 eight bytes"}) {
    RecordLog(folder / "log").clear();
    RecordLog(folder / "log").append(*text_bytes(content));
    EXPECT_THROW(ReplyJournal(folder / "log"), DataError) << content;
  }
}

// A server that can be killed and started anew on the same journal.
class Restart : public HubTest {
 protected:
  void start_again(double deadline_seconds = kNever, Index quorum = 0, Sequence first = 1) {
    kill();
    journal_.reset();
    journal_ = std::make_unique<ReplyJournal>(path());
    start({.num_clients = 3, .quorum = quorum, .deadline_seconds = deadline_seconds, .format = {}},
          journal_.get(), first);
  }
  [[nodiscard]] std::filesystem::path path() const { return folder_ / "journal"; }
  [[nodiscard]] ReplyJournal& journal() { return *journal_; }

 private:
  TempFolder folder_;
  std::unique_ptr<ReplyJournal> journal_;
};

TEST_F(Restart, InTheMiddleOfAnExchangeAsksOnlyThoseWhoHaveNotAnswered) {
  start_again();
  Session site = connect({0, 1, 2});
  Asked exchange = ask("train");
  reply(site, 2, 30);
  reply(site, 0, 10);
  kill(std::move(exchange));
  start_again();
  site = connect({0, 1, 2}, 0);
  Asked again = ask("train");
  EXPECT_EQ(hub().status().answered, 2);
  EXPECT_EQ(take(site), "1 train for 1");
  EXPECT_EQ(take(site), "nothing");
  reply(site, 2, 99);  // its first answer counts
  reply(site, 1, 20);
  EXPECT_EQ(again.get(), (Values{{0, 10}, {1, 20}, {2, 30}}));
  EXPECT_EQ(hub().status().counters.duplicates, 1U);
}

TEST_F(Restart, AddsUpEveryAnswerOnceInEveryLife) {
  const auto start_sum = [&](double& sum) {
    std::vector<Request> requests;
    const auto message = std::make_shared<const Message>(make_message("upload", 0));
    const auto take = std::make_shared<const federation::Take>(
        [&sum](Answer& answer) { sum += answer.message.arrays.number("value"); });
    const auto check = std::make_shared<const federation::AnswerCheck>([](const Message& answer) {
      if (answer.arrays.number("value") < 0) throw ProtocolError("less than nothing");
    });
    for (int client = 0; client < 3; ++client) {
      requests.push_back({client_id(client), message, check, take});
    }
    return Asked(hub(), std::move(requests));
  };
  start_again(kNever, 2);
  Session site = connect({0, 1, 2});
  double before = 0;
  Asked exchange = start_sum(before);
  eventually([&] { return hub().status().asked == 3; });
  reply(site, 2, 1, make_message("upload", 30));
  reply(site, 2, 1, make_message("upload", 30));  // a duplicate
  EXPECT_EQ(before, 30);
  kill(std::move(exchange));
  start_again(kNever, 2);
  site = connect({0, 1, 2}, 0);
  double after = 0;
  Asked again = start_sum(after);
  eventually([&] { return hub().status().asked == 3; });
  EXPECT_EQ(after, 30) << "from the journal";
  reply(site, 2, 1, make_message("upload", 99));  // its first answer counts
  reply(site, 0, 1, make_message("upload", -5));  // refused
  reply(site, 1, 1, make_message("upload", 20));
  EXPECT_EQ(again.get(), (Values{{1, 20}, {2, 30}}));
  EXPECT_EQ(after, 50);
}

TEST_F(Restart, EndsTheRunWhereAnAnswerCannotBeAddedUp) {
  start_again();
  const Session site = connect({0});
  const auto take = std::make_shared<const federation::Take>(
      [](Answer&) { throw std::runtime_error("no memory"); });
  Asked exchange(hub(), {{client_id(0), std::make_shared<const Message>(make_message("upload", 0)),
                          nullptr, take}});
  eventually([&] { return hub().status().asked == 1; });
  reply(site, 0, 1, make_message("upload", 1));
  EXPECT_EQ(exchange.transport_error(), "the answer of client 0 could not be added up: no memory");
}

TEST_F(Restart, BetweenExchangesRepeatsThemWithoutAskingAnybody) {
  start_again();
  Session site = connect({0, 1, 2});
  for (const char* kind : {"train", "update"}) {
    Asked exchange = ask(kind);
    for (int client = 0; client < 3; ++client) reply(site, client, client + 1);
    EXPECT_EQ(exchange.get().size(), 3U);
  }
  const auto written = std::filesystem::file_size(path());
  for (int life = 0; life < 2; ++life) {
    start_again();
    for (const char* kind : {"train", "update"}) {
      EXPECT_EQ(ask(kind).get(), (Values{{0, 1}, {1, 2}, {2, 3}})) << "no site is connected";
    }
    EXPECT_EQ(std::filesystem::file_size(path()), written) << "nothing is written again";
  }
  site = connect({0, 1, 2}, 2);
  Asked exchange = ask("train", 1);
  EXPECT_EQ(take(site), "3 train for 0 1 2");
}

TEST_F(Restart, RepeatsAnExchangeThatEndedWithoutSome) {
  start_again(kSoon, 1);
  const Session site = connect({0, 1, 2});
  Asked exchange = ask("train");
  reply(site, 1, 20);
  hub().accept(site, {.sequence = 1, .client = client_id(2), .problem = "no"});
  EXPECT_EQ(exchange.get(), (Values{{1, 20}}));
  reply(site, 0, 1, make_message("train", 10));  // late: it must not come back to life
  start_again(kNever, 1);
  const auto before = log().size();
  EXPECT_EQ(ask("train").get(), (Values{{1, 20}}));
  EXPECT_THAT(ids_of(hub().take_absentees()), ElementsAre(0, 2));
  EXPECT_EQ(log().size(), before) << "the deadline was missed in another life";
}

TEST_F(Restart, GoesOnAfterTheCheckpoint) {
  start_again();
  Session site = connect({0, 1, 2});
  Asked first = ask("train");
  for (int client = 0; client < 3; ++client) reply(site, client, 1);
  EXPECT_EQ(first.get().size(), 3U);
  const Sequence next = hub().next_sequence();
  journal().clear();
  Asked second = ask("train", 1);
  reply(site, 0, 5);
  kill(std::move(second));
  start_again(kNever, 0, next);
  site = connect({0, 1, 2}, 1);
  Asked again = ask("train", 1);
  EXPECT_EQ(take(site), "2 train for 1 2");
  reply(site, 1, 6);
  reply(site, 2, 7);
  EXPECT_EQ(again.get(), (Values{{0, 5}, {1, 6}, {2, 7}}));
}

TEST_F(Restart, NeedsNoQuorumForWhatHadEnoughThen) {
  start_again(kSoon, 1);
  const Session site = connect({0, 1, 2});
  Asked exchange = ask("train");
  reply(site, 1, 20);
  EXPECT_EQ(exchange.get().size(), 1U);
  start_again(kSoon, 3);
  EXPECT_EQ(ask("train").get().size(), 1U);
  EXPECT_THAT(ask("update").transport_error(), HasSubstr("expected at least 3"));
}

// What a power cut leaves of the journal: a beginning of it, whichever.
TEST_F(Restart, WithAnyBeginningOfTheJournalGivesTheSameAnswers) {
  start_again();
  Session site = connect({0, 1, 2});
  for (const char* kind : {"train", "update"}) {
    Asked exchange = ask(kind);
    for (const int client : {1, 2, 0}) reply(site, client, client);
    EXPECT_EQ(exchange.get().size(), 3U);
  }
  kill();
  const auto whole = read_file(path());
  for (std::size_t length = 0; length <= whole.size(); length += 11) {
    start_again();
    kill();
    {
      std::ofstream file(path(), std::ios::binary | std::ios::trunc);
      file.write(reinterpret_cast<const char*>(whole.data()), static_cast<std::streamsize>(length));
    }
    start_again();
    site = connect({0, 1, 2}, 0);
    for (const char* kind : {"train", "update"}) {
      Asked exchange = ask(kind);
      const auto task = hub().next_task(site, 0ms);
      if (task) {
        for (const ClientId client : task->clients) {
          reply(site, static_cast<int>(client), static_cast<double>(index_of(client)));
        }
      }
      EXPECT_EQ(exchange.get(), (Values{{0, 0}, {1, 1}, {2, 2}})) << length << " bytes";
      EXPECT_EQ(take(site), "nothing");
    }
    EXPECT_EQ(hub().status().counters.duplicates, 0U) << "no client that had answered was asked";
  }
}

TEST_F(Restart, RefusesTheJournalOfAnotherRun) {
  start_again();
  const Session site = connect({0, 1, 2});
  Asked exchange = ask("train");
  for (int client = 0; client < 3; ++client) reply(site, client, 1);
  EXPECT_EQ(exchange.get().size(), 3U);
  const auto ask_for = [&](const std::string& kind, Index num_clients) {
    const auto message = std::make_shared<const Message>(make_message(kind, 0));
    std::vector<Request> requests;
    for (Index client = 0; client < num_clients; ++client) {
      requests.push_back({client_id(client), message});
    }
    return hub().exchange(requests);
  };
  start_again();
  EXPECT_THROW((void)ask_for("evaluate", 3), DataError) << "another kind";
  start_again();
  EXPECT_THROW((void)ask_for("train", 2), DataError) << "other clients";
  EXPECT_EQ(hub().status().kind, "") << "the exchange is over";
}

template <class Exchange>
std::string file_error(Exchange& exchange) {
  try {
    (void)exchange.get();
  } catch (const FileError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(Restart, IsPossibleAfterADiskWasFull) {
  start_again();
  Session site = connect({0, 1, 2});
  {
    Asked exchange = ask("train");
    reply(site, 0, 10);
    auto waiting = std::async(std::launch::async, [&] {
      while (hub().next_task(site, kForever)) {
      }
      return hub().is_open(site);
    });
    const SmallDisk disk(std::filesystem::file_size(path()) + 10);
    reply(site, 1, 20);
    EXPECT_THAT(file_error(exchange), HasSubstr(path().string())) << "the run ends";
    EXPECT_FALSE(waiting.get()) << "sites are sent away";
    EXPECT_THAT(hub().closing(), HasSubstr("cannot write"));
    EXPECT_EQ(hub().status().counters.refused, 0U) << "no reply was refused";
  }
  start_again();
  site = connect({0, 1, 2}, 0);
  Asked exchange = ask("train");
  EXPECT_EQ(take(site), "1 train for 1 2");
  reply(site, 1, 20);
  const auto two_replies = std::filesystem::file_size(path());
  {
    const SmallDisk disk(two_replies / 2 * 3 + 10);  // the last reply has room, the end has none
    reply(site, 2, 30);
    EXPECT_THAT(file_error(exchange), HasSubstr("cannot write"));
  }
  start_again();
  EXPECT_EQ(ask("train").get(), (Values{{0, 10}, {1, 20}, {2, 30}}));
}
}  // namespace
}  // namespace fedhur::transport
