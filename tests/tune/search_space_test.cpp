#include "fedhur/tune/search_space.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/methods/method.hpp"
#include "tests/support/support.hpp"

namespace fedhur::tune {
namespace {
using testing::AllOf;
using testing::HasSubstr;
using tests::tiny_settings;

std::string problem_of(const std::string& text, const ConfigTable& settings) {
  try {
    (void)resolve_space(read_space(text, "my.toml"), settings);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

SearchSpace space_of(const std::string& lines, const ConfigTable& settings) {
  return resolve_space(read_space("[space]\n" + lines, "my.toml"), settings);
}

std::set<std::string> names_of(const std::vector<Point>& points) {
  std::set<std::string> names;
  for (const Point& point : points) {
    std::string name;
    for (const ConfigValue& value : point) name += to_toml(value) + " ";
    names.insert(name);
  }
  return names;
}

TEST(SearchSpace, ReadsListsAndRangesInQuotesOrSections) {
  const ConfigTable settings = tiny_settings("fedhur");
  const SearchSpace space = space_of(
      "\"train.learning_rate\" = [1, 0.5]\n"
      "\"hierarchy.level_weights\" = [[0.1], [0.3, 1]]\n"
      "[space.train]\nweight_decay = {low = 1e-6, high = 1e-2, scale = \"log\"}\n"
      "local_epochs = {low = 1, high = 20}\n",
      settings);
  EXPECT_EQ(space_to_toml(space),
            "[space]\n"
            "\"hierarchy.level_weights\" = [[0.1], [0.3, 1]]\n"
            "\"train.learning_rate\" = [1.0, 0.5]\n"
            "\"train.local_epochs\" = {low = 1, high = 20, scale = \"linear\"}\n"
            "\"train.weight_decay\" = {low = 1e-06, high = 0.01, scale = \"log\"}\n");
  EXPECT_EQ(space_to_toml(resolve_space(read_space(space_to_toml(space), "again"), settings)),
            space_to_toml(space));
}

TEST(SearchSpace, MistakesAreOneSentenceWithPlaceAndNearestName) {
  const ConfigTable settings = tiny_settings("fedmf");
  const auto problem = [&](const std::string& line) {
    return problem_of("[space]\n" + line, settings);
  };
  EXPECT_EQ(problem_of("[space]\n", settings), "");
  EXPECT_THAT(problem_of("[spac]\n", settings), HasSubstr("did you mean 'space'?"));
  EXPECT_THAT(problem_of("", settings), HasSubstr("there is no [space] in it"));
  EXPECT_THAT(problem_of("space = 3", settings), HasSubstr("my.toml:1"));
  EXPECT_THAT(problem_of("[space", settings), HasSubstr("my.toml:1"));
  EXPECT_THAT(problem("\"train.learning_rat\" = [0.1]"),
              AllOf(HasSubstr("my.toml:2"), HasSubstr("did you mean 'train.learning_rate'?")));
  EXPECT_THAT(problem("\"train.learning_rate\" = [0.1, -1]"),
              AllOf(HasSubstr("my.toml:2"), HasSubstr("expected")));
  EXPECT_THAT(problem("\"train.learning_rate\" = [0.1, \"fast\"]"), HasSubstr("expected a number"));
  EXPECT_THAT(problem("\"train.learning_rate\" = [1, 1.0]"), HasSubstr("1.0 twice"));
  EXPECT_THAT(problem("\"train.learning_rate\" = []"), HasSubstr("no values"));
  EXPECT_THAT(problem("\"train.learning_rate\" = 0.1"), HasSubstr("for --set"));
  EXPECT_THAT(problem("\"train.learning_rate\" = {}"), HasSubstr("expected a list"));
  EXPECT_THAT(problem("\"train.learning_rate\" = [{a = 1}]"), HasSubstr("neither a number"));
  EXPECT_THAT(problem("\"train.loss\" = [\"bpr\"]\n[space.train]\nloss = [\"bce\"]\n"),
              HasSubstr("train.loss is there twice"));
  const auto range = [&](const std::string& inside) {
    return problem("\"train.learning_rate\" = {" + inside + "}");
  };
  EXPECT_EQ(range("low = 0.01, high = 1"), "");
  EXPECT_THAT(range("low = 0.01, hih = 1"), HasSubstr("did you mean 'high'?"));
  EXPECT_THAT(range("low = 0.01"), HasSubstr("needs two numbers"));
  EXPECT_THAT(range("low = 1, high = 0.1"), HasSubstr("expected low below high"));
  EXPECT_THAT(range("low = 1, high = inf"), HasSubstr("expected low below high"));
  EXPECT_THAT(range("low = 0, high = 1, scale = \"log\""), HasSubstr("begins above 0"));
  EXPECT_THAT(range("low = 0, high = 1, scale = \"lgo\""), HasSubstr("\"linear\" or \"log\""));
  EXPECT_THAT(range("low = 0, high = 1, scale = 3"), HasSubstr("\"linear\" or \"log\""));
  EXPECT_THAT(problem("\"train.local_epochs\" = {low = 1.5, high = 3}"),
              HasSubstr("expected a whole number"));
  EXPECT_THAT(problem("\"train.loss\" = {low = 1, high = 3}"), HasSubstr("expected one of"));
  for (const std::string key :
       {"seed", "method", "split.kind", "evaluate.criterion", "data.path"}) {
    EXPECT_THAT(problem("\"" + key + "\" = [\"x\"]"), HasSubstr("no setting of a method")) << key;
  }
}

TEST(SearchSpace, OfEveryMethodHoldsItsDefaultsAndItsLocalEpochs) {
  for (const auto& method : methods::all_methods()) {
    ConfigTable settings;
    settings.set("method", method.name, "test");
    const SearchSpace space =
        resolve_space(read_space(built_in_space(method.name), method.name), settings);
    if (method.name == "popularity") {
      EXPECT_EQ(grid_size(space), 1U);
      continue;
    }
    if (tests::learns_embeddings(method.name)) {
      const auto epochs = std::find_if(space.begin(), space.end(), [](const Dimension& dimension) {
        return dimension.key == "train.local_epochs";
      });
      ASSERT_NE(epochs, space.end()) << method.name;
      EXPECT_EQ(std::get<Choices>(epochs->values).size(), 6U) << method.name;
    }
    EXPECT_GT(grid_size(space), 1000U) << method.name;
    // The first trial is the method as it comes: nothing is worse than that.
    const Point first = draw_points(space, settings, 1, Rng(1)).front();
    const auto defaults = experiment::resolve(settings);
    const auto at_first = experiment::resolve(settings_at(settings, space, first));
    EXPECT_EQ(experiment::to_toml(at_first.settings), experiment::to_toml(defaults.settings))
        << method.name;
  }
  EXPECT_THROW((void)built_in_space("nothing"), ConfigError);
}

constexpr const char* kGrid =
    "\"train.learning_rate\" = [0.5, 0.25]\n\"train.local_epochs\" = [1, 2, 3]\n"
    "\"train.loss\" = [\"bpr\", \"bce\"]\n";

TEST(DrawPoints, EnumeratesAGridWithoutRepetition) {
  const ConfigTable settings = tiny_settings("fedmf");
  const SearchSpace space = space_of(kGrid, settings);
  EXPECT_EQ(grid_size(space), 12U);
  const auto all = draw_points(space, settings, 1000, Rng(3));
  EXPECT_EQ(all.size(), 12U);
  EXPECT_EQ(names_of(all).size(), 12U);
  std::set<std::string> expected;
  for (const char* rate : {"0.5", "0.25"}) {
    for (const char* epochs : {"1", "2", "3"}) {
      for (const char* loss : {"bpr", "bce"}) {
        expected.insert(fmt::format("{} {} \"{}\" ", rate, epochs, loss));
      }
    }
  }
  EXPECT_EQ(names_of(all), expected);
}

TEST(DrawPoints, ASmallerBudgetGetsTheFirstOfALargerOne) {
  const ConfigTable settings = tiny_settings("fedmf");
  for (const std::string& lines :
       {std::string(kGrid), std::string(kGrid) + "\"train.weight_decay\" = {low = 0, high = 1}"}) {
    const SearchSpace space = space_of(lines, settings);
    const auto few = draw_points(space, settings, 5, Rng(3));
    const auto many = draw_points(space, settings, 9, Rng(3));
    ASSERT_EQ(few.size(), 5U);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
    EXPECT_EQ(names_of(many).size(), 9U);
    EXPECT_NE(draw_points(space, settings, 9, Rng(4)), many);
  }
}

TEST(DrawPoints, BeginsWithTheSettingsThemselvesIfTheyAreInTheSpace) {
  ConfigTable settings = tiny_settings("fedmf");
  const SearchSpace space = space_of(kGrid, settings);  // 2 epochs, bpr, and a rate of 0.03
  const Point elsewhere = draw_points(space, settings, 1, Rng(8)).front();
  experiment::add_assignment(settings, "train.learning_rate=0.25");
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto points = draw_points(space, settings, 12, Rng(seed));
    EXPECT_EQ(points.front(), (Point{0.25, std::int64_t{2}, std::string("bpr")}));
    EXPECT_EQ(names_of(points).size(), 12U);
  }
  EXPECT_NE(elsewhere, (Point{0.25, std::int64_t{2}, std::string("bpr")}));
}

TEST(DrawPoints, StaysInRangesAndUsesAllOfThem) {
  const ConfigTable settings = tiny_settings("fedmf");
  const SearchSpace space = space_of(
      "\"train.local_epochs\" = {low = 1, high = 4}\n"
      "\"train.learning_rate\" = {low = 1e-4, high = 1, scale = \"log\"}\n",
      settings);
  EXPECT_EQ(grid_size(space), std::nullopt);
  std::set<std::int64_t> epochs;
  int num_small = 0;
  const auto points = draw_points(space, settings, 400, Rng(5));
  ASSERT_EQ(points.size(), 400U);
  for (const Point& point : points) {
    const double rate = std::get<double>(point[0]);
    epochs.insert(std::get<std::int64_t>(point[1]));
    EXPECT_GE(rate, 1e-4);
    EXPECT_LE(rate, 1.0);
    num_small += rate < 1e-2 ? 1 : 0;
  }
  EXPECT_EQ(epochs, (std::set<std::int64_t>{1, 2, 3, 4}));
  EXPECT_NEAR(num_small, 200, 50) << "half of the factors lie below the geometric middle";
  const SearchSpace small = space_of("\"train.local_epochs\" = {low = 1, high = 4}\n", settings);
  EXPECT_EQ(draw_points(small, settings, 30, Rng(5)).size(), 4U) << "there are no more";
}

TEST(DrawPoints, CountsLargeGridsAndRefusesEndlessOnes) {
  const ConfigTable settings = tiny_settings("fedmf");
  std::string values = "1";
  for (int i = 2; i <= 100'000; ++i) values += ", " + std::to_string(i);
  SearchSpace space = read_space("[space]\nx = [" + values + "]\n", "large");
  space.resize(3, space[0]);
  EXPECT_EQ(grid_size(space), 1'000'000'000'000'000U);
  space.resize(4, space[0]);
  EXPECT_THROW((void)grid_size(space), ConfigError);
}
}  // namespace
}  // namespace fedhur::tune
