// Whole tiny runs of every variant of FedHUR.
#include <gtest/gtest.h>

#include <cmath>

#include "fedhur/base/file.hpp"
#include "tests/support/support.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::experiment {
namespace {
using Assignments = std::vector<std::string>;

struct TinyRun {
  TrainingOutcome outcome;
  std::vector<report::RoundReport> rounds;
  std::vector<std::byte> model;
};

TinyRun run(const std::string& method, const Assignments& assignments) {
  ConfigTable table = tests::tiny_settings(method);
  for (const std::string& assignment : assignments) add_assignment(table, assignment);
  const tests::TempFolder folder;
  TinyRun result;
  result.outcome = tests::train_tiny(folder / "run", table);
  result.rounds = RunFolder::open(folder / "run").read_rounds();
  result.model = read_file(folder / "run" / "model" / "model.bin");
  return result;
}

TEST(FedHur, WithoutRelationsIsFedCiaBitForBit) {
  for (const Assignments& common :
       std::vector<Assignments>{{},
                                {"finetune.solver=gradient", "finetune.steps=20"},
                                {"noise.laplace_scale=0.01", "global_filter.rank=9"},
                                {"clients.count=1", "finetune.step=0.5"}}) {
    Assignments own = common;
    own.emplace_back("relation.kind=none");
    const TinyRun fedcia = run("fedcia", common);
    const TinyRun fedhur = run("fedhur", own);
    EXPECT_EQ(fedcia.model, fedhur.model);
    EXPECT_EQ(fedcia.outcome.result.valid, fedhur.outcome.result.valid);
    EXPECT_EQ(fedcia.outcome.result.test, fedhur.outcome.result.test);
    EXPECT_EQ(fedcia.outcome.result.best_round, fedhur.outcome.result.best_round);
    ASSERT_EQ(fedcia.rounds.size(), fedhur.rounds.size());
    for (std::size_t i = 0; i < fedcia.rounds.size(); ++i) {
      EXPECT_EQ(fedcia.rounds[i].loss, fedhur.rounds[i].loss) << i;
      EXPECT_EQ(fedcia.rounds[i].valid, fedhur.rounds[i].valid) << i;
      EXPECT_EQ(fedcia.rounds[i].test, fedhur.rounds[i].test) << i;
    }
  }
}

TEST(FedHur, WithUniformWeightsIsFedCiaUpToRounding) {
  // So warm that all candidates weigh the same: the residuals vanish.
  const TinyRun fedcia = run("fedcia", {});
  const TinyRun fedhur = run("fedhur", {"relation.kind=similarity", "retrieval.temperature=1e12"});
  ASSERT_EQ(fedcia.rounds.size(), fedhur.rounds.size());
  for (std::size_t i = 0; i < fedcia.rounds.size(); ++i) {
    EXPECT_NEAR(fedcia.rounds[i].loss, fedhur.rounds[i].loss, 0.01) << i;
  }
}

struct Variant {
  std::string name;
  Assignments assignments;
};

std::vector<Variant> variants() {
  std::vector<Variant> result;
  for (const std::string kind :
       {"own", "similarity", "complementarity", "both", "utility", "common"}) {
    for (const std::string structure : {"single", "hierarchical"}) {
      result.push_back({"relation_" + kind + "_" + structure,
                        {"relation.kind=" + kind, "relation.structure=" + structure}});
    }
  }
  for (const std::string form : {"utility", "local", "right", "left"}) {
    result.push_back({"query_" + form, {"query.form=" + form}});
  }
  result.push_back({"filter_scale_none", {"query.filter_scale=none"}});
  result.push_back({"one_direction", {"query.directions=1"}});
  const std::vector<std::string> inputs = {"\"strengths\"", "\"scale\"", "\"total\""};
  for (unsigned subset = 1; subset < 8; ++subset) {
    std::string list;
    for (unsigned i = 0; i < 3; ++i) {
      if ((subset >> i & 1U) != 0) list += (list.empty() ? "" : ", ") + inputs[i];
    }
    result.push_back({"scorer_" + std::to_string(subset),
                      {"scorer.inputs=[" + list + "]", "scorer.refinement_weight=0.5"}});
  }
  result.push_back({"no_scorer", {"scorer.refinement_weight=0"}});
  result.push_back({"coarse_parameters", {"hierarchy.coarse=parameters"}});
  result.push_back({"solver_exact", {"finetune.solver=exact", "finetune.passes=4"}});
  result.push_back({"solver_gradient", {"finetune.solver=gradient", "finetune.steps=20"}});
  result.push_back({"half_a_step", {"finetune.step=0.5"}});
  result.push_back({"laplace_noise", {"noise.laplace_scale=0.01"}});
  result.push_back({"narrow_filter", {"global_filter.rank=3"}});
  result.push_back({"wide_filter", {"global_filter.rank=60"}});
  result.push_back({"wide_single", {"global_filter.rank=60", "relation.structure=single"}});
  result.push_back({"groups_3", {"hierarchy.branching=[3]"}});
  result.push_back({"groups_3_2", {"hierarchy.branching=[3, 2]"}});
  result.push_back({"groups_2_2_items", {"hierarchy.branching=[2, 2, \"items\"]"}});
  result.push_back({"items", {"hierarchy.branching=[\"items\"]"}});
  result.push_back({"groups_50_50_items",  // most groups are items already
                    {"hierarchy.branching=[50, 50, \"items\"]"}});
  result.push_back({"two_clients", {"clients.count=2"}});
  result.push_back({"level_weights", {"hierarchy.level_weights=[1.0, 0, 0.5]"}});
  return result;
}

class FedHurVariant : public testing::TestWithParam<Variant> {};

TEST_P(FedHurVariant, TrainsToFiniteMetricsThatAreItsOwn) {
  Assignments none = GetParam().assignments;
  none.emplace_back("relation.kind=none");  // the last one holds
  const TinyRun own = run("fedhur", GetParam().assignments);
  EXPECT_EQ(own.outcome.result.num_rounds, 3);
  ASSERT_EQ(own.rounds.size(), 3U);
  for (const auto& round : own.rounds) {
    EXPECT_TRUE(std::isfinite(round.loss));
    EXPECT_FALSE(round.test.empty());
    for (const auto& [name, value] : round.test) EXPECT_TRUE(std::isfinite(value)) << name;
    for (const auto& [name, value] : round.valid) EXPECT_TRUE(std::isfinite(value)) << name;
  }
  EXPECT_NE(own.model, run("fedhur", none).model);
}
INSTANTIATE_TEST_SUITE_P(All, FedHurVariant, testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

TEST(FedHur, OfOneClientIsFedCia) {
  // There is no other client to help.
  for (const std::string structure : {"single", "hierarchical"}) {
    const TinyRun own = run("fedhur", {"clients.count=1", "relation.structure=" + structure});
    const TinyRun fedcia = run("fedcia", {"clients.count=1"});
    for (std::size_t i = 0; i < own.rounds.size(); ++i) {
      EXPECT_NEAR(own.rounds[i].loss, fedcia.rounds[i].loss, 1e-3) << structure << i;
    }
  }
}
}  // namespace
}  // namespace fedhur::experiment
