#include "fedhur/data/split_file.hpp"

#include <gtest/gtest.h>

#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/data/load.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::data {
namespace {
struct Files {
  tests::TempFolder folder;
  Dataset dataset;
  explicit Files(std::string_view ratings) {
    write_file_atomically(folder / "ratings.csv", ratings);
    dataset = load(folder / "ratings.csv", {});
  }
  Dataset apply(std::string_view split) const {
    write_file_atomically(folder / "split.tsv", split);
    return apply_split_file(dataset, folder / "split.tsv");
  }
};

constexpr std::string_view kNumbered = "user,item,rating\n1,10,5\n1,30,4\n2,10,3\n2,20,2\n";

TEST(SplitFile, TakesRatingsAndNamesOverWhenNumbersAreTheSourcesLessOne) {
  const Dataset split = Files(kNumbered).apply(
      "client\tuser\titem\tsplit\n0\t0\t29\ttrain\n0\t0\t9\ttest\n1\t1\t9\ttrain\n");
  ASSERT_EQ(split.interactions.size(), 3U);  // the row it does not mention is gone
  EXPECT_EQ(split.user_names, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(split.item_names, (std::vector<std::string>{"10", "30"}));
  EXPECT_EQ(split.interactions[0].rating, 4.0F);
  EXPECT_EQ(split.parts, (std::vector<Part>{Part::train, Part::test, Part::train}));
  EXPECT_EQ(split.user_clients, (std::vector<ClientId>{client_id(0), client_id(1)}));
}

TEST(SplitFile, TakesTheSourcesOwnNumbers) {
  const Dataset split =
      Files(kNumbered).apply("client\tuser\titem\tsplit\n0\t1\t30\ttrain\n0\t2\t20\ttest\n");
  EXPECT_EQ(split.item_names, (std::vector<std::string>{"20", "30"}));
}

TEST(SplitFile, TakesPositionsForNamesThatAreNoNumbers) {
  const Dataset split = Files("user,item\nann,tea\nbob,pie\n")
                            .apply("client\tuser\titem\tsplit\n0\t0\t0\ttrain\n0\t1\t1\ttrain\n");
  EXPECT_EQ(split.user_names, (std::vector<std::string>{"ann", "bob"}));
  EXPECT_EQ(split.item_names, (std::vector<std::string>{"tea", "pie"}));
}

TEST(SplitFile, RefusesRowsThatTheDataDoNotHave) {
  EXPECT_THROW((void)Files(kNumbered).apply("client\tuser\titem\tsplit\n0\t7\t700\ttrain\n"),
               DataError);
  // Users fit by their own numbers only, and then (1, 20) is no row.
  EXPECT_THROW(
      (void)Files(kNumbered).apply("client\tuser\titem\tsplit\n0\t1\t20\ttrain\n0\t2\t10\ttrain\n"),
      DataError);
}
}  // namespace
}  // namespace fedhur::data
