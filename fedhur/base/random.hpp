// Randomness as a value: a generator is made from a seed and keys, never from who drew before.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

#include "fedhur/base/index.hpp"

namespace fedhur {
// What a stream is drawn for. Numbers are part of the results: append, never renumber.
enum class Draw : std::uint64_t {
  synthetic = 1,
  split = 2,
  partition = 3,
  item_init = 4,
  user_init = 5,
  triples = 6,
  batch_order = 7,
  clustering = 8,
  projection = 9,
  subspace = 10,
  scorer_init = 11,
  scorer_rows = 12,
  noise = 13,
  labelled_pairs = 14,
  layer_init = 15,
  participants = 16,
  search = 17,
  site_split = 18,
  dropout = 19,
  counted_items = 20,
  conflicts = 21,
};

class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  // An independent generator that depends on this generator's seed and the keys alone.
  template <class... Key>
  [[nodiscard]] Rng stream(Draw purpose, Key... keys) const {
    return derive({static_cast<std::uint64_t>(purpose), static_cast<std::uint64_t>(keys)...});
  }

  [[nodiscard]] std::uint64_t next();  // 64 random bits
  [[nodiscard]] std::uint64_t below(
      std::uint64_t bound);        // uniform in [0, bound), unbiased; bound > 0
  [[nodiscard]] double uniform();  // in [0, 1)
  [[nodiscard]] double normal();   // mean 0, variance 1
  // Two independent ones for little more than the price of one.
  [[nodiscard]] std::pair<double, double> normal_pair();
  [[nodiscard]] double gamma(double shape);  // scale 1; shape > 0

  template <class T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  [[nodiscard]] Rng derive(std::initializer_list<std::uint64_t> keys) const;
  std::uint64_t seed_;
  std::array<std::uint64_t, 4> state_;
};
}  // namespace fedhur
