// How much one client can change what the others get, whatever it claims.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "fedhur/methods/uploads.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/fixed_uploads.hpp"
#include "tests/support/method_halves.hpp"
#include "tests/support/method_run.hpp"
#include "tests/support/unreliable_federation.hpp"

namespace fedhur::methods::influence_test {
namespace {
using tests::Assignments;
using tests::Dense;
using tests::FixedUploads;
using tests::widen;

constexpr Index kItems = 30;
constexpr Index kDim = 4;
constexpr Index kClients = 6;
constexpr std::size_t kLiar = 2;

// Everything that some method wants of a client.
NamedArrays upload_of(std::uint64_t client) {
  NamedArrays arrays;
  const auto put = [&](const std::string& name, Index rows, Index cols) {
    arrays.set(name, Matrix(0.05F * tests::random_matrix(rows, cols, 10 * client + arrays.size())));
  };
  put("item_embeddings", kItems, kDim);
  put("gmf_item_embeddings", kItems, kDim);
  put("gmf_weights", 1, kDim);
  put("layer_0", 3, 2 * kDim + 1);
  put("layer_1", 1, 4);
  arrays.set("sample_basis", Matrix(tests::random_basis(kDim, 2, client + 1).transpose()));
  arrays.set_number("num_interactions", static_cast<double>(10 + client));
  return arrays;
}

std::vector<NamedArrays> uploads() {
  std::vector<NamedArrays> all;
  for (std::uint64_t client = 0; client < kClients; ++client) all.push_back(upload_of(client));
  return all;
}

void scale(NamedArrays& arrays, const std::string& name, double factor) {
  arrays.set(name, Matrix(arrays.matrix(name) * static_cast<Real>(factor)));
}

struct Outcome {
  std::vector<NamedArrays> received;  // by the clients
  NamedArrays server;
  federation::RoundNotes notes;
};

Outcome run_round(const std::string& method, const std::vector<NamedArrays>& given,
                  Assignments assignments = {}) {
  assignments.emplace_back("model.embedding_dim=4");
  if (method == "fedncf") assignments.emplace_back("model.hidden=[3]");
  const Executor executor(2);
  const auto server = tests::configure(method, assignments)
                          .make_server({.num_clients = std::ssize(given),
                                        .num_items = kItems,
                                        .rng = Rng(1),
                                        .executor = &executor});
  FixedUploads federation(given);
  Outcome outcome;
  outcome.notes = server->run_round(0, federation);
  outcome.received = federation.received;
  outcome.server = server->save();
  return outcome;
}

void expect_close(const NamedArrays& actual, const NamedArrays& expected) {
  ASSERT_EQ(tests::names_of(actual), tests::names_of(expected));
  for (const auto& [name, array] : expected.entries()) {
    SCOPED_TRACE(name);
    const Matrix& table = *std::get<Shared<Matrix>>(array);
    if (name.starts_with("global_")) {  // eigenvectors, whose signs do not matter
      tests::expect_close(tests::gram(widen(actual.matrix(name))), tests::gram(widen(table)), 1e-5);
    } else {
      tests::expect_close(actual.matrix(name), table, 1e-5);
    }
  }
}

// With the liar above all others.
double median_norm(const std::string& name) {
  std::vector<double> norms;
  for (const NamedArrays& own : uploads()) norms.push_back(widen(own.matrix(name)).norm());
  norms[kLiar] = 1e9;
  std::ranges::sort(norms);
  return norms[(norms.size() - 1) / 2];
}

TEST(LargestBeside, IsAMultipleOfTheLowerMedianOfWhatIsThere) {
  EXPECT_EQ(largest_beside(std::vector<double>{3, 1, 2}, 10), 20);
  EXPECT_EQ(largest_beside(std::vector<double>{4, 3, 1e300, 2}, 10), 30);
  EXPECT_EQ(largest_beside(std::vector<double>{0, 0, 0, 5, 7}, 10), 50) << "nothing is no measure";
  constexpr double kAny = std::numeric_limits<double>::infinity();
  EXPECT_EQ(largest_beside(std::vector<double>{1, 1e6}, 10), kAny) << "one of two may be right";
  EXPECT_EQ(largest_beside(std::vector<double>{1, 1, 1e6}, 0), kAny) << "no cap";
  EXPECT_EQ(largest_beside(std::vector<double>{0, 0, 0}, 10), kAny);
  EXPECT_EQ(largest_beside(std::vector<double>{}, 10), kAny);
}

class Averages : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Methods, Averages,
                         testing::Values("fedmf", "fedncf", "pfedrec", "fedrap", "gpfedrec",
                                         "fedca", "fedcia"),
                         [](const auto& method) { return method.param; });

TEST_P(Averages, CountATableOfAnySizeAsOneAtTheCap) {
  std::vector<std::string> tables = {"item_embeddings"};
  if (GetParam() == "fedncf") {
    tables = {"item_embeddings", "gmf_item_embeddings", "gmf_weights", "layer_0", "layer_1"};
  }
  for (const std::string& table : tables) {
    SCOPED_TRACE(table);
    auto thousandfold = uploads();
    scale(thousandfold[kLiar], table, 1000.0);
    auto at_the_cap = uploads();
    scale(at_the_cap[kLiar], table,
          10.0 * median_norm(table) / widen(uploads()[kLiar].matrix(table)).norm());
    const Outcome actual = run_round(GetParam(), thousandfold);
    const Outcome expected = run_round(GetParam(), at_the_cap);
    for (std::size_t k = 0; k < kClients; ++k) {
      expect_close(actual.received[k], expected.received[k]);
    }
    expect_close(actual.server, expected.server);
    ASSERT_EQ(actual.notes.warnings.size(), 1U);
    EXPECT_THAT(actual.notes.warnings[0],
                testing::MatchesRegex("client 2: '" + table +
                                      "' has norm [0-9.e+]+, [0-9.e+]+ times the median; "
                                      "scaled down"));
    EXPECT_TRUE(run_round(GetParam(), uploads()).notes.warnings.empty());
    // Without the cap it counts for all of its size.
    const Outcome uncapped = run_round(GetParam(), thousandfold, {"upload.norm_cap=0"});
    EXPECT_TRUE(uncapped.notes.warnings.empty());
    double largest = 0.0;
    std::vector<NamedArrays> results = uncapped.received;
    results.push_back(uncapped.server);
    for (const NamedArrays& arrays : results) {
      for (const auto& [name, array] : arrays.entries()) {
        largest = std::max(largest, widen(*std::get<Shared<Matrix>>(array)).norm());
      }
    }
    EXPECT_GT(largest, 20.0 * median_norm(table));
  }
}

TEST_P(Averages, OfTwoAreNotBounded) {
  auto two = uploads();
  two.resize(2);
  scale(two[0], "item_embeddings", 1000.0);
  EXPECT_TRUE(run_round(GetParam(), two).notes.warnings.empty());
}

class DataSizes : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Methods, DataSizes, testing::Values("fedmf", "fedncf", "pfedrec", "fedca"),
                         [](const auto& method) { return method.param; });

TEST_P(DataSizes, CountNoMoreThanTheCapWhateverIsClaimed) {
  Assignments assignments;
  if (GetParam() == "pfedrec") assignments = {"average.weights=data"};
  auto claim = uploads();
  claim[kLiar].set_number("num_interactions", 1e15);
  auto at_the_cap = uploads();
  at_the_cap[kLiar].set_number("num_interactions", 100 * 13);  // of 10, 11, 1e15, 13, 14 and 15
  const Outcome actual = run_round(GetParam(), claim, assignments);
  const Outcome expected = run_round(GetParam(), at_the_cap, assignments);
  for (std::size_t k = 0; k < kClients; ++k) {
    for (const auto& [name, array] : expected.received[k].entries()) {
      EXPECT_TRUE(is_same(*actual.received[k].find(name), array)) << name;
    }
  }
  expect_close(actual.server, expected.server);
  EXPECT_THAT(actual.notes.warnings,
              testing::ElementsAre(
                  "client 2: claims 1e+15 interactions, 7.69e+13 times the median; 1300 count"));
  EXPECT_TRUE(expected.notes.warnings.empty());
}

TEST_P(DataSizes, OfZeroAllAroundWeighAllAlike) {
  auto nothing = uploads();
  for (NamedArrays& own : nothing) own.set_number("num_interactions", 0);
  const Outcome outcome = run_round(GetParam(), nothing);
  for (const auto& [name, array] : outcome.received[0].entries()) {
    EXPECT_TRUE(std::get<Shared<Matrix>>(array)->allFinite()) << name;
  }
}

// The bound itself: by its weight, and by how far from the others' average it can be.
TEST(FedMf, MovesByNoMoreThanTheCapsOfALiarAllow) {
  auto lies = uploads();
  scale(lies[kLiar], "item_embeddings", -1000.0);
  lies[kLiar].set_number("num_interactions", 1e15);
  const Dense moved = widen(run_round("fedmf", lies).received[0].matrix("item_embeddings"));
  auto others = uploads();
  others.erase(others.begin() + kLiar);
  const Dense average = widen(run_round("fedmf", others).received[0].matrix("item_embeddings"));
  const double weight = 1300.0 / (1300.0 + 10 + 11 + 13 + 14 + 15);
  const double bound = weight * (10.0 * median_norm("item_embeddings") + average.norm());
  EXPECT_LE(tests::distance(moved, average), bound * (1 + 1e-5));
  EXPECT_GT(tests::distance(moved, average), 0.5 * bound) << "the bound is not an empty one";
}

TEST(FedCia, AddsNoMoreThanTheSquareOfTheCapToTheFilter) {
  auto lies = uploads();
  scale(lies[kLiar], "item_embeddings", 1000.0);
  const Assignments whole = {"global_filter.rank=30", "global_filter.first_passes=20"};
  const auto filter_of = [&](const std::vector<NamedArrays>& given) {
    return tests::gram(
        widen(run_round("fedcia", given, whole).received[0].matrix("global_factor")));
  };
  auto others = uploads();
  others.erase(others.begin() + kLiar);
  const double honest = (kClients - 1.0) / kClients;
  const double bound = std::pow(10.0 * median_norm("item_embeddings"), 2) / kClients;
  EXPECT_LE(tests::distance(filter_of(lies), honest * filter_of(others)), bound * 1.001);
}

class Counts : public federation::Federation {
 public:
  explicit Counts(std::vector<Matrix> given) : counts_(std::move(given)) {}
  [[nodiscard]] Index num_clients() const override { return std::ssize(counts_); }
  std::vector<federation::Answer> exchange(std::span<const federation::Request> requests) override {
    std::vector<federation::Answer> answers;
    for (const auto& request : requests) {
      message::Message reply{
          .kind = request.message->kind, .round = request.message->round, .arrays = {}};
      if (reply.kind == "count") {
        reply.arrays.set("counts", counts_[static_cast<std::size_t>(request.client)]);
      } else {
        total = request.message->arrays.matrix("counts");
      }
      answers.push_back({request.client, std::move(reply)});
      federation::check_answer(answers.back(), request);
    }
    return answers;
  }
  Matrix total;

 private:
  std::vector<Matrix> counts_;
};

TEST(Popularity, CountsNobodyMoreThanTheCap) {
  const Executor executor(1);
  const auto total_of = [&](const Matrix& third) {
    const auto server =
        tests::configure("popularity", {"upload.size_cap=5"})
            .make_server({.num_clients = 3, .num_items = 2, .rng = Rng(1), .executor = &executor});
    Counts federation(
        {(Matrix(2, 1) << 1, 3).finished(), (Matrix(2, 1) << 4, 0).finished(), third});
    const auto notes = server->run_round(0, federation);
    EXPECT_EQ(notes.warnings.size(), third.sum() > 20 ? 1U : 0U);
    EXPECT_TRUE(server->is_finished());
    return federation.total;
  };
  EXPECT_EQ(total_of((Matrix(2, 1) << 0, 20).finished()), (Matrix(2, 1) << 5, 23).finished());
  EXPECT_EQ(total_of((Matrix(2, 1) << 0, 2e6).finished()), (Matrix(2, 1) << 5, 23).finished());
  for (const Real bad : {-1.0F, 1e30F, std::numeric_limits<Real>::quiet_NaN()}) {
    EXPECT_THROW((void)total_of((Matrix(2, 1) << 0, bad).finished()), ProtocolError) << bad;
  }
}

TEST(UploadLimits, NamesTheKeyOfACapThatIsNotAllowed) {
  for (const std::string key : {"upload.norm_cap", "upload.size_cap"}) {
    for (const std::string value : {"-1", "0.5", "inf", "nan"}) {
      try {
        (void)tests::configure("fedmf", {key + "=" + value});
        ADD_FAILURE() << key << value;
      } catch (const ConfigError& error) {
        EXPECT_THAT(error.what(), testing::StartsWith(key));
      }
    }
    EXPECT_NO_THROW((void)tests::configure("fedmf", {key + "=0"}));
  }
  EXPECT_THROW((void)tests::configure("fedcia", {"upload.size_cap=10"}), ConfigError)
      << "it weighs by no size";
}

// Both caps are for false uploads: with the built-in data and default settings no honest client
// reaches them.
class Honesty : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Methods, Honesty,
                         testing::Values("popularity", "fedslim", "fedmf", "fedncf", "pfedrec",
                                         "gpfedrec", "fedrap", "fedca", "fedcia", "fedhur"),
                         [](const auto& method) { return method.param; });

TEST_P(Honesty, IsNotBounded) {
  for (const std::string clients : {"12", "120"}) {
    ConfigTable table;
    std::vector<std::string> assignments = {"method=" + GetParam(), "synthetic.num_users=120",
                                            "synthetic.num_interactions=6000",
                                            "clients.count=" + clients};
    if (tests::learns_embeddings(GetParam())) assignments.emplace_back("model.embedding_dim=8");
    for (const auto& assignment : assignments) experiment::add_assignment(table, assignment);
    tests::MethodRun run(table);
    tests::UnreliableFederation federation(run.client_methods());
    for (Round round = 0; round < 4; ++round) {
      EXPECT_THAT(run.server->run_round(round, federation).warnings, testing::IsEmpty());
    }
  }
}
}  // namespace
}  // namespace fedhur::methods::influence_test
