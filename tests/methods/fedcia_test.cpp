#include <gtest/gtest.h>

#include "fedhur/client/fine_tuning.hpp"
#include "fedhur/server/global_information.hpp"
#include "tests/support/support.hpp"

namespace fedhur {
namespace {
// The worked example: two clients, three items, d = 2.
server::Uploads example_uploads() {
  return {std::make_shared<const Matrix>((Matrix(3, 2) << 1, 0, 0, 2, 1, 1).finished()),
          std::make_shared<const Matrix>((Matrix(3, 2) << 0, 1, 2, 0, 1, -1).finished())};
}

TEST(FedCia, AveragesFiltersAsInTheWorkedExample) {
  const Executor executor(2);
  const server::GlobalFilter filter = server::compute_global_filter(
      example_uploads(), {.rank = 3, .passes = 1, .first_passes = 3}, {}, Rng(1), executor);
  const Matrix S = filter.factor() * filter.factor().transpose();
  EXPECT_TRUE(S.isApprox((Matrix(3, 3) << 1, 0, 0, 0, 4, 2, 0, 2, 2).finished(), 1e-5F)) << S;
  EXPECT_NEAR(filter.trace_kept, 1.0, 1e-6);
}

TEST(FedCia, TakesTheGradientStepOfTheWorkedExample) {
  const Executor executor(1);
  const server::GlobalFilter global = server::compute_global_filter(
      example_uploads(), {.rank = 3, .passes = 1, .first_passes = 3}, {}, Rng(1), executor);
  const linalg::ItemFilter filter = linalg::filter_of_factor(global.factor());
  const Matrix E = *example_uploads()[0];
  EXPECT_NEAR(linalg::distance(E, filter), 1.414213562, 1e-5);
  const Matrix stepped = client::finetune_by_gradient(
      E, filter, {.solver = client::FineTuneSolver::gradient, .steps = 1, .learning_rate = 0.1F});
  const Matrix expected =
      (Matrix(3, 2) << 0.85857864F, -0.14142136F, 0, 2, 0.85857864F, 1).finished();
  EXPECT_TRUE(stepped.isApprox(expected, 1e-5F)) << stepped;
  EXPECT_NEAR(linalg::distance(stepped, filter), 0.998930165, 1e-5);
}
}  // namespace
}  // namespace fedhur
