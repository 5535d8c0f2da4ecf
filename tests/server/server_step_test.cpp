#include "fedhur/server/server_step.hpp"

#include <gtest/gtest.h>

#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::server {
namespace {
using tests::Dense;
using tests::random_matrix;
using tests::widen;

TEST(ServerStep, EndsAtTheAverageToTheLastBitByDefault) {
  ServerStep step({});
  Matrix table = random_matrix(7, 3, 1);
  const Matrix average = random_matrix(7, 3, 2);
  step.take(table, average);
  EXPECT_EQ(table, average);
  NamedArrays state;
  step.save(state, "item_embeddings", table);
  EXPECT_EQ(state.size(), 0U) << "nothing is needed of it";
}

TEST(ServerStep, FollowsTheRateAndRemembersItsVelocity) {
  for (const Real momentum : {0.0F, 0.5F}) {
    const ServerStepConfig config{.rate = 8, .momentum = momentum};
    Matrix table = random_matrix(5, 4, 1);
    Dense expected = widen(table);
    Dense velocity = Dense::Zero(5, 4);
    ServerStep step(config);
    for (std::uint64_t round = 2; round < 5; ++round) {
      const Matrix average = table + random_matrix(5, 4, round);
      velocity = static_cast<double>(momentum) * velocity + (widen(average) - expected);
      expected += 8.0 * velocity;
      step.take(table, average);
      tests::expect_close(table, expected);

      NamedArrays state;
      step.save(state, "item_embeddings", table);
      Matrix restored = Matrix::Zero(5, 4);
      step = ServerStep(config);
      step.restore(state, "item_embeddings", restored);
      EXPECT_EQ(restored, table);
    }
  }
}
}  // namespace
}  // namespace fedhur::server
