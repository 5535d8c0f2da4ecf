#include "fedhur/client/spectral_start.hpp"

#include <algorithm>
#include <cmath>

namespace fedhur::client {
using data::UserItems;
namespace {
// What the rows of a user's items sum to, each times its weight (1 without weights).
Eigen::RowVectorXd sum_rows(std::span<const ItemId> items, ConstMatrixRef table,
                            const Eigen::Ref<const Matrix>* weights) {
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(table.cols());
  for (const ItemId item : items) {
    const Index i = index_of(item);
    const double weight = weights == nullptr ? 1.0 : static_cast<double>((*weights)(i, 0));
    sum += weight * table.row(i).cast<double>();
  }
  return sum;
}

double root_of_count(std::span<const ItemId> items) {
  return std::sqrt(static_cast<double>(items.size()));
}
}  // namespace

MatrixOf<double> count_users(const UserItems& rows, Index num_items) {
  MatrixOf<double> counts = MatrixOf<double>::Zero(num_items, 1);
  for (Index user = 0; user < rows.num_users(); ++user) {
    for (const ItemId item : rows.of(user)) counts(index_of(item), 0) += 1.0;
  }
  return counts;
}

Matrix multiply_co_occurrences(const UserItems& rows, ConstMatrixRef table) {
  MatrixOf<double> product = MatrixOf<double>::Zero(table.rows(), table.cols());
  for (Index user = 0; user < rows.num_users(); ++user) {
    const auto items = rows.of(user);
    const Eigen::RowVectorXd mean = sum_rows(items, table, nullptr) /
                                    static_cast<double>(std::max<std::size_t>(items.size(), 1));
    for (const ItemId item : items) product.row(index_of(item)) += mean;
  }
  return product.cast<Real>();
}

Matrix fold_in(const UserItems& rows, ConstMatrixRef items, ConstMatrixRef weights) {
  Matrix vectors = Matrix::Zero(rows.num_users(), items.cols());
  for (Index user = 0; user < rows.num_users(); ++user) {
    const auto own = rows.of(user);
    if (own.empty()) continue;
    vectors.row(user) = (sum_rows(own, items, &weights) / root_of_count(own)).cast<Real>();
  }
  return vectors;
}

StartScores score_start(const UserItems& rows, ConstMatrixRef items, ConstMatrixRef weights) {
  const Eigen::RowVectorXd mean_item = items.cast<double>().colwise().mean();
  StartScores scores;
  for (Index user = 0; user < rows.num_users(); ++user) {
    const auto own = rows.of(user);
    if (own.empty()) continue;
    const Eigen::RowVectorXd vector = sum_rows(own, items, &weights) / root_of_count(own);
    const Eigen::RowVectorXd mean_own =
        sum_rows(own, items, nullptr) / static_cast<double>(own.size());
    scores.margins += vector.dot(mean_own - mean_item);
    scores.squares += vector.squaredNorm();
    scores.num_users += 1.0;
  }
  return scores;
}

bool answer_spectral_start(const message::Message& request, const UserItems& rows, Index num_items,
                           message::Message& reply) {
  const NamedArrays& asked = request.arrays;
  const auto read_table = [&](const char* name) {
    return asked.finite_matrix(name, num_items, asked.matrix(name).cols());
  };
  if (request.kind == "degrees") {
    reply.arrays.set("degrees", count_users(rows, num_items));
  } else if (request.kind == "co_occurrences") {
    reply.arrays.set("product", multiply_co_occurrences(rows, *read_table("table")));
  } else if (request.kind == "start_scores") {
    const StartScores scores = score_start(rows, *read_table("item_embeddings"),
                                           *asked.finite_matrix("fold_in_weights", num_items, 1));
    reply.arrays.set_number("margins", scores.margins);
    reply.arrays.set_number("squares", scores.squares);
    reply.arrays.set_number("num_users", scores.num_users);
  } else {
    return false;
  }
  return true;
}

ModelStart read_start(const message::Message& request, const UserItems& rows, Index num_items,
                      Index embedding_dim) {
  const NamedArrays& sent = request.arrays;
  ModelStart start{sent.finite_matrix("item_embeddings", num_items, embedding_dim), {}};
  if (sent.contains("fold_in_weights")) {
    start.user_vectors =
        fold_in(rows, *start.item_embeddings, *sent.finite_matrix("fold_in_weights", num_items, 1));
  }
  return start;
}
}  // namespace fedhur::client
