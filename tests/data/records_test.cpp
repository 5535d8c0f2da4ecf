#include "fedhur/data/records.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fedhur::data {
namespace {
// Every record as line:field|field, or line!problem.
std::vector<std::string> records_of(std::string_view text, std::string_view delimiter,
                                    Quoting quoting) {
  std::vector<std::string> records;
  RecordReader reader(text, delimiter, quoting);
  while (reader.next()) {
    std::string record = std::to_string(reader.line()) + (reader.problem().empty() ? ":" : "!");
    record += reader.problem();
    for (std::size_t i = 0; i < reader.fields().size(); ++i) {
      record += (i == 0 ? "" : "|") + std::string(reader.fields()[i]);
    }
    records.push_back(record);
  }
  return records;
}
using Records = std::vector<std::string>;

TEST(RecordReader, SplitsAtDelimitersOfAnyLength) {
  EXPECT_EQ(records_of("a::b:c::\n::", "::", Quoting::none), (Records{"1:a|b:c|", "2:|"}));
}

TEST(RecordReader, TakesLfAndCrlfAndPassesOverBlankLines) {
  EXPECT_EQ(records_of("\r\na,b\r\n\n\nc\r", ",", Quoting::none), (Records{"2:a|b", "5:c"}));
}

TEST(RecordReader, UnderstandsDoubledQuotesAndLineBreaksInQuotes) {
  EXPECT_EQ(records_of("\"a,\"\"b\"\"\nc\",d\r\ne,\"\"\r\n\"f\"", ",", Quoting::doubled),
            (Records{"1:a,\"b\"\nc|d", "3:e|", "4:f"}));
}

TEST(RecordReader, UnderstandsBackslashEscapes) {
  EXPECT_EQ(records_of(R"("a \"b\"";"c\\")", ";", Quoting::backslash), (Records{R"(1:a "b"|c\)"}));
}

TEST(RecordReader, LetsAFieldEndInABackslashThatEscapesNothing) {
  EXPECT_EQ(records_of("\"\\12\\\";\"5\"\n\"1\\\"\n", ";", Quoting::backslash),
            (Records{"1:\\12\\|5", "2:1\\"}));
}

TEST(RecordReader, LeavesQuotesAloneWhereThereAreNone) {
  EXPECT_EQ(records_of("\"a\tb\"", "\t", Quoting::none), (Records{"1:\"a|b\""}));
}

TEST(RecordReader, ChargesBrokenQuotingToOneLineOnly) {
  EXPECT_EQ(records_of("\"a,b\nc,d\n\"e\"f,g\nh\"i,j\nk", ",", Quoting::doubled),
            (Records{"1!found text behind a closing quote", "2:c|d",
                     "3!found text behind a closing quote",
                     "4!found a quote inside an unquoted field", "5:k"}));
  EXPECT_EQ(records_of("\"a\nb", ",", Quoting::doubled),
            (Records{"1!found a quote that is not closed", "2:b"}));
}

TEST(RecordReader, RefusesNulBytesAlsoInsideQuotes) {
  using std::string_literals::operator""s;
  EXPECT_EQ(records_of("a\0b\nc"s, ",", Quoting::none),
            (Records{"1!found a NUL byte, expected text", "2:c"}));
  EXPECT_EQ(records_of("\"a\n\0\"\nc"s, ",", Quoting::doubled).front(),
            "1!found a NUL byte, expected text");
}

TEST(RecordReader, RefusesLinesAndQuotedRecordsThatAreTooLong) {
  const std::string long_line(kMaxRecordBytes + 1, 'a');
  EXPECT_EQ(records_of(long_line + "\nb", ",", Quoting::none),
            (Records{"1!found a line of 65537 bytes, expected at most 65536", "2:b"}));
  std::string quoted = "\"";
  for (std::size_t i = 0; i < kMaxRecordBytes; ++i) quoted += i % 80 == 79 ? '\n' : 'a';
  EXPECT_EQ(records_of(quoted + "\"", ",", Quoting::doubled).front(),
            "1!found a quote that is not closed");
}
}  // namespace
}  // namespace fedhur::data
