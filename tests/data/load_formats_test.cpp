#include <gtest/gtest.h>

#include "tests/data/small_data.hpp"

namespace fedhur::data {
namespace {
using Names = std::vector<std::string>;

const std::string kSplitText =
    "client\tuser\titem\tsplit\n7\t4\t9\ttrain\n7\t4\t2\ttest\n3\t1\t9\tvalid\n";

TEST(LoadMovielens, ReadsTabsAndNumbersIdsInNumericalOrder) {
  const Dataset data =
      parse_as(Format::movielens_100k, "10\t7\t3\t50\n9\t30\t5\t40\n10\t30\t1\t60\n");
  EXPECT_EQ(data.user_names, (Names{"9", "10"}));
  EXPECT_EQ(data.item_names, (Names{"7", "30"}));
  EXPECT_EQ(rows_of(data), (Names{"10 7 30 50", "9 30 50 40", "10 30 10 60"}));
  EXPECT_EQ(data.interactions[0].user, user_id(1));
  EXPECT_TRUE(data.has_ratings);
  EXPECT_TRUE(data.has_timestamps);
  EXPECT_EQ(data.item_titles, (Names{"", ""}));
}

TEST(LoadMovielens, ReadsDoubleColonsAndKnowsThatTimesOfZeroAreNone) {
  const Dataset data = parse_as(Format::movielens_1m, "1::5::4::0\r\n4294967295::5::2::0\r\n");
  EXPECT_EQ(data.user_names, (Names{"1", "4294967295"}));
  EXPECT_FALSE(data.has_timestamps);
}

TEST(LoadBookCrossing, KeepsImplicitRowsAndReadsLatin1AndUtf8Ids) {
  const Dataset data = parse_as(
      Format::book_crossing,
      "\"User-ID\";\"ISBN\";\"Book-Rating\"\n\"8\";\"39\xdf\";\"0\"\n\"8\";\"\\1\\\";\"6\"\n"
      "\"9\";\"4\xc2\xba\";\"10\"\n");
  EXPECT_EQ(data.item_names, (Names{"39\xc3\x9f", "\\1\\", "4\xc2\xba"}));
  EXPECT_EQ(rows_of(data)[0], "8 39\xc3\x9f 0 0");
  EXPECT_TRUE(data.has_ratings);
  EXPECT_FALSE(data.has_timestamps);
}

TEST(LoadAmazon, TakesRowsWithAndWithoutHeaderAndTrailingComma) {
  const Names rows = {"B b 50 10", "A a 10 20"};
  for (const std::string text :
       {"B,b,5,10\nA,a,1,20\n", "B,b,5.0,10,\r\nA,a,1.0,20,\r\n",
        "user,item,rating,timestamp\nB,b,5,10\nA,a,1,20\n",
        "UserId,ProductId,Rating,Timestamp,\r\nB,b,5,10,\r\nA,a,1,20,a remark\r\n",
        "item,user,rating,timestamp\nb,B,5,10\na,A,1,20\n"}) {
    EXPECT_EQ(rows_of(parse_as(Format::amazon, text)), rows) << text;
  }
}

TEST(LoadDelimited, FindsColumnsInAnyOrderAndByCommonNames) {
  const Names rows = {"u y 45 7", "u x 30 8"};
  for (const std::string header :
       {"timestamp,item,user,rating", "time,asin,reviewerID,overall", "Time,ProductId,UserId,Score",
        "\xef\xbb\xbftimestamp,movieId,userId,rating", "timestamp,\"item_id\",user_id,stars"}) {
    EXPECT_EQ(rows_of(parse_as(Format::csv, header + "\n7,y,u,4.5\n8,x,u,3\n")), rows) << header;
  }
}

TEST(LoadDelimited, TakesNamesFromTheSettings) {
  LoadConfig config;
  config.format = Format::tsv;
  config.user_column = "who";
  config.item_column = "what";
  const std::string text = "item\twhat\twho\n1\tx\tu\n";
  EXPECT_EQ(rows_of(parse(text, "file", config)), (Names{"u x 10 0"}));
  config.rating_column = "stars";
  EXPECT_EQ(
      message_of<DataError>([&] { (void)parse(text, "file", config); }),
      "file:1: found header 'item, what, who', expected one with columns 'who' and 'what' and "
      "'stars'");
}

TEST(LoadDelimited, ReadsQuotedFieldsAndKeepsTheOrderOfTextIds) {
  const Dataset data =
      parse_as(Format::csv, "user,item,text\n\"v, the\",2,\"so\n\"\"so\"\"\"\nu,007,\n");
  EXPECT_EQ(data.user_names, (Names{"v, the", "u"}));
  EXPECT_EQ(data.item_names, (Names{"2", "007"}));  // 007 is no plain number, so none is one
  EXPECT_FALSE(data.has_ratings);
  EXPECT_FALSE(data.has_timestamps);
}

TEST(LoadRecbole, ReadsTypedHeadersAndRoundsTimes) {
  const Dataset data =
      parse_as(Format::recbole,
               "user_id:token\titem_id:token\trating:float\ttimestamp:float\n1\t\"x\t2.5\t1.4e3\n");
  EXPECT_EQ(rows_of(data), (Names{"1 \"x 25 1400"}));
}

TEST(LoadSplit, ReadsPartsAndClientsAndClosesGapsInTheirNumbers) {
  const Dataset data = parse_as(Format::split, kSplitText);
  EXPECT_EQ(data.user_names, (Names{"1", "4"}));
  EXPECT_EQ(data.item_names, (Names{"2", "9"}));
  EXPECT_EQ(data.parts, (std::vector<Part>{Part::train, Part::test, Part::valid}));
  EXPECT_EQ(data.user_clients, (std::vector<ClientId>{client_id(0), client_id(1)}));
  EXPECT_FALSE(data.has_ratings);
}

TEST(Load, DetectsEveryFormatByItsContent) {
  const auto detected = [](const std::string& text) {
    return rows_of(parse(text, "something", {}));
  };
  EXPECT_EQ(detected("1\t2\t3\t4\n"), (Names{"1 2 30 4"}));
  EXPECT_EQ(detected("1::2::3::4\n"), (Names{"1 2 30 4"}));
  EXPECT_EQ(detected("\"User-ID\";\"ISBN\";\"Book-Rating\"\n\"1\";\"2\";\"3\"\n"),
            (Names{"1 2 30 0"}));
  EXPECT_EQ(detected("a,b,3,4\n"), (Names{"a b 30 4"}));
  EXPECT_EQ(detected("user_id:token\titem_id:token\n1\t2\n"), (Names{"1 2 10 0"}));
  EXPECT_EQ(detected("asin,reviewerID\r\nb,a\r\n"), (Names{"a b 10 0"}));
  EXPECT_EQ(detected("item\tuser\nb\ta\n"), (Names{"a b 10 0"}));
  EXPECT_EQ(detected(kSplitText).size(), 3U);
}

TEST(Load, LetsTheNameDecideBeforeTheContent) {
  EXPECT_EQ(rows_of(parse("a,b,3,4\n", "ratings", {})), (Names{"a b 30 4"}));
  EXPECT_EQ(message_of<DataError>([] { (void)parse("a,b,3,4\n", "u.data", {}); }),
            "u.data:1: found 1 field, expected 4");
}

TEST(Load, NamesTheDataAfterItsFolderWhereTheFileNameSaysNothing) {
  const DataFolder folder;
  const std::string row = "1\t2\t3\t4\n";
  EXPECT_EQ(load(folder.write("ml-tiny/u.data", row), {}).name, "ml-tiny");
  EXPECT_EQ(load(folder.write("ml-tiny/some-split.tsv", kSplitText), {}).name, "ml-tiny");
  EXPECT_EQ(load(folder.write("ml-tiny/shop.log", row), {}).name, "shop");
  EXPECT_EQ(load(folder.write("ml-tiny/shop.csv.gz", gzip("user,item\n1,2\n")), {}).name, "shop");
}

TEST(Load, GivesTheDigestOfTheBytesAsStored) {
  const DataFolder folder;
  const auto path = folder.write("x.csv", "user,item\n1,2\n");
  EXPECT_EQ(load(path, {}).sha256,
            "81551c5e81af55b257b7e60f8926368a6150c4f48a4d5a8ff05061236504a9a1");
}
}  // namespace
}  // namespace fedhur::data
