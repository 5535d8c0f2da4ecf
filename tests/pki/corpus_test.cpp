#include "tests/support/corpus.hpp"

#include <gtest/gtest.h>

#include "fuzz/pki_input.hpp"

namespace fedhur::fuzz {
namespace {
TEST(PkiCorpus, IsReadWithoutAFinding) { EXPECT_GE(tests::replay_corpus("pki", pki_input), 10); }

TEST(PkiCorpus, TakesInputsTooShortToSayAnything) {
  EXPECT_NO_THROW(pki_input({}));
  for (const std::uint8_t byte : {'0', '1', '2', '3'}) EXPECT_NO_THROW(pki_input({&byte, 1}));
}
}  // namespace
}  // namespace fedhur::fuzz
