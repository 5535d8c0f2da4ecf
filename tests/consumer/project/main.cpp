// The least that a program outside this tree does with the library.
#include <cstdio>

#include "fedhur/base/random.hpp"
#include "fedhur/data/synthetic.hpp"

int main() {
  const auto dataset = fedhur::data::make_synthetic(
      {.num_users = 20, .num_items = 30, .num_interactions = 120, .num_groups = 3}, fedhur::Rng(1));
  std::printf("%d users, %d items, %zu interactions\n", static_cast<int>(dataset.num_users()),
              static_cast<int>(dataset.num_items()), dataset.interactions.size());
}
