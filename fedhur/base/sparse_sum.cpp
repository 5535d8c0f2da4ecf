#include "fedhur/base/sparse_sum.hpp"

#include <algorithm>
#include <utility>

#include "fedhur/base/error.hpp"

namespace fedhur {
namespace {
using Counts = SparseMatrix<std::int64_t>;

// Entries that are in either.
std::size_t count_places(const Counts& a, const Counts& b) {
  std::size_t count = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  for (; i < a.num_entries() && j < b.num_entries(); ++count) {
    const Index place = std::min(a.places()[i], b.places()[j]);
    i += a.places()[i] == place ? 1 : 0;
    j += b.places()[j] == place ? 1 : 0;
  }
  return count + (a.num_entries() - i) + (b.num_entries() - j);
}

Shared<Counts> merge(const Counts& a, const Counts& b) {
  Counts sum(a.rows(), a.cols());
  sum.reserve(count_places(a, b));
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.num_entries() && j < b.num_entries()) {
    const Index place = std::min(a.places()[i], b.places()[j]);
    std::int64_t value = 0;
    if (a.places()[i] == place) value += a.values()[i++];
    if (b.places()[j] == place) value += b.values()[j++];
    sum.append(place, value);
  }
  for (; i < a.num_entries(); ++i) sum.append(a.places()[i], a.values()[i]);
  for (; j < b.num_entries(); ++j) sum.append(b.places()[j], b.values()[j]);
  return std::make_shared<const Counts>(std::move(sum));
}
}  // namespace

void SparseSum::add(Shared<Counts> term) {
  expects(term->rows() == rows_ && term->cols() == cols_, "a term has the shape of its sum");
  for (std::size_t size = 0;; ++size) {
    Shared<Counts> other;
    {
      const std::lock_guard guard(lock_);
      if (size == partial_.size()) partial_.emplace_back();
      other = std::exchange(partial_[size], nullptr);
      if (!other) {
        partial_[size] = std::move(term);
        return;
      }
    }
    term = merge(*term, *other);
  }
}

Shared<Counts> SparseSum::take() {
  const std::lock_guard guard(lock_);
  Shared<Counts> sum;
  for (Shared<Counts>& some : partial_) {
    if (!some) continue;
    sum = sum ? merge(*sum, *some) : some;
    some = nullptr;
  }
  return sum ? sum : std::make_shared<const Counts>(rows_, cols_);
}
}  // namespace fedhur
