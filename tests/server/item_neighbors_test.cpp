#include "fedhur/server/item_neighbors.hpp"

#include <gtest/gtest.h>

namespace fedhur::server {
namespace {
TEST(ItemNeighbors, AreTheLargestWeightsOfAColumn) {
  constexpr Index kItems = 13;
  SparseMatrix<Real> filter(kItems, kItems);
  for (Index i = 0; i < kItems; ++i) {
    if (i > 0) filter.append(i, 0, static_cast<Real>(i % 7) - 0.5F);  // 7 and 0 are below 0
    if (i == 2 || i == 4) filter.append(i, 1, 0.25F);
  }
  NamedArrays arrays;
  put_neighbors(arrays, filter);
  const auto& items = arrays.integers("neighbor_items");
  const Matrix& weights = arrays.matrix("neighbor_weights");
  ASSERT_EQ(items.rows(), kItems);
  ASSERT_EQ(weights.rows(), kItems);
  MatrixOf<std::int32_t> expected(2, kNearestItems);
  expected << 6, 5, 12, 4, 11, 3, 10, 2, 9, 1,  //
      2, 4, -1, -1, -1, -1, -1, -1, -1, -1;
  EXPECT_EQ(items.topRows(2), expected);
  EXPECT_EQ(weights(0, 0), 5.5F);
  EXPECT_EQ(weights(0, 9), 0.5F);
  EXPECT_EQ(weights(1, 1), 0.25F);
  EXPECT_EQ(weights(1, 2), 0.0F);
  EXPECT_TRUE((items.bottomRows(kItems - 2).array() == -1).all()) << "columns without entries";
}
}  // namespace
}  // namespace fedhur::server
