// Messages that no honest server sends: a ProtocolError each, and a client that goes on.
#include "fedhur/methods/fedhur_messages.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "fedhur/methods/method.hpp"
#include "tests/support/fedhur_requests.hpp"

namespace fedhur::methods::fedhur_messages_test {
namespace {
using message::Message;
using tests::fedhur_config;
using Integers = MatrixOf<std::int32_t>;
constexpr Index kItems = 17;
constexpr Index kDim = 3;
constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();

Message without(const Message& message, const std::string& name) {
  Message result{.kind = message.kind, .round = message.round, .arrays = {}};
  for (const auto& [key, array] : message.arrays.entries()) {
    if (key != name) result.arrays.set(key, array);
  }
  EXPECT_LT(result.arrays.size(), message.arrays.size()) << name;
  return result;
}

template <class T>
Message with(Message message, const std::string& name, T array) {
  message.arrays.set(name, std::move(array));
  return message;
}

// Every way to get an array of numbers wrong.
template <class Scalar>
std::vector<Message> spoiled_as(const Message& message, const std::string& name,
                                const MatrixOf<Scalar>& good) {
  using Other = std::conditional_t<std::is_same_v<Scalar, double>, Real, double>;
  using Same = MatrixOf<Scalar>;
  std::vector<Message> result = {
      without(message, name),
      with(message, name, Same(good.rows() + 1, good.cols())),
      with(message, name, Same(0, 0)),
      with(message, name, Same(good.rows() + 1, 0)),
      with(message, name, Integers(Integers::Zero(good.rows(), good.cols()))),
      with(message, name, MatrixOf<Other>(good.template cast<Other>())),
  };
  for (const Real value : {kNaN, std::numeric_limits<Real>::infinity()}) {
    Same bad = good;
    bad.data()[bad.size() - 1] = static_cast<Scalar>(value);
    result.push_back(with(message, name, std::move(bad)));
  }
  if (good.rows() == 1) {
    for (const Index width : {good.cols() + 1, good.cols() - 1, Index{0}}) {
      result.push_back(with(message, name, Same(Same::Zero(1, width))));
    }
  }
  return result;
}

std::vector<Message> spoiled(const Message& message, const std::string& name) {
  if (std::holds_alternative<Shared<Matrix>>(*message.arrays.find(name))) {
    return spoiled_as(message, name, message.arrays.matrix(name));
  }
  return spoiled_as(message, name, message.arrays.doubles(name));
}

std::vector<Message> spoiled_hierarchies(const Message& message) {
  const Integers good = message.arrays.integers("hierarchy");
  std::vector<Message> result = {
      without(message, "hierarchy"),
      without(message, "ends_with_items"),
      with(message, "hierarchy", Matrix(good.cast<Real>())),
      with(message, "hierarchy", Integers(0, 0)),
      with(message, "hierarchy", Integers(good.topRows(kItems - 1))),
      with(message, "hierarchy", Integers(Integers::Zero(kItems + 1, good.cols()))),
      with(message, "hierarchy", Integers(Integers::Constant(kItems, good.cols(), 1))),
      with(message, "hierarchy", Integers(Integers::Constant(kItems, good.cols(), -1))),
      with(message, "ends_with_items", Matrix(Matrix::Ones(1, 1))),
      with(message, "ends_with_items", MatrixOf<double>(2, 1)),
      with(message, "ends_with_items", MatrixOf<double>(0, 0)),
      with(message, "ends_with_items", MatrixOf<double>(MatrixOf<double>::Constant(1, 1, 0.5))),
      with(message, "ends_with_items",
           MatrixOf<double>(
               MatrixOf<double>::Constant(1, 1, std::numeric_limits<double>::quiet_NaN()))),
  };
  for (const std::int32_t value : {-1, 1000, INT32_MAX, INT32_MIN}) {
    Integers bad = good;
    bad(kItems - 1, 0) = value;
    result.push_back(with(message, "hierarchy", std::move(bad)));
  }
  Integers gap = good;  // the last group is one further than it should be
  const std::int32_t last = gap.col(0).maxCoeff();
  for (Index item = 0; item < kItems; ++item) {
    if (gap(item, 0) == last) gap(item, 0) = last + 1;
  }
  result.push_back(with(message, "hierarchy", std::move(gap)));
  Message no_level = with(message, "hierarchy", Integers(kItems, 0));
  no_level.arrays.set_number("ends_with_items", 0);
  result.push_back(std::move(no_level));
  return result;
}

template <class... List>
std::vector<Message> all_of(List... lists) {
  std::vector<Message> result;
  (result.insert(result.end(), lists.begin(), lists.end()), ...);
  return result;
}

tests::FedHurRequests requests_of(const FedHurConfig& config, Round round = 0) {
  return tests::fedhur_requests(config, tests::related_uploads(3, kItems, kDim, 1), round);
}

std::vector<Message> spoiled_queries(const Message& query) {
  return all_of(spoiled(query, "global_factor"), spoiled_hierarchies(query),
                spoiled(query, "group_filters"), spoiled(query, "spectral_norms"));
}

std::string describe(const Message& message) {
  std::string text = message.kind;
  for (const auto& [name, array] : message.arrays.entries()) {
    text += " " + name;
    text += std::visit(
        [](const auto& matrix) { return fmt::format(" {}x{}", matrix->rows(), matrix->cols()); },
        array);
  }
  return text;
}

// All that a client reads of it.
ScopeFilters read_query(const Message& query, const FedHurConfig& config, Index num_items) {
  const Guidance guidance = read_guidance(query, config, num_items);
  return read_scope_filters(query, config, guidance, *guidance.build_hierarchy());
}

TEST(Guidance, ComesBackAsItWasPut) {
  const FedHurConfig config = fedhur_config({});
  const Message query = requests_of(config).query;
  const Guidance guidance = read_guidance(query, config, kItems);
  const ScopeFilters read = read_query(query, config, kItems);
  const auto uploads = tests::related_uploads(3, kItems, kDim, 1);
  const Executor executor(1);
  const server::GroupEmbeddings groups(uploads, guidance.build_hierarchy(), executor);
  const Matrix factor = server::compute_global_filter(uploads, {}, {}, Rng(1), executor).factor();
  const auto filters =
      server::build_relation_filters(groups, factor, config.level_weights, executor);
  tests::expect_close(guidance.global_filter.to_dense(), Matrix(factor * factor.transpose()));
  ASSERT_EQ(read.filters.size(), filters.size());
  for (std::size_t s = 0; s < filters.size(); ++s) {
    tests::expect_close(read.filters[s].to_dense(), filters[s].to_dense(), 1e-6);
    EXPECT_NEAR(read.spectral_norms[s], filters[s].spectral_norm(), 1e-4);
  }
}

TEST(Guidance, ThatIsMalformedIsRefused) {
  const FedHurConfig config = fedhur_config({});
  const Message good = requests_of(config).query;
  EXPECT_NO_THROW((void)read_query(good, config, kItems));
  EXPECT_THROW((void)read_guidance(good, config, kItems + 1), ProtocolError);
  for (const Message& bad : spoiled_queries(good)) {
    EXPECT_THROW((void)read_query(bad, config, kItems), ProtocolError) << describe(bad);
  }
}

TEST(Guidance, TellsTheShareOfTheWeightsWhereTheyFollowASchedule) {
  EXPECT_FALSE(requests_of(fedhur_config({})).query.arrays.contains("weight_share"));
  const FedHurConfig config = fedhur_config({"relation.schedule=left"});
  const Message good = requests_of(config).query;
  EXPECT_EQ(read_guidance(good, config, kItems).weight_share, 0.5);
  EXPECT_THROW((void)read_guidance(without(good, "weight_share"), config, kItems), ProtocolError);
  for (const double value : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    const Message bad = with(good, "weight_share", MatrixOf<double>::Constant(1, 1, value).eval());
    EXPECT_THROW((void)read_guidance(bad, config, kItems), ProtocolError) << value;
  }
}

TEST(Guidance, NeedsNoMoreThanTheRelationAsksFor) {
  const FedHurConfig none = fedhur_config({"relation.kind=none"});
  EXPECT_EQ(requests_of(none).query.arrays.size(), 1U);
  EXPECT_EQ(read_guidance(requests_of(none).query, none, kItems).groups, nullptr);
  const FedHurConfig similarity = fedhur_config({"relation.kind=similarity"});
  const Message query = requests_of(similarity).query;
  EXPECT_NE(read_guidance(query, similarity, kItems).groups, nullptr);
  EXPECT_FALSE(query.arrays.contains("group_filters"));
}

TEST(PersonalizedFilter, ThatIsMalformedIsRefused) {
  for (const std::string structure : {"single", "hierarchical"}) {
    const FedHurConfig config = fedhur_config({"relation.structure=" + structure});
    const auto requests = requests_of(config);
    const Guidance guidance = read_guidance(requests.query, config, kItems);
    EXPECT_NO_THROW((void)read_personalized_filter(requests.finetune, config, guidance));
    for (const Message& bad : spoiled(requests.finetune, "residuals")) {
      EXPECT_THROW((void)read_personalized_filter(bad, config, guidance), ProtocolError)
          << structure << ": " << describe(bad);
    }
  }
}

std::unique_ptr<client::Client> make_client(const std::string& method) {
  ConfigTable table;
  experiment::add_assignment(table, "model.embedding_dim=" + std::to_string(kDim));
  Settings settings(table);
  return find_method(method).configure(settings).make_client(
      {.id = client_id(0),
       .train = tests::user_items({{0, 4, 9}, {2, 16}}),
       .num_items = kItems,
       .rng = Rng(5)});
}

Message start_request() {
  Message start{.kind = "start", .round = 0, .arrays = {}};
  start.arrays.set("item_embeddings", tests::random_matrix(kItems, kDim, 3));
  return start;
}
Message train_request() { return {.kind = "train", .round = 0, .arrays = {}}; }

TEST(FedCiaClient, RefusesWhatIsMalformedAndGoesOn) {
  const auto client = make_client("fedcia");
  for (const Message& bad : spoiled(start_request(), "item_embeddings")) {
    EXPECT_THROW((void)client->answer(bad), ProtocolError) << describe(bad);
  }
  (void)client->answer(start_request());
  (void)client->answer(train_request());
  Message finetune{.kind = "finetune", .round = 0, .arrays = {}};
  finetune.arrays.set("global_factor", tests::random_basis(kItems, kDim, 1));
  for (const Message& bad : spoiled(finetune, "global_factor")) {
    EXPECT_THROW((void)client->answer(bad), ProtocolError) << describe(bad);
  }
  EXPECT_THROW((void)client->answer({.kind = "query", .round = 0, .arrays = {}}), ProtocolError);
  EXPECT_NO_THROW((void)client->answer(finetune));
  EXPECT_NO_THROW((void)client->answer(train_request()));
}

TEST(FedHurClient, RefusesWhatIsMalformedAndGoesOn) {
  const FedHurConfig config = fedhur_config({});
  const auto requests = requests_of(config);
  const auto client = make_client("fedhur");
  (void)client->answer(start_request());
  (void)client->answer(train_request());
  for (const Message& bad : spoiled_queries(requests.query)) {
    EXPECT_THROW((void)client->answer(bad), ProtocolError) << describe(bad);
  }
  const Message reply = client->answer(requests.query);
  EXPECT_TRUE(reply.arrays.matrix("projected_query").allFinite());
  for (const Message& bad : spoiled(requests.finetune, "residuals")) {
    EXPECT_THROW((void)client->answer(bad), ProtocolError) << describe(bad);
  }
  EXPECT_THROW((void)client->answer({.kind = "update", .round = 0, .arrays = {}}), ProtocolError);
  EXPECT_NO_THROW((void)client->answer(requests.finetune));
}

TEST(FedHurClient, RefusesRequestsOutOfOrder) {
  const auto requests = requests_of(fedhur_config({}));
  const auto client = make_client("fedhur");
  EXPECT_THROW((void)client->answer(requests.query), ProtocolError);  // nothing uploaded yet
  EXPECT_THROW((void)client->answer(requests.finetune), ProtocolError);
  (void)client->answer(start_request());
  (void)client->answer(train_request());
  EXPECT_THROW((void)client->answer(requests.finetune), ProtocolError);  // before the query
  (void)client->answer(requests.query);
  (void)client->answer(requests.finetune);
  EXPECT_THROW((void)client->answer(requests.finetune), ProtocolError);  // once a round
  EXPECT_THROW((void)client->answer(requests.query), ProtocolError);     // what was uploaded is old
}

// It was asked in the last round, and missed both the end of that one and the question of this one.
TEST(FedHurClient, RefusesResidualsForTheGroupsOfAnotherRound) {
  const auto requests = requests_of(fedhur_config({}));
  const auto client = make_client("fedhur");
  (void)client->answer(start_request());
  (void)client->answer(train_request());
  (void)client->answer(requests.query);
  (void)client->answer({.kind = "train", .round = 1, .arrays = {}});
  Message later = requests.finetune;
  later.round = 1;
  EXPECT_THROW((void)client->answer(later), ProtocolError);
  later = requests.query;
  later.round = 1;
  (void)client->answer(later);
  later = requests.finetune;
  later.round = 1;
  EXPECT_NO_THROW((void)client->answer(later));
}

TEST(FedHurClient, TakesAFactorWithoutColumns) {
  const auto requests = requests_of(fedhur_config({}));
  const auto client = make_client("fedhur");
  (void)client->answer(train_request());
  (void)client->answer(with(requests.query, "global_factor", Matrix(kItems, 0)));
  EXPECT_NO_THROW((void)client->answer(requests.finetune));
}
}  // namespace
}  // namespace fedhur::methods::fedhur_messages_test
