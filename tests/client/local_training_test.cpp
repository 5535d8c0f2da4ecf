#include "fedhur/client/local_training.hpp"

#include <gtest/gtest.h>

#include "tests/support/support.hpp"

namespace fedhur::client {
namespace {
LocalTraining make_training(const LocalTrainingConfig& config, std::uint64_t seed = 1) {
  LocalTraining training(config, {.id = client_id(3),
                                  .train = tests::user_items({{0, 1, 2}, {2, 3}, {5, 6, 7, 8}}),
                                  .num_items = 10,
                                  .rng = Rng(seed)});
  training.draw_item_embeddings();
  return training;
}

LocalTrainingConfig small_config() {
  LocalTrainingConfig config;
  config.embedding_dim = 5;
  config.local_epochs = 3;
  config.batch_size = 4;  // does not divide the 9 samples
  return config;
}

Matrix item_embeddings_after(LocalTraining training, int rounds) {
  for (int round = 0; round < rounds; ++round) (void)training.train(round);
  return *training.item_embeddings();
}

TEST(LocalTraining, LowersTheLoss) {
  LocalTraining training = make_training(small_config());
  const TrainingLoss first = training.train(0);
  TrainingLoss last;
  for (Round round = 1; round < 30; ++round) last = training.train(round);
  EXPECT_EQ(first.num_samples, 27);
  EXPECT_LT(last.sum, 0.5 * first.sum);
}

TEST(LocalTraining, DependsOnTheSeedAlone) {
  EXPECT_EQ(item_embeddings_after(make_training(small_config()), 3),
            item_embeddings_after(make_training(small_config()), 3));
  EXPECT_NE(item_embeddings_after(make_training(small_config(), 2), 3),
            item_embeddings_after(make_training(small_config()), 3));
}

TEST(LocalTraining, GoesOnFromASavedStateAsIfNeverInterrupted) {
  for (const Resample resample : {Resample::once, Resample::round, Resample::epoch}) {
    LocalTrainingConfig config = small_config();
    config.resample = resample;
    LocalTraining before = make_training(config);
    (void)before.train(0);
    (void)before.train(1);
    LocalTraining after = make_training(config);
    after.restore(before.save());
    (void)before.train(2);
    (void)after.train(2);
    EXPECT_EQ(*before.item_embeddings(), *after.item_embeddings()) << name_of(resample);
  }
}

TEST(LocalTraining, ResamplesAsConfigured) {
  LocalTrainingConfig config = small_config();
  config.batch_size = 100;
  config.learning_rate = 1e-9F;  // the tables stand still: the loss tells which samples were drawn
  config.local_epochs = 1;
  const auto losses = [&](Resample resample) {
    config.resample = resample;
    LocalTraining training = make_training(config);
    return std::pair(training.train(0).sum, training.train(1).sum);
  };
  const auto once = losses(Resample::once);
  EXPECT_NEAR(once.first, once.second, 1e-5);
  const auto round = losses(Resample::round);
  EXPECT_GT(std::abs(round.first - round.second), 1e-4);
}

TEST(LocalTraining, KeepsItsMomentsWhenTheItemTableIsReplaced) {
  LocalTraining kept = make_training(small_config());
  (void)kept.train(0);
  const auto table = std::make_shared<const Matrix>(tests::random_matrix(10, 5, 9));
  kept.set_item_embeddings(table);
  LocalTraining fresh = make_training(small_config());
  fresh.set_item_embeddings(table);
  (void)kept.train(1);
  (void)fresh.train(1);
  EXPECT_NE(*kept.item_embeddings(), *fresh.item_embeddings());
}

TEST(LocalTraining, DecaysTheLearningRateEveryRound) {
  LocalTrainingConfig config = small_config();
  config.learning_rate_decay = 1e-6F;
  LocalTraining training = make_training(config);
  (void)training.train(0);
  const Matrix before = *training.item_embeddings();
  (void)training.train(1);
  EXPECT_LT((*training.item_embeddings() - before).cwiseAbs().maxCoeff(), 1e-5F);
}

TEST(LocalTraining, SaysSoWhenItDiverges) {
  LocalTrainingConfig config = small_config();
  config.learning_rate = 1e30F;
  LocalTraining training = make_training(config);
  EXPECT_THROW((void)training.train(0), Error);
}

TEST(LocalTraining, TrainsNothingWithoutInteractions) {
  LocalTraining training(
      small_config(),
      {.id = client_id(0), .train = tests::user_items({{}, {}}), .num_items = 10, .rng = Rng(1)});
  const Matrix before = *training.item_embeddings();
  EXPECT_EQ(training.train(0).num_samples, 0);
  EXPECT_EQ(*training.item_embeddings(), before);
}

TEST(LocalTraining, RefusesSettingsOutOfRange) {
  for (const char* assignment :
       {"train.learning_rate=0", "train.weight_decay=-1", "train.batch_size=0",
        "train.local_epochs=0", "model.embedding_dim=0", "train.learning_rate_decay=1.5",
        "train.loss=hinge", "train.resample=never"}) {
    ConfigTable table;
    experiment::add_assignment(table, assignment);
    LocalTrainingConfig config;
    Settings settings(table);
    EXPECT_THROW(declare_settings(settings, config), ConfigError) << assignment;
  }
}
}  // namespace
}  // namespace fedhur::client
