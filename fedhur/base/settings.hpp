// Every setting is declared once: its key, what is allowed, the default, and what it means. The
// declaration reads the value that was given, and tells people what there is.
#pragma once
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "fedhur/base/config_table.hpp"

namespace fedhur {
struct Range {  // of the numbers that are allowed
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool has_least = true;  // itself
  bool has_most = true;
  bool has_zero = false;  // whatever the rest says

  [[nodiscard]] bool contains(double number) const;
  [[nodiscard]] std::string to_text() const;  // "above 0, at most 1", to follow "a number"
};
inline Range at_least(double least) { return {.least = least}; }
inline Range between(double least, double most) { return {.least = least, .most = most}; }
inline Range above(double end) { return {.least = end, .has_least = false}; }
inline Range above_to(double end, double most) {
  return {.least = end, .most = most, .has_least = false};
}
inline Range from_below(double least, double end) {
  return {.least = least, .most = end, .has_most = false};
}

struct Length {  // of a list
  std::size_t least = 1;
  std::size_t most = std::numeric_limits<std::size_t>::max();
};

struct Setting {
  std::string key;
  std::string allowed;   // "a number above 0"
  ConfigValue fallback;  // the default, of the method at hand
  std::string meaning;   // a sentence, with what it costs where that matters
  std::string letter;    // in the method's publication; may be empty
  std::string note;      // what the method at hand adds to the meaning; may be empty
  ConfigValue value;     // given, or the default
};
// Null if it was not declared.
[[nodiscard]] const ConfigValue* find_value(std::span<const Setting> settings,
                                            const std::string& key);

class Settings {
 public:
  explicit Settings(ConfigTable given) : given_(std::move(given)) {}

  // Declares a setting. `value` holds the default, and what was given afterwards. ConfigError says
  // what was given, where, and what would be allowed.
  void add(const std::string& key, bool& value, const std::string& meaning);
  void add(const std::string& key, std::string& value, const std::string& meaning,
           const std::string& allowed = "a text");
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void add(const std::string& key, Number& value, const Range& allowed, const std::string& meaning,
           const std::string& letter = {}) {
    value = static_cast<Number>(
        read_number(key, plain(value), allowed, std::is_same_v<Number, float>, meaning, letter));
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void add(const std::string& key, Enum& value, const std::string& meaning,
           const std::string& letter = {}) {
    const auto names = names_of(value);
    std::string word = name_of(value);
    add_word(key, word, {names.begin(), names.end()}, meaning, letter);
    value = *value_named<Enum>(word);
  }
  template <class Number>
  void add(const std::string& key, std::vector<Number>& list, const Range& each,
           const Length& length, const std::string& meaning, const std::string& letter = {}) {
    std::vector<ConfigScalar> entries;
    for (const Number number : list) entries.emplace_back(plain(number));
    add_numbers(key, entries, each, length, std::is_integral_v<Number>, meaning, letter);
    list.clear();
    for (const ConfigScalar& entry : entries) {
      const auto* whole = std::get_if<std::int64_t>(&entry);
      list.push_back(whole != nullptr ? static_cast<Number>(*whole)
                                      : static_cast<Number>(std::get<double>(entry)));
    }
  }
  // One of these words.
  void add_word(const std::string& key, std::string& word, const std::vector<std::string>& known,
                const std::string& meaning, const std::string& letter = {});
  // A list of another kind.
  void add_list(const std::string& key, std::vector<ConfigScalar>& list, const std::string& allowed,
                const std::function<bool(std::span<const ConfigScalar>)>& is_allowed,
                const std::string& meaning, const std::string& letter = {});
  // Adds to the meaning of a setting what holds for the method at hand.
  void note(const std::string& key, const std::string& note);
  // ConfigError "train.lr = -1 (from --set): expected ..." unless `allowed`: for what depends on
  // other settings.
  void require(bool allowed, const std::string& key, const std::string& expected) const;

  [[nodiscard]] const ConfigTable& given() const { return given_; }
  // ConfigError that names the first key that was not declared, where it was given, and the nearest
  // one that was.
  void reject_unknown() const;
  // In order of declaration.
  [[nodiscard]] const std::vector<Setting>& declared() const { return declared_; }

 private:
  // As TOML has it: a float is the shortest decimal of that float, not its double neighbour.
  static double shortest(float number);
  template <class Number>
  static auto plain(Number number) {
    if constexpr (std::is_same_v<Number, float>) {
      return shortest(number);
    } else {
      return static_cast<std::conditional_t<std::is_integral_v<Number>, std::int64_t, double>>(
          number);
    }
  }
  // Notes the setting, whose value is the given one or else the default.
  Setting& begin(const std::string& key, const std::string& allowed, ConfigValue fallback,
                 const std::string& meaning, const std::string& letter);
  // The value of that setting, which is of this type.
  template <class T>
  const T& take(const std::string& key, const std::string& allowed, const T& fallback,
                const std::string& meaning, const std::string& letter = {});
  std::int64_t read_number(const std::string& key, std::int64_t fallback, const Range& allowed,
                           bool is_float, const std::string& meaning, const std::string& letter);
  double read_number(const std::string& key, double fallback, const Range& allowed, bool is_float,
                     const std::string& meaning, const std::string& letter);
  void add_numbers(const std::string& key, std::vector<ConfigScalar>& list, const Range& each,
                   const Length& length, bool are_whole, const std::string& meaning,
                   const std::string& letter);
  ConfigTable given_;
  std::vector<Setting> declared_;
};

// ConfigError unless the config holds what its declaration allows.
template <class Config>
void validate(Config config) {
  Settings settings{ConfigTable()};
  declare_settings(settings, config);
}
}  // namespace fedhur
