#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "fedhur/federation/federation.hpp"
#include "fedhur/linalg/principal.hpp"
#include "fedhur/methods/method.hpp"
#include "fedhur/model/training_samples.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::methods::fedca_test {
namespace {
using federation::Answer;
using federation::Request;
using message::Message;
using tests::Dense;
using tests::expect_close;

// The worked example: tables of three items, and a direction of the samples of each client.
struct Upload {
  Matrix table;
  Matrix basis;
  double data_size;
};
Upload first_upload() {
  return {.table = (Matrix(3, 2) << 1, 0, 0, 2, 1, 1).finished(),
          .basis = (Matrix(1, 2) << -0.49806073F, 0.86714215F).finished(),
          .data_size = 3};
}
Upload second_upload() {
  return {.table = (Matrix(3, 2) << 0, 1, 2, 0, 1, -1).finished(),
          .basis = (Matrix(1, 2) << 0.70710678F, 0.70710678F).finished(),
          .data_size = 1};
}

// Clients that upload fixed tables and remember what they are sent.
class FixedUploads : public federation::Federation {
 public:
  explicit FixedUploads(std::vector<Upload> uploads) : uploads_(std::move(uploads)) {}
  [[nodiscard]] Index num_clients() const override { return static_cast<Index>(uploads_.size()); }
  std::vector<Answer> exchange(std::span<const Request> requests) override {
    std::vector<Answer> answers;
    for (const Request& request : requests) {
      const Message& asked = *request.message;
      asked_[asked.kind].push_back(index_of(request.client));
      Message reply{.kind = asked.kind, .round = asked.round, .arrays = {}};
      const Upload& own = uploads_[static_cast<std::size_t>(request.client)];
      if (asked.kind == "train") {
        reply.arrays.set("item_embeddings", own.table);
        reply.arrays.set("sample_basis", own.basis);
        reply.arrays.set_number("num_interactions", own.data_size);
        reply.arrays.set_number("loss_sum", 4);
        reply.arrays.set_number("num_samples", 2);
      } else if (asked.kind == "mix") {
        mixtures_[index_of(request.client)] = asked.arrays.matrix("mixture");
      }
      answers.push_back({request.client, std::move(reply)});
      federation::check_answer(answers.back(), request);
    }
    return answers;
  }
  // Who was asked for this since the last call.
  std::vector<Index> take_asked(const std::string& kind) { return std::exchange(asked_[kind], {}); }
  [[nodiscard]] const Matrix& mixture(Index client) const { return mixtures_.at(client); }

 private:
  std::vector<Upload> uploads_;
  std::map<std::string, std::vector<Index>> asked_;
  std::map<Index, Matrix> mixtures_;
};

ConfiguredMethod configure(const std::vector<std::string>& assignments) {
  ConfigTable table;
  for (const std::string& assignment : assignments) experiment::add_assignment(table, assignment);
  Settings settings(table);
  ConfiguredMethod method = find_method("fedca").configure(settings);
  settings.reject_unknown();
  return method;
}

struct Server {
  // With the weights of the worked example.
  explicit Server(Index num_clients, const std::vector<std::string>& given = {},
                  std::uint64_t seed = 1) {
    std::vector<std::string> assignments = {
        "model.embedding_dim=2", "aggregation.similarity_weight=0.3",
        "aggregation.closeness_weight=0.3", "aggregation.own_share=0.5"};
    assignments.insert(assignments.end(), given.begin(), given.end());
    half = configure(assignments)
               .make_server({.num_clients = num_clients,
                             .num_items = 3,
                             .rng = Rng(seed),
                             .executor = &executor});
  }
  Executor executor{2};
  std::unique_ptr<federation::ServerMethod> half;
};

TEST(FedCaServer, SendsEveryClientTheMixtureOfTheWorkedExample) {
  FixedUploads federation({first_upload(), second_upload()});
  Server server(2);
  const auto notes = server.half->run_round(0, federation);
  expect_close(
      federation.mixture(0),
      (Dense(3, 2) << 0.71639218, 0.28360782, 0.56721565, 1.43278435, 1, 0.43278435).finished(),
      1e-6);
  EXPECT_EQ(notes.loss, 2.0);
  EXPECT_NEAR(notes.numbers.at("own_weight"), (0.71639218 + 0.21639218) / 2, 1e-6);
  EXPECT_EQ(notes.numbers.at("candidates"), 2.0);

  Server alike(2, {"aggregation.favoured=alike"});
  (void)alike.half->run_round(0, federation);
  EXPECT_NEAR(federation.mixture(1)(0, 0), 0.56190182F, 1e-6F);
}

TEST(FedCaServer, AveragesByDataSizeWhereNothingElseCounts) {
  FixedUploads federation({first_upload(), second_upload()});
  Server server(2, {"aggregation.similarity_weight=0", "aggregation.closeness_weight=0"});
  (void)server.half->run_round(0, federation);
  const Dense average = (Dense(3, 2) << 0.75, 0.25, 0.5, 1.5, 1, 0.5).finished();
  expect_close(federation.mixture(0), average, 1e-6);
  expect_close(federation.mixture(1), average, 1e-6);
}

TEST(FedCaServer, MixesWhoeverTakesPartInARound) {
  std::vector<Upload> uploads;
  for (std::uint64_t k = 0; k < 10; ++k) {
    uploads.push_back({.table = tests::random_matrix(3, 2, k + 1),
                       .basis = tests::random_basis(2, 1, k + 1).transpose(),
                       .data_size = 5});
  }
  const auto participants = [&](const std::string& share, std::uint64_t seed) {
    FixedUploads federation(uploads);
    Server server(10, {"aggregation.participation=" + share}, seed);
    std::vector<std::vector<Index>> rounds;
    for (Round round = 0; round < 4; ++round) {
      (void)server.half->run_round(round, federation);
      EXPECT_EQ(federation.take_asked("start").size(), round == 0 ? 10U : 0U) << "all start alike";
      rounds.push_back(federation.take_asked("train"));
      EXPECT_EQ(federation.take_asked("mix"), rounds.back()) << "no other client receives anything";
      EXPECT_TRUE(std::ranges::is_sorted(rounds.back()));
      EXPECT_EQ(std::ranges::adjacent_find(rounds.back()), rounds.back().end());
    }
    return rounds;
  };
  EXPECT_EQ(participants("0.3", 1)[0].size(), 3U);
  EXPECT_EQ(participants("0.7", 1)[0].size(), 7U) << "0.7 of 10 is 7, whatever 0.7 rounds to";
  EXPECT_EQ(participants("0.01", 1)[0].size(), 1U) << "at least one has to";
  EXPECT_EQ(participants("1.0", 1)[2].size(), 10U);
  EXPECT_EQ(participants("0.3", 1), participants("0.3", 1));
  EXPECT_NE(participants("0.3", 1), participants("0.3", 2));
  EXPECT_NE(participants("0.3", 1)[0], participants("0.3", 1)[1]);
}

TEST(FedCaServer, NamesTheClientOfAMalformedUpload) {
  const auto error_of = [](const auto& spoil) -> std::string {
    Upload spoilt = second_upload();
    spoil(spoilt);
    FixedUploads federation({first_upload(), spoilt});
    Server server(2);
    try {
      (void)server.half->run_round(0, federation);
    } catch (const ProtocolError& error) {
      return error.what();
    }
    return "no error";
  };
  constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_EQ(error_of([](Upload& own) { own.table(2, 1) = kNaN; }),
            "client 1: 'item_embeddings' holds values that are not finite");
  EXPECT_EQ(error_of([](Upload& own) { own.table = Matrix::Zero(4, 2); }),
            "client 1: 'item_embeddings' is 4 x 2, expected 3 x 2");
  EXPECT_EQ(error_of([](Upload& own) { own.basis(0, 1) = kNaN; }),
            "client 1: 'sample_basis' holds values that are not finite");
  EXPECT_EQ(error_of([](Upload& own) { own.basis = Matrix::Ones(1, 3); }),
            "client 1: 'sample_basis' is 1 x 3, expected 1 x 2");
  EXPECT_EQ(error_of([](Upload& own) { own.basis = Matrix::Ones(5, 2); }),
            "client 1: 'sample_basis' has 5 rows, expected at most 4");
  EXPECT_EQ(error_of([](Upload& own) { own.basis = Matrix::Ones(2, 2); }),
            "client 1: 'sample_basis' has rows that depend on each other");
  EXPECT_EQ(error_of([](Upload& own) { own.basis = Matrix::Zero(1, 2); }),
            "client 1: 'sample_basis' has rows that depend on each other");
  EXPECT_EQ(error_of([](Upload& own) { own.data_size = -1; }),
            "client 1: 'num_interactions' is -1, expected a count");
  EXPECT_EQ(error_of([](Upload& own) { own.basis = Matrix(0, 2); }), "no error")
      << "a client without samples";
}

struct Client {
  Client(const std::vector<std::vector<int>>& train, Index num_items,
         std::vector<std::string> assignments = {})
      : data(tests::user_items(train)) {
    assignments.emplace_back("model.embedding_dim=3");
    half =
        configure(assignments)
            .make_client({.id = client_id(2), .train = data, .num_items = num_items, .rng = rng});
    Message start{.kind = "start", .round = 0, .arrays = {}};
    start.arrays.set("item_embeddings", tests::random_matrix(num_items, 3, 7));
    (void)half->answer(start);
  }
  [[nodiscard]] Message train(Round round) const {
    return half->answer({.kind = "train", .round = round, .arrays = {}});
  }
  Rng rng{5};
  data::UserItems data;
  std::unique_ptr<client::Client> half;
};

TEST(FedCaClient, KeepsItsShareBesideTheMixtureAsInTheWorkedExample) {
  const auto client = configure({"model.embedding_dim=2", "aggregation.own_share=0.9"})
                          .make_client({.id = client_id(0),
                                        .train = tests::user_items({{1}}),
                                        .num_items = 3,
                                        .rng = Rng(1)});
  Message start{.kind = "start", .round = 0, .arrays = {}};
  start.arrays.set("item_embeddings", first_upload().table);
  (void)client->answer(start);
  Message mix{.kind = "mix", .round = 0, .arrays = {}};
  Matrix mixture(3, 2);
  mixture << 0.71639218F, 0.28360782F, 0.56721565F, 1.43278435F, 1, 0.43278435F;
  mix.arrays.set("mixture", mixture);
  (void)client->answer(mix);
  expect_close(
      client->model().matrix("item_embeddings"),
      (Dense(3, 2) << 0.97163922, 0.02836078, 0.05672156, 1.94327844, 1, 0.94327844).finished(),
      1e-6);
}

TEST(FedCaClient, UploadsTheDirectionsOfWhatItTrainedOn) {
  const Client client({{1, 4, 9}, {2, 3}}, 40, {"aggregation.principal_directions=2"});
  for (const Round round : {0, 3}) {
    const Message reply = client.train(round);
    Eigen::VectorXd occurrences = Eigen::VectorXd::Zero(40);
    const auto pairs = model::draw_labelled_pairs(
        client.data, 40, 4, client.rng.stream(Draw::labelled_pairs, client_id(2), round));
    for (const auto& pair : pairs) occurrences(pair.item) += 1.0;
    const Dense expected =
        linalg::principal_directions(reply.arrays.matrix("item_embeddings"), occurrences, 2);
    const Dense basis = reply.arrays.matrix("sample_basis").cast<double>();
    EXPECT_TRUE((basis * expected).cwiseAbs().isIdentity(1e-5)) << round;
    EXPECT_EQ(reply.arrays.number("num_interactions"), 5.0);
  }
}

TEST(FedCaClient, HasNoMoreDirectionsThanItsItemsSpan) {
  const auto num_directions = [](const Client& client) {
    const Matrix basis = client.train(0).arrays.matrix("sample_basis");
    EXPECT_EQ(basis.cols(), 3);
    return basis.rows();
  };
  EXPECT_EQ(num_directions(Client({{0, 2, 5}}, 40)), 3) << "as many as columns";
  EXPECT_EQ(num_directions(Client({{0}}, 3)), 2) << "of three items";
  EXPECT_EQ(num_directions(Client({{}, {}}, 3)), 0) << "without samples";
}

TEST(FedCaClient, LearnsAndBeginsEveryRoundWithFreshMoments) {
  const std::vector<std::vector<int>> train = {{1, 4, 9}, {2, 3, 9}};
  const auto loss_of = [](const Message& reply) {
    return reply.arrays.number("loss_sum") / reply.arrays.number("num_samples");
  };
  const Client client(train, 12, {"train.learning_rate=0.05"});
  const double first = loss_of(client.train(0));
  for (Round round = 1; round < 5; ++round) (void)client.train(round);
  EXPECT_LT(loss_of(client.train(5)), 0.5 * first);

  // What a round leaves behind is the model alone, unless moments are to last.
  Client resumed(train, 12, {"train.learning_rate=0.05"});
  resumed.half->restore(client.half->model());
  EXPECT_EQ(resumed.train(6).arrays.matrix("item_embeddings"),
            client.train(6).arrays.matrix("item_embeddings"));
  const Client lasting(train, 12, {"train.optimizer_state=persistent"});
  const Client fresh(train, 12);
  EXPECT_EQ(lasting.train(0).arrays.matrix("item_embeddings"),
            fresh.train(0).arrays.matrix("item_embeddings"));
  EXPECT_NE(lasting.train(1).arrays.matrix("item_embeddings"),
            fresh.train(1).arrays.matrix("item_embeddings"));
}

TEST(FedCaClient, StartsWithOneVectorForAllUsersUnlessAsked) {
  const auto vectors = [](const Client& client) {
    return client.half->model().matrix("user_vectors");
  };
  const Matrix same = vectors(Client({{1}, {2}}, 9));
  EXPECT_EQ(same.row(0), same.row(1));
  const Matrix own = vectors(Client({{1}, {2}}, 9, {"model.private_init=independent"}));
  EXPECT_NE(own.row(0), own.row(1));
}

TEST(FedCaConfig, NamesTheKeyOfASettingThatIsNotAllowed) {
  for (const std::string assignment :
       {"aggregation.similarity_weight=-1", "aggregation.closeness_weight=inf",
        "aggregation.favoured=similar", "aggregation.principal_directions=0",
        "aggregation.participation=0", "aggregation.participation=1.5",
        "aggregation.own_share=-0.1", "aggregation.own_share=nan",
        "train.optimizer=sgd_original"}) {
    try {
      (void)configure({assignment});
      ADD_FAILURE() << assignment;
    } catch (const ConfigError& error) {
      EXPECT_EQ(std::string(error.what()).find(assignment.substr(0, assignment.find('='))), 0U)
          << error.what();
    }
  }
}
}  // namespace
}  // namespace fedhur::methods::fedca_test
