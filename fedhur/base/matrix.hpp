// The numbers that everything else is made of: row-major float matrices, an item or user per row.
#pragma once
#include <Eigen/Dense>
#include <type_traits>

#include "fedhur/base/index.hpp"

namespace fedhur {
using Real = float;
static_assert(std::is_same_v<Index, Eigen::Index>);
template <class Scalar>
using MatrixOf = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrix = MatrixOf<Real>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using MatrixRef = Eigen::Ref<Matrix>;
using VectorRef = Eigen::Ref<Vector>;
using ConstMatrixRef = const Eigen::Ref<const Matrix>&;
using ConstVectorRef = const Eigen::Ref<const Vector>&;
}  // namespace fedhur
