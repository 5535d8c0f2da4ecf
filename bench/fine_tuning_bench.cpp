// Fine-tuning one client at the size of ML-100K (1682 items, d 128, 100 clients): the exact solver
// against the published way, 100 normalised-gradient steps with a dense n x n filter, on the same
// BLAS and one thread.
#include <benchmark/benchmark.h>

#include <cmath>

#include "fedhur/base/random_matrix.hpp"
#include "fedhur/client/fine_tuning.hpp"
#include "fedhur/linalg/blas.hpp"
#include "fedhur/linalg/symmetric.hpp"
#include "fedhur/server/item_groups.hpp"

namespace fedhur {
namespace {
constexpr Index kItems = 1682;
constexpr Index kDim = 128;

// A factor whose columns are orthogonal and whose spectrum falls as a trained model's does.
Matrix falling_factor() {
  Matrix factor = normal_matrix(kItems, kDim, 1.0F, Rng(1));
  const linalg::EigenPairs pairs =
      linalg::eigen_pairs((factor.transpose() * factor).cast<double>());
  factor = Matrix(factor * pairs.vectors.cast<Real>());
  for (Index i = 0; i < kDim; ++i) {
    factor.col(i) *= 10.0F / static_cast<Real>(1 + i) / factor.col(i).norm();
  }
  return factor;
}

linalg::ItemFilter make_filter(bool has_blocks) {
  linalg::ItemFilter filter = linalg::filter_of_factor(falling_factor());
  if (!has_blocks) return filter;
  const Executor executor(1);
  filter.hierarchy = std::make_shared<const linalg::ItemHierarchy>(server::build_item_hierarchy(
      normal_matrix(kItems, kDim, 1.0F, Rng(2)), {}, Rng(3), executor));
  for (const linalg::Scope& scope : filter.hierarchy->scopes) {
    const Matrix half = normal_matrix(scope.num_members(), scope.num_members(), 0.002F, Rng(4));
    filter.blocks.emplace_back(half + half.transpose());
  }
  return filter;
}

Matrix present_embeddings(const linalg::ItemFilter& filter) {
  return client::finetune_exactly(normal_matrix(kItems, kDim, 0.1F, Rng(5)), filter, 1) +
         normal_matrix(kItems, kDim, 0.01F, Rng(6));
}

void BM_FineTuneExactly(benchmark::State& state) {
  linalg::prepare_blas(1);
  const linalg::ItemFilter filter = make_filter(state.range(0) != 0);
  const Matrix E = present_embeddings(filter);
  const client::FineTuningConfig config;
  for (auto _ : state) benchmark::DoNotOptimize(client::finetune(E, filter, config));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FineTuneExactly)->ArgName("blocks")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

// E <- E - 0.1 (M + M^T) E / ||M||_F with M = E E^T - S, without ever forming E E^T: one product
// with the dense S per step, which is how the published code would be written with care.
void BM_FineTunePublished(benchmark::State& state) {
  linalg::prepare_blas(1);
  const linalg::ItemFilter filter = make_filter(state.range(0) != 0);
  const Matrix S = filter.to_dense();
  const double squared_norm = S.cast<double>().squaredNorm();
  const Matrix start = present_embeddings(filter);
  for (auto _ : state) {
    Matrix E = start;
    for (int step = 0; step < 100; ++step) {
      const Matrix G = E.transpose() * E;
      const Matrix SE = S * E;
      const double mixed = E.cast<double>().cwiseProduct(SE.cast<double>()).sum();
      const double f =
          std::sqrt(std::max(1e-12, G.cast<double>().squaredNorm() - 2.0 * mixed + squared_norm));
      E -= static_cast<Real>(0.2 / f) * (E * G - SE);
    }
    benchmark::DoNotOptimize(E);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FineTunePublished)->ArgName("blocks")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
}  // namespace
}  // namespace fedhur
