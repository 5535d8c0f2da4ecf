#include <map>
#include <set>

#include "process.hpp"

namespace fedhur::tests {
namespace {
// Users 1..12 have nine items each; the titles need care: UTF-8, commas, quotes.
void write_shop(const Workplace& place) {
  std::string rows = "user,item\n";
  for (int user = 1; user <= 12; ++user) {
    for (int item = 0; item < 9; ++item) {
      rows += std::to_string(user) + "," + std::to_string((2 * user + item) % 20) + "\n";
    }
  }
  place.write("shop.csv", rows);
  std::string titles = "item\ttitle\n";
  for (int item = 0; item < 20; ++item) {
    titles += std::to_string(item) + "\tCafé, \"No. " + std::to_string(item) + "\"\n";
  }
  place.write("items.tsv", titles);
}

void train_shop(const Workplace& place) {
  write_shop(place);
  const Finished trained =
      place.fedhur({"train", "--data", "shop.csv", "--out", "run", "--set", "clients.count=3",
                    "--set", "stop.max_rounds=2", "--quiet"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
}

std::set<std::string> seen_by(int user) {
  std::set<std::string> items;
  for (int item = 0; item < 9; ++item) items.insert(std::to_string((2 * user + item) % 20));
  return items;
}

TEST(Recommend, ListsUnseenItemsOnlyAndBestFirst) {
  const Workplace place;
  train_shop(place);
  const Finished finished = place.fedhur(
      {"recommend", "run", "--user", "3", "--top", "50", "--json", "--show-seen", "99"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json answer = json::parse(finished.out);
  const json& items = answer.at("recommendations");
  EXPECT_EQ(items.size(), 11U);
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(items[i].at("rank"), i + 1);
    EXPECT_FALSE(seen_by(3).contains(items[i].at("item").get<std::string>()));
    if (i == 0) continue;
    EXPECT_LE(items[i].at("score"), items[i - 1].at("score"));
  }
  std::set<std::string> seen;
  for (const json& item : answer.at("seen")) seen.insert(item.at("item").get<std::string>());
  EXPECT_EQ(seen, seen_by(3));
  const Finished all =
      place.fedhur({"recommend", "run", "--user", "3", "--top", "50", "--json", "--include-seen"});
  EXPECT_EQ(json::parse(all.out).at("recommendations").size(), 20U);
}

TEST(Recommend, PrintsAnAlignedTableOfTitles) {
  const Workplace place;
  train_shop(place);
  const Finished finished = place.fedhur({"recommend", "run", "--user", "3"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, StartsWith("rank  title"));
  EXPECT_THAT(finished.out, HasSubstr("Café, \"No. "));
  std::set<std::size_t> widths;  // in characters, which are more bytes in the lines with an accent
  const auto lines = text_lines_of(finished.out);
  for (const std::string& line : lines) widths.insert(line.size() - (&line > &lines[0] ? 1 : 0));
  EXPECT_EQ(lines.size(), 11U);
  EXPECT_EQ(widths.size(), 1U) << finished.out;
}

TEST(Recommend, AllWritesEveryUserAsCsv) {
  const Workplace place;
  train_shop(place);
  const Arguments arguments = {"recommend", "run", "--all", "--top", "4"};
  const Finished printed = place.fedhur(arguments);
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  auto lines = text_lines_of(printed.out);
  EXPECT_EQ(lines.at(0), "user,rank,item,title,score");
  lines.erase(lines.begin());
  std::map<std::string, int> rows;
  for (const std::string& line : lines) {
    ++rows[line.substr(0, line.find(','))];
    EXPECT_THAT(line, HasSubstr(",\"Café, \"\"No. "));
  }
  EXPECT_EQ(rows.size(), 12U);
  for (const auto& [user, count] : rows) EXPECT_EQ(count, 4) << user;

  const Arguments to_file = arguments + Arguments{"--out", "all.csv"};
  EXPECT_EQ(place.fedhur(to_file).exit_code, 0);
  EXPECT_EQ(place.read("all.csv"), printed.out);
  EXPECT_EQ(place.fedhur(to_file).exit_code, 2) << "an existing file stays";
  EXPECT_EQ(place.fedhur(to_file + Arguments{"--force"}).exit_code, 0);
}

TEST(Recommend, ExplainsWhatIsWrong) {
  const Workplace place;
  ASSERT_EQ(place.train("run").exit_code, 0);
  const auto error_of = [&](const Arguments& arguments) {
    const Finished finished = place.fedhur(Arguments{"recommend"} + arguments);
    EXPECT_EQ(finished.exit_code, 2) << finished.out;
    return finished.err;
  };
  EXPECT_THAT(error_of({}), HasSubstr("the run folder is missing"));
  EXPECT_THAT(error_of({"run"}), HasSubstr("--user ID"));
  EXPECT_THAT(error_of({"run", "--user", "u01"}), HasSubstr("did you mean 'u001'?"));
  EXPECT_THAT(error_of({"run", "--user", "u001", "--top", "0"}), HasSubstr("--top 0"));
  EXPECT_THAT(error_of({"run", "--user", "u001", "--all"}), HasSubstr("exclude each other"));
  EXPECT_THAT(error_of({"none", "--user", "u001"}), HasSubstr("none is not a run folder"));
}

TEST(Recommend, ADamagedModelIsBadData) {
  const Workplace place;
  ASSERT_EQ(place.train("run").exit_code, 0);
  std::string model = place.read("run/model/model.bin");
  model[model.size() / 2] = static_cast<char>(~model[model.size() / 2]);
  place.write("run/model/model.bin", model);
  const Finished finished = place.fedhur({"recommend", "run", "--user", "u001"});
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_THAT(finished.err, HasSubstr("model.bin"));
}
}  // namespace
}  // namespace fedhur::tests
