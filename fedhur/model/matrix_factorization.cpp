#include "fedhur/model/matrix_factorization.hpp"

#include "fedhur/linalg/kernels.hpp"
#include "fedhur/model/logistic.hpp"

namespace fedhur::model {
namespace {
// Loss of one triple as a function of its two inner products, with both derivatives.
struct PairLoss {
  double value;
  double positive_slope;
  double negative_slope;
};

PairLoss pair_loss(MfLoss loss, double positive, double negative) {
  switch (loss) {
    case MfLoss::dot_mse:
      return {0.5 * ((positive - 1.0) * (positive - 1.0) + negative * negative), positive - 1.0,
              negative};
    case MfLoss::bce:
      return {0.5 * (softplus(-positive) + softplus(negative)), -0.5 * sigmoid(-positive),
              0.5 * sigmoid(negative)};
    case MfLoss::bpr: {
      const double slope = sigmoid(negative - positive);
      return {softplus(negative - positive), -slope, slope};
    }
    case MfLoss::elementwise:
      break;
  }
  throw std::logic_error("the elementwise loss is not a function of inner products");
}

struct Rows {
  const Real* x;  // user
  const Real* a;  // positive item
  const Real* c;  // negative item
  Real* x_gradient;
  Real* a_gradient;
  Real* c_gradient;
};

// Regresses each coordinate of x * a to 1 and of x * c to 0; the inner product is never formed.
double add_elementwise(const Rows& rows, Index dim, double batch_size, Real decay) {
  const auto scale = static_cast<Real>(1.0 / (batch_size * static_cast<double>(dim)));
  double value = 0.0;
  for (Index q = 0; q < dim; ++q) {
    const Real x = rows.x[q];
    const Real a = rows.a[q];
    const Real c = rows.c[q];
    const Real miss = x * a - 1;
    value += static_cast<double>(miss * miss + (x * c) * (x * c));
    rows.x_gradient[q] += scale * (miss * a + x * c * c) + decay * x;
    rows.a_gradient[q] += scale * miss * x + decay * a;
    rows.c_gradient[q] += scale * x * x * c + decay * c;
  }
  return 0.5 * value / static_cast<double>(dim);
}

double add_pairwise(const Rows& rows, Index dim, double batch_size, Real decay, MfLoss loss) {
  Real positive = 0;
  Real negative = 0;
  linalg::dot_pair(rows.x, rows.a, rows.c, dim, positive, negative);
  const PairLoss pair =
      pair_loss(loss, static_cast<double>(positive), static_cast<double>(negative));
  linalg::add_triple_gradient(rows.x, rows.a, rows.c, dim,
                              static_cast<Real>(pair.positive_slope / batch_size),
                              static_cast<Real>(pair.negative_slope / batch_size), decay,
                              rows.x_gradient, rows.a_gradient, rows.c_gradient);
  return pair.value;
}

double squared_norm(const Real* row, Index dim) {
  return static_cast<double>(linalg::dot(row, row, dim));
}
}  // namespace

void MatrixFactorization::score(Index first_user, MatrixRef scores) const {
  scores.noalias() =
      user_vectors.middleRows(first_user, scores.rows()) * item_embeddings->transpose();
}

double add_batch_gradient(const Matrix& user_vectors, const Matrix& item_embeddings,
                          std::span<const Triple> batch, MfLoss loss, Real weight_decay,
                          linalg::RowGradient& user_gradient, linalg::RowGradient& item_gradient) {
  for (const Triple& triple : batch) {
    user_gradient.touch(triple.user);
    item_gradient.touch(triple.positive);
    item_gradient.touch(triple.negative);
  }
  const Index dim = item_embeddings.cols();
  const auto batch_size = static_cast<double>(batch.size());
  const auto decay = static_cast<Real>(static_cast<double>(weight_decay) / batch_size);
  double total = 0.0;
  for (const Triple& triple : batch) {
    const Rows rows{.x = user_vectors.row(triple.user).data(),
                    .a = item_embeddings.row(triple.positive).data(),
                    .c = item_embeddings.row(triple.negative).data(),
                    .x_gradient = user_gradient.row(triple.user),
                    .a_gradient = item_gradient.row(triple.positive),
                    .c_gradient = item_gradient.row(triple.negative)};
    total += loss == MfLoss::elementwise ? add_elementwise(rows, dim, batch_size, decay)
                                         : add_pairwise(rows, dim, batch_size, decay, loss);
    if (weight_decay != 0) {
      total += 0.5 * static_cast<double>(weight_decay) *
               (squared_norm(rows.x, dim) + squared_norm(rows.a, dim) + squared_norm(rows.c, dim));
    }
  }
  return total;
}

double add_batch_gradient(const Matrix& user_vectors, const Matrix& item_embeddings,
                          std::span<const LabelledPair> batch, linalg::RowGradient& user_gradient,
                          linalg::RowGradient& item_gradient) {
  for (const LabelledPair& pair : batch) {
    user_gradient.touch(pair.user);
    item_gradient.touch(pair.item);
  }
  const Index dim = item_embeddings.cols();
  double total = 0.0;
  for (const LabelledPair& pair : batch) {
    const Real* x = user_vectors.row(pair.user).data();
    const Real* e = item_embeddings.row(pair.item).data();
    const LogitLoss loss =
        cross_entropy(static_cast<double>(linalg::dot(x, e, dim)), static_cast<double>(pair.label));
    const auto slope = static_cast<Real>(loss.slope / static_cast<double>(batch.size()));
    Real* x_gradient = user_gradient.row(pair.user);
    Real* e_gradient = item_gradient.row(pair.item);
    for (Index q = 0; q < dim; ++q) {
      x_gradient[q] += slope * e[q];
      e_gradient[q] += slope * x[q];
    }
    total += loss.value;
  }
  return total;
}
}  // namespace fedhur::model
