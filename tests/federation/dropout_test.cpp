#include "fedhur/federation/dropout.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fedhur::federation {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Index kClients = 40;

// Answers whatever it is asked, and remembers what each client has got: "train 3".
class Diary : public Federation {
 public:
  [[nodiscard]] Index num_clients() const override { return kClients; }
  [[nodiscard]] std::vector<Answer> exchange(std::span<const Request> requests) override {
    std::vector<Answer> answers;
    std::set<ClientId> asked;
    for (const Request& request : requests) {
      EXPECT_TRUE(asked.insert(request.client).second) << "a client is asked twice at once";
      got[index_of(request.client)].push_back(
          fmt::format("{} {}", request.message->kind, request.message->round));
      answers.push_back({request.client, *request.message});
    }
    return answers;
  }
  std::map<Index, std::vector<std::string>> got;
};

Message message(const std::string& kind, Round round) {
  Message message{.kind = kind, .round = round, .arrays = {}};
  message.arrays.set("table", Matrix(Matrix::Constant(2, 3, static_cast<Real>(round))));
  return message;
}

std::set<Index> ids_of(const std::vector<ClientId>& clients) {
  std::set<Index> ids;
  for (const ClientId client : clients) ids.insert(index_of(client));
  return ids;
}

// Who is away.
std::set<Index> play(Round round, DropoutFederation& federation) {
  (void)ask_all(federation, message("train", round));
  tell_all(federation, message("update", round));
  return ids_of(federation.take_absentees());
}

TEST(DropoutFederation, LetsEverybodyTakePartAtRateZero) {
  Diary diary;
  DropoutFederation federation(diary, 0, Rng(1));
  EXPECT_EQ(federation.num_clients(), kClients);
  for (Round round = 0; round < 5; ++round) EXPECT_THAT(play(round, federation), IsEmpty());
  for (const auto& [client, got] : diary.got) EXPECT_EQ(got.size(), 10U) << client;
}

TEST(DropoutFederation, DrawsForClientAndRoundAlone) {
  Diary diary;
  DropoutFederation federation(diary, 0.3, Rng(1));
  std::vector<std::set<Index>> away;
  std::size_t count = 0;
  for (Round round = 0; round < 20; ++round) {
    away.push_back(play(round, federation));
    count += away.back().size();
  }
  EXPECT_NEAR(static_cast<double>(count) / (20.0 * kClients), 0.3, 0.05);
  EXPECT_NE(away[0], away[1]);
  // Whatever came before, and whoever is asked.
  Diary other;
  DropoutFederation late(other, 0.3, Rng(1));
  EXPECT_EQ(play(7, late), away[7]);
  (void)ask(late, std::vector{client_id(3)}, message("train", 8));
  EXPECT_EQ(ids_of(late.take_absentees()).contains(3), away[8].contains(3));
  DropoutFederation other_seed(other, 0.3, Rng(2));
  EXPECT_NE(play(7, other_seed), away[7]);
}

TEST(DropoutFederation, GivesBackToThoseWhoReturnTheNewestOfEachKindThatTheyWereTold) {
  Diary diary;
  DropoutFederation federation(diary, 0.6, Rng(3));
  tell_all(federation, message("start", 0));
  std::map<Index, std::vector<std::string>> expected;
  std::map<Index, std::vector<std::string>> missed;
  for (Round round = 0; round < 12; ++round) {
    const std::set<Index> away = play(round, federation);
    for (Index client = 0; client < kClients; ++client) {
      auto& owed = missed[client];
      if (away.contains(client)) {
        if (round == 0) owed.emplace_back("start 0");
        std::erase_if(owed, [](const std::string& it) { return it.starts_with("update"); });
        owed.push_back(fmt::format("update {}", round));
        continue;
      }
      auto& got = expected[client];
      if (round == 0) got.emplace_back("start 0");
      got.insert(got.end(), owed.begin(), owed.end());
      owed.clear();
      got.push_back(fmt::format("train {}", round));
      got.push_back(fmt::format("update {}", round));
    }
  }
  EXPECT_EQ(diary.got, expected);
}

TEST(DropoutFederation, LeavesAtLeastOneOfThoseThatAreAsked) {
  Diary diary;
  DropoutFederation federation(diary, 0.999, Rng(4));
  std::set<Index> seen;
  for (Round round = 0; round < 10; ++round) {
    tell_all(federation, message("start", round));
    const auto answers = ask_all(federation, message("train", round));
    ASSERT_EQ(answers.size(), 1U);
    const Index there = index_of(answers.front().client);
    seen.insert(there);
    EXPECT_EQ(diary.got[there].back(), fmt::format("train {}", round));
    EXPECT_EQ(diary.got[there].end()[-2], fmt::format("start {}", round)) << "it caught up";
    EXPECT_EQ(ask_all(federation, message("query", round)).size(), 1U) << "for the whole round";
    EXPECT_EQ(federation.take_absentees().size(), static_cast<std::size_t>(kClients - 1));
    const std::vector few = {client_id(5), client_id(6)};
    EXPECT_EQ(ask(federation, few, message("train", 100 + round)).size(), 1U);
    (void)federation.take_absentees();
  }
  EXPECT_GT(seen.size(), 3U) << "not always the same";
  EXPECT_TRUE(federation.exchange({}).empty());
}

TEST(DropoutFederation, GoesOnFromWhatItHasSaved) {
  Diary whole;
  Diary resumed;
  DropoutFederation federation(whole, 0.5, Rng(5));
  for (Round round = 0; round < 4; ++round) (void)play(round, federation);
  ByteWriter writer;
  federation.save(writer);
  const std::vector<std::byte> bytes = writer.finish();
  const std::size_t tables = 4;  // one "update" for each round, whoever has missed it
  EXPECT_LT(bytes.size(), tables * 100 + kClients * 20);
  DropoutFederation next(resumed, 0.5, Rng(5));
  ByteReader reader(bytes);
  next.restore(reader);
  EXPECT_EQ(reader.remaining(), 0U);
  whole.got.clear();
  for (Round round = 4; round < 8; ++round) EXPECT_EQ(play(round, federation), play(round, next));
  EXPECT_EQ(whole.got, resumed.got);
}
}  // namespace
}  // namespace fedhur::federation
