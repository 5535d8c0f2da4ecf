#include "fedhur/data/titles.hpp"

#include <gtest/gtest.h>

#include "tests/data/small_data.hpp"

namespace fedhur::data {
namespace {
using Names = std::vector<std::string>;

const std::string kSplit = "client\tuser\titem\tsplit\n0\t0\t0\ttrain\n0\t0\t1\ttrain\n";

TEST(Titles, ComeFromTheUsualFileBesideMovielens) {
  const DataFolder folder;
  folder.write("u.item", "1|Caf\xe9 (2001)|01-Jan-2001||\n3|Plain (2003)|||\n");
  folder.write("movies.dat.gz", gzip("1::One: a Tale (2001)::Drama\n"));
  EXPECT_EQ(load(folder.write("u.data", "1\t1\t1\t1\n1\t2\t1\t1\n1\t3\t1\t1\n"), {}).item_titles,
            (Names{"Caf\xc3\xa9 (2001)", "", "Plain (2003)"}));
  EXPECT_EQ(load(folder.write("ratings.dat", "1::1::1::1\n"), {}).item_titles,
            (Names{"One: a Tale (2001)"}));
}

TEST(Titles, KeepTextThatIsUtf8Already) {
  const DataFolder folder;
  folder.write("u.item", "1|Caf\xc3\xa9|\n");
  EXPECT_EQ(load(folder.write("u.data", "1\t1\t1\t1\n"), {}).item_titles, (Names{"Caf\xc3\xa9"}));
}

TEST(Titles, AreShiftedByOneForSplitsBesideMovielens) {
  const DataFolder folder;
  folder.write("u.item", "1|First|\n2|Second|\n3|Third|\n");
  EXPECT_EQ(load(folder.write("a-split.tsv", kSplit), {}).item_titles, (Names{"First", "Second"}));
}

TEST(Titles, UnderstandBookCrossing) {
  const DataFolder folder;
  folder.write(
      "BX-Books.csv",
      "\"ISBN\";\"Book-Title\";\"Book-Author\"\n\"0A\";\"\\\"Salt\\\" &amp; Z\xfcrich\";\"N\"\n");
  const auto path = folder.write("BX-Book-Ratings.csv",
                                 "\"User-ID\";\"ISBN\";\"Book-Rating\"\n\"1\";\"0A\";\"0\"\n");
  EXPECT_EQ(load(path, {}).item_titles, (Names{"\"Salt\" & Z\xc3\xbcrich"}));
}

TEST(Titles, ComeFromItemsTsvWithoutQuoting) {
  const DataFolder folder;
  folder.write("items.tsv", "item\tisbn\ttitle\n0\tA\t\"Q\" is\n1\tB\t\n");
  EXPECT_EQ(load(folder.write("a-split.tsv", kSplit), {}).item_titles, (Names{"\"Q\" is", ""}));
}

TEST(Titles, AreTheForeignIdsWhereThereIsNothingBetter) {
  const DataFolder folder;
  folder.write("items.tsv.gz", gzip("id\tasin\titem_a\n1\tB1\t\n0\tB0\t1\n5\tB5\t0\n"));
  EXPECT_EQ(load(folder.write("a-split.tsv", kSplit), {}).item_titles, (Names{"B5", "B0"}));
  EXPECT_EQ(load(folder.write("b-split.tsv", kSplit), {}).item_titles, (Names{"B0", "B1"}));
}

TEST(Titles, OfAnotherSplitAreNotGuessed) {
  const DataFolder folder;
  folder.write("items.tsv", "item\ttitle\n0\tZero\n");
  const auto path = folder.write("a-split.tsv", kSplit);
  EXPECT_EQ(load(path, {}).item_titles, (Names{"", ""}));
  LoadConfig config;
  config.titles = (folder.path() / "items.tsv").string();
  EXPECT_EQ(load(path, config).item_titles, (Names{"Zero", ""}));
}

TEST(Titles, UseTheIdColumnThatKnowsTheMostItems) {
  const DataFolder folder;
  folder.write("items.tsv", "item\tasin\ttitle\n0\tB0\tZero\n1\tB1\tOne\n");
  EXPECT_EQ(load(folder.write("x.csv", "user,item\nu,B1\nu,B0\n"), {}).item_titles,
            (Names{"One", "Zero"}));
}

TEST(Titles, MayBeLeftOut) {
  const DataFolder folder;
  folder.write("u.item", "broken\n");
  const auto path = folder.write("u.data", "1\t1\t1\t1\n");
  LoadConfig config;
  config.titles = "none";
  EXPECT_EQ(load(path, config).item_titles, (Names{""}));
}

TEST(Titles, RefuseFilesThatAreMissingOrBroken) {
  const DataFolder folder;
  const auto path = folder.write("u.data", "1\t1\t1\t1\n");
  LoadConfig config;
  config.titles = (folder.path() / "nowhere.tsv").string();
  EXPECT_EQ(message_of<DataError>([&] { (void)load(path, config); }),
            config.titles + ": there is no such file");
  config.titles = folder.write("bad.tsv", "a\tb\n1\t2\n").string();
  EXPECT_EQ(message_of<DataError>([&] { (void)load(path, config); }),
            config.titles + ":1: found header 'a, b', expected columns such as 'item' and 'title'");
  config.titles = folder.write("u.item", "1|x\n2\n").string();
  EXPECT_EQ(message_of<DataError>([&] { (void)load(path, config); }),
            config.titles + ":2: found 1 field, expected 2");
  config.skip_bad_rows = true;
  EXPECT_EQ(load(path, config).item_titles, (Names{"x"}));
}
}  // namespace
}  // namespace fedhur::data
