#include "fedhur/federation/timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fedhur::federation {
namespace {
using testing::DoubleEq;
using testing::ElementsAre;
using testing::Ge;
using testing::IsEmpty;
using testing::Pair;

// Answers whatever it is asked, and knows how often.
class Tally : public Federation {
 public:
  [[nodiscard]] Index num_clients() const override { return 2; }
  [[nodiscard]] std::vector<Answer> exchange(std::span<const Request> requests) override {
    ++exchanges;
    std::vector<Answer> answers;
    for (const Request& request : requests) answers.push_back({request.client, *request.message});
    return answers;
  }
  void tell(std::span<const Request> /*requests*/) override { ++told; }
  int exchanges = 0;
  int told = 0;
};

Message message(const std::string& kind) { return {.kind = kind, .round = 0, .arrays = {}}; }

TEST(TimingFederation, PassesEverythingOnAndMeasuresByKind) {
  Tally inner;
  TimingFederation timing(inner);
  EXPECT_EQ(timing.num_clients(), 2);
  EXPECT_EQ(ask_all(timing, message("train")).size(), 2U);
  tell_all(timing, message("finetune"));
  tell_all(timing, message("finetune"));
  (void)timing.exchange({});
  EXPECT_EQ(inner.exchanges, 2);
  EXPECT_EQ(inner.told, 2);
  EXPECT_THAT(timing.take(), ElementsAre(Pair("finetune", Ge(0.0)), Pair("train", Ge(0.0))));
  EXPECT_THAT(timing.take(), IsEmpty()) << "every round begins anew";
}

TEST(PhasesOfRound, LeaveToTheServerWhatNoClientWorksOn) {
  EXPECT_THAT(phases_of_round({{"train", 4}, {"query", 2}, {"finetune", 1}, {"start", 0.5}}, 10),
              ElementsAre(Pair("fine_tuning", DoubleEq(1)), Pair("local_training", DoubleEq(4)),
                          Pair("query", DoubleEq(2)), Pair("server", DoubleEq(3))));
  EXPECT_THAT(phases_of_round({{"count", 4}, {"update", 0.5}}, 5),
              ElementsAre(Pair("counting", DoubleEq(4)), Pair("server", DoubleEq(1))));
  EXPECT_THAT(phases_of_round({{"mix", 4}}, 5), ElementsAre(Pair("server", DoubleEq(5))));
}
}  // namespace
}  // namespace fedhur::federation
