#include <gtest/gtest.h>

#include "tests/data/small_data.hpp"

namespace fedhur::data {
namespace {
using std::string_literals::operator""s;

const std::string kRow = "1\t2\t3\t4\n";

struct BadRow {
  Format format;
  std::string text;
  std::string problem;
};

std::vector<BadRow> bad_rows() {
  const std::string header = "user,item,rating,timestamp\n";
  const std::string split = "client\tuser\titem\tsplit\n0\t0\t0\ttrain\n";
  const std::string id_range = ", expected a whole number from 0 to 4294967295";
  return {
      {Format::movielens_100k, kRow + "1\t3\t3\n", "file:2: found 3 fields, expected 4"},
      {Format::movielens_1m, "1::2::3::4\n1\n", "file:2: found 1 field, expected 4"},
      {Format::movielens_100k, kRow + "-1\t3\t3\t4\n", "file:2: found user id '-1'" + id_range},
      {Format::movielens_100k, kRow + "1\t4294967296\t3\t4\n",
       "file:2: found item id '4294967296'" + id_range},
      {Format::movielens_100k, kRow + "1\t99999999999999999999\t3\t4\n",
       "file:2: found item id '99999999999999999999'" + id_range},
      {Format::movielens_100k, kRow + "1\t3\tnan\t4\n",
       "file:2: found rating 'nan', expected a finite number"},
      {Format::csv, header + "u,x,1,1\nu,y,inf,1\n",
       "file:3: found rating 'inf', expected a finite number"},
      {Format::csv, header + "u,x,1,1\nu,y,,1\n",
       "file:3: found rating '', expected a finite number"},
      {Format::csv, header + "u,x,1,1\nu,y,1e39,1\n",
       "file:3: found rating '1e39', expected a finite number"},
      {Format::csv, header + "u,x,1,1\nu,y,1,soon\n",
       "file:3: found timestamp 'soon', expected a number of seconds"},
      {Format::csv, header + "u,x,1,1\nv,x,1,1\nu,x,2,2\n",
       "file:4: found a pair of user and item that is further up already"},
      {Format::csv, header + "u,x,1,1\n,x,1,1\n", "file:3: found an empty user id"},
      {Format::csv, header + "u,x,1,1\nu,,1,1\n", "file:3: found an empty item id"},
      {Format::csv, header + "u,x,1,1\nJos\xe9,x,1,1\n",
       "file:3: found id 'Jos\\xe9', expected UTF-8"},
      {Format::csv, header + "u,x,1,1\nu\0,x,1,1\n"s, "file:3: found a NUL byte, expected text"},
      {Format::csv, header + "u,x,1,1\n\"u,x,1,1\n", "file:3: found a quote that is not closed"},
      {Format::csv, header + "u,x,1,1\n\"u\"v,x,1,1\n",
       "file:3: found text behind a closing quote"},
      {Format::csv, header + "u,x,1,1\n" + std::string(70000, 'u') + ",x,1,1\n",
       "file:3: found a line of 70006 bytes, expected at most 65536"},
      {Format::amazon, "u,x,1,1\nu,y,1,1,more\n", "file:2: found 5 fields, expected 4"},
      {Format::book_crossing,
       "\"User-ID\";\"ISBN\";\"Book-Rating\"\n\"1\";\"a\";\"1\"\n\"1\";\"b\"\n",
       "file:3: found 2 fields, expected 3"},
      {Format::recbole, "user_id:token\titem_id:token\nu\tx\nu\n",
       "file:3: found 1 field, expected 2"},
      {Format::split, split + "0\t1\t0\tlearn\n",
       "file:3: found split 'learn', expected train, valid or test"},
      {Format::split, split + "0\tx\t0\ttrain\n", "file:3: found user 'x'" + id_range},
      {Format::split, split + "1\t0\t1\ttrain\n",
       "file:3: found user '0' in client '1', but further up in another"},
  };
}

TEST(LoadMalformed, NamesFileLineAndFindingOfTheFirstBadRow) {
  for (const BadRow& bad : bad_rows()) EXPECT_EQ(problem_with(bad.format, bad.text), bad.problem);
}

TEST(LoadMalformed, CountsBadRowsWhereTheyMayBeSkipped) {
  for (const BadRow& bad : bad_rows()) {
    const Dataset data = parse_as(bad.format, bad.text, true);
    EXPECT_EQ(data.skipped_rows, 1) << bad.problem;
    EXPECT_EQ(data.item_names.size(), 1U) << bad.problem;
    EXPECT_EQ(data.item_titles.size(), 1U) << bad.problem;
  }
}

TEST(LoadMalformed, ReportsARepeatedPairBeforeABadRowFurtherDown) {
  EXPECT_EQ(problem_with(Format::movielens_100k, kRow + kRow + "x\n"),
            "file:2: found a pair of user and item that is further up already");
}

TEST(LoadMalformed, KeepsTheFirstOfRepeatedRowsAndItsPart) {
  const Dataset data = parse_as(Format::split,
                                "client\tuser\titem\tsplit\n0\t0\t5\ttest\n0\t0\t5\ttrain\n"
                                "0\t0\t6\tvalid\n",
                                true);
  EXPECT_EQ(data.parts, (std::vector<Part>{Part::test, Part::valid}));
}

TEST(LoadMalformed, FailsWhereEveryRowIsBad) {
  EXPECT_EQ(message_of<DataError>([] { (void)parse_as(Format::movielens_100k, "a\nb\n", true); }),
            "file: all 2 rows are bad; the first is line 1: found 1 field, expected 4");
}

TEST(LoadMalformed, RefusesFilesWithoutRows) {
  EXPECT_EQ(problem_with(Format::csv, ""), "file: the file is empty");
  EXPECT_EQ(problem_with(Format::csv, "\xef\xbb\xbf"), "file: the file is empty");
  EXPECT_EQ(problem_with(Format::csv, "user,item\n"),
            "file: found no rows, expected at least one interaction");
  EXPECT_EQ(problem_with(Format::csv, "\n\r\n"),
            "file:1: found blank lines only, expected a header");
}

TEST(LoadMalformed, RefusesHeadersWithoutTheColumnsEvenIfBadRowsMayBeSkipped) {
  for (const bool skip : {false, true}) {
    const auto problem = [&](Format format, const std::string& text) {
      return message_of<DataError>([&] { (void)parse_as(format, text, skip); });
    };
    EXPECT_EQ(problem(Format::csv, "user,rating\nu,5\n"),
              "file:1: found header 'user, rating', expected one with columns 'user' and 'item'");
    EXPECT_EQ(problem(Format::split, "client\tuser\titem\n0\t0\t0\n"),
              "file:1: found header 'client, user, item', expected client, user, item and split");
    EXPECT_EQ(problem(Format::recbole, "user_id\titem_id\n1\t2\n"),
              "file:1: found column 'user_id' without a type, expected a header such as "
              "user_id:token, item_id:token, rating:float");
  }
}

TEST(LoadMalformed, RefusesContentOfNoKnownFormat) {
  EXPECT_EQ(message_of<DataError>([] { (void)parse("hello\nworld\n", "file", {}); }),
            "file:1: found 'hello', which is no known format; name one with format");
}

TEST(LoadMalformed, RefusesWhatIsNoFile) {
  const DataFolder folder;
  const auto missing = folder.path() / "missing.csv";
  EXPECT_EQ(message_of<DataError>([&] { (void)load(missing, {}); }),
            missing.string() + ": there is no such file");
  EXPECT_EQ(message_of<DataError>([&] { (void)load(folder.path(), {}); }),
            folder.path().string() + ": found a folder, expected a file");
  EXPECT_EQ(message_of<DataError>([&] { (void)load("/dev/zero", {}); }),
            "/dev/zero: expected a regular file");
}

TEST(LoadGzip, ReadsOneOrSeveralMembersAndPadding) {
  const std::string packed = gzip("user,item\n1,2\n");
  EXPECT_EQ(parse_as(Format::csv, packed).interactions.size(), 1U);
  EXPECT_EQ(parse_as(Format::csv, packed + gzip("1,3\n")).interactions.size(), 2U);
  EXPECT_EQ(parse_as(Format::csv, packed + "\0\0"s).interactions.size(), 1U);
}

TEST(LoadGzip, ReadsTextThatPacksExtremelyWell) {
  std::string text = "user,item,rating\n";
  for (int i = 0; i < 50000; ++i)
    text += std::to_string(i % 10) + "," + std::to_string(i / 10) + ",1\n";
  EXPECT_EQ(parse_as(Format::csv, gzip(text)).interactions.size(), 50000U);
}

TEST(LoadGzip, RefusesEveryTruncation) {
  const std::string packed = gzip("user,item\n1,2\n1,3\n");
  for (std::size_t size = 2; size < packed.size(); ++size) {
    EXPECT_EQ(problem_with(Format::csv, packed.substr(0, size)),
              "file: the gzip content ends too early; the file seems truncated");
  }
}

TEST(LoadGzip, RefusesCorruptContentAndStrangers) {
  std::string corrupt = gzip("user,item\n1,2\n1,3\n");
  corrupt[corrupt.size() - 6] ^= 1;  // the checksum
  EXPECT_EQ(problem_with(Format::csv, corrupt),
            "file: the gzip content is corrupt (incorrect data check)");
  EXPECT_EQ(problem_with(Format::csv, gzip("user,item\n1,2\n") + "x"),
            "file: other bytes follow the end of the gzip content");
  EXPECT_EQ(problem_with(Format::csv, gzip("")), "file: the file is empty");
  EXPECT_EQ(message_of<DataError>([] { (void)parse("user,item\n1,2\n", "x.csv.gz", {}); }),
            "x.csv.gz: found other content than the gzip that the name promises");
}
}  // namespace
}  // namespace fedhur::data
