#include "process.hpp"

namespace fedhur::tests {
namespace {
TEST(Compare, PutsRunsSideBySide) {
  const Workplace place;
  ASSERT_EQ(place.train("a", {"--method", "fedmf"}).exit_code, 0);
  ASSERT_EQ(place.train("b", {"--method", "local", "--set", "train.learning_rate=0.02"}).exit_code,
            0);
  const Finished finished = place.fedhur({"compare", "a", "b"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, IsEmpty());
  EXPECT_THAT(finished.out, HasSubstr("test ndcg@10"));
  EXPECT_THAT(finished.out, HasSubstr("valid recall@10"));
  EXPECT_THAT(finished.out, HasSubstr("*"));
  EXPECT_THAT(finished.out, HasSubstr("settings that differ"));
  EXPECT_THAT(finished.out, HasSubstr("train.learning_rate      0.03  0.02\n"));

  const json compared = json::parse(place.fedhur({"compare", "a", "b/", "--json"}).out);
  EXPECT_EQ(compared.at("runs")[0].at("method"), "fedmf");
  EXPECT_EQ(compared.at("runs")[1].at("method"), "local");
  EXPECT_EQ(compared.at("differing_settings").at("train.learning_rate"), json({"0.03", "0.02"}));
  EXPECT_TRUE(compared.at("groups").empty());

  const Finished csv = place.fedhur({"compare", "a", "b", "--csv"});
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 3);
  EXPECT_THAT(csv.out, HasSubstr("\na,fedmf,synthetic,42,7,60,90,"));
}

TEST(Compare, AveragesOverSeeds) {
  const Workplace place;
  double sum = 0.0;
  for (const std::string seed : {"1", "2", "3"}) {
    ASSERT_EQ(place.train(seed, {"--seed", seed}).exit_code, 0);
    sum += json::parse(place.read(seed + "/result.json")).at("test").at("ndcg@10").get<double>();
  }
  const Finished text = place.fedhur({"compare", "1", "2", "3"});
  EXPECT_THAT(text.out, HasSubstr("fedhur over seeds 1, 2, 3: test recall@10 "));
  EXPECT_THAT(text.err, IsEmpty());
  const json compared = json::parse(place.fedhur({"compare", "1", "2", "3", "--json"}).out);
  ASSERT_EQ(compared.at("groups").size(), 1U);
  const json& spread = compared.at("groups")[0].at("test").at("ndcg@10");
  EXPECT_NEAR(spread.at("mean").get<double>(), sum / 3.0, 1e-12);
  EXPECT_GT(spread.at("std").get<double>(), 0.0);
}

TEST(Compare, WarnsWhereNumbersCannotBeCompared) {
  const Workplace place;
  ASSERT_EQ(place.train("a").exit_code, 0);
  ASSERT_EQ(place.train("data", {"--set", "synthetic.num_groups=5"}).exit_code, 0);
  ASSERT_EQ(place.train("split", {"--set", "split.kind=user"}).exit_code, 0);
  ASSERT_EQ(place.train("seed", {"--method", "local", "--seed", "1"}).exit_code, 0);
  EXPECT_THAT(place.fedhur({"compare", "a", "data"}).err, HasSubstr("different data"));
  EXPECT_THAT(place.fedhur({"compare", "a", "split"}).err, HasSubstr("split.kind differs"));
  EXPECT_THAT(place.fedhur({"compare", "a", "seed"}).err, HasSubstr("seeds differ"));
  EXPECT_THAT(place.fedhur({"compare", "a"}).err, IsEmpty());
}

TEST(Compare, TakesOnlyRunFolders) {
  const Workplace place;
  EXPECT_EQ(place.fedhur({"compare"}).exit_code, 2);
  EXPECT_EQ(place.fedhur({"compare", "train"}).exit_code, 2);
  ASSERT_EQ(place.train("train").exit_code, 0);
  EXPECT_EQ(place.fedhur({"compare", "train"}).exit_code, 0)
      << "a run may be called like a command";
}
}  // namespace
}  // namespace fedhur::tests
