#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fedhur/client/private_state.hpp"
#include "fedhur/client/training.hpp"
#include "fedhur/linalg/adam.hpp"
#include "fedhur/model/linear_heads.hpp"
#include "tests/support/method_halves.hpp"

namespace fedhur::methods::fedrap_test {
namespace {
using client::Schedule;
using linalg::RowGradient;
using message::Message;
using tests::Assignments;

constexpr Index kItems = 10;
constexpr Index kDim = 3;
const std::vector<std::vector<int>> kTrain = {{0, 1, 2}, {}, {5, 6, 7, 8}};

// A client that has the shared table.
std::unique_ptr<client::Client> make_client(const Assignments& more, Index id = 4) {
  Assignments assignments = {"model.embedding_dim=3", "train.learning_rate=0.01",
                             "train.weight_decay=0", "additive.apart=0.1", "additive.sparse=0.1"};
  assignments.insert(assignments.end(), more.begin(), more.end());
  auto client = tests::configure("fedrap", assignments)
                    .make_client({.id = client_id(id),
                                  .train = tests::user_items(kTrain),
                                  .num_items = kItems,
                                  .rng = Rng(5)});
  (void)client->answer(
      tests::item_message("update", 0, tests::random_matrix(kItems, kDim, 3) * 0.1F));
  return client;
}
Message train(client::Client& client, Round round = 0) {
  return client.answer({.kind = "train", .round = round, .arrays = {}});
}
Matrix upload(client::Client& client, Round round = 0) {
  return tests::train_and_upload(client, {.kind = "train", .round = round, .arrays = {}})
      .matrix("item_embeddings");
}
double mean_loss(const Assignments& settings, Round round) {
  const auto client = make_client(settings);
  const Message reply = train(*client, round);
  return reply.arrays.number("loss_sum") / reply.arrays.number("num_samples");
}

TEST(FedRap, AveragesUniformlyAsInTheWorkedExample) {
  tests::FixedTables federation;
  const tests::ServerHalf server("fedrap");
  EXPECT_EQ(server.half->run_round(0, federation).loss, 2.0);
  EXPECT_EQ(federation.received, (Matrix(3, 2) << 0.5, 0.5, 1, 1, 1, 0).finished());
}

TEST(FedRap, RefusesUploadsOfTheWrongShapeOrWithNaN) {
  tests::expect_bad_uploads_refused("fedrap");
}

TEST(FedRap, RefusesDownloadsOfTheWrongShapeOrWithNaN) {
  const auto client = make_client({});
  EXPECT_THROW((void)client->answer(tests::item_message("update", 0, Matrix::Zero(kItems, 4))),
               ProtocolError);
  Matrix bad = Matrix::Zero(kItems, kDim);
  bad(2, 1) = std::numeric_limits<Real>::infinity();
  EXPECT_THROW((void)client->answer(tests::item_message("update", 0, bad)), ProtocolError);
  EXPECT_THROW((void)client->answer(tests::item_message("finetune", 0, bad)), ProtocolError);
}

TEST(Schedule, CountsRoundsFromZero) {
  EXPECT_EQ(strength_in_round(Schedule::tanh, 0), 0.0);
  EXPECT_DOUBLE_EQ(strength_in_round(Schedule::tanh, 1), std::tanh(0.1));
  EXPECT_DOUBLE_EQ(strength_in_round(Schedule::tanh, 10), std::tanh(1.0));
  EXPECT_EQ(strength_in_round(Schedule::fixed, 0), 1.0);
  EXPECT_EQ(strength_in_round(Schedule::fixed, 99), 1.0);
  EXPECT_EQ(strength_in_round(Schedule::sin, 0), 0.5);
  EXPECT_DOUBLE_EQ(strength_in_round(Schedule::sin, 7), (std::sin(0.7) + 1.0) / 2.0);
  EXPECT_EQ(strength_in_round(Schedule::frac, 0), 1.0);
  EXPECT_EQ(strength_in_round(Schedule::frac, 3), 0.25);
  const std::vector<double> turns = {1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1};
  for (std::size_t round = 0; round < turns.size(); ++round) {
    EXPECT_EQ(strength_in_round(Schedule::square, static_cast<Round>(round)), turns[round]);
  }
}

TEST(FedRap, TrainsWithTheStrengthThatItsScheduleHasInTheRound) {
  const Assignments none = {"additive.apart=0", "additive.sparse=0"};
  const Assignments both = {"additive.apart=0.5", "additive.sparse=0.25"};
  const auto with = [](Assignments settings, const std::string& schedule) {
    settings.push_back("additive.schedule=" + schedule);
    return settings;
  };
  EXPECT_EQ(mean_loss(both, 0), mean_loss(none, 0)) << "tanh is the default, and 0 in round 0";
  EXPECT_GT(std::abs(mean_loss(with(both, "fixed"), 0) - mean_loss(none, 0)), 1e-4);
  for (const Schedule shape : {Schedule::tanh, Schedule::sin, Schedule::frac, Schedule::square}) {
    const std::string schedule = name_of(shape);
    for (const Round round : {Round{1}, Round{7}}) {
      const double strength = strength_in_round(shape, round);
      const Assignments scaled = {fmt::format("additive.apart={:.17f}", 0.5 * strength),
                                  fmt::format("additive.sparse={:.17f}", 0.25 * strength)};
      EXPECT_NEAR(mean_loss(with(both, schedule), round), mean_loss(with(scaled, "fixed"), round),
                  1e-9)
          << schedule << " " << round;
    }
  }
}

struct Tables {
  Matrix heads, personal, shared;
};
Tables tables_of(client::Client& client) {
  const client::PrivateState state = client.save();
  return {state.matrix("heads"), state.matrix("personal"), state.matrix("shared")};
}

// Epochs of one batch each: gradients of all three tables at one point, then a step of each.
template <class Step>
Tables step_together(Tables tables, int num_epochs, const Step& step) {
  const auto batch = model::draw_labelled_pairs(tests::user_items(kTrain), kItems, 4,
                                                Rng(5).stream(Draw::labelled_pairs, 4, 0));
  RowGradient of_heads(tables.heads.rows(), kDim + 1);
  RowGradient of_personal(kItems, kDim);
  RowGradient of_shared(kItems, kDim);
  for (int epoch = 0; epoch < num_epochs; ++epoch) {
    (void)model::add_additive_gradients(tables.heads, tables.personal, tables.shared, batch,
                                        {.apart = 0.1, .sparse = 0.1}, of_heads, of_personal,
                                        of_shared);
    step(tables, epoch, of_heads, of_personal, of_shared);
    of_heads.clear();
    of_personal.clear();
    of_shared.clear();
  }
  return tables;
}

TEST(FedRap, StepsHeadsAndBothTablesTogether) {
  const auto client =
      make_client({"additive.schedule=fixed", "train.local_epochs=2", "train.weight_decay=0.125"});
  const Tables start = tables_of(*client);
  const linalg::AdamConfig decay = {.weight_decay = 0.125F};
  linalg::Adam head_adam(start.heads.rows(), kDim + 1, decay);
  linalg::Adam personal_adam(kItems, kDim, decay);
  linalg::Adam shared_adam(kItems, kDim, decay);
  const Tables expected = step_together(
      start, 2, [&](Tables& tables, int, auto& of_heads, auto& of_personal, auto& of_shared) {
        head_adam.step(tables.heads, of_heads, 0.01F);
        personal_adam.step(tables.personal, of_personal, 0.01F);
        shared_adam.step(tables.shared, of_shared, 0.01F);
      });
  EXPECT_EQ(upload(*client), expected.shared);
  EXPECT_EQ(tables_of(*client).heads, expected.heads);
  EXPECT_EQ(tables_of(*client).personal, expected.personal);
}

TEST(FedRap, LowersTheOriginalRatesAfterEveryBatch) {
  const auto client = make_client({"additive.schedule=fixed", "train.local_epochs=2",
                                   "train.optimizer=sgd_original", "train.learning_rate=0.5",
                                   "train.table_learning_rate=2", "train.batch_decay=0.25"});
  const Tables expected = step_together(
      tables_of(*client), 2,
      [](Tables& tables, int epoch, auto& of_heads, auto& of_personal, auto& of_shared) {
        const Real factor = epoch == 0 ? 1.0F : 0.25F;
        linalg::descend(tables.heads, of_heads, 0.5F * factor, 0);
        linalg::descend(tables.personal, of_personal, 2.0F * factor, 0);
        linalg::descend(tables.shared, of_shared, 2.0F * factor, 0);
      });
  EXPECT_EQ(upload(*client), expected.shared);
  EXPECT_EQ(tables_of(*client).heads, expected.heads);
  EXPECT_EQ(tables_of(*client).personal, expected.personal);
}

TEST(FedRap, RecommendsWithItsOwnTableAndTheAveragedOne) {
  const auto client = make_client({});
  (void)train(*client);
  const Matrix average = tests::random_matrix(kItems, kDim, 9);
  (void)client->answer(tests::item_message("update", 0, average));
  const Tables tables = tables_of(*client);
  EXPECT_EQ(tables.shared, average);
  Matrix expected = tables.heads.leftCols(kDim) * (tables.personal + average).transpose();
  expected.colwise() += tables.heads.col(kDim);
  EXPECT_TRUE(tests::all_scores(client->recommender()).isApprox(expected, 1e-5F));
  EXPECT_EQ(tests::all_scores(*client::make_recommender(client->model())),
            tests::all_scores(client->recommender()));
}

TEST(FedRap, UploadsTheSharedTableAlone) {
  const auto client = make_client({});
  const Message reply = train(*client);
  const std::vector<std::string> claims = {"loss_sum", "num_samples", "item_norm"};
  EXPECT_EQ(tests::names_of(reply.arrays), claims);
  EXPECT_NEAR(reply.arrays.number("item_norm"), tables_of(*client).shared.norm(), 1e-4);
  const NamedArrays uploaded = client->answer({.kind = "upload", .round = 0, .arrays = {}}).arrays;
  EXPECT_EQ(tests::names_of(uploaded), std::vector<std::string>{"item_embeddings"});
  EXPECT_EQ(uploaded.matrix("item_embeddings"), tables_of(*client).shared);
  EXPECT_THROW((void)client->answer({.kind = "upload", .round = 0, .arrays = {}}), ProtocolError)
      << "it has gone";
}

TEST(FedRap, StartsPersonalTablesAlikeUnlessIndependent) {
  const auto personal = [](const Assignments& settings, Index id) {
    return tables_of(*make_client(settings, id)).personal;
  };
  EXPECT_EQ(personal({}, 4), personal({}, 5));
  EXPECT_GT(personal({}, 4).norm(), 0);
  const Assignments independent = {"model.private_init=independent"};
  EXPECT_NE(personal(independent, 4), personal(independent, 5));
}

TEST(FedRap, SaysSoWhenTheTablesArePushedApartForEver) {
  const auto client =
      make_client({"additive.schedule=fixed", "additive.apart=1e9", "train.optimizer=sgd_original",
                   "train.local_epochs=30", "train.stop_tolerance=0"});
  try {
    (void)train(*client);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the training diverged"), std::string::npos);
  }
}

TEST(FedRap, EndsARoundEarlyOnceTheLossSettles) {
  const Assignments still = {"train.local_epochs=10", "train.learning_rate=1e-9"};
  const auto client = make_client(still);
  EXPECT_EQ(train(*client).arrays.number("num_samples"), 2 * 35) << "1e-4 is the default";
  const auto stubborn = make_client({"train.local_epochs=10", "train.stop_tolerance=0"});
  EXPECT_EQ(train(*stubborn).arrays.number("num_samples"), 10 * 35);
}

TEST(FedRap, GoesOnFromASavedStateAsIfNeverInterrupted) {
  for (const Assignments& settings :
       {Assignments{"train.batch_size=4"}, Assignments{"train.optimizer_state=reset"},
        Assignments{"model.head=client", "train.weight_decay=0.01"}}) {
    const auto before = make_client(settings);
    (void)train(*before, 0);
    const auto after = make_client(settings);
    after->restore(before->save());
    EXPECT_EQ(tests::all_scores(before->recommender()), tests::all_scores(after->recommender()));
    EXPECT_EQ(upload(*before, 1), upload(*after, 1));
    EXPECT_EQ(tables_of(*before).heads, tables_of(*after).heads);
    EXPECT_EQ(tables_of(*before).personal, tables_of(*after).personal);
  }
}

TEST(FedRap, RefusesSettingsOutOfRange) {
  for (const char* assignment :
       {"additive.apart=-1", "additive.sparse=-1", "additive.schedule=linear",
        "train.table_learning_rate=0", "train.batch_decay=0", "train.batch_decay=1.5",
        "model.head=item", "average.weights=data"}) {
    EXPECT_THROW((void)tests::configure("fedrap", {assignment}), ConfigError) << assignment;
  }
}
}  // namespace
}  // namespace fedhur::methods::fedrap_test
