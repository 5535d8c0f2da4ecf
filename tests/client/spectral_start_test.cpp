#include "fedhur/client/spectral_start.hpp"

#include <gtest/gtest.h>

#include "fedhur/client/local_training.hpp"
#include "fedhur/client/pointwise_training.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::client {
namespace {
using message::Message;
using tests::Dense;
using tests::expect_close;
using tests::random_matrix;
using tests::widen;

constexpr Index kItems = 6;

// The third user has nothing.
data::UserItems rows() { return tests::user_items({{0, 1, 2, 5}, {2}, {}, {1, 5}}); }

Dense dense_rows() {
  Dense X = Dense::Zero(4, kItems);
  for (const Index item : {0, 1, 2, 5}) X(0, item) = 1;
  X(1, 2) = 1;
  for (const Index item : {1, 5}) X(3, item) = 1;
  return X;
}

// n_u to this power; 0 for a user without items.
Eigen::VectorXd counts_to(double power) {
  return (Eigen::VectorXd(4) << std::pow(4.0, power), 1.0, 0.0, std::pow(2.0, power)).finished();
}

TEST(SpectralStartClient, CountsUsersOfItems) {
  EXPECT_EQ(count_users(rows(), kItems), (MatrixOf<double>(6, 1) << 1, 2, 2, 0, 0, 2).finished());
}

TEST(SpectralStartClient, MultipliesCoOccurrencesAsTheDenseProduct) {
  const Matrix table = random_matrix(kItems, 3, 1);
  const Dense X = dense_rows();
  expect_close(multiply_co_occurrences(rows(), table),
               Dense(X.transpose() * counts_to(-1.0).asDiagonal() * X * widen(table)));
}

TEST(SpectralStartClient, FoldsUsersInAsTheDenseProduct) {
  const Matrix items = random_matrix(kItems, 3, 1);
  const Matrix weights = random_matrix(kItems, 1, 2);
  const Dense F = widen(weights.col(0)).asDiagonal() * widen(items);
  const Dense P = counts_to(-0.5).asDiagonal() * dense_rows() * F;
  expect_close(fold_in(rows(), items, weights), P);

  const StartScores scores = score_start(rows(), items, weights);
  const Dense all = P * widen(items).transpose();
  double margins = 0.0;
  for (const Index user : {0, 1, 3}) {
    const Eigen::RowVectorXd own = dense_rows().row(user);
    margins += all.row(user).dot(own) / own.sum() - all.row(user).mean();
  }
  EXPECT_NEAR(scores.margins, margins, 1e-5);
  EXPECT_NEAR(scores.squares, P.squaredNorm(), 1e-5);
  EXPECT_EQ(scores.num_users, 3.0);
}

LocalTraining make_training() {
  return {{.embedding_dim = 3},
          {.id = client_id(1), .train = rows(), .num_items = kItems, .rng = Rng(1)}};
}

TEST(SpectralStartClient, BeginsWithFoldedInUsersOnlyWhereItIsToldHow) {
  Message start{.kind = "start", .round = 0, .arrays = {}};
  start.arrays.set("item_embeddings", random_matrix(kItems, 3, 1));
  LocalTraining training = make_training();
  const Matrix drawn = training.model().matrix("user_vectors");
  Message reply;
  EXPECT_TRUE(training.answer_start(start, reply));
  EXPECT_EQ(training.model().matrix("user_vectors"), drawn);

  start.arrays.set("fold_in_weights", random_matrix(kItems, 1, 2));
  EXPECT_TRUE(training.answer_start(start, reply));
  EXPECT_EQ(*training.item_embeddings(), random_matrix(kItems, 3, 1));
  EXPECT_EQ(training.model().matrix("user_vectors"),
            fold_in(rows(), random_matrix(kItems, 3, 1), random_matrix(kItems, 1, 2)));
}

TEST(SpectralStartClient, HeadsScoreAsTheFoldedInUsersDo) {
  const Matrix users = fold_in(rows(), random_matrix(kItems, 3, 1), random_matrix(kItems, 1, 2));
  const ClientContext context = {
      .id = client_id(1), .train = rows(), .num_items = kItems, .rng = Rng(1)};
  Heads own({.embedding_dim = 3}, model::HeadOwner::user, context);
  own.begin_at(users);
  EXPECT_EQ(own.model.heads.leftCols(3), users);
  EXPECT_TRUE(own.model.heads.col(3).isZero()) << "no bias";
  Heads common({.embedding_dim = 3}, model::HeadOwner::client, context);
  common.begin_at(users);
  ASSERT_EQ(common.model.heads.rows(), 1);
  EXPECT_TRUE(common.model.heads.leftCols(3).isApprox(users.colwise().mean()));
}

TEST(SpectralStartClient, RefusesTablesThatDoNotFit) {
  LocalTraining training = make_training();
  Message reply;
  EXPECT_FALSE(training.answer_start({.kind = "train", .round = 0, .arrays = {}}, reply));
  Message pass{.kind = "co_occurrences", .round = 0, .arrays = {}};
  pass.arrays.set("table", random_matrix(kItems + 1, 3, 1));
  EXPECT_THROW((void)training.answer_start(pass, reply), ProtocolError);
}
}  // namespace
}  // namespace fedhur::client
