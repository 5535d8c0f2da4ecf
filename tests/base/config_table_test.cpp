#include "fedhur/base/config_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedhur/base/nearest_name.hpp"

namespace fedhur {
namespace {
using testing::HasSubstr;

enum class Colour : std::uint8_t { red, blue };

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}
}  // namespace

template <>
struct EnumNames<Colour> {
  static constexpr std::array<std::pair<std::string_view, Colour>, 2> names = {
      {{"red", Colour::red}, {"blue", Colour::blue}}};
};

namespace {
TEST(ConfigTable, ReadsWhatIsGivenAndKeepsDefaults) {
  ConfigTable table;
  table.set("train.rate", 0.5, "a.toml:3");
  table.set("train.epochs", std::int64_t{4}, "a.toml:4");
  table.set("paint", std::string("blue"), "--set");
  float rate = 0.1F;
  long epochs = 1;
  bool flag = true;
  auto colour = Colour::red;
  ConfigSection train(table, "train");
  train.read("rate", rate);
  train.read("epochs", epochs);
  train.read("flag", flag);
  table.read("paint", colour);
  EXPECT_EQ(rate, 0.5F);
  EXPECT_EQ(epochs, 4);
  EXPECT_TRUE(flag);
  EXPECT_EQ(colour, Colour::blue);
  EXPECT_NO_THROW(table.reject_unread());
  ASSERT_EQ(table.resolved().size(), 4U);
  EXPECT_EQ(table.resolved()[2].key, "train.flag");
}

TEST(ConfigTable, NamesTheNearestKnownKeyForAnUnknownOne) {
  ConfigTable table;
  table.set("train.learning_rte", 0.5, "run.toml:7");
  double rate = 0.1;
  table.read("train.learning_rate", rate);
  const std::string message = message_of([&] { table.reject_unread(); });
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

TEST(ConfigTable, RefusesValuesOfTheWrongType) {
  ConfigTable table;
  table.set("a", std::string("x"), "--set");
  table.set("b", 1.5, "--set");
  table.set("c", std::int64_t{-1}, "--set");
  table.set("d", std::string("bleu"), "--set");
  table.set("e", std::numeric_limits<double>::quiet_NaN(), "--set");
  double number = 0;
  long whole = 0;
  unsigned count = 0;
  auto colour = Colour::red;
  EXPECT_THAT(message_of([&] { table.read("a", number); }), HasSubstr("expected a number"));
  EXPECT_THAT(message_of([&] { table.read("b", whole); }), HasSubstr("whole number"));
  EXPECT_THAT(message_of([&] { table.read("c", count); }), HasSubstr("0 or more"));
  EXPECT_THAT(message_of([&] { table.read("d", colour); }), HasSubstr("did you mean 'blue'"));
  EXPECT_THAT(message_of([&] { table.read("e", number); }), HasSubstr("finite"));
}

TEST(ConfigTable, WritesValuesThatReadBackExactly) {
  EXPECT_EQ(to_toml(ConfigValue(1.0)), "1.0");
  EXPECT_EQ(to_toml(ConfigValue(1e-6)), "1e-06");
  EXPECT_EQ(to_toml(ConfigValue(std::string("a\"b\\c\n"))), "\"a\\\"b\\\\c\\u000a\"");
  EXPECT_EQ(to_toml(ConfigValue(std::vector<ConfigScalar>{std::int64_t{8}, std::string("items")})),
            "[8, \"items\"]");
  ConfigTable table;
  float rate = 0.03F;
  table.read("rate", rate);
  EXPECT_EQ(to_toml(table.resolved()[0].value), "0.03");
  EXPECT_EQ(rate, 0.03F);
}
}  // namespace
}  // namespace fedhur
