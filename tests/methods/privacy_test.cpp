// Looks at the bytes that leave a client.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "fedhur/evaluate/evaluating_client.hpp"
#include "fedhur/message/wire_codec.hpp"
#include "fedhur/methods/method.hpp"
#include "tests/support/support.hpp"

namespace fedhur::methods {
namespace {
using message::Message;

bool holds(const std::vector<std::byte>& bytes, const void* pattern, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(pattern);
  return std::search(bytes.begin(), bytes.end(), first, first + size) != bytes.end();
}

// One user, with telling item ids, in every part.
const std::vector<int> kTrain = {1001, 1017, 1042, 1077};
const std::vector<int> kValid = {1203, 1250};
const std::vector<int> kTest = {1301, 1399};
constexpr Index kNumItems = 1500;

data::ClientData private_data() {
  return {.users = {user_id(12345)},
          .train = tests::user_items({kTrain}),
          .valid = tests::user_items({kValid}),
          .test = tests::user_items({kTest})};
}

// All replies of a client to a few rounds of everything the server may ask.
std::vector<std::vector<std::byte>> bytes_that_leave(const std::string& method,
                                                     client::PrivateState& final_state) {
  ConfigTable table;
  experiment::add_assignment(table, "model.embedding_dim=8");
  const auto data = private_data();
  auto inner = find_method(method).configure(table).make_client(
      {.id = client_id(0), .train = data.train, .num_items = kNumItems, .rng = Rng(5)});
  evaluate::EvaluatingClient client(std::move(inner), data, {10});
  std::vector<std::vector<std::byte>> sent;
  const auto ask = [&](Message request) { sent.push_back(encode(client.answer(request))); };
  for (Round round = 0; round < 3; ++round) {
    if (method == "fedmf") {
      Message update{.kind = "update", .round = round, .arrays = {}};
      update.arrays.set("item_embeddings", tests::random_matrix(kNumItems, 8, 3));
      ask(update);
    }
    ask({.kind = "train", .round = round, .arrays = {}});
    ask({.kind = "evaluate", .round = round, .arrays = {}});
    ask({.kind = "keep", .round = round, .arrays = {}});
  }
  final_state = client.inner().save();
  return sent;
}

class Privacy : public testing::TestWithParam<std::string> {};

TEST_P(Privacy, NoUserVectorInteractionOrHeldOutRowLeavesAClient) {
  client::PrivateState state;
  const auto sent = bytes_that_leave(GetParam(), state);
  const Matrix& user_vector = state.matrix("user_vectors");
  ASSERT_EQ(user_vector.rows(), 1);
  std::size_t total = 0;
  for (const auto& bytes : sent) {
    total += bytes.size();
    // Not even two neighbouring numbers of the vector, as floats or as doubles.
    for (Index i = 0; i + 1 < user_vector.cols(); ++i) {
      EXPECT_FALSE(holds(bytes, user_vector.data() + i, 2 * sizeof(Real)));
      const std::array<double, 2> wide = {static_cast<double>(user_vector(0, i)),
                                          static_cast<double>(user_vector(0, i + 1))};
      EXPECT_FALSE(holds(bytes, wide.data(), sizeof(wide)));
    }
    for (const auto* items : {&kTrain, &kValid, &kTest}) {
      for (const int item : *items) {
        const auto as_integer = static_cast<std::int32_t>(item);
        const auto as_float = static_cast<float>(item);
        const auto as_double = static_cast<double>(item);
        EXPECT_FALSE(holds(bytes, &as_integer, sizeof(as_integer))) << item;
        EXPECT_FALSE(holds(bytes, &as_float, sizeof(as_float))) << item;
        EXPECT_FALSE(holds(bytes, &as_double, sizeof(as_double))) << item;
      }
    }
  }
  EXPECT_GT(total, 0U);
}
INSTANTIATE_TEST_SUITE_P(Learned, Privacy, testing::Values("fedmf", "local"),
                         [](const auto& method) { return method.param; });

TEST(Privacy, TheSearchFindsWhatIsThere) {
  Message leak{.kind = "leak", .round = 0, .arrays = {}};
  leak.arrays.set("items", MatrixOf<std::int32_t>(MatrixOf<std::int32_t>::Constant(1, 1, 1042)));
  const std::int32_t item = 1042;
  EXPECT_TRUE(holds(encode(leak), &item, sizeof(item)));
}

TEST(Privacy, TrainingDoesNotDependOnHeldOutRows) {
  // The client half is made from the training split alone: the same whatever else the user has.
  const auto upload = [](const data::ClientData& data) {
    ConfigTable table;
    experiment::add_assignment(table, "model.embedding_dim=4");
    evaluate::EvaluatingClient client(
        find_method("fedmf").configure(table).make_client(
            {.id = client_id(0), .train = data.train, .num_items = kNumItems, .rng = Rng(5)}),
        data, {10});
    return encode(client.answer({.kind = "train", .round = 0, .arrays = {}}));
  };
  data::ClientData other = private_data();
  other.valid = tests::user_items({{1}});
  other.test = tests::user_items({{2, 3}});
  EXPECT_EQ(upload(private_data()), upload(other));
}
}  // namespace
}  // namespace fedhur::methods
