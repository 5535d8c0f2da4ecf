#include "process.hpp"

namespace fedhur::tests {
namespace {
// What the page is about: the JSON in it.
json data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.find(begin);
  EXPECT_NE(at, std::string::npos);
  const std::size_t first = at + begin.size();
  return json::parse(page.substr(first, page.find("</script>", first) - first));
}

TEST(Report, IsThereAfterTraining) {
  const Workplace place;
  const Finished trained = place.train("run");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("report: run/report.html"));
  const json data = data_of(place.read("run/report.html"));
  EXPECT_EQ(data.at("runs"), json({"run"}));
  EXPECT_EQ(data.at("state"), "finished");
  EXPECT_EQ(data.at("rounds"), 3);
  const json result = json::parse(place.read("run/result.json"));
  EXPECT_EQ(data.at("best_round"), result.at("best_round"));
  const auto shown = [&data](const char* label) {
    for (const json& column : data.at("results")) {
      if (column.at("label") == label) return column.at("cells")[0][0].get<double>();
    }
    return -1.0;
  };
  EXPECT_EQ(shown("NDCG@10"), result.at("test").at("ndcg@10"));
  EXPECT_EQ(shown("up"), result.at("bytes_per_client_round").at("up"));
  EXPECT_EQ(data.at("results").size(), 5U + 4U);
  EXPECT_EQ(data.at("valid").size(), 5U);
  for (const json& curve : data.at("test")) {
    EXPECT_EQ(curve.at("series")[0].at("points").size(), 3U) << curve;
  }
  const json inside = json::parse(place.read("run/inside.json"));
  const json& relations = data.at("inside").at("relations")[0];
  for (std::size_t level = 0; level < relations.at("levels").size(); ++level) {
    EXPECT_EQ(relations.at("levels")[level].at("weights"),
              inside.at("relations").at("levels")[level].at("weights"));
  }
  EXPECT_EQ(data.at("inside").at("hierarchies")[0].at("root"), inside.at("hierarchy"));
  EXPECT_EQ(data.at("groups")[0].at("settings").at("stop.max_rounds"), "3");
  EXPECT_THAT(data.at("lead").get<std::string>(), HasSubstr("7 clients"));

  // Without a result on standard output changing for it.
  const Finished quiet = place.train("quiet", {"--quiet"});
  EXPECT_THAT(quiet.err, IsEmpty());
  EXPECT_TRUE(place.has("quiet/report.html"));
}

TEST(Report, ThatCannotBeWrittenDoesNotFailTheTraining) {
  const Workplace place;
  ASSERT_EQ(place.train("run").exit_code, 0);
  std::filesystem::remove(place / "run/report.html");
  std::filesystem::create_directory(place / "run/report.html");
  const Finished finished = place.fedhur({"train", "--resume", "run"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("warning: no report was written"));
  EXPECT_THAT(finished.err, Not(HasSubstr("report: run/report.html")));
  EXPECT_THAT(finished.out, HasSubstr("run folder: run"));
  EXPECT_FALSE(place.has("run/report.html.part"));
}

TEST(Report, IsWrittenIntoEveryRunOrOneFileForAll) {
  const Workplace place;
  ASSERT_EQ(place.train("a", {"--seed", "1"}).exit_code, 0);
  ASSERT_EQ(place.train("b", {"--seed", "2"}).exit_code, 0);
  ASSERT_EQ(place.train("c", {"--seed", "1", "--method", "fedmf"}).exit_code, 0);
  place.write("a/report.html", "old");
  const Finished each = place.fedhur({"report", "a", "b/"});
  EXPECT_EQ(each.exit_code, 0) << each.err;
  EXPECT_EQ(each.out, "report: a/report.html\nreport: b/report.html\n");
  EXPECT_EQ(data_of(place.read("a/report.html")).at("runs"), json({"a"}));

  const Finished all = place.fedhur({"report", "a", "b", "c", "--out", "all.html", "--json"});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(json::parse(all.out), json::parse(R"({"reports": ["all.html"], "figures": []})"));
  EXPECT_THAT(all.err, HasSubstr("seeds differ"));
  const json data = data_of(place.read("all.html"));
  ASSERT_EQ(data.at("groups").size(), 2U);
  EXPECT_EQ(data.at("groups")[0].at("runs"), json({0, 1}));
  EXPECT_EQ(data.at("groups")[1].at("runs"), json({2}));
  EXPECT_THAT(data.at("warnings")[0].get<std::string>(), HasSubstr("seeds differ"));
  ASSERT_EQ(data.at("inside").at("relations").size(), 1U) << "of a group, not of every run";
  EXPECT_THAT(data.at("inside").at("relations")[0].at("when").get<std::string>(),
              HasSubstr(", of a."));
  const json& activity = data.at("inside").at("activity")[0];
  EXPECT_EQ(activity.at("groups"), json({0, 1}));
  EXPECT_GT(activity.at("values")[0].back()[1], 0.0) << "there are several seeds";

  const Finished again = place.fedhur({"report", "a", "--out", "all.html"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("--force"));
  EXPECT_EQ(place.fedhur({"report", "a", "--out", "all.html", "--force"}).exit_code, 0);
}

TEST(Report, ShowsARunThatIsNotFinished) {
  const Workplace place;
  ASSERT_EQ(place.train("run").exit_code, 0);
  const json whole = data_of(place.read("run/report.html"));
  std::filesystem::remove(place / "run/result.json");
  ASSERT_EQ(place.fedhur({"report", "run"}).exit_code, 0);
  json part = data_of(place.read("run/report.html"));
  EXPECT_EQ(part.at("is_open"), true);
  for (const char* key : {"title", "rounds", "best_round", "valid", "test", "up", "down"}) {
    EXPECT_EQ(part.at(key), whole.at(key)) << key;
  }
  for (std::size_t i = 0; i < whole.at("results").size(); ++i) {
    const json& column = whole.at("results")[i];
    if (column.at("unit") == "seconds") continue;  // without what lies between the rounds
    const double value = part.at("results")[i].at("cells")[0][0];
    EXPECT_NEAR(value, column.at("cells")[0][0].get<double>(), 0.5) << column;
  }

  // Before the first round there is hardly anything.
  std::filesystem::remove(place / "run/inside.json");
  std::filesystem::remove(place / "run/rounds.jsonl");
  ASSERT_EQ(place.fedhur({"report", "run"}).exit_code, 0);
  part = data_of(place.read("run/report.html"));
  EXPECT_EQ(part.at("rounds"), 0);
  EXPECT_TRUE(part.at("valid")[0].at("series")[0].at("points").empty());
  EXPECT_TRUE(part.at("inside").is_null());
}

TEST(Report, TakesTitlesOfAnyBytes) {
  const Workplace place;
  std::string rows = "user,item\n";
  for (int user = 0; user < 12; ++user) {
    for (int item = 0; item < 9; ++item) rows += fmt::format("u{},i{}\n", user, (user + item) % 13);
  }
  place.write("data.csv", rows);
  place.write("items.csv", "item,title\ni0,\"</script><script>alert('x')</script> caf\xc3\xa9\"\n");
  const Finished trained = place.fedhur({"train", "--data", "data.csv", "--out", "run", "--set",
                                         "clients.count=3", "--set", "stop.max_rounds=2"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string page = place.read("run/report.html");
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(data_of(page).dump(), HasSubstr("</script><script>alert('x')</script> caf\xc3\xa9"));
}

class Figures : public DrawingTest {};

TEST_F(Figures, AreDrawnOfAllRuns) {
  ASSERT_EQ(place_.train("a", {"--seed", "1"}).exit_code, 0);
  ASSERT_EQ(place_.train("b", {"--seed", "2"}).exit_code, 0);
  // A name that gnuplot would stumble over if it were not quoted, and that the figures have to
  // show since neither the method nor a setting or two tell these runs apart.
  const std::string odd = "it's `odd` $x {y}_2 %g";
  ASSERT_EQ(place_
                .train(odd, {"--set", "retrieval.temperature=2", "--set", "retrieval.clip=2",
                             "--set", "finetune.step=0.5"})
                .exit_code,
            0);
  const Finished drawn = place_.fedhur(
      {"report", "a", "b", odd, "--svg", "new/figures", "--png", "new/figures", "--json"});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  const json written = json::parse(drawn.out);
  EXPECT_TRUE(written.at("reports").empty());
  EXPECT_EQ(written.at("figures").size(), 2U * 7U) << written;
  for (const std::string name : {"quality", "time", "traffic", "relations-a", "weights-a"}) {
    const std::string svg = place_.read("new/figures/" + name + ".svg");
    EXPECT_THAT(svg, HasSubstr("<svg")) << name;
    EXPECT_THAT(svg, HasSubstr("</svg>")) << name;
    EXPECT_THAT(place_.read("new/figures/" + name + ".png"), HasSubstr("PNG\r\n")) << name;
    // The script is all it takes to draw the figure again.
    const std::string file = "new/figures/" + name + ".svg";
    EXPECT_EQ(place_.shell("gnuplot -d " + file + ".gp").out, svg) << name;
  }
  EXPECT_NE(place_.read("new/figures/quality.svg").find(">" + odd + "<"), std::string::npos);
}

TEST_F(Figures, AreFewerWhereThereIsLessToShow) {
  ASSERT_EQ(place_.train("run", {"--method", "fedmf"}).exit_code, 0);
  const Finished drawn = place_.fedhur({"report", "run", "--pdf", "figures", "--out", "page.html"});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_EQ(drawn.out,
            "report: page.html\nfigure: figures/quality.pdf\nfigure: figures/time.pdf\nfigure: "
            "figures/traffic.pdf\n");
  EXPECT_THAT(place_.read("figures/time.pdf"), HasSubstr("%PDF"));
  std::filesystem::remove(place_ / "run/result.json");
  std::filesystem::remove(place_ / "run/rounds.jsonl");
  const Finished none = place_.fedhur({"report", "run", "--svg", "figures"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("no round to draw"));
}

TEST(Report, SaysThatGnuplotIsMissing) {
  const Workplace place;
  ASSERT_EQ(place.train("run").exit_code, 0);
  const Finished finished = place.shell("PATH=/nowhere exec $FEDHUR report run --svg figures");
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("install gnuplot-nox"));
  EXPECT_FALSE(place.has("figures/quality.svg"));
  place.write("file", "");
  EXPECT_EQ(place.fedhur({"report", "run", "--svg", "file"}).exit_code, 2);
}

TEST(Report, SaysWhatIsWrong) {
  const Workplace place;
  ASSERT_EQ(place.train("run").exit_code, 0);
  EXPECT_EQ(place.fedhur({"report"}).exit_code, 2);
  const Finished nowhere = place.fedhur({"report", "nowhere"});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("nowhere is not a run folder"));
  EXPECT_FALSE(place.has("nowhere"));
  EXPECT_EQ(place.fedhur({"report", "run", "--out", "no/such/folder.html"}).exit_code, 2);
  place.write("run/inside.json", "{\"round\": 3,");
  const Finished damaged = place.fedhur({"report", "run"});
  EXPECT_EQ(damaged.exit_code, 3);
  EXPECT_THAT(damaged.err, HasSubstr("inside.json of run"));
  place.write("run/manifest.json", "[]");
  const Finished foreign = place.fedhur({"report", "run"});
  EXPECT_EQ(foreign.exit_code, 3);
  EXPECT_THAT(foreign.err, HasSubstr("run/manifest.json"));
}
}  // namespace
}  // namespace fedhur::tests
