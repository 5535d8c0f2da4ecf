#include "fedhur/base/strings.hpp"

#include <gtest/gtest.h>

namespace fedhur {
namespace {
TEST(Encoding, KnowsWellFormedUtf8) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("plain text that is longer than a machine word"));
  EXPECT_TRUE(is_utf8("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\xac"));
}

TEST(Encoding, RefusesBrokenUtf8) {
  EXPECT_FALSE(is_utf8("caf\xe9"));
  EXPECT_FALSE(is_utf8("\xc3"));              // ends too early
  EXPECT_FALSE(is_utf8("\xc0\xaf"));          // longer than needed
  EXPECT_FALSE(is_utf8("\xe0\x80\x80"));      // longer than needed
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));      // half of a surrogate pair
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));  // beyond Unicode
  EXPECT_FALSE(is_utf8("\xff long enough to be read word by word"));
}

TEST(Encoding, ConvertsLatin1AndKeepsUtf8) {
  EXPECT_EQ(to_utf8("caf\xe9"), "caf\xc3\xa9");
  EXPECT_EQ(to_utf8("caf\xc3\xa9"), "caf\xc3\xa9");
}

TEST(Encoding, ExcerptsAreShortAndPrintable) {
  EXPECT_EQ(excerpt("a\tb\xff"), "'a\\x09b\\xff'");
  EXPECT_EQ(excerpt(std::string(41, 'x')), "'" + std::string(40, 'x') + "...'");
}
}  // namespace
}  // namespace fedhur
