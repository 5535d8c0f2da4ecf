#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fedhur/client/private_state.hpp"
#include "fedhur/linalg/adam.hpp"
#include "fedhur/model/linear_heads.hpp"
#include "tests/support/method_halves.hpp"

namespace fedhur::methods {
namespace {
using linalg::RowGradient;
using message::Message;
using tests::Assignments;

constexpr Index kItems = 10;
constexpr Index kDim = 3;
const std::vector<std::vector<int>> kTrain = {{0, 1, 2}, {}, {5, 6, 7, 8}};

std::unique_ptr<client::Client> make_client(const Assignments& more, Index id = 4) {
  Assignments assignments = {"model.embedding_dim=3", "train.weight_decay=0",
                             "train.local_epochs=1"};
  assignments.insert(assignments.end(), more.begin(), more.end());
  return tests::configure("pfedrec", assignments)
      .make_client({.id = client_id(id),
                    .train = tests::user_items(kTrain),
                    .num_items = kItems,
                    .rng = Rng(5)});
}
Message train_request(Round round = 0, std::uint64_t seed = 3) {
  return tests::item_message("train", round, tests::random_matrix(kItems, kDim, seed));
}
Matrix upload(client::Client& client, const Message& request = train_request()) {
  return tests::train_and_upload(client, request).matrix("item_embeddings");
}
std::vector<model::LabelledPair> pairs_of_round(Round round) {
  return model::draw_labelled_pairs(tests::user_items(kTrain), kItems, 4,
                                    Rng(5).stream(Draw::labelled_pairs, 4, round));
}

TEST(PFedRec, AveragesUniformlyAsInTheWorkedExample) {
  tests::FixedTables federation;
  const tests::ServerHalf server("pfedrec");
  EXPECT_EQ(server.half->run_round(0, federation).loss, 2.0);
  const Matrix start = federation.received;
  EXPECT_GT(start.norm(), 0);
  (void)server.half->run_round(1, federation);  // what came of round 0 goes down with round 1
  EXPECT_EQ(federation.received, (Matrix(3, 2) << 0.5, 0.5, 1, 1, 1, 0).finished());
}

TEST(PFedRec, AveragesByDataSizeIfAskedTo) {
  tests::FixedTables federation;
  const tests::ServerHalf server("pfedrec", {"average.weights=data"});
  (void)server.half->run_round(0, federation);
  (void)server.half->run_round(1, federation);
  EXPECT_EQ(federation.received, (Matrix(3, 2) << 0.75, 0.25, 0.5, 1.5, 1, 0.5).finished());
}

TEST(PFedRec, SendsTheAverageOnFromASavedServer) {
  tests::FixedTables federation;
  const tests::ServerHalf before("pfedrec");
  (void)before.half->run_round(0, federation);
  const tests::ServerHalf after("pfedrec");
  after.half->restore(before.half->save());
  (void)after.half->run_round(1, federation);
  EXPECT_EQ(federation.received, (Matrix(3, 2) << 0.5, 0.5, 1, 1, 1, 0).finished());
}

TEST(PFedRec, RefusesUploadsOfTheWrongShapeOrWithNaN) {
  tests::expect_bad_uploads_refused("pfedrec");
}

TEST(PFedRec, RefusesDownloadsOfTheWrongShapeOrWithNaN) {
  const auto client = make_client({});
  EXPECT_THROW((void)client->answer({.kind = "train", .round = 0, .arrays = {}}), ProtocolError);
  EXPECT_THROW((void)client->answer({.kind = "update", .round = 0, .arrays = {}}), ProtocolError);
  EXPECT_THROW((void)client->answer(tests::item_message("train", 0, Matrix::Zero(kItems, 4))),
               ProtocolError);
  Matrix bad = Matrix::Zero(kItems, kDim);
  bad(2, 1) = std::numeric_limits<Real>::infinity();
  EXPECT_THROW((void)client->answer(tests::item_message("train", 0, bad)), ProtocolError);
}

// What a batch should do: heads first, then items by the heads that came of it.
template <class StepHeads, class StepItems>
std::pair<Matrix, Matrix> step_in_turn(Matrix heads, Matrix items, const StepHeads& step_heads,
                                       const StepItems& step_items) {
  const auto batch = pairs_of_round(0);
  RowGradient of_heads(heads.rows(), kDim + 1);
  RowGradient of_items(kItems, kDim);
  (void)model::add_head_gradients(heads, items, batch, &of_heads, nullptr);
  step_heads(heads, of_heads);
  (void)model::add_head_gradients(heads, items, batch, nullptr, &of_items);
  step_items(items, of_items);
  return {heads, items};
}

TEST(PFedRec, StepsHeadsFirstAndThenItemsWithTheNewHeads) {
  const auto client = make_client({"train.learning_rate=0.25"});
  const Matrix heads = client->save().matrix("heads");
  const Matrix items = train_request().arrays.matrix("item_embeddings");
  linalg::Adam head_adam(heads.rows(), kDim + 1);
  linalg::Adam item_adam(kItems, kDim);
  const auto expected = step_in_turn(
      heads, items, [&](Matrix& table, auto& g) { head_adam.step(table, g, 0.25F); },
      [&](Matrix& table, auto& g) { item_adam.step(table, g, 0.25F); });
  EXPECT_EQ(upload(*client), expected.second);
  EXPECT_EQ(client->save().matrix("heads"), expected.first);
}

TEST(PFedRec, DescendsOnItemsNTimesEtaAsFastWithTheOriginalRates) {
  const auto client = make_client({"train.learning_rate=0.25", "train.optimizer=sgd_original",
                                   "train.item_rate=1.5", "train.weight_decay=0.125"});
  const Matrix heads = client->save().matrix("heads");
  const Matrix items = train_request().arrays.matrix("item_embeddings");
  const auto expected = step_in_turn(
      heads, items, [](Matrix& table, auto& g) { linalg::descend(table, g, 0.25F, 0.125F); },
      [](Matrix& table, auto& g) { linalg::descend(table, g, 0.25F * 1.5F * 10, 0.125F); });
  EXPECT_TRUE(upload(*client).isApprox(expected.second, 1e-6F));
  EXPECT_EQ(client->save().matrix("heads"), expected.first);
}

TEST(PFedRec, UploadsItemsAndNothingOfTheHeads) {
  const auto client = make_client({});
  const std::vector<std::string> claims = {"loss_sum", "num_samples", "item_norm"};
  EXPECT_EQ(tests::names_of(client->answer(train_request()).arrays), claims);
  const Message upload{.kind = "upload", .round = 0, .arrays = {}};
  EXPECT_EQ(tests::names_of(client->answer(upload).arrays),
            std::vector<std::string>{"item_embeddings"});
  const auto weighed = make_client({"average.weights=data"})->answer(train_request());
  EXPECT_EQ(weighed.arrays.number("num_interactions"), 7);
}

TEST(PFedRec, RecommendsWithTheItemsItTrainedAndNotWithTheAverage) {
  const auto client = make_client({});
  const Message request = train_request();
  const Matrix trained = upload(*client, request);
  EXPECT_NE(trained, request.arrays.matrix("item_embeddings"));
  const Matrix heads = client->save().matrix("heads");
  Matrix expected = heads.leftCols(kDim) * trained.transpose();
  expected.colwise() += heads.col(kDim);
  EXPECT_TRUE(tests::all_scores(client->recommender()).isApprox(expected, 1e-5F));
}

TEST(PFedRec, StartsEveryRoundFromTheDownloadWhateverTheClientHad) {
  const auto client = make_client({});
  (void)upload(*client);
  client::PrivateState state = client->save();
  state.set("item_embeddings", tests::random_matrix(kItems, kDim, 77));
  const auto other = make_client({});
  other->restore(state);
  EXPECT_EQ(upload(*client, train_request(1, 8)), upload(*other, train_request(1, 8)));
}

TEST(PFedRec, KeepsItsMomentsUnlessTheyAreReset) {
  const auto second_upload = [](const char* state) {
    const auto client = make_client({std::string("train.optimizer_state=") + state});
    (void)upload(*client);
    return upload(*client, train_request(1, 8));
  };
  EXPECT_EQ(second_upload("persistent"), [] {
    const auto client = make_client({});
    (void)upload(*client);
    return upload(*client, train_request(1, 8));
  }()) << "the default";
  EXPECT_NE(second_upload("persistent"), second_upload("reset"));
}

TEST(PFedRec, GoesOnFromASavedStateAsIfNeverInterrupted) {
  for (const Assignments& settings :
       {Assignments{"train.batch_size=4"}, Assignments{"train.optimizer_state=reset"},
        Assignments{"train.optimizer=sgd_original", "train.item_rate=0.1"},
        Assignments{"model.head=client", "train.weight_decay=0.01"}}) {
    const auto before = make_client(settings);
    (void)upload(*before);
    const auto after = make_client(settings);
    after->restore(before->save());
    EXPECT_EQ(tests::all_scores(before->recommender()), tests::all_scores(after->recommender()));
    EXPECT_EQ(upload(*before, train_request(1, 8)), upload(*after, train_request(1, 8)));
    EXPECT_EQ(before->save().matrix("heads"), after->save().matrix("heads"));
  }
}

TEST(PFedRec, HasAHeadPerUserOrOnePerClient) {
  const auto by_user = make_client({});
  (void)upload(*by_user);
  const Matrix own = tests::all_scores(by_user->recommender());
  EXPECT_NE(own.row(0), own.row(2));
  const auto by_client = make_client({"model.head=client"});
  (void)upload(*by_client);
  EXPECT_EQ(by_client->save().matrix("heads").rows(), 1);
  const Matrix common = tests::all_scores(by_client->recommender());
  EXPECT_EQ(common.rows(), 3);
  EXPECT_EQ(common.row(0), common.row(2));
}

TEST(PFedRec, StartsAllHeadsAlikeUnlessIndependent) {
  const auto heads = [](const Assignments& settings, Index id) {
    return make_client(settings, id)->save().matrix("heads");
  };
  EXPECT_EQ(heads({}, 4), heads({}, 5));
  EXPECT_EQ(heads({}, 4).row(0), heads({}, 4).row(2));
  EXPECT_LE(heads({}, 4).cwiseAbs().maxCoeff(), 1 / std::sqrt(3.0F));
  EXPECT_GT(heads({}, 4).cwiseAbs().maxCoeff(), 0);
  const Assignments independent = {"model.private_init=independent"};
  EXPECT_NE(heads(independent, 4), heads(independent, 5));
  EXPECT_NE(heads(independent, 4).row(0), heads(independent, 4).row(2));
}

TEST(PFedRec, IsReadBackFromItsModel) {
  for (const char* head : {"model.head=user", "model.head=client"}) {
    const auto client = make_client({head});
    (void)upload(*client);
    EXPECT_EQ(tests::all_scores(*client::make_recommender(client->model())),
              tests::all_scores(client->recommender()));
  }
  const auto broken = [](const std::string& name, const Matrix& matrix) {
    const auto client = make_client({});
    client::PrivateState state = client->model();
    state.set(name, matrix);
    EXPECT_THROW((void)client::make_recommender(state), DataError) << name;
  };
  broken("heads", Matrix::Zero(3, kDim));
  broken("heads", Matrix::Zero(2, kDim + 1));
  broken("item_embeddings", Matrix::Zero(kItems, kDim + 1));
}

TEST(PFedRec, RefusesSettingsOutOfRange) {
  for (const char* assignment : {"train.item_rate=0", "model.head=item", "average.weights=none",
                                 "train.negatives=0", "train.loss=bpr"}) {
    EXPECT_THROW((void)tests::configure("pfedrec", {assignment}), ConfigError) << assignment;
  }
}
}  // namespace
}  // namespace fedhur::methods
