// A tiny run of every method, with the digits it had when it was last understood. A change here is
// a change of results: it needs a reason in the commit that makes it.
#include <gtest/gtest.h>

#include "tests/support/support.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::experiment {
namespace {
struct Golden {
  std::string name;            // of a method; with "_spectral" it begins and goes on as by default
  std::vector<double> losses;  // by round
  double recall;               // test recall@10 of the best round
  double ndcg;
};

class TinyRun : public testing::TestWithParam<Golden> {};

TEST_P(TinyRun, HasItsDigits) {
  const Golden& golden = GetParam();
  const tests::TempFolder folder;
  const std::string method = golden.name.substr(0, golden.name.find('_'));
  ConfigTable table = tests::tiny_settings(method);
  if (method != golden.name) {
    for (const char* assignment : {"model.start=spectral", "server.rate=20",
                                   "train.learning_rate=0.001", "train.learning_rate_decay=1"}) {
      add_assignment(table, assignment);
    }
  }
  const TrainingOutcome outcome = tests::train_tiny(folder / "run", table);
  const auto rounds = RunFolder::open(folder / "run").read_rounds();
  ASSERT_EQ(rounds.size(), golden.losses.size());
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    // Other CPUs round differently in the last digits of a float.
    EXPECT_NEAR(rounds[i].loss, golden.losses[i], 1e-5) << i;
  }
  // One swapped pair of items in one user's list moves these by less.
  EXPECT_NEAR(outcome.result.test.at("recall@10"), golden.recall, 0.01);
  EXPECT_NEAR(outcome.result.test.at("ndcg@10"), golden.ndcg, 0.01);
}
INSTANTIATE_TEST_SUITE_P(
    All, TinyRun,
    testing::Values(Golden{"popularity", {0}, 0.44621, 0.32171},
                    Golden{"local", {0.6875167, 0.6572323, 0.6081621}, 0.35762, 0.26587},
                    Golden{"fedslim", {0}, 0.58788, 0.49736},
                    Golden{"fedmf", {0.6857359, 0.6704662, 0.6512240}, 0.29860, 0.21275},
                    Golden{"fedncf", {0.6915041, 0.6892030, 0.6856614}, 0.41132, 0.24790},
                    Golden{"pfedrec", {0.5811044, 0.4520985, 0.4193393}, 0.42823, 0.34412},
                    Golden{"gpfedrec", {0.9179778, 0.8127978, 0.7349111}, 0.20431, 0.16611},
                    Golden{"fedrap", {0.5461440, 0.4153584, 0.3692839}, 0.43987, 0.34478},
                    Golden{"fedca", {0.6850260, 0.6419495, 0.5772946}, 0.39972, 0.32028},
                    Golden{"fedcia", {0.6857359, 0.6697779, 0.6491957}, 0.39330, 0.27247},
                    Golden{"fedhur", {0.6857359, 0.6690530, 0.6475945}, 0.38652, 0.26744},
                    Golden{"fedmf_spectral", {0, 0.2903465, 0.2830491}, 0.52093, 0.43332},
                    Golden{"fedcia_spectral", {0, 0.2903465, 0.2831239}, 0.52093, 0.43332},
                    Golden{"fedhur_spectral", {0, 0.2903465, 0.2831228}, 0.52093, 0.43332}),
    [](const auto& golden) { return golden.param.name; });
}  // namespace
}  // namespace fedhur::experiment
