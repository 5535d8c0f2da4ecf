// The public data sets, where a copy lies beside the source tree: counts as their description says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "fedhur/data/split.hpp"
#include "tests/data/small_data.hpp"

namespace fedhur::data {
namespace {
class RealData : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(folder())) {
      GTEST_SKIP() << "the public data sets are not in " << folder()
                   << "; FEDHUR_SHARED_DATA can name another folder";
    }
  }
  static std::filesystem::path folder() {
    const char* const given = std::getenv("FEDHUR_SHARED_DATA");
    if (given != nullptr) return given;
    return std::filesystem::path(FEDHUR_SOURCE_DIR) / ".." / "shared" / "data";
  }
  static Dataset load_file(const char* name, bool skip_bad_rows = false) {
    LoadConfig config;
    config.skip_bad_rows = skip_bad_rows;
    return load(folder() / name, config);
  }
  static void expect_sizes(const Dataset& data, Index users, Index items, std::size_t rows) {
    EXPECT_EQ(data.num_users(), users);
    EXPECT_EQ(data.num_items(), items);
    EXPECT_EQ(data.interactions.size(), rows);
    EXPECT_EQ(data.skipped_rows, 0);
  }
  static void expect_parts(const Dataset& data, Index train, Index valid, Index test) {
    EXPECT_EQ(std::ranges::count(data.parts, Part::train), train);
    EXPECT_EQ(std::ranges::count(data.parts, Part::valid), valid);
    EXPECT_EQ(std::ranges::count(data.parts, Part::test), test);
    EXPECT_EQ(std::ranges::max(data.user_clients), client_id(99));
    EXPECT_TRUE(std::ranges::is_sorted(data.user_clients));
  }
  static std::ptrdiff_t num_titled(const Dataset& data) {
    return std::ranges::count_if(data.item_titles,
                                 [](const auto& title) { return !title.empty(); });
  }
};

TEST_F(RealData, Movielens100k) {
  const Dataset data = load_file("ml-100k/u.data.gz");
  expect_sizes(data, 943, 1682, 100000);
  EXPECT_EQ(data.name, "ml-100k");
  EXPECT_TRUE(data.has_ratings);
  EXPECT_TRUE(data.has_timestamps);
  EXPECT_EQ(data.item_titles.front(), "Toy Story (1995)");
  EXPECT_EQ(num_titled(data), 1682);
  const auto parts = split(data, {}, Rng(1));
  EXPECT_EQ(std::ranges::count(parts, Part::train), 72000);
  EXPECT_EQ(std::ranges::count(parts, Part::valid), 8000);
}

TEST_F(RealData, Movielens100kSplit) {
  const Dataset data = load_file("ml-100k/fedcia-split.tsv.gz");
  expect_sizes(data, 943, 1682, 100000);
  expect_parts(data, 72000, 8000, 20000);
  EXPECT_EQ(data.item_names.front(), "0");
  EXPECT_EQ(data.item_titles.front(), "Toy Story (1995)");
}

TEST_F(RealData, Movielens1m) {
  const Dataset data = load_file("ml-1m/ratings.dat.gz");
  expect_sizes(data, 6040, 3706, 1000209);
  EXPECT_FALSE(data.has_timestamps);  // this copy has lost them
  EXPECT_EQ(num_titled(data), 3706);
  EXPECT_EQ(std::ranges::count(data.interactions, 5.0F, &Interaction::rating), 226310);
}

TEST_F(RealData, Movielens1mSplit) {
  const Dataset data = load_file("ml-1m/fedcia-split.tsv.gz");
  expect_sizes(data, 6040, 3706, 1000209);
  expect_parts(data, 720150, 80017, 200042);
  EXPECT_EQ(num_titled(data), 3706);
  EXPECT_EQ(data.item_titles.front(), "Toy Story (1995)");
}

TEST_F(RealData, AmazonBooks) {
  const Dataset data = load_file("book/interactions.csv.gz");
  expect_sizes(data, 11000, 9332, 200860);
  EXPECT_EQ(data.name, "book");
  EXPECT_EQ(data.item_names.front(), "0373730489");
  EXPECT_FALSE(data.has_ratings);
}

TEST_F(RealData, AmazonBooksSplits) {
  const Dataset published = load_file("book/rlmrec-split.tsv.gz");
  expect_sizes(published, 11000, 9332, 200860);
  expect_parts(published, 120464, 40290, 40106);
  const Dataset ours = load_file("book/seed42-split.tsv.gz");
  expect_sizes(ours, 11000, 9332, 200860);
  expect_parts(ours, 159048, 20906, 20906);
  EXPECT_EQ(ours.item_titles.front(), "0373730489");
}

TEST_F(RealData, BookCrossing) {
  const Dataset data = load_file("bx/BX-Book-Ratings.csv.gz");
  EXPECT_EQ(data.interactions.size(), 526101U);
  EXPECT_EQ(data.skipped_rows, 0);
  EXPECT_EQ(std::ranges::count(data.interactions, 0.0F, &Interaction::rating), 208950);
  EXPECT_GT(num_titled(data), 26000);
}

TEST_F(RealData, BookCrossingSplits) {
  const Dataset ours = load_file("bx/seed42-split.tsv.gz");
  expect_sizes(ours, 11897, 12432, 141679);
  expect_parts(ours, 112691, 14494, 14494);
  EXPECT_EQ(num_titled(ours), 12186);
  EXPECT_EQ(ours.item_titles.front(), "Clara Callan");
  const Dataset published = load_file("bx/fedcia-train.tsv.gz");
  expect_sizes(published, 18513, 19996, 347150);  // one of its 19997 columns is empty
  expect_parts(published, 347150, 0, 0);
  EXPECT_EQ(num_titled(published), 0);  // items.tsv there belongs to the other split
}

TEST_F(RealData, Beauty) {
  const Dataset data = load_file("beauty/Amazon_Beauty.inter.gz");
  expect_sizes(data, 22363, 12101, 198502);
  EXPECT_EQ(data.item_titles.front(), "B004756YJA");
}

TEST_F(RealData, BeautySplits) {
  const Dataset ours = load_file("beauty/seed42-split.tsv.gz");
  expect_sizes(ours, 5123, 11654, 91824);
  expect_parts(ours, 73676, 9074, 9074);
  EXPECT_EQ(ours.item_titles.front(), "B004756YJA");
  const Dataset published = load_file("beauty/fedcia-split.tsv.gz");
  expect_sizes(published, 22352, 12100, 198448);
  expect_parts(published, 142921, 15863, 39664);
  EXPECT_EQ(published.item_titles.front(), "B004ZT0SSG");
}

// 30000 lines, of which one is the header and one repeats a pair with another time.
TEST_F(RealData, BeautyRatings) {
  const std::string problem =
      message_of<DataError>([] { (void)load_file("beauty/ratings_Beauty.head.csv.gz"); });
  EXPECT_TRUE(problem.ends_with(":29970: found a pair of user and item that is further up already"))
      << problem;
  const Dataset data = load_file("beauty/ratings_Beauty.head.csv.gz", true);
  EXPECT_EQ(data.interactions.size(), 29998U);
  EXPECT_EQ(data.skipped_rows, 1);
  EXPECT_TRUE(data.has_ratings);
  EXPECT_TRUE(data.has_timestamps);
}
}  // namespace
}  // namespace fedhur::data
