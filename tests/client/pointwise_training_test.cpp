#include "fedhur/client/pointwise_training.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "fedhur/base/random_matrix.hpp"
#include "tests/support/support.hpp"

namespace fedhur::client::pointwise_training_test {
namespace {
using model::LabelledPair;
using Batch = std::vector<std::tuple<int, int, float>>;

ClientContext small_context(Index id = 3) {
  return {.id = client_id(id),
          .train = tests::user_items({{0, 1, 2}, {}, {5, 6}}),
          .num_items = 20,
          .rng = Rng(1)};
}

PointwiseConfig small_config() {
  PointwiseConfig config;
  config.embedding_dim = 3;
  config.batch_size = 7;  // does not divide the 5 * 5 pairs
  config.local_epochs = 3;
  return config;
}

struct Watched {
  std::vector<Batch> batches;
  std::vector<Real> rates;
  TrainingLoss loss;
};

// Trains with a step that remembers what it is given; every pair of the n-th batch costs loss(n).
template <class Loss>
Watched watch(const PointwiseConfig& config, Round round, const Loss& loss) {
  Watched watched;
  watched.loss = train_pointwise(
      config, small_context(), round, [&](std::span<const LabelledPair> batch, Real rate) {
        Batch& seen = watched.batches.emplace_back();
        for (const LabelledPair& pair : batch) seen.emplace_back(pair.user, pair.item, pair.label);
        watched.rates.push_back(rate);
        return loss(watched.batches.size() - 1) * static_cast<double>(batch.size());
      });
  return watched;
}
double always_one(std::size_t /*batch*/) { return 1.0; }

Batch epoch_of(const Watched& watched, std::size_t epoch, bool sorted) {
  Batch all;
  for (std::size_t i = 4 * epoch; i < 4 * (epoch + 1); ++i) {
    all.insert(all.end(), watched.batches[i].begin(), watched.batches[i].end());
  }
  if (sorted) std::sort(all.begin(), all.end());
  return all;
}

TEST(PointwiseTraining, CutsEveryEpochIntoBatchesAndKeepsTheShortOne) {
  const Watched watched = watch(small_config(), 0, always_one);
  ASSERT_EQ(watched.batches.size(), 12U);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(watched.batches[i].size(), i % 4 == 3 ? 4U : 7U);
  EXPECT_EQ(watched.loss.num_samples, 75);
  EXPECT_EQ(watched.loss.sum, 75);
}

TEST(PointwiseTraining, DrawsOncePerRoundAndShufflesEveryEpoch) {
  const Watched first = watch(small_config(), 0, always_one);
  EXPECT_EQ(epoch_of(first, 0, true), epoch_of(first, 2, true));
  EXPECT_NE(epoch_of(first, 0, false), epoch_of(first, 1, false));
  EXPECT_NE(epoch_of(first, 1, false), epoch_of(first, 2, false));
  EXPECT_NE(epoch_of(first, 0, true), epoch_of(watch(small_config(), 1, always_one), 0, true));
  EXPECT_EQ(first.batches, watch(small_config(), 0, always_one).batches);
}

TEST(PointwiseTraining, LowersTheLearningRateEveryRound) {
  PointwiseConfig config = small_config();
  config.learning_rate = 0.5F;
  EXPECT_EQ(watch(config, 9, always_one).rates.back(), 0.5F) << "1 is off";
  config.learning_rate_decay = 0.5F;
  EXPECT_EQ(watch(config, 0, always_one).rates.back(), 0.5F);
  EXPECT_EQ(watch(config, 2, always_one).rates.back(), 0.125F);
}

TEST(PointwiseTraining, EndsTheRoundOnceTheMeanOverAllItsEpochsSettles) {
  PointwiseConfig config = small_config();
  config.local_epochs = 10;
  const auto epochs = [&](const auto& loss) { return watch(config, 0, loss).batches.size() / 4; };
  EXPECT_EQ(epochs(always_one), 10U) << "0 is off";
  config.stop_tolerance = 0.1F;
  EXPECT_EQ(epochs(always_one), 2U) << "not before there are two epochs to compare";
  // The means so far are 1, 0.75, 0.6667, 0.625, 0.6: changes by 25, 11.1 and 6.25 %. Epochs by
  // themselves would have settled one earlier.
  EXPECT_EQ(epochs([](std::size_t batch) { return batch < 4 ? 1.0 : 0.5; }), 4U);
}

TEST(PointwiseTraining, ComparesNothingWithAMeanOfZero) {
  PointwiseConfig config = small_config();
  config.local_epochs = 5;
  config.stop_tolerance = 0.1F;
  EXPECT_EQ(watch(config, 0, [](std::size_t) { return 0.0; }).batches.size(), 20U);
  EXPECT_EQ(watch(config, 0, [](std::size_t) { return -1.0; }).batches.size(), 8U)
      << "losses may be negative";
}

TEST(PointwiseTraining, SaysSoWhenItDiverges) {
  try {
    (void)watch(small_config(), 0,
                [](std::size_t) { return std::numeric_limits<double>::quiet_NaN(); });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the training diverged"), std::string::npos);
  }
}

TEST(PointwiseTraining, TrainsNothingWithoutInteractions) {
  ClientContext context = small_context();
  context.train = tests::user_items({{}, {}});
  const TrainingLoss loss = train_pointwise(small_config(), context, 0, [](auto, Real) -> double {
    throw std::logic_error("a step without samples");
  });
  EXPECT_EQ(loss.num_samples, 0);
}

TEST(PrivateRows, AreTheSameForAllUsersAndClientsUnlessIndependent) {
  PointwiseConfig config = small_config();
  const auto rows = [&](Index client) {
    return draw_private_rows(
        config, small_context(client), Draw::user_init, 4,
        [](Index num_rows, Rng rng) { return normal_matrix(num_rows, 3, 1.0F, rng); });
  };
  EXPECT_EQ(rows(0), rows(5));
  EXPECT_EQ(rows(0).row(0), rows(0).row(3));
  config.private_init = PrivateInit::independent;
  EXPECT_NE(rows(0).row(0), rows(5).row(0));
  EXPECT_NE(rows(0).row(0), rows(0).row(3));
  EXPECT_EQ(rows(5), rows(5));
}

// One row that is pulled to zero, a step per round.
Matrix after_rounds(PointwiseOptimizer& optimizer, Matrix theta, int rounds) {
  linalg::RowGradient gradient(2, 1);
  for (int round = 0; round < rounds; ++round) {
    optimizer.begin_round();
    gradient.touch(0);
    gradient.row(0)[0] = round == 0 ? 4.0F : 0.01F;
    optimizer.step(theta, gradient, 0.125F);
    gradient.clear();
  }
  return theta;
}

TEST(PointwiseOptimizer, ForgetsItsMomentsEveryRoundUnlessPersistent) {
  PointwiseConfig config = small_config();
  const Matrix start = Matrix::Ones(2, 1);
  PointwiseOptimizer reset(config, 2, 1);
  EXPECT_NEAR(after_rounds(reset, start, 2)(0, 0), 0.75, 1e-5) << "two first steps";
  config.optimizer_state = OptimizerState::persistent;
  PointwiseOptimizer persistent(config, 2, 1);
  const Real lasting = after_rounds(persistent, start, 2)(0, 0);
  EXPECT_GT(std::abs(lasting - 0.75F), 0.01F);
  PrivateState state("test");
  persistent.save(state, "table");
  PointwiseOptimizer resumed(config, 2, 1);
  resumed.restore(state, "table");
  EXPECT_EQ(after_rounds(resumed, start, 1), after_rounds(persistent, start, 1));
}

TEST(PointwiseOptimizer, DescendsPlainlyWithTheOriginalRates) {
  PointwiseConfig config = small_config();
  config.optimizer = Optimizer::sgd_original;
  PointwiseOptimizer plain(config, 2, 1);
  EXPECT_EQ(after_rounds(plain, Matrix::Ones(2, 1), 1), (Matrix(2, 1) << 0.5F, 1).finished());
  config.weight_decay = 2.0F;
  PointwiseOptimizer decaying(config, 2, 1);
  EXPECT_EQ(after_rounds(decaying, Matrix::Ones(2, 1), 1),
            (Matrix(2, 1) << 0.25F, 0.75F).finished());
}

TEST(PointwiseConfig, IsReadAndChecked) {
  ConfigTable table;
  for (const char* assignment :
       {"model.embedding_dim=5", "model.init_std=0.5", "model.private_init=independent",
        "train.learning_rate=0.5", "train.learning_rate_decay=0.5", "train.weight_decay=0.25",
        "train.batch_size=3", "train.local_epochs=4", "train.negatives=2",
        "train.optimizer=sgd_original", "train.optimizer_state=persistent",
        "train.stop_tolerance=0.125"}) {
    experiment::add_assignment(table, assignment);
  }
  Settings settings(table);
  PointwiseConfig config;
  declare_settings(settings, config);
  settings.reject_unknown();
  EXPECT_EQ(config.embedding_dim, 5);
  EXPECT_EQ(config.negatives, 2);
  EXPECT_EQ(config.optimizer, Optimizer::sgd_original);
  EXPECT_EQ(config.optimizer_state, OptimizerState::persistent);
  EXPECT_EQ(config.private_init, PrivateInit::independent);
  EXPECT_EQ(config.stop_tolerance, 0.125F);
  for (const char* assignment :
       {"train.learning_rate=0", "train.weight_decay=-1", "train.batch_size=0",
        "train.local_epochs=0", "model.embedding_dim=0", "train.learning_rate_decay=1.5",
        "train.negatives=0", "train.stop_tolerance=-1", "train.optimizer=sgd",
        "train.optimizer_state=kept", "model.private_init=zero"}) {
    ConfigTable bad;
    experiment::add_assignment(bad, assignment);
    PointwiseConfig unused;
    Settings refused(bad);
    EXPECT_THROW(declare_settings(refused, unused), ConfigError) << assignment;
  }
}
}  // namespace
}  // namespace fedhur::client::pointwise_training_test
