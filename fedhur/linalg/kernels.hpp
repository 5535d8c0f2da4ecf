// The innermost loops over rows of floats. Each sums in a fixed order whatever the alignment, and
// runs with the widest registers of the CPU it finds itself on.
#pragma once
#include "fedhur/base/matrix.hpp"

namespace fedhur::linalg {
struct AdamStep {  // what all entries of one step share
  Real beta1, beta2, epsilon;
  Real rate;          // learning rate / (1 - beta1^step)
  Real second_scale;  // 1 / (1 - beta2^step)
};

[[nodiscard]] Real dot(const Real* a, const Real* b, Index count);
// x . a and x . c in one pass over x.
void dot_pair(const Real* x, const Real* a, const Real* c, Index count, Real& xa, Real& xc);
// Gradients of weight_a * (x . a) + weight_c * (x . c) + decay/2 * (|x|^2 + |a|^2 + |c|^2).
// The three gradient rows are distinct.
void add_triple_gradient(const Real* x, const Real* a, const Real* c, Index count, Real weight_a,
                         Real weight_c, Real decay, Real* x_gradient, Real* a_gradient,
                         Real* c_gradient);
// One Adam step of a row, with a gradient or (nullptr) with a gradient of zero.
void adam_row(Real* parameters, Real* first, Real* second, const Real* gradient, Index count,
              const AdamStep& step);
// The largest of count values, and whether one of them is not a number (then `largest` is
// unspecified).
void largest_value(const Real* values, Index count, Real& largest, bool& has_nan);
}  // namespace fedhur::linalg
