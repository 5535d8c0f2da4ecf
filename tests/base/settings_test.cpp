#include "fedhur/base/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedhur/base/nearest_name.hpp"

namespace fedhur {
namespace {
using testing::HasSubstr;

enum class Colour : std::uint8_t { red, blue };
constexpr auto names_of(Colour) { return std::array{"red", "blue"}; }

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Settings, ReadWhatIsGivenAndKeepDefaults) {
  ConfigTable table;
  table.set("train.rate", 0.5, "a.toml:3");
  table.set("train.epochs", std::int64_t{4}, "a.toml:4");
  table.set("paint", std::string("blue"), "--set");
  Settings settings(table);
  float rate = 0.1F;
  long epochs = 1;
  bool flag = true;
  auto colour = Colour::red;
  settings.add("train.rate", rate, above(0), "of learning", "eta");
  settings.add("train.epochs", epochs, at_least(1), "of training");
  settings.add("train.flag", flag, "of no use");
  settings.add("paint", colour, "of the wall");
  EXPECT_EQ(rate, 0.5F);
  EXPECT_EQ(epochs, 4);
  EXPECT_TRUE(flag);
  EXPECT_EQ(colour, Colour::blue);
  EXPECT_NO_THROW(settings.reject_unknown());
  ASSERT_EQ(settings.declared().size(), 4U);
  const Setting& first = settings.declared()[0];
  EXPECT_EQ(first.allowed, "a number above 0");
  EXPECT_EQ(first.letter, "eta");
  EXPECT_EQ(first.fallback, ConfigValue(0.1)) << "not 0.1F as a double";
  EXPECT_EQ(first.value, ConfigValue(0.5));
  EXPECT_EQ(settings.declared()[2].key, "train.flag");
  EXPECT_EQ(settings.declared()[3].allowed, "one of red, blue");
}

TEST(Settings, NameTheNearestKnownKeyForAnUnknownOne) {
  ConfigTable table;
  table.set("train.learning_rte", 0.5, "run.toml:7");
  Settings settings(table);
  double rate = 0.1;
  settings.add("train.learning_rate", rate, above(0), "of training");
  const std::string message = message_of([&] { settings.reject_unknown(); });
  EXPECT_THAT(message, HasSubstr("train.learning_rte"));
  EXPECT_THAT(message, HasSubstr("run.toml:7"));
  EXPECT_THAT(message, HasSubstr("did you mean 'train.learning_rate'"));
}

TEST(ConfigTable, UnderstandsInitialsAndKeysWithoutTheirSection) {
  const std::vector<std::string> known = {"train.loss", "train.learning_rate", "seed"};
  EXPECT_EQ(nearest_name("lr", known), "train.learning_rate");
  EXPECT_EQ(nearest_name("train.lr", known), "train.learning_rate");
  EXPECT_EQ(nearest_name("learning_rate", known), "train.learning_rate");
  EXPECT_EQ(nearest_name("entirely_different", known), "");
}

TEST(Settings, SayWhatWasGivenWhereAndWhatIsAllowed) {
  const auto problem = [](const ConfigValue& value, auto field, const auto&... allowed) {
    ConfigTable table;
    table.set("a.b", value, "x.toml:2");
    Settings settings(table);
    return message_of([&] { settings.add("a.b", field, allowed..., "meaning"); });
  };
  EXPECT_EQ(problem(std::string("x"), 1.0, above(0)),
            "a.b = \"x\" (from x.toml:2): expected a number above 0");
  EXPECT_THAT(problem(0.0, 1.0, above(0)),
              HasSubstr("0.0 (from x.toml:2): expected a number above"));
  EXPECT_THAT(problem(std::int64_t{2}, 1.0, above_to(0, 1)), HasSubstr("above 0, at most 1"));
  EXPECT_THAT(problem(1.0, 0.5, from_below(0, 1)), HasSubstr("from 0, below 1"));
  EXPECT_THAT(problem(1.5, 1L, Range{}), HasSubstr("a whole number of any size"));
  EXPECT_THAT(problem(std::int64_t{-1}, 1U, at_least(0)), HasSubstr("of 0 or more"));
  EXPECT_THAT(problem(std::int64_t{5}, 1, between(1, 4)), HasSubstr("from 1 to 4"));
  EXPECT_THAT(problem(0.5, 1.0, Range{.least = 1, .has_zero = true}),
              HasSubstr("of 1 or more, or 0"));
  EXPECT_EQ(problem(0.0, 1.0, Range{.least = 1, .has_zero = true}), "no error");
  EXPECT_THAT(problem(std::string("bleu"), Colour::red), HasSubstr("did you mean 'blue'"));
  EXPECT_THAT(problem(true, Colour::red), HasSubstr("one of red, blue"));
  EXPECT_THAT(problem(std::numeric_limits<double>::quiet_NaN(), 1.0, Range{}), HasSubstr("finite"));
  EXPECT_THAT(problem(1e300, 1.0F, Range{}), HasSubstr("fits a float"));
  EXPECT_THAT(problem(std::int64_t{1}, true), HasSubstr("true or false"));
  EXPECT_THAT(problem(1.0, std::string()), HasSubstr("a text"));
  const std::vector<float> list = {0.5F};
  EXPECT_THAT(problem(std::vector<ConfigScalar>{}, list, at_least(0), Length{}),
              HasSubstr("a list of one or more numbers, each of 0 or more"));
  EXPECT_THAT(problem(std::vector<ConfigScalar>{-1.0}, list, at_least(0), Length{0, 3}),
              HasSubstr("a list of up to 3 numbers"));
  EXPECT_EQ(problem(std::vector<ConfigScalar>{std::int64_t{1}, 0.5}, list, at_least(0), Length{}),
            "no error");
}

TEST(ConfigTable, WritesValuesThatReadBackExactly) {
  EXPECT_EQ(to_toml(ConfigValue(1.0)), "1.0");
  EXPECT_EQ(to_toml(ConfigValue(1e-6)), "1e-06");
  EXPECT_EQ(to_toml(ConfigValue(std::string("a\"b\\c\n"))), "\"a\\\"b\\\\c\\u000a\"");
  EXPECT_EQ(to_toml(ConfigValue(std::vector<ConfigScalar>{std::int64_t{8}, std::string("items")})),
            "[8, \"items\"]");
  Settings settings{ConfigTable()};
  float rate = 0.03F;
  settings.add("rate", rate, above(0), "of learning");
  EXPECT_EQ(to_toml(settings.declared()[0].value), "0.03");
  EXPECT_EQ(rate, 0.03F);
}
}  // namespace
}  // namespace fedhur
