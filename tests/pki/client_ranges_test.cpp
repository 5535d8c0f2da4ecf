#include "fedhur/pki/client_ranges.hpp"

#include <gtest/gtest.h>

#include "fedhur/base/error.hpp"

namespace fedhur::pki {
namespace {
std::string round_trip(const std::string& text) { return to_text(parse_client_ranges(text)); }

TEST(ClientRanges, AreReadAsTheyAreWritten) {
  for (const char* text : {"0", "7", "0-24", "3,5,8-9", "4294967295", "0-4294967295"}) {
    EXPECT_EQ(round_trip(text), text);
  }
  EXPECT_EQ(parse_client_ranges("3,8-9"), (std::vector<ClientRange>{{3, 3}, {8, 9}}));
}

TEST(ClientRanges, AreAsFewAsPossible) {
  EXPECT_EQ(round_trip("8-9,3,5"), "3,5,8-9");
  EXPECT_EQ(round_trip("3,4"), "3-4");
  EXPECT_EQ(round_trip("3-7,5-9"), "3-9");
  EXPECT_EQ(round_trip("0-24,3,3,7-8"), "0-24");
  EXPECT_EQ(round_trip("5-5"), "5");
  EXPECT_EQ(round_trip("007"), "7");
  EXPECT_EQ(to_text({{8, 9}, {2, 3}, {4, 4}}), "2-4,8-9");
  EXPECT_EQ(to_text({}), "");
}

TEST(ClientRanges, RefuseWhatIsNone) {
  for (const char* text :
       {"",     ",",    "3,",  ",3",         "3,,5",         "5-3",
        "-1",   "-",    "3-",  "-3",         "3--5",         "3-5-7",
        "+3",   "0x10", "a",   "3;5",        " 3",           "3 ",
        "3, 5", "1.5",  "1e3", "4294967296", "0-4294967296", "99999999999999999999",
        "\xff"}) {
    EXPECT_THROW((void)parse_client_ranges(text), ConfigError) << text;
  }
  EXPECT_THROW((void)parse_client_ranges(std::string("3\0", 2)), ConfigError);
}

TEST(ClientRanges, OfOneCertificateAreLimited) {
  std::string many = "0";
  for (int id = 2; id < 2000; id += 2) many += "," + std::to_string(id);
  EXPECT_EQ(parse_client_ranges(many).size(), 1000U);
  EXPECT_THROW((void)parse_client_ranges(many + ",2000"), ConfigError);
}

TEST(ClientRanges, MistakesAreToldInAShortPrintableSentence) {
  try {
    (void)parse_client_ranges("3," + std::string(100000, '\n'));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_LT(std::string(error.what()).size(), 500U);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

TEST(ClientRanges, CoverTheirEndsAndNothingBeyond) {
  const auto ranges = parse_client_ranges("3,8-10");
  for (const Index client : {3, 8, 9, 10}) EXPECT_TRUE(covers(ranges, client)) << client;
  for (const Index client : {-1, 0, 2, 4, 7, 11}) EXPECT_FALSE(covers(ranges, client)) << client;
  EXPECT_FALSE(covers({}, 0));
}
}  // namespace
}  // namespace fedhur::pki
