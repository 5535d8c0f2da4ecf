// Looks at the bytes that leave a client.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "fedhur/experiment/party.hpp"
#include "fedhur/message/wire_codec.hpp"
#include "fedhur/methods/method.hpp"
#include "tests/support/fedhur_requests.hpp"
#include "tests/support/private_search.hpp"
#include "tests/support/support.hpp"

namespace fedhur::methods::privacy_test {
namespace {
using message::Message;
using tests::holds;

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

const std::set<std::string> kAveraging = {"fedmf", "fedncf", "pfedrec", "fedrap"};

experiment::Member make_member(const std::string& method, const data::ClientData& data) {
  ConfigTable table;
  experiment::add_assignment(table, "model.embedding_dim=8");
  Settings settings(table);
  auto half = find_method(method).configure(settings).make_client(
      {.id = client_id(0), .train = data.train, .num_items = kNumItems, .rng = Rng(5)});
  return {std::move(half), data, {10}};
}

// What the method's server sends before, for and after the training of a round.
std::vector<Message> requests_before(const std::string& method, Round round) {
  if (method == "local" || method == "pfedrec") return {};
  if (method == "fedncf") {
    Message update{.kind = "update", .round = round, .arrays = {}};
    update.arrays.set("item_embeddings", tests::random_matrix(kNumItems, 8, 3));
    update.arrays.set("gmf_item_embeddings", tests::random_matrix(kNumItems, 8, 4));
    update.arrays.set("gmf_weights", tests::random_matrix(1, 8, 5));
    update.arrays.set("layer_0", tests::random_matrix(32, 17, 6));
    update.arrays.set("layer_1", tests::random_matrix(1, 33, 7));
    return {update};
  }
  const bool is_averaged = method == "fedmf" || method == "fedrap";
  if (!is_averaged && round > 0) return {};
  Message table{.kind = is_averaged ? "update" : "start", .round = round, .arrays = {}};
  table.arrays.set("item_embeddings", tests::random_matrix(kNumItems, 8, 3));
  return {table};
}

Message train_request(const std::string& method, Round round) {
  Message train{.kind = method == "fedslim" ? "count" : "train", .round = round, .arrays = {}};
  if (method == "pfedrec") {
    train.arrays.set("item_embeddings", tests::random_matrix(kNumItems, 8, 3));
  }
  return train;
}

std::vector<Message> requests_after(const std::string& method, Round round) {
  const auto uploads =
      tests::related_uploads(3, kNumItems, 8, 20 + static_cast<std::uint64_t>(round));
  if (method == "fedca") {
    Message mix{.kind = "mix", .round = round, .arrays = {}};
    mix.arrays.set("mixture", *uploads[0]);
    return {mix};
  }
  if (method == "fedcia") {
    const Executor executor(1);
    Message finetune{.kind = "finetune", .round = round, .arrays = {}};
    finetune.arrays.set("global_factor",
                        server::compute_global_filter(uploads, {}, {}, Rng(1), executor).factor());
    return {finetune};
  }
  if (method == "gpfedrec") {
    Message update{.kind = "update", .round = round, .arrays = {}};
    update.arrays.set("global_item_embeddings", *uploads[0]);
    update.arrays.set("personalized_item_embeddings", *uploads[1]);
    return {update};
  }
  if (method == "fedhur") {
    const auto requests = tests::fedhur_requests(tests::fedhur_config({}), uploads, round);
    return {requests.query, requests.finetune};
  }
  return {};
}

// All replies of a client to a few rounds of everything the server may ask.
std::vector<std::vector<std::byte>> bytes_that_leave(const std::string& method,
                                                     client::PrivateState& final_state) {
  experiment::Member client = make_member(method, private_data());
  std::vector<std::vector<std::byte>> sent;
  const auto ask = [&](const Message& request) {
    const Message reply = client.answer(request);
    sent.push_back(encode(reply));
    ByteWriter plain;  // packed numbers do not show in the bytes, these do
    fedhur::encode(reply.arrays, plain);
    sent.push_back(plain.finish());
  };
  for (Round round = 0; round < 3; ++round) {
    for (const Message& request : requests_before(method, round)) ask(request);
    ask(train_request(method, round));
    if (kAveraging.contains(method)) ask({.kind = "upload", .round = round, .arrays = {}});
    for (const Message& request : requests_after(method, round)) ask(request);
    ask({.kind = "evaluate", .round = round, .arrays = {}});
    ask({.kind = "keep", .round = round, .arrays = {}});
  }
  final_state = client.half().save();
  return sent;
}

// What no message may hold: of a table of all items, the rows of the user's.
std::vector<Matrix> private_tables(const std::string& method, const client::PrivateState& state) {
  if (method == "pfedrec") return {state.matrix("heads")};
  if (method == "fedncf") return {state.matrix("user_vectors"), state.matrix("gmf_user_vectors")};
  if (method == "gpfedrec") {
    return {state.matrix("user_vectors"), state.matrix("layer_0"), state.matrix("layer_1"),
            state.matrix("layer_2"), state.matrix("layer_3")};
  }
  if (method != "fedrap") return {state.matrix("user_vectors")};
  std::vector<Matrix> tables = {state.matrix("heads")};
  for (const int item : kTrain) tables.emplace_back(state.matrix("personal").row(item));
  return tables;
}

class Privacy : public testing::TestWithParam<std::string> {};

TEST_P(Privacy, NoPrivateTableInteractionOrHeldOutRowLeavesAClient) {
  client::PrivateState state;
  const auto sent = bytes_that_leave(GetParam(), state);
  const std::vector<Matrix> secrets = private_tables(GetParam(), state);
  std::size_t total = 0;
  for (const auto& bytes : sent) {
    total += bytes.size();
    for (const Matrix& secret : secrets) {
      // Not even two neighbouring numbers of a table, as floats or as doubles.
      for (Index i = 0; i + 1 < secret.size(); ++i) {
        EXPECT_FALSE(holds(bytes, secret.data() + i, 2 * sizeof(Real)));
        const std::array<double, 2> wide = {static_cast<double>(secret.data()[i]),
                                            static_cast<double>(secret.data()[i + 1])};
        EXPECT_FALSE(holds(bytes, wide.data(), sizeof(wide)));
      }
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
INSTANTIATE_TEST_SUITE_P(Learned, Privacy,
                         testing::Values("fedmf", "local", "fedncf", "pfedrec", "gpfedrec",
                                         "fedrap", "fedca", "fedcia", "fedhur"),
                         [](const auto& method) { return method.param; });

TEST(Privacy, TheSearchFindsWhatIsThere) {
  Message leak{.kind = "leak", .round = 0, .arrays = {}};
  leak.arrays.set("items", MatrixOf<std::int32_t>(MatrixOf<std::int32_t>::Constant(1, 1, 1042)));
  const std::int32_t item = 1042;
  EXPECT_TRUE(holds(encode(leak), &item, sizeof(item)));
}

class HeldOutRows : public testing::TestWithParam<std::string> {};

TEST_P(HeldOutRows, AreNothingToTraining) {
  // The client half is made from the training split alone: the same whatever else the user has.
  const auto upload = [](const data::ClientData& data) {
    return encode(make_member(GetParam(), data).answer(train_request(GetParam(), 0)));
  };
  data::ClientData other = private_data();
  other.valid = tests::user_items({{1}});
  other.test = tests::user_items({{2, 3}});
  EXPECT_EQ(upload(private_data()), upload(other));
}
INSTANTIATE_TEST_SUITE_P(Learned, HeldOutRows,
                         testing::Values("fedslim", "fedmf", "fedncf", "pfedrec", "gpfedrec",
                                         "fedrap", "fedca", "fedcia", "fedhur"),
                         [](const auto& method) { return method.param; });
}  // namespace
}  // namespace fedhur::methods::privacy_test
