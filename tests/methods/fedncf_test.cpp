#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "fedhur/methods/method.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/fixed_uploads.hpp"
#include "tests/support/support.hpp"

namespace fedhur::methods {
namespace {
using message::Message;

ConfiguredMethod fedncf(const std::vector<std::string>& assignments) {
  ConfigTable table;
  for (const char* always : {"model.embedding_dim=2", "model.hidden=[2]"}) {
    experiment::add_assignment(table, always);
  }
  for (const std::string& assignment : assignments) experiment::add_assignment(table, assignment);
  Settings settings(table);
  ConfiguredMethod method = find_method("fedncf").configure(settings);
  settings.reject_unknown();
  return method;
}

struct Server {
  explicit Server(const std::vector<std::string>& assignments = {}, Index num_items = 3)
      : half(fedncf(assignments)
                 .make_server({.num_clients = 2,
                               .num_items = num_items,
                               .rng = Rng(1),
                               .executor = &executor})) {}
  Executor executor{2};
  std::unique_ptr<federation::ServerMethod> half;
};

const Matrix kFirst = (Matrix(3, 2) << 1, 0, 0, 2, 1, 1).finished();
const Matrix kSecond = (Matrix(3, 2) << 0, 1, 2, 0, 1, -1).finished();

NamedArrays upload(const Matrix& items, const Matrix& layer, double num_interactions) {
  NamedArrays arrays;
  arrays.set("item_embeddings", items);
  arrays.set("gmf_item_embeddings", Matrix(-items));
  arrays.set("gmf_weights", Matrix(Matrix::Constant(1, 2, layer(0, 0))));
  arrays.set("layer_0", layer);
  arrays.set("layer_1", Matrix(Matrix::Constant(1, 3, 4 * layer(0, 0))));
  arrays.set_number("num_interactions", num_interactions);
  return arrays;
}

tests::FixedUploads two_clients() {
  const Matrix layer = (Matrix(2, 5) << 1, 0, 0, 0.5, 2, 0, -1, 1, -1, 4).finished();
  return tests::FixedUploads({upload(kFirst, layer, 3), upload(kSecond, Matrix::Zero(2, 5), 1)});
}

TEST(FedNcf, AveragesEveryTableByDataSizeAsInTheWorkedExample) {
  tests::FixedUploads federation = two_clients();
  Server server;
  EXPECT_EQ(server.half->run_round(0, federation).loss, 2.0);
  const Matrix items = (Matrix(3, 2) << 0.75, 0.25, 0.5, 1.5, 1, 0.5).finished();
  for (const NamedArrays& received : federation.received) {
    EXPECT_EQ(received.matrix("item_embeddings"), items);
    EXPECT_EQ(received.matrix("gmf_item_embeddings"), Matrix(-items));
    EXPECT_EQ(received.matrix("layer_0"),
              (Matrix(2, 5) << 0.75, 0, 0, 0.375, 1.5, 0, -0.75, 0.75, -0.75, 3).finished());
    EXPECT_EQ(received.matrix("layer_1"), Matrix(Matrix::Constant(1, 3, 3)));
    EXPECT_EQ(received.matrix("gmf_weights"), Matrix(Matrix::Constant(1, 2, 0.75)));
    EXPECT_EQ(received.size(), 5U) << "and nothing else is sent";
  }
}

TEST(FedNcf, AveragesRowsOverThoseWhoTouchedThemIfAsked) {
  tests::FixedUploads federation = two_clients();
  federation.uploads[0].set("touched", Matrix((Matrix(3, 1) << 1, 0, 0).finished()));
  federation.uploads[1].set("touched", Matrix((Matrix(3, 1) << 1, 1, 0).finished()));
  Server server({"average.item_rows=touched"});
  const NamedArrays start = server.half->save();
  (void)server.half->run_round(0, federation);
  const Matrix& items = federation.received[0].matrix("item_embeddings");
  EXPECT_EQ(items.row(0), (Matrix(1, 2) << 0.75, 0.25).finished());
  EXPECT_EQ(items.row(1), kSecond.row(1));
  EXPECT_EQ(items.row(2), start.matrix("item_embeddings").row(2)) << "no client touched it";
  EXPECT_EQ(federation.received[0].matrix("layer_1"), Matrix(Matrix::Constant(1, 3, 3)));
  // Another server goes on from what was saved.
  Server other({"average.item_rows=touched"});
  other.half->restore(server.half->save());
  federation.uploads[0].set("touched", Matrix(Matrix::Zero(3, 1)));
  federation.uploads[1].set("touched", Matrix(Matrix::Zero(3, 1)));
  const Matrix before = items;
  (void)other.half->run_round(1, federation);
  EXPECT_EQ(federation.received[1].matrix("item_embeddings"), before);
}

TEST(FedNcf, NamesTheClientAndTableOfABadUpload) {
  const auto error_of = [](const std::string& name, const Matrix& table) -> std::string {
    tests::FixedUploads federation = two_clients();
    federation.uploads[1].set(name, table);
    Server server;
    try {
      (void)server.half->run_round(0, federation);
    } catch (const ProtocolError& error) {
      return error.what();
    }
    return "no error";
  };
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  for (const char* name : {"item_embeddings", "gmf_item_embeddings"}) {
    EXPECT_EQ(error_of(name, Matrix::Constant(3, 2, nan)),
              fmt::format("client 1: '{}' holds values that are not finite", name));
    EXPECT_EQ(error_of(name, Matrix::Zero(2, 2)),
              fmt::format("client 1: '{}' is 2 x 2, expected 3 x 2", name));
  }
  EXPECT_EQ(error_of("layer_0", Matrix::Constant(2, 5, nan)),
            "client 1: 'layer_0' holds values that are not finite");
  EXPECT_EQ(error_of("layer_1", Matrix::Zero(1, 2)),
            "client 1: 'layer_1' is 1 x 2, expected 1 x 3");
  EXPECT_EQ(error_of("gmf_weights", Matrix::Zero(2, 2)),
            "client 1: 'gmf_weights' is 2 x 2, expected 1 x 2");
  tests::FixedUploads federation = two_clients();
  federation.uploads[0].set_number("num_interactions", -1);
  Server server;
  EXPECT_THROW((void)server.half->run_round(0, federation), ProtocolError);
}

// One client in a catalogue that is much larger than what it samples. One epoch at a rate of 0.1.
struct Training {
  explicit Training(const std::vector<std::string>& given = {}) {
    std::vector<std::string> assignments = {"train.learning_rate=0.1", "train.local_epochs=1",
                                            "train.weight_decay=0"};
    assignments.insert(assignments.end(), given.begin(), given.end());
    half = fedncf(assignments)
               .make_client({.id = client_id(0),
                             .train = tests::user_items({{1, 4}, {2, 3, 17}}),
                             .num_items = kNumItems,
                             .rng = Rng(5)});
    update = {.kind = "update", .round = 0, .arrays = {}};
    update.arrays.set("item_embeddings", tests::random_matrix(kNumItems, 2, 1));
    update.arrays.set("gmf_item_embeddings", tests::random_matrix(kNumItems, 2, 2));
    update.arrays.set("gmf_weights", tests::random_matrix(1, 2, 3));
    update.arrays.set("layer_0", tests::random_matrix(2, 5, 4));
    update.arrays.set("layer_1", tests::random_matrix(1, 3, 5));
    (void)half->answer(update);
  }
  [[nodiscard]] NamedArrays train(Round round) const {
    return tests::train_and_upload(*half, {.kind = "train", .round = round, .arrays = {}});
  }
  [[nodiscard]] const Matrix& start(const std::string& name) const {
    return update.arrays.matrix(name);
  }
  static constexpr Index kNumItems = 200;
  Message update;
  std::unique_ptr<client::Client> half;
};

// The first step of Adam is the learning rate in the direction of the gradient.
TEST(FedNcf, MovesWhatItSampledAndNothingElse) {
  const Training client({"average.item_rows=touched"});
  const NamedArrays upload = client.train(0);
  const Matrix& touched = upload.matrix("touched");
  EXPECT_GE(touched.sum(), 4.0F);
  EXPECT_LE(touched.sum(), 10.0F) << "five triples";
  const Matrix moved = upload.matrix("gmf_item_embeddings") - client.start("gmf_item_embeddings");
  for (Index item = 0; item < Training::kNumItems; ++item) {
    for (Index q = 0; q < 2; ++q) {
      EXPECT_NEAR(std::abs(moved(item, q)), 0.1F * touched(item, 0), 1e-4F) << item;
    }
  }
  EXPECT_NE(upload.matrix("layer_1"), client.start("layer_1"));
  EXPECT_NE(upload.matrix("gmf_weights"), client.start("gmf_weights"));
  EXPECT_EQ(upload.number("num_interactions"), 5.0);
}

TEST(FedNcf, DecaysAllOfItsTablesUnlessToldNotTo) {
  const auto trained = [](const std::vector<std::string>& assignments) {
    return Training(assignments).train(0).matrix("item_embeddings");
  };
  const Matrix plain = trained({});
  EXPECT_EQ(trained({"train.weight_decay=0.01", "train.decay=none"}), plain);
  const Matrix decayed = trained({"train.weight_decay=0.01", "train.decay=adam_l2"});
  const Matrix start = Training().start("item_embeddings");
  const Index idle = 150;  // sampled by no client, with this seed
  ASSERT_EQ(plain.row(idle), start.row(idle));
  for (Index q = 0; q < 2; ++q) {
    const Real towards_zero = start(idle, q) > 0 ? -0.1F : 0.1F;
    EXPECT_NEAR(decayed(idle, q) - start(idle, q), towards_zero, 1e-4F);
  }
}

TEST(FedNcf, DrawsItsTriplesAsOftenAsAsked) {
  const auto touched = [](const std::string& resample, Round round) {
    const Training client(
        {"average.item_rows=touched", "train.resample=" + resample, "train.local_epochs=4"});
    return client.train(round).matrix("touched");
  };
  EXPECT_EQ(touched("once", 0), touched("once", 1));
  EXPECT_NE(touched("round", 0), touched("round", 1));
  EXPECT_GT(touched("epoch", 0).sum(), touched("round", 0).sum() + 5.0F);
}

TEST(FedNcf, KeepsItsOptimisersOverRoundsUnlessToldNotTo) {
  const auto second_round = [](const std::string& state) {
    const Training client({"train.resample=once", "train.optimizer_state=" + state});
    (void)client.train(0);
    (void)client.half->answer(client.update);
    return Matrix(client.train(1).matrix("gmf_item_embeddings") -
                  client.start("gmf_item_embeddings"));
  };
  // After a reset every coordinate of a sampled row moves by the learning rate again.
  const Matrix reset = second_round("reset");
  const Matrix persistent = second_round("persistent");
  for (Index i = 0; i < reset.size(); ++i) {
    const Real step = std::abs(reset.data()[i]);
    EXPECT_TRUE(step == 0.0F || std::abs(step - 0.1F) < 1e-4F) << step;
  }
  EXPECT_FALSE(persistent.isApprox(reset, 1e-3F));
}

TEST(FedNcf, LearnsWhatItsUsersHave) {
  const Training client({"train.batch_size=2", "train.local_epochs=3"});
  const NamedArrays first = client.train(0);
  NamedArrays last = first;
  for (Round round = 1; round < 30; ++round) last = client.train(round);
  const auto mean = [](const NamedArrays& arrays) {
    return arrays.number("loss_sum") / arrays.number("num_samples");
  };
  EXPECT_LT(mean(last), 0.3 * mean(first));
  Matrix scores(2, Training::kNumItems);
  client.half->recommender().score(0, scores);
  EXPECT_GT(std::min(scores(0, 1), scores(0, 4)), scores.row(0).mean());
}

TEST(FedNcf, ComesBackFromItsStoredModel) {
  const Training client;
  (void)client.train(0);
  const auto stored = client::make_recommender(client.half->model());
  Matrix expected(2, Training::kNumItems);
  Matrix actual(2, Training::kNumItems);
  client.half->recommender().score(0, expected);
  stored->score(0, actual);
  EXPECT_EQ(actual, expected);
  client::PrivateState spoiled = client.half->model();
  spoiled.set("layer_0", Matrix(Matrix::Zero(2, 4)));
  EXPECT_THROW((void)client::make_recommender(spoiled), DataError);
  for (const double layers : {0.0, -1.0, 1e18, std::numeric_limits<double>::quiet_NaN()}) {
    client::PrivateState deep = client.half->model();
    deep.set_number("num_layers", layers);
    EXPECT_THROW((void)client::make_recommender(deep), DataError) << layers;
  }
}

TEST(FedNcf, RefusesWhatItDoesNotUnderstand) {
  const Training client;
  EXPECT_THROW((void)client.half->answer({.kind = "dance", .round = 0, .arrays = {}}),
               ProtocolError);
  Message bad = client.update;
  bad.arrays.set("layer_0", Matrix(Matrix::Zero(3, 5)));
  EXPECT_THROW((void)client.half->answer(bad), ProtocolError);
  for (const char* assignment : {"model.hidden=[]", "model.hidden=[0]", "model.hidden=[\"a\"]",
                                 "average.item_rows=some", "train.decay=much"}) {
    EXPECT_THROW((void)fedncf({assignment}), ConfigError) << assignment;
  }
}
}  // namespace
}  // namespace fedhur::methods
