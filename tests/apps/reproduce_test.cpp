#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "process.hpp"

namespace fedhur::tests {
namespace {
const Arguments kQuick = {
    "--out", "out",   "--seeds",         "2",     "--rounds",
    "2",     "--set", "clients.count=5", "--set", "synthetic.num_interactions=3000"};

TEST(Reproduce, WritesATableAndKeepsItsRuns) {
  const Workplace place;
  const Finished first = place.fedhur(Arguments{"reproduce", "table", "query"} + kQuick);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("| H - (HF + FH)/2 |"));
  EXPECT_THAT(first.err, HasSubstr("[8/8] query synthetic: "));
  EXPECT_EQ(place.read("out/query.md") + "\n", first.out);
  EXPECT_THAT(place.read("out/query.csv"), HasSubstr("query,synthetic,\"H\",ndcg@10,"));
  const Finished second =
      place.fedhur(Arguments{"reproduce", "table", "query", "--json", "--quiet"} + kQuick);
  EXPECT_EQ(second.err, "");
  EXPECT_EQ(second.out, place.read("out/query.json"));
  EXPECT_EQ(nlohmann::json::parse(second.out)["data"][0]["rows"][3]["seeds"].size(), 2U);
}

TEST(Reproduce, MakesSomeRowsInAPresetRegime) {
  const Workplace place;
  const Arguments some = {"--preset",   "paper",
                          "--row",      "none",
                          "--row",      "hierarchical common",
                          "--at-round", "1",
                          "--set",      "model.embedding_dim=8"};
  const Finished finished =
      place.fedhur(Arguments{"reproduce", "table", "relations"} + some + kQuick);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("[4/4] relations synthetic: "));
  EXPECT_THAT(finished.out, AllOf(HasSubstr("| none |"), HasSubstr("| hierarchical common |"),
                                  Not(HasSubstr("utility |")), HasSubstr("preset paper")));
  EXPECT_TRUE(place.has("out/relations-after-1.csv"));
  for (const Arguments& wrong :
       {Arguments{"table", "relations", "--row", "hierarchical"},
        Arguments{"table", "relations", "--preset", "papers"}, Arguments{"all", "--row", "none"},
        Arguments{"table", "correlation", "--row", "none"}}) {
    const Finished refused = place.fedhur(Arguments{"reproduce"} + wrong);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, AnyOf(HasSubstr("--row"), HasSubstr("--preset")));
  }
}

TEST(Reproduce, StopsInTimeAndGoesOn) {
  const Workplace place;
  const Finished stopped =
      place.fedhur(Arguments{"reproduce", "table", "query", "--minutes", "1e-9"} + kQuick);
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("the same command goes on"));
  EXPECT_THAT(place.read("out/query.md"), HasSubstr("not finished: 8 of 8 runs are missing"));
}

// The lines of a block of data in a script, as numbers.
std::vector<std::vector<double>> block_of(const std::string& script, const std::string& name) {
  const std::string begin = "$" + name + " << EOD\n";
  const std::size_t at = script.find(begin);
  EXPECT_NE(at, std::string::npos) << name;
  if (at == std::string::npos) return {};
  const std::size_t first = at + begin.size();
  std::vector<std::vector<double>> rows;
  for (const std::string& line :
       text_lines_of(script.substr(first, script.find("EOD\n", first) - first))) {
    std::istringstream words(line);
    auto& row = rows.emplace_back();
    for (std::string word; words >> word;) row.push_back(std::stod(word));
  }
  return rows;
}

class PaperFigures : public DrawingTest {
 protected:
  // The picture, which the script beside it draws again.
  void expect_drawn(const std::string& name) const {
    const std::string svg = place_.read("figures/" + name + ".svg");
    EXPECT_THAT(svg, AllOf(HasSubstr("<svg"), HasSubstr("</svg>"))) << name;
    EXPECT_EQ(place_.shell("gnuplot -d figures/" + name + ".svg.gp").out, svg) << name;
  }
  [[nodiscard]] std::string script(const std::string& name) const {
    return place_.read("figures/" + name + ".svg.gp");
  }
  // Place, mean and deviation of every row, as in the table.
  void expect_same_numbers(const std::string& table, const std::string& block,
                           const std::string& metric) const {
    const json rows = json::parse(place_.read("out/" + table + ".json"))["data"][0]["rows"];
    const auto drawn = block_of(script(table + "-synthetic"), block);
    ASSERT_EQ(drawn.size(), rows.size());
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      EXPECT_EQ(drawn[i][1], rows[i]["mean"][metric].get<double>()) << table << i;
      EXPECT_EQ(drawn[i][2], rows[i]["deviation"][metric].get<double>()) << table << i;
    }
  }
};

TEST_F(PaperFigures, ShowTheRowsOfATable) {
  const Finished finished = place_.fedhur(
      Arguments{"reproduce", "table", "query", "--svg", "figures", "--png", "pixels"} + kQuick);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, place_.read("out/query.md") +
                              "\nfigure: figures/query-synthetic.svg\n"
                              "figure: pixels/query-synthetic.png\n");
  expect_drawn("query-synthetic");
  EXPECT_THAT(place_.read("pixels/query-synthetic.png"), HasSubstr("PNG\r\n"));
  expect_same_numbers("query", "panel0", "ndcg@10");
  const std::string svg = place_.read("figures/query-synthetic.svg");
  const json rows = json::parse(place_.read("out/query.json"))["data"][0]["rows"];
  for (const json& row : rows) {
    EXPECT_THAT(svg, HasSubstr(">" + row["row"].get<std::string>() + "<"));
    EXPECT_THAT(svg, HasSubstr(fmt::format("{:.4f} ± ", row["mean"]["ndcg@10"].get<double>())));
  }
  EXPECT_THAT(svg, HasSubstr(">synthetic, mean and deviation over 2 seeds<"));
  EXPECT_THAT(svg, AllOf(HasSubstr(">proposed<"), Not(HasSubstr("published"))));

  const Finished json_alone = place_.fedhur(
      Arguments{"reproduce", "table", "query", "--svg", "figures", "--json"} + kQuick);
  EXPECT_EQ(json_alone.out, place_.read("out/query.json"));
  EXPECT_THAT(json_alone.err, HasSubstr("figure: figures/query-synthetic.svg\n"));
}

TEST_F(PaperFigures, AreCurvesWhereTheRowsAreNumbers) {
  const Finished finished =
      place_.fedhur(Arguments{"reproduce", "figure", "sensitivity", "--svg", "figures"} + kQuick);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  for (const std::string table : {"levels", "directions"}) {
    expect_drawn(table + "-synthetic");
    expect_same_numbers(table, "panel0", "ndcg@10");
    expect_same_numbers(table, "panel1", "recall@10");
    EXPECT_THAT(script(table + "-synthetic"),
                AllOf(HasSubstr("set ylabel 'NDCG@10'"), HasSubstr("set ylabel 'Recall@10'"),
                      HasSubstr("yerrorlines")));
  }
  EXPECT_THAT(script("directions-synthetic"), HasSubstr("set logscale x 2\n"));
  EXPECT_THAT(script("levels-synthetic"), Not(HasSubstr("set logscale")));
  const auto drawn = block_of(script("directions-synthetic"), "panel0");
  EXPECT_EQ(drawn[3][0], 64.0);
  EXPECT_EQ(drawn[2][4], 1.0) << "the paper has sixteen";
}

TEST_F(PaperFigures, OfSensitivityCanHaveEachMetricScaledOnItsOwn) {
  const Finished finished = place_.fedhur(
      Arguments{"reproduce", "figure", "sensitivity", "--svg", "figures", "--scaled"} + kQuick);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  expect_drawn("levels-synthetic-scaled");
  const json rows = json::parse(place_.read("out/levels.json"))["data"][0]["rows"];
  const std::vector<std::string> metrics = {"ndcg@10", "recall@10", "mrr@10"};
  for (std::size_t panel = 0; panel < metrics.size(); ++panel) {
    std::vector<double> means;
    for (const json& row : rows) means.push_back(row["mean"][metrics[panel]].get<double>());
    const auto [least, most] = std::minmax_element(means.begin(), means.end());
    const auto drawn = block_of(script("levels-synthetic-scaled"), "panel" + std::to_string(panel));
    ASSERT_EQ(drawn.size(), means.size());
    for (std::size_t i = 0; i < means.size(); ++i) {
      EXPECT_NEAR(drawn[i][1], (means[i] - *least) / (*most - *least), 1e-12) << metrics[panel];
    }
  }
}

TEST_F(PaperFigures, PutThePapersNumbersBesideOurs) {
  // A data set of the name that the paper has numbers for, and two rounds of all methods on it.
  std::filesystem::create_directory(place_ / "ml-100k");
  std::string rows;
  for (int user = 1; user <= 20; ++user) {
    for (int i = 0; i < 12; ++i) rows += fmt::format("{}\t{}\t4\t{}\n", user, (user + i) % 17, i);
  }
  place_.write("ml-100k/u.data", rows);
  const Finished finished = place_.fedhur(
      {"reproduce", "table", "overall", "--data", "ml-100k/u.data", "--seeds", "1", "--rounds", "2",
       "--set", "clients.count=4", "--out", "out", "--svg", "figures"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  expect_drawn("overall-ml-100k");
  EXPECT_THAT(place_.read("figures/overall-ml-100k.svg"),
              AllOf(HasSubstr(">published<"), HasSubstr(">ml-100k, one seed<"),
                    Not(HasSubstr("deviation")), HasSubstr(">FedHUR<")));
  const auto drawn = block_of(script("overall-ml-100k"), "panel0");
  ASSERT_EQ(drawn.size(), 11U);
  EXPECT_TRUE(std::isnan(drawn[0][3])) << "popularity is not in the paper";
  EXPECT_EQ(drawn[10][3], 0.3693);
  EXPECT_EQ(drawn[10][4], 1.0);
}

TEST_F(PaperFigures, ShowTheGroupsOfAnItemAndItsHelpers) {
  const Finished finished =
      place_.fedhur(Arguments{"reproduce", "figure", "hierarchy", "--hierarchy-round", "2",
                              "--client", "3", "--svg", "figures", "--pdf", "figures"} +
                    kQuick);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  expect_drawn("hierarchy-synthetic");
  EXPECT_THAT(place_.read("figures/hierarchy-synthetic.pdf"), HasSubstr("%PDF"));
  const json found = json::parse(place_.read("out/hierarchy-synthetic.json"));
  ASSERT_FALSE(found["steps"].empty());
  const std::string svg = place_.read("figures/hierarchy-synthetic.svg");
  EXPECT_THAT(svg, AllOf(HasSubstr(">equal weights of 5 clients<"),
                         HasSubstr(">weight of a helper of client 3<"),
                         HasSubstr(">" + found["item"].get<std::string>() + ", round 2<")));
  for (std::size_t level = 0; level < found["steps"].size(); ++level) {
    const json& step = found["steps"][level];
    const auto drawn = block_of(script("hierarchy-synthetic"), fmt::format("level{}", level));
    ASSERT_EQ(drawn.size(), step["helpers"].size());
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      EXPECT_EQ(drawn[i][1], step["helpers"][i]["weight"].get<double>());
    }
    EXPECT_THAT(svg, HasSubstr(fmt::format(">level {}: ", level + 1)));
  }
}

TEST_F(PaperFigures, OfCorrelationsHaveARowPerRelationAndPart) {
  const Finished finished = place_.fedhur({"reproduce",
                                           "table",
                                           "correlation",
                                           "--correlation-round",
                                           "1",
                                           "--seeds",
                                           "2",
                                           "--set",
                                           "clients.count=4",
                                           "--set",
                                           "synthetic.num_users=40",
                                           "--set",
                                           "synthetic.num_items=60",
                                           "--set",
                                           "synthetic.num_interactions=900",
                                           "--out",
                                           "out",
                                           "--svg",
                                           "figures",
                                           "--quiet"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  expect_drawn("correlation-synthetic");
  EXPECT_EQ(block_of(script("correlation-synthetic"), "panel1").size(), 6U);
  EXPECT_THAT(place_.read("figures/correlation-synthetic.svg"),
              AllOf(HasSubstr(">utility, test<"), HasSubstr(">Pearson<"), HasSubstr(">Spearman<")));
}

TEST_F(PaperFigures, OfConflictsHaveACurvePerMethod) {
  const Arguments small = {"--seeds",  "1",
                           "--rounds", "2",
                           "--out",    "out",
                           "--set",    "clients.count=4",
                           "--set",    "synthetic.num_users=40",
                           "--set",    "synthetic.num_items=60",
                           "--set",    "synthetic.num_interactions=900"};
  const Finished finished = place_.fedhur(
      Arguments{"reproduce", "figure", "conflicts", "--svg", "figures", "--quiet"} + small);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  expect_drawn("conflicts-synthetic");
  EXPECT_THAT(place_.read("figures/conflicts-synthetic.svg"),
              AllOf(HasSubstr(">FedMF<"), HasSubstr(">FedSLIM<"), HasSubstr(">NDCG@10<"),
                    HasSubstr(">share of the clients in conflict, all groups<")));
  EXPECT_EQ(block_of(script("conflicts-synthetic"), "panel0_0").size(), 4U);
  EXPECT_EQ(block_of(script("conflicts-synthetic"), "panel1_0").size(), 5U);
  const Finished table =
      place_.fedhur(Arguments{"reproduce", "table", "federations", "--quiet"} + small);
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("synthetic, two domains"),
                               HasSubstr("synthetic, one user per client")));
}

TEST_F(PaperFigures, WaitForTheFirstRun) {
  const Finished finished = place_.fedhur(
      Arguments{"reproduce", "table", "query", "--minutes", "1e-9", "--svg", "figures"} + kQuick);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, Not(HasSubstr("figure:")));
  EXPECT_FALSE(place_.has("figures/query-synthetic.svg"));
}

TEST(Reproduce, SaysBeforeTheFirstRunThatFiguresCannotBeDrawn) {
  const Workplace place;
  const Finished finished =
      place.shell("PATH=/nowhere exec $FEDHUR reproduce table query --svg figures");
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.err,
            "fedhur: figures are drawn by gnuplot, which is not installed: install gnuplot-nox\n");
  EXPECT_FALSE(place.has("reproduction"));
  place.write("file", "");
  const Finished blocked = place.fedhur({"reproduce", "table", "query", "--pdf", "file"});
  EXPECT_EQ(blocked.exit_code, 2);
  EXPECT_THAT(blocked.err, HasSubstr("cannot create the folder file"));
  EXPECT_FALSE(place.has("reproduction"));
}

TEST(Reproduce, ExplainsMistakes) {
  const Workplace place;
  const auto expect_problem = [&](const Arguments& arguments, int code, const std::string& part) {
    const Finished finished = place.fedhur(Arguments{"reproduce"} + arguments);
    EXPECT_EQ(finished.exit_code, code) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(part));
    EXPECT_FALSE(place.has("reproduction"));
  };
  expect_problem({"table", "query", "--set", "evaluate.k=[5]", "--set", "evaluate.criterion=f1@5"},
                 2, "evaluate.k lacks 10: the paper's tables are about metrics at 10");
  expect_problem({}, 2, "expected table, figure or all");
  expect_problem({"tabel", "query"}, 2, "expected table, figure or all");
  expect_problem({"table"}, 2, "the name of a table is missing");
  expect_problem({"table", "quer"}, 2, "did you mean 'query'?");
  expect_problem({"all", "query"}, 2, "'all' stands alone");
  expect_problem({"table", "query", "--seeds", "0"}, 2, "--seeds 0");
  expect_problem({"table", "query", "--seeds", "1,1"}, 2, "a seed is there twice");
  expect_problem({"table", "query", "--minutes", "-1"}, 2, "--minutes -1");
  expect_problem({"table", "query", "--set", "stop.max_round=1"}, 2, "stop.max_rounds");
  expect_problem({"figure", "hierarchy", "--set", "stop.max_round=1"}, 2, "stop.max_rounds");
  expect_problem({"figure", "hierarchy", "--hierarchy-round", "0"}, 2, "--hierarchy-round 0");
  expect_problem({"table", "query", "--data", "nothing.csv"}, 3, "nothing.csv");
  expect_problem({"table", "query", "--data", "synthetic", "--data", "synthetic"}, 2,
                 "both called synthetic");
}
}  // namespace
}  // namespace fedhur::tests
