#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fedhur/client/pointwise_training.hpp"
#include "fedhur/methods/method.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/fixed_uploads.hpp"
#include "tests/support/support.hpp"

namespace fedhur::methods::gpfedrec_test {
namespace {
using message::Message;
using tests::Dense;

ConfiguredMethod gpfedrec(const std::vector<std::string>& assignments) {
  ConfigTable table;
  experiment::add_assignment(table, "model.embedding_dim=2");
  for (const std::string& assignment : assignments) experiment::add_assignment(table, assignment);
  Settings settings(table);
  ConfiguredMethod method = find_method("gpfedrec").configure(settings);
  settings.reject_unknown();
  return method;
}

const Matrix kFirst = (Matrix(3, 2) << 1, 0, 0, 2, 1, 1).finished();
const Matrix kSecond = (Matrix(3, 2) << 0, 1, 2, 0, 1, -1).finished();
const Matrix kThird = (Matrix(3, 2) << 1, 0, 0, 1, 1, 0).finished();

tests::FixedUploads uploading(const std::vector<Matrix>& tables) {
  std::vector<NamedArrays> uploads;
  for (const Matrix& table : tables) uploads.emplace_back().set("item_embeddings", table);
  return tests::FixedUploads(std::move(uploads));
}

void run_server(tests::FixedUploads& federation, const std::vector<std::string>& assignments) {
  const Executor executor(2);
  const auto server = gpfedrec(assignments)
                          .make_server({.num_clients = federation.num_clients(),
                                        .num_items = 3,
                                        .rng = Rng(1),
                                        .executor = &executor});
  EXPECT_EQ(server->run_round(0, federation).loss, 2.0);
}

TEST(GpFedRec, SendsEveryClientItsNeighborsAndAllAsInTheWorkedExample) {
  tests::FixedUploads federation = uploading({kFirst, kSecond, kThird});
  run_server(federation, {});
  const Matrix joined = (Matrix(3, 2) << 1, 0, 0, 1.5, 1, 0.5).finished();
  EXPECT_EQ(federation.received[0].matrix("personalized_item_embeddings"), joined);
  EXPECT_EQ(federation.received[1].matrix("personalized_item_embeddings"), kSecond);
  EXPECT_EQ(federation.received[2].matrix("personalized_item_embeddings"), joined);
  for (const NamedArrays& received : federation.received) {
    tests::expect_close(received.matrix("global_item_embeddings"),
                        (Dense(3, 2) << 2. / 3, 1. / 3, 2. / 3, 1, 1, 0).finished(), 1e-7);
  }
}

TEST(GpFedRec, SwapsUnlikeClientsWhereDistancesAreTheGraph) {
  tests::FixedUploads federation = uploading({kFirst, kSecond});
  run_server(federation, {"graph.kind=distance_reference"});
  EXPECT_EQ(federation.received[0].matrix("personalized_item_embeddings"), kSecond);
  EXPECT_EQ(federation.received[1].matrix("personalized_item_embeddings"), kFirst);
  EXPECT_EQ(federation.received[0].matrix("global_item_embeddings"),
            (Matrix(3, 2) << 0.5, 0.5, 1, 1, 1, 0).finished());
}

TEST(GpFedRec, NamesTheClientOfABadUpload) {
  const auto error_of = [](const Matrix& table) -> std::string {
    tests::FixedUploads federation = uploading({kFirst, table});
    try {
      run_server(federation, {});
    } catch (const ProtocolError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of(Matrix::Constant(3, 2, std::numeric_limits<Real>::infinity())),
            "client 1: 'item_embeddings' holds values that are not finite");
  EXPECT_EQ(error_of(Matrix::Zero(3, 1)), "client 1: 'item_embeddings' is 3 x 1, expected 3 x 2");
}

TEST(Anchor, HasTheValueAndGradientOfTheWorkedExample) {
  linalg::RowGradient gradient(3, 2);
  const Matrix anchor = 0.5F * (kFirst + kSecond);
  EXPECT_NEAR(client::add_anchor_gradient(kFirst, anchor, 1.0F, gradient), 0.583333333, 1e-7);
  const Dense expected = (Dense(3, 2) << 1. / 6, -1. / 6, -1. / 3, 1. / 3, 0, 1. / 3).finished();
  for (Index row = 0; row < 3; ++row) {
    ASSERT_NE(gradient.find(row), nullptr);
    for (Index q = 0; q < 2; ++q) EXPECT_NEAR(gradient.find(row)[q], expected(row, q), 1e-7);
  }
  linalg::RowGradient none(3, 2);
  EXPECT_EQ(client::add_anchor_gradient(kFirst, anchor, 0.0F, none), 0.0);
  EXPECT_TRUE(none.touched().empty());
}

struct Training {
  explicit Training(const std::vector<std::string>& assignments = {}, Index id = 0)
      : half(gpfedrec(assignments)
                 .make_client({.id = client_id(id),
                               .train = tests::user_items({{1, 4}, {2, 3, 17}}),
                               .num_items = kNumItems,
                               .rng = Rng(5)})) {
    Message request{.kind = "start", .round = 0, .arrays = {}};
    request.arrays.set("item_embeddings", start);
    (void)half->answer(request);
  }
  [[nodiscard]] NamedArrays train(Round round) const {
    return half->answer({.kind = "train", .round = round, .arrays = {}}).arrays;
  }
  void update(const Matrix& global, const Matrix& personalized) const {
    Message request{.kind = "update", .round = 0, .arrays = {}};
    request.arrays.set("global_item_embeddings", global);
    request.arrays.set("personalized_item_embeddings", personalized);
    (void)half->answer(request);
  }
  [[nodiscard]] Matrix scores() const {
    Matrix scores(2, kNumItems);
    half->recommender().score(0, scores);
    return scores;
  }
  static constexpr Index kNumItems = 200;
  Matrix start = tests::random_matrix(kNumItems, 2, 1);
  std::unique_ptr<client::Client> half;
};

TEST(GpFedRec, RecommendsWithWhatItTrainedNotWithWhatComesBack) {
  const Training client;
  const Matrix trained = client.train(0).matrix("item_embeddings");
  const Matrix before = client.scores();
  client.update(tests::random_matrix(Training::kNumItems, 2, 7),
                tests::random_matrix(Training::kNumItems, 2, 8));
  EXPECT_EQ(client.scores(), before);
  EXPECT_EQ(client.half->model().matrix("item_embeddings"), trained);
}

// Item 150 is sampled by no client, with this seed: only the anchor pulls it.
constexpr Index kIdle = 150;

TEST(GpFedRec, StartsFromTheGlobalTableAndIsPulledTowardsItsOwn) {
  const Training client;
  EXPECT_EQ(client.train(0).matrix("item_embeddings").row(kIdle), client.start.row(kIdle))
      << "at first both are one table, and the pull is zero";
  const Matrix global = tests::random_matrix(Training::kNumItems, 2, 7);
  const Matrix personalized = tests::random_matrix(Training::kNumItems, 2, 8);
  client.update(global, personalized);
  const Matrix trained = client.train(1).matrix("item_embeddings");
  for (Index q = 0; q < 2; ++q) {
    const Real step = personalized(kIdle, q) > global(kIdle, q) ? 0.01F : -0.01F;
    EXPECT_NEAR(trained(kIdle, q) - global(kIdle, q), step, 1e-5F) << "one step of Adam";
  }
}

TEST(GpFedRec, HasThePublishedRatesInGradientDescent) {
  const Training client({"train.optimizer=sgd_original", "train.learning_rate=0.0001",
                         "train.item_rate=5", "train.anchor_strength=0.5"});
  const Matrix global = tests::random_matrix(Training::kNumItems, 2, 7);
  const Matrix personalized = tests::random_matrix(Training::kNumItems, 2, 8);
  client.update(global, personalized);
  const Matrix trained = client.train(0).matrix("item_embeddings");
  // One step of lr (n eta - 1) on the gradient 2 lambda (E - R) / (n d).
  const double factor = 1.0 - 0.0001 * (200.0 * 5.0 - 1.0) * 2.0 * 0.5 / (200.0 * 2.0);
  for (Index q = 0; q < 2; ++q) {
    EXPECT_NEAR(trained(kIdle, q) - personalized(kIdle, q),
                factor * (global(kIdle, q) - personalized(kIdle, q)), 1e-6);
  }
}

TEST(GpFedRec, AddsNoiseToWhatLeavesAndToNothingElse) {
  const Training plain;
  const Training noisy({"noise.laplace_scale=0.1"});
  const Matrix exact = plain.train(0).matrix("item_embeddings");
  const Matrix noise = noisy.train(0).matrix("item_embeddings") - exact;
  EXPECT_NEAR(noise.cwiseAbs().mean(), 0.1F, 0.03F);
  EXPECT_EQ(noisy.half->model().matrix("item_embeddings"), exact);
}

TEST(GpFedRec, StartsAllUsersAndNetworksAlikeUnlessToldNotTo) {
  const auto part = [](const std::string& init, Index client, const std::string& name) {
    return Training({"model.private_init=" + init}, client).half->model().matrix(name);
  };
  const Matrix users = part("identical", 0, "user_vectors");
  EXPECT_EQ(users.row(0), users.row(1));
  EXPECT_EQ(users, part("identical", 1, "user_vectors"));
  EXPECT_EQ(part("identical", 0, "layer_1"), part("identical", 1, "layer_1"));
  const Matrix own = part("independent", 0, "user_vectors");
  EXPECT_NE(own.row(0), own.row(1));
  EXPECT_NE(own, part("independent", 1, "user_vectors"));
  EXPECT_NE(part("independent", 0, "layer_1"), part("independent", 1, "layer_1"));
}

TEST(GpFedRec, HasLayersOfHalfTheWidthUnlessTheyAreGiven) {
  const auto widths = [](const std::vector<std::string>& assignments) {
    const client::PrivateState model = Training(assignments).half->model();
    std::vector<Index> rows;
    for (int layer = 0; layer < static_cast<int>(model.number("num_layers")); ++layer) {
      rows.push_back(model.matrix(fmt::format("layer_{}", layer)).rows());
    }
    return rows;
  };
  EXPECT_EQ(widths({}), (std::vector<Index>{2, 1, 1, 1})) << "never none";
  EXPECT_EQ(widths({"model.hidden=[7]"}), (std::vector<Index>{7, 1}));
}

TEST(GpFedRec, GoesOnFromWhatItSaved) {
  const Training whole({"train.optimizer_state=persistent"});
  const Matrix global = tests::random_matrix(Training::kNumItems, 2, 7);
  const Matrix personalized = tests::random_matrix(Training::kNumItems, 2, 8);
  (void)whole.train(0);
  whole.update(global, personalized);
  const Training other({"train.optimizer_state=persistent"});
  other.half->restore(whole.half->save());
  EXPECT_EQ(other.train(1).matrix("item_embeddings"), whole.train(1).matrix("item_embeddings"));
  EXPECT_EQ(other.scores(), whole.scores());
}

TEST(GpFedRec, RefusesWhatItDoesNotUnderstand) {
  const Training client;
  EXPECT_THROW((void)client.half->answer({.kind = "dance", .round = 0, .arrays = {}}),
               ProtocolError);
  EXPECT_THROW(client.update(client.start, Matrix::Zero(3, 2)), ProtocolError);
  for (const char* assignment : {"graph.layers=0", "graph.neighbors=-1", "graph.kind=random",
                                 "train.anchor_strength=-1", "noise.laplace_scale=-1"}) {
    EXPECT_THROW((void)gpfedrec({assignment}), ConfigError) << assignment;
  }
}
}  // namespace
}  // namespace fedhur::methods::gpfedrec_test
