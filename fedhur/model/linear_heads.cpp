#include "fedhur/model/linear_heads.hpp"

#include <algorithm>

#include "fedhur/linalg/kernels.hpp"
#include "fedhur/model/logistic.hpp"

namespace fedhur::model {
namespace {
using linalg::RowGradient;

void touch_heads(RowGradient& gradient, const Matrix& heads, std::span<const LabelledPair> batch) {
  for (const LabelledPair& pair : batch) gradient.touch(head_of(heads, pair.user));
}
void touch_items(RowGradient& gradient, std::span<const LabelledPair> batch) {
  for (const LabelledPair& pair : batch) gradient.touch(pair.item);
}

LogitLoss head_loss(const Real* head, const Real* item, Index dim, Real label) {
  const Real logit = linalg::dot(head, item, dim) + head[dim];
  return cross_entropy(static_cast<double>(logit), static_cast<double>(label));
}

void add_head_row(const Real* item, Index dim, Real slope, Real* gradient) {
  for (Index q = 0; q < dim; ++q) gradient[q] += slope * item[q];
  gradient[dim] += slope;
}

Real sign(Real x) { return static_cast<Real>((x > 0) - (x < 0)); }
}  // namespace

void LinearHeads::score(Index first_user, MatrixRef scores) const {
  const bool is_common = heads.rows() == 1;
  const Index dim = item_embeddings->cols();
  const Index count = is_common ? std::min<Index>(1, scores.rows()) : scores.rows();
  const Eigen::Ref<const Matrix> own = heads.middleRows(is_common ? 0 : first_user, count);
  scores.topRows(count).noalias() = own.leftCols(dim) * item_embeddings->transpose();
  scores.topRows(count).colwise() += own.col(dim);
  for (Index row = count; row < scores.rows(); ++row) scores.row(row) = scores.row(0);
}

double add_head_gradients(const Matrix& heads, const Matrix& item_embeddings,
                          std::span<const LabelledPair> batch, RowGradient* head_gradient,
                          RowGradient* item_gradient) {
  if (head_gradient != nullptr) touch_heads(*head_gradient, heads, batch);
  if (item_gradient != nullptr) touch_items(*item_gradient, batch);
  const Index dim = item_embeddings.cols();
  const auto batch_size = static_cast<double>(batch.size());
  double total = 0.0;
  for (const LabelledPair& pair : batch) {
    const Index owner = head_of(heads, pair.user);
    const Real* head = heads.row(owner).data();
    const Real* item = item_embeddings.row(pair.item).data();
    const LogitLoss loss = head_loss(head, item, dim, pair.label);
    total += loss.value;
    const auto slope = static_cast<Real>(loss.slope / batch_size);
    if (head_gradient != nullptr) add_head_row(item, dim, slope, head_gradient->row(owner));
    if (item_gradient != nullptr) {
      Real* gradient = item_gradient->row(pair.item);
      for (Index q = 0; q < dim; ++q) gradient[q] += slope * head[q];
    }
  }
  return total;
}

double add_additive_gradients(const Matrix& heads, const Matrix& personal, const Matrix& shared,
                              std::span<const LabelledPair> batch, const AdditiveLoss& loss,
                              RowGradient& head_gradient, RowGradient& personal_gradient,
                              RowGradient& shared_gradient) {
  touch_heads(head_gradient, heads, batch);
  touch_items(personal_gradient, batch);
  touch_items(shared_gradient, batch);
  const Index dim = shared.cols();
  const auto batch_size = static_cast<double>(batch.size());
  const auto push = static_cast<Real>(2.0 * loss.apart / (batch_size * static_cast<double>(dim)));
  const auto pull = static_cast<Real>(loss.sparse / (batch_size * static_cast<double>(dim)));
  std::vector<Real> item(static_cast<std::size_t>(dim));
  double entropy = 0.0;
  double squared_gap = 0.0;
  double size = 0.0;
  for (const LabelledPair& pair : batch) {
    const Index owner = head_of(heads, pair.user);
    const Real* head = heads.row(owner).data();
    const Real* own = personal.row(pair.item).data();
    const Real* common = shared.row(pair.item).data();
    std::transform(own, own + dim, common, item.begin(), std::plus<>());
    const LogitLoss logit = head_loss(head, item.data(), dim, pair.label);
    entropy += logit.value;
    const auto slope = static_cast<Real>(logit.slope / batch_size);
    add_head_row(item.data(), dim, slope, head_gradient.row(owner));
    Real* own_gradient = personal_gradient.row(pair.item);
    Real* common_gradient = shared_gradient.row(pair.item);
    for (Index q = 0; q < dim; ++q) {
      const Real gap = own[q] - common[q];
      own_gradient[q] += slope * head[q] - push * gap;
      common_gradient[q] += slope * head[q] + push * gap + pull * sign(common[q]);
      squared_gap += static_cast<double>(gap * gap);
      size += static_cast<double>(std::abs(common[q]));
    }
  }
  return entropy + (loss.sparse * size - loss.apart * squared_gap) / static_cast<double>(dim);
}
}  // namespace fedhur::model
