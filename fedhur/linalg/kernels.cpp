#include "fedhur/linalg/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fedhur/base/wide.hpp"

namespace fedhur::linalg {
namespace {
// Sums run in this many lanes, twice, on every CPU; the compiler maps them to the registers it has.
constexpr Index kLanes = 8;
using Lanes = Real __attribute__((vector_size(kLanes * sizeof(Real))));

// In memory rows start at any float. clang forgets that of a type; g++ wants no vector by value.
#if defined(__clang__)
inline __attribute__((always_inline)) Lanes at(const Real* values) {
  Lanes lanes;
  __builtin_memcpy(&lanes, values, sizeof(lanes));
  return lanes;
}
#else
using LooseLanes =
    Real __attribute__((vector_size(kLanes * sizeof(Real)), aligned(alignof(Real)), may_alias));

inline __attribute__((always_inline)) const LooseLanes& at(const Real* values) {
  return *reinterpret_cast<const LooseLanes*>(values);
}
#endif

inline __attribute__((always_inline)) Real total(const Lanes& lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}
}  // namespace

FEDHUR_WIDE Real dot(const Real* a, const Real* b, Index count) {
  Lanes even = {};
  Lanes odd = {};
  Index i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    even += at(a + i) * at(b + i);
    odd += at(a + i + kLanes) * at(b + i + kLanes);
  }
  even += odd;
  Real rest = 0;
  for (; i < count; ++i) rest += a[i] * b[i];
  return total(even) + rest;
}

FEDHUR_WIDE void dot_pair(const Real* x, const Real* a, const Real* c, Index count, Real& xa,
                          Real& xc) {
  Lanes a_even = {};
  Lanes a_odd = {};
  Lanes c_even = {};
  Lanes c_odd = {};
  Index i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    const Lanes x_even = at(x + i);
    const Lanes x_odd = at(x + i + kLanes);
    a_even += x_even * at(a + i);
    a_odd += x_odd * at(a + i + kLanes);
    c_even += x_even * at(c + i);
    c_odd += x_odd * at(c + i + kLanes);
  }
  a_even += a_odd;
  c_even += c_odd;
  Real a_rest = 0;
  Real c_rest = 0;
  for (; i < count; ++i) {
    a_rest += x[i] * a[i];
    c_rest += x[i] * c[i];
  }
  xa = total(a_even) + a_rest;
  xc = total(c_even) + c_rest;
}

FEDHUR_WIDE void add_triple_gradient(const Real* __restrict x, const Real* __restrict a,
                                     const Real* __restrict c, Index count, Real weight_a,
                                     Real weight_c, Real decay, Real* __restrict x_gradient,
                                     Real* __restrict a_gradient, Real* __restrict c_gradient) {
  for (Index i = 0; i < count; ++i) {
    x_gradient[i] += weight_a * a[i] + weight_c * c[i] + decay * x[i];
    a_gradient[i] += weight_a * x[i] + decay * a[i];
    c_gradient[i] += weight_c * x[i] + decay * c[i];
  }
}

FEDHUR_WIDE void adam_row(Real* __restrict parameters, Real* __restrict first,
                          Real* __restrict second, const Real* __restrict gradient, Index count,
                          const AdamStep& step) {
  const Real beta1 = step.beta1;
  const Real beta2 = step.beta2;
  const Real rate = step.rate;
  const Real second_scale = step.second_scale;
  const Real epsilon = step.epsilon;
  if (gradient == nullptr) {
    for (Index i = 0; i < count; ++i) {
      first[i] = beta1 * first[i];
      second[i] = beta2 * second[i];
      parameters[i] -= rate * first[i] / (std::sqrt(second[i] * second_scale) + epsilon);
    }
    return;
  }
  for (Index i = 0; i < count; ++i) {
    const Real g = gradient[i];
    first[i] = beta1 * first[i] + (1 - beta1) * g;
    second[i] = beta2 * second[i] + (1 - beta2) * (g * g);
    parameters[i] -= rate * first[i] / (std::sqrt(second[i] * second_scale) + epsilon);
  }
}

FEDHUR_WIDE void largest_value(const Real* values, Index count, Real& largest, bool& has_nan) {
  largest = -std::numeric_limits<Real>::infinity();
  has_nan = false;
  Index i = 0;
  if (count >= kLanes) {
    Lanes tops = at(values);
    auto is_bad = tops != tops;
    for (i = kLanes; i + kLanes <= count; i += kLanes) {
      const Lanes next = at(values + i);
      is_bad |= next != next;
      tops = next > tops ? next : tops;
    }
    for (Index lane = 0; lane < kLanes; ++lane) {
      largest = std::max(largest, tops[lane]);
      has_nan = has_nan || is_bad[lane] != 0;
    }
  }
  for (; i < count; ++i) {
    largest = std::max(largest, values[i]);
    has_nan = has_nan || std::isnan(values[i]);
  }
}
}  // namespace fedhur::linalg
