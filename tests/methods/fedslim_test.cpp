#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fedhur/client/co_occurrences.hpp"
#include "tests/support/method_halves.hpp"
#include "tests/support/method_run.hpp"
#include "tests/support/unreliable_federation.hpp"

namespace fedhur::methods::fedslim_test {
namespace {
using message::Message;
using testing::HasSubstr;
using Counts = SparseMatrix<std::int64_t>;
using Filter = SparseMatrix<Real>;

const std::vector<std::vector<int>> kUsers = {{0, 1, 2}, {0, 1}, {1, 2, 3, 4}, {0, 3}, {2, 3, 4}};
const tests::Assignments kExample = {"filter.neighbors=2", "filter.regularization=0.5"};

std::unique_ptr<client::Client> make_client(Index id, const std::vector<std::vector<int>>& users,
                                            const tests::Assignments& assignments = kExample) {
  return tests::configure("fedslim", assignments)
      .make_client(
          {.id = client_id(id), .train = tests::user_items(users), .num_items = 5, .rng = Rng(1)});
}

// Clients with these users, and the server half.
struct Example {
  explicit Example(const std::vector<std::vector<std::vector<int>>>& clients,
                   const tests::Assignments& assignments = kExample) {
    std::vector<federation::ClientMethod*> methods;
    for (const auto& users : clients) {
      halves.push_back(make_client(std::ssize(halves), users, assignments));
      methods.push_back(halves.back().get());
    }
    federation = std::make_unique<tests::UnreliableFederation>(methods);
    server = tests::configure("fedslim", assignments)
                 .make_server({.num_clients = std::ssize(halves),
                               .num_items = 5,
                               .rng = Rng(1),
                               .executor = &executor});
  }
  federation::RoundNotes run(Round round = 0) { return server->run_round(round, *federation); }
  [[nodiscard]] Shared<Filter> filter(std::size_t client = 0) const {
    return halves[client]->save().shared_sparse("filter");
  }
  Executor executor{2};
  std::vector<std::unique_ptr<client::Client>> halves;
  std::unique_ptr<tests::UnreliableFederation> federation;
  std::unique_ptr<federation::ServerMethod> server;
};

Example worked_example() {
  return Example({{kUsers[0], kUsers[1]}, {kUsers[2]}, {kUsers[3], kUsers[4]}});
}

TEST(FedSlim, RecommendsWhatTheWorkedExampleDoes) {
  Example example = worked_example();
  EXPECT_FALSE(example.server->is_finished());
  EXPECT_TRUE(tests::all_scores(example.halves[0]->recommender()).isZero());
  EXPECT_THAT(example.run().warnings, testing::IsEmpty());
  EXPECT_TRUE(example.server->is_finished());
  const Matrix first = tests::all_scores(example.halves[0]->recommender());
  const Matrix third = tests::all_scores(example.halves[2]->recommender());
  const Matrix user_1 = (Matrix(1, 5) << 0.298833F, 0.255066F, 0.219998F, 0, 0).finished();
  const Matrix user_3 = (Matrix(1, 5) << 0.137061F, 0.255066F, 0, 0, 0.205264F).finished();
  EXPECT_TRUE(first.row(1).isApprox(user_1, 1e-5F)) << first.row(1);
  EXPECT_TRUE(third.row(0).isApprox(user_3, 1e-5F)) << third.row(0);
}

TEST(FedSlim, IsTheSameHoweverUsersAreDivided) {
  Example expected = worked_example();
  (void)expected.run();
  for (const auto& clients : std::vector<std::vector<std::vector<std::vector<int>>>>{
           {kUsers},
           {{}, kUsers},
           {{kUsers[4]}, {kUsers[3]}, {kUsers[2]}, {kUsers[1]}, {kUsers[0]}},
           {{kUsers[4], {}, kUsers[0]}, {kUsers[3], kUsers[1], kUsers[2]}}}) {
    Example other(clients);
    (void)other.run();
    EXPECT_TRUE(other.filter()->is_same(*expected.filter()));
  }
}

TEST(FedSlim, IsOfThoseWhoAnswer) {
  Example all = worked_example();
  all.federation->is_absent = [](Index client, const Message& request) {
    return client == 1 && request.kind == "count";
  };
  (void)all.run();
  EXPECT_FALSE(all.server->is_finished()) << "one is not in the sum yet";
  Example few({{kUsers[0], kUsers[1]}, {kUsers[3], kUsers[4]}});
  (void)few.run();
  EXPECT_TRUE(all.filter(1)->is_same(*few.filter()));
  all.federation->is_absent = {};
  (void)all.run(1);
  EXPECT_TRUE(all.server->is_finished());
  Example expected = worked_example();
  (void)expected.run();
  EXPECT_TRUE(all.filter(1)->is_same(*expected.filter()));
}

TEST(FedSlim, StoresAModelThatScoresAlike) {
  Example example = worked_example();
  (void)example.run();
  client::Client& client = *example.halves[0];
  const Matrix scores = tests::all_scores(client.recommender());
  EXPECT_EQ(tests::all_scores(*client::make_recommender(client.model())), scores);
  const auto again = make_client(0, {kUsers[0], kUsers[1]});
  again->restore(client.save());
  EXPECT_EQ(tests::all_scores(again->recommender()), scores);
  client::PrivateState spoiled = client.model();
  spoiled.set("history_items", MatrixOf<std::int32_t>(MatrixOf<std::int32_t>::Constant(5, 1, 5)));
  EXPECT_THROW((void)client::make_recommender(spoiled), DataError);
}

TEST(FedSlim, TakesSoManyItemsOfAUser) {
  const auto entries = [](const std::string& most) {
    const auto client =
        make_client(0, kUsers, {"filter.max_items_per_user=" + most, "filter.activity_exponent=0"});
    const Message reply = client->answer({.kind = "count", .round = 0, .arrays = {}});
    const auto& counts = *reply.arrays.shared_sparse<std::int64_t>("co_occurrences");
    std::int64_t total = 0;
    for (const std::int64_t value : counts.values()) total += value;
    return total / client::kWholeUser;
  };
  EXPECT_EQ(entries("0"), 6 + 3 + 10 + 3 + 6);
  EXPECT_EQ(entries("2"), 5 * 3);
  EXPECT_EQ(entries("1"), 5);
}

// What is wrong with the second client's reply after this change.
std::string refusal_of(const std::function<void(NamedArrays&)>& spoil,
                       const std::string& kind = "count") {
  Example example = worked_example();
  example.federation->lie = [&](Index client, Message& reply) {
    if (client == 1 && reply.kind == kind) spoil(reply.arrays);
  };
  (void)example.run();
  EXPECT_EQ(example.federation->refusals.size(), 1U);
  return example.federation->refusals.empty() ? "none" : example.federation->refusals.front();
}
std::string refusal_of(Index rows, const std::vector<std::array<std::int64_t, 3>>& entries) {
  return refusal_of([&](NamedArrays& arrays) {
    Counts counts(rows, 5);
    for (const auto& [row, col, value] : entries) counts.append(row, col, value);
    arrays.set("co_occurrences", std::move(counts));
  });
}

TEST(FedSlim, RefusesWhatNoUsersCanHave) {
  constexpr std::int64_t kOne = client::kWholeUser;
  EXPECT_EQ(refusal_of(4, {}), "client 1: 'co_occurrences' is 4 x 5, expected 5 x 5");
  EXPECT_EQ(refusal_of(5, {{1, 1, 9}, {2, 1, 9}, {2, 2, 9}}),
            "client 1: 'co_occurrences' has 9 at items 2 and 1: it is below the diagonal");
  EXPECT_EQ(refusal_of(5, {{1, 1, -1}}),
            "client 1: 'co_occurrences' has -1 at items 1 and 1: it is no count");
  EXPECT_THAT(refusal_of(5, {{1, 1, kOne + 1}}), HasSubstr("more than the client's users"));
  EXPECT_THAT(refusal_of(5, {{1, 1, 8}, {1, 2, 8}, {2, 2, 7}}),
              HasSubstr("at items 1 and 2: a pair is not more frequent than its items"));
  EXPECT_THAT(refusal_of(5, {{1, 2, 1}}), HasSubstr("not more frequent"));
  for (const double users : {-1.0, 0.5, 1e15, std::numeric_limits<double>::quiet_NaN()}) {
    const auto lie = [&](NamedArrays& arrays) { arrays.set_number("num_users", users); };
    EXPECT_THAT(refusal_of(lie, "size"), HasSubstr("client 1: 'num_users' is"));
  }
  for (const char* kind : {"size", "count"}) {
    EXPECT_THAT(refusal_of([](NamedArrays& arrays) { arrays = {}; }, kind), HasSubstr("missing"));
  }
}

TEST(FedSlim, CountsNobodyMoreThanTheCap) {
  // The third client says it has a thousand users of items 0 and 4; two of them count.
  constexpr std::int64_t kOne = client::kWholeUser;
  const auto run = [&](std::int64_t users, std::size_t num_warnings) {
    Example example({{{0, 1}}, {{0, 1}}, {{0, 4}}},
                    {"upload.size_cap=2", "filter.activity_exponent=0"});
    example.federation->lie = [&](Index client, Message& reply) {
      if (client == 2 && reply.kind == "size") {
        reply.arrays.set_number("num_users", static_cast<double>(users));
      }
      if (client != 2 || reply.kind != "count") return;
      Counts counts(5, 5);
      counts.append(0, 0, users * kOne);
      counts.append(0, 4, users * kOne);
      counts.append(4, 4, users * kOne);
      reply.arrays.set("co_occurrences", std::move(counts));
    };
    const auto notes = example.run();
    EXPECT_EQ(notes.warnings.size(), num_warnings);
    if (num_warnings > 0) {
      EXPECT_EQ(notes.warnings.front(),
                "client 2: claims 1000 users, 1e+03 times the median; 2 count");
    }
    return example.filter();
  };
  EXPECT_TRUE(run(1000, 1)->is_same(*run(2, 0)));
}

TEST(FedSlim, SendsPlainSumsOverANetworkOnlyWhereAsked) {
  EXPECT_THAT(tests::configure("fedslim", {}).network_refusal,
              HasSubstr("that user's history; filter.plain_sums = true allows it"));
  EXPECT_EQ(tests::configure("fedslim", {"filter.plain_sums=true"}).network_refusal, "");
  EXPECT_EQ(tests::configure("fedmf", {}).network_refusal, "");
  ConfigTable table = tests::tiny_settings("fedslim");
  EXPECT_THROW(experiment::require_network(experiment::resolve(table).config), ConfigError);
  experiment::add_assignment(table, "filter.plain_sums=true");
  EXPECT_NO_THROW(experiment::require_network(experiment::resolve(table).config));
}
}  // namespace
}  // namespace fedhur::methods::fedslim_test
