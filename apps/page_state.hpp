// How much of a run a live page has.
#pragma once
#include <cstddef>
#include <string>

namespace fedhur::apps {
struct PageState {
  std::size_t sittings = 0;  // a new one may have taken rounds back
  std::size_t rounds = 0;
  std::string inside;  // stands for what is in inside.json; empty: nothing
};
}  // namespace fedhur::apps
