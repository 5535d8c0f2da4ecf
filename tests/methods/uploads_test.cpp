// Item embeddings on their way to the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fedhur/message/wire_codec.hpp"
#include "fedhur/methods/filter_round.hpp"
#include "tests/support/support.hpp"

namespace fedhur::methods {
namespace {
using message::Message;
using message::Precision;

Message upload(const Shared<Matrix>& embeddings, Index rank) {
  Message reply{.kind = "train", .round = 0, .arrays = {}};
  client::UploadConfig config;
  config.rank = rank;
  client::UploadStage(config, {}).prepare(embeddings, reply.round).put(reply);
  return reply;
}
Message upload(const Matrix& embeddings, Index rank) {
  return upload(std::make_shared<const Matrix>(embeddings), rank);
}

template <class Action>
std::string protocol_error(const Action& action) {
  try {
    action();
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ItemEmbeddings, AreSharedAsTheyAreWithoutARank) {
  const auto embeddings = std::make_shared<const Matrix>(tests::random_matrix(20, 6, 1));
  EXPECT_EQ(read_item_embeddings(upload(embeddings, 0).arrays, 20, 6), embeddings);
}

TEST(ItemEmbeddings, ComeBackAsTheBestOfTheirRank) {
  const Matrix flat = tests::random_matrix(20, 2, 1) * tests::random_matrix(2, 6, 2);
  const Message reply = upload(flat, 2);
  EXPECT_FALSE(reply.arrays.contains("item_embeddings"));
  EXPECT_EQ(reply.arrays.matrix("item_coordinates").cols(), 2);
  EXPECT_TRUE(read_item_embeddings(reply.arrays, 20, 6)->isApprox(flat, 1e-5F));
}

TEST(ItemEmbeddings, GoWholeWhereARankSavesNothing) {
  const Matrix embeddings = tests::random_matrix(20, 6, 1);
  for (const Index rank : {Index{5}, Index{6}, Index{100}, std::numeric_limits<Index>::max()}) {
    // 5 (20 + 6) numbers are more than 20 * 6.
    EXPECT_EQ(upload(embeddings, rank).arrays.matrix("item_embeddings"), embeddings) << rank;
  }
  EXPECT_TRUE(upload(embeddings, 4).arrays.contains("item_coordinates"));
  EXPECT_TRUE(upload(Matrix(0, 6), 2).arrays.contains("item_embeddings"));
}

std::string error_of(const Message& reply) {
  return protocol_error([&] { check_item_embeddings(reply.arrays, 20, 6); });
}

Message upload_of_rank_two(Real coordinate, Real direction) {
  Message reply{.kind = "train", .round = 0, .arrays = {}};
  reply.arrays.set("item_coordinates", Matrix(Matrix::Constant(20, 2, coordinate)));
  reply.arrays.set("item_directions", Matrix(Matrix::Constant(2, 6, direction)));
  return reply;
}

TEST(Uploads, AreRefusedByTheirOwnNameIfNotFinite) {
  const std::string expected = "'item_embeddings' holds values that are not finite";
  for (const Index rank : {Index{0}, Index{2}}) {
    Matrix embeddings = tests::random_matrix(20, 6, 1);
    embeddings(7, 3) = std::numeric_limits<Real>::quiet_NaN();
    EXPECT_EQ(error_of(upload(embeddings, rank)), expected);
    embeddings(7, 3) = -std::numeric_limits<Real>::infinity();
    EXPECT_EQ(error_of(upload(embeddings, rank)), expected);
  }
  EXPECT_EQ(error_of(upload_of_rank_two(1e30F, 1e30F)), expected);
}

TEST(Uploads, AreRefusedIfNoTrainingMakesThemSoLarge) {
  Matrix embeddings = tests::random_matrix(20, 6, 1);
  embeddings(19, 5) = -kLargestUpload;
  EXPECT_EQ(error_of(upload(embeddings, 0)), "no error");
  embeddings(19, 5) = std::nextafter(-kLargestUpload, -2.0F * kLargestUpload);
  EXPECT_NE(error_of(upload(embeddings, 0)), "no error");
  embeddings(19, 5) = -1e20F;
  EXPECT_EQ(error_of(upload(embeddings, 0)),
            "'item_embeddings' holds values of magnitude 1e+20, expected at most 1000");
  // Two tables of moderate numbers have a product that is none.
  EXPECT_EQ(error_of(upload_of_rank_two(100.0F, 1.0F)), "no error");
  EXPECT_NE(error_of(upload_of_rank_two(100.0F, 100.0F)), "no error");
}

TEST(ItemEmbeddings, AreRefusedInTheWrongShape) {
  const auto error_for = [](const Matrix& coordinates, const Matrix& directions) {
    NamedArrays arrays;
    arrays.set("item_coordinates", coordinates);
    arrays.set("item_directions", directions);
    return protocol_error([&] { (void)read_item_embeddings(arrays, 20, 6); });
  };
  EXPECT_EQ(error_for(Matrix::Zero(20, 2), Matrix::Zero(2, 6)), "no error");
  EXPECT_EQ(error_for(Matrix::Zero(19, 2), Matrix::Zero(2, 6)),
            "'item_coordinates' is 19 x 2, expected 20 x 2");
  EXPECT_EQ(error_for(Matrix::Zero(20, 2), Matrix::Zero(3, 6)),
            "'item_directions' is 3 x 6, expected 2 x 6");
  EXPECT_EQ(error_for(Matrix::Zero(20, 2), Matrix::Zero(2, 5)),
            "'item_directions' is 2 x 5, expected 2 x 6");
  EXPECT_EQ(error_for(Matrix(20, 0), Matrix(0, 6)),
            "'item_coordinates' has 0 columns, expected 1 to 5");
  EXPECT_EQ(error_for(Matrix::Zero(20, 6), Matrix::Zero(6, 6)),
            "'item_coordinates' has 6 columns, expected 1 to 5");
  EXPECT_THAT(protocol_error([] { (void)read_item_embeddings({}, 20, 6); }),
              testing::HasSubstr("'item_embeddings' is missing"));
}

TEST(FilterTraining, KnowsItsEmbeddingsAsTheServerSeesThem) {
  for (const Precision precision : {Precision::float32, Precision::float16, Precision::int8}) {
    for (const Index rank : {Index{0}, Index{3}}) {
      for (const Real noise : {0.0F, 0.01F}) {
        FilterMethodConfig config;
        config.training.embedding_dim = 6;
        config.upload = {.format = {precision}, .rank = rank, .laplace_scale = noise};
        FilterTraining client(config, {.id = client_id(0),
                                       .train = tests::user_items({{1, 4}, {2, 3, 17}}),
                                       .num_items = 20,
                                       .rng = Rng(5)});
        EXPECT_THROW((void)client.uploaded_embeddings(), ProtocolError) << "nothing yet";
        Message start{.kind = "start", .round = 0, .arrays = {}};
        start.arrays.set("item_embeddings", tests::random_matrix(20, 6, 3));
        const Message train{.kind = "train", .round = 0, .arrays = {}};
        Message reply = train;
        EXPECT_TRUE(client.answer(start, reply));
        EXPECT_TRUE(client.answer(train, reply));
        const Message arrived = message::decode(message::encode(reply, {precision}));
        EXPECT_EQ(*client.uploaded_embeddings(), *read_item_embeddings(arrived.arrays, 20, 6))
            << name_of(precision) << " rank " << rank << " noise " << noise;
      }
    }
  }
}
}  // namespace
}  // namespace fedhur::methods
