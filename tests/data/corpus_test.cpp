#include "tests/support/corpus.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "fuzz/load_input.hpp"

namespace fedhur::fuzz {
namespace {
TEST(LoadCorpus, IsReadWithoutAFinding) {
  EXPECT_GE(tests::replay_corpus("load", load_input), 100);
}

TEST(LoadCorpus, TakesInputsTooShortToSayAnything) {
  const std::vector<std::uint8_t> bytes = {'0', '0'};
  EXPECT_NO_THROW(load_input({}));
  EXPECT_NO_THROW(load_input(std::span(bytes).first(1)));
  EXPECT_NO_THROW(load_input(bytes));
}
}  // namespace
}  // namespace fedhur::fuzz
