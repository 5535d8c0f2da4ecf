#include "fedhur/evaluate/breakdown.hpp"

#include <gtest/gtest.h>

#include "fedhur/base/error.hpp"
#include "tests/support/support.hpp"

namespace fedhur::evaluate {
namespace {
using tests::items;

TEST(BinItems, GivesEachBinAThirdOfTheRows) {
  // Item 3 alone has a third; 0 and 2 the next; the five others share the last.
  EXPECT_EQ(bin_items({5, 1, 4, 9, 2, 2, 2, 2}), (ItemBins{1, 2, 1, 0, 2, 2, 2, 2}));
  EXPECT_EQ(bin_items({3, 3, 3}), (ItemBins{0, 1, 2})) << "equal counts in item order";
  EXPECT_EQ(bin_items({0, 0}), (ItemBins{2, 2})) << "nothing to go by";
  EXPECT_TRUE(bin_items({}).empty());
}

TEST(ActivityBin, DoublesFromBinToBin) {
  EXPECT_EQ(activity_bin(0), 0);
  for (Index bin = 1; bin < kActivityBins; ++bin) {
    EXPECT_EQ(activity_bin(first_of_activity_bin(bin)), bin);
    EXPECT_EQ(activity_bin(first_of_activity_bin(bin) - 1), bin - 1);
  }
  EXPECT_EQ(activity_bin(1'000'000), kActivityBins - 1);
}

TEST(HeadlineCutoff, IsTenWhereItCan) {
  EXPECT_EQ(headline_cutoff({5, 10, 20}), 10);
  EXPECT_EQ(headline_cutoff({50, 20}), 20);
}

TEST(Breakdown, CountsUsersByActivityAndItemsByPopularity) {
  const ItemBins bins = {0, 0, 1, 2, 2};
  Breakdown breakdown(2);
  // The third item of the list is beyond the cutoff.
  breakdown.add(5, items({0, 3, 2}), items({2, 3}), bins);
  breakdown.add(6, items({1, 0}), items({1}), bins);
  breakdown.add(0, items({4}), items({1}), bins);
  MatrixOf<double> popularity(3, 3);  // test rows, hits, recommended
  popularity << 2, 1, 3,              //
      1, 0, 0,                        //
      1, 1, 2;
  EXPECT_EQ(breakdown.by_popularity(), popularity);
  const auto& activity = breakdown.by_activity();
  EXPECT_EQ(activity(activity_bin(5), 0), 2.0) << "users";
  EXPECT_EQ(activity(activity_bin(5), 1), 1.0) << "precision: one hit of two, twice";
  EXPECT_EQ(activity(activity_bin(5), 2), 1.5) << "recall: one of two, one of one";
  EXPECT_EQ(activity(0, 0), 1.0);
  EXPECT_EQ(activity(0, 2), 0.0);
  EXPECT_EQ(activity.col(0).sum(), 3.0);

  Breakdown without_items(2);
  without_items.add(5, items({0, 3, 2}), items({2, 3}), {});
  EXPECT_TRUE(without_items.by_popularity().isZero());
  EXPECT_EQ(without_items.by_activity().col(0).sum(), 1.0);
}

TEST(Breakdown, AddsWhatOtherClientsSay) {
  Breakdown one(10);
  one.add(1, items({0}), items({0}), {0});
  Breakdown sum(10);
  sum.add_arrays(one.by_activity(), one.by_popularity());
  sum.add_arrays(one.by_activity(), one.by_popularity());
  EXPECT_EQ(sum.by_activity(), 2.0 * one.by_activity());
  EXPECT_EQ(sum.by_popularity(), 2.0 * one.by_popularity());

  MatrixOf<double> negative = one.by_activity();
  negative(0, 0) = -1.0;
  EXPECT_THROW(sum.add_arrays(negative, one.by_popularity()), ProtocolError);
  MatrixOf<double> infinite = one.by_popularity();
  infinite(2, 2) = INFINITY;
  EXPECT_THROW(sum.add_arrays(one.by_activity(), infinite), ProtocolError);
  EXPECT_THROW(sum.add_arrays(one.by_popularity(), one.by_activity()), ProtocolError);
}
}  // namespace
}  // namespace fedhur::evaluate
