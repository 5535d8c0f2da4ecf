#include "fedhur/base/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fedhur/base/nearest_name.hpp"

namespace fedhur {
namespace {
using Scalars = std::vector<ConfigScalar>;

std::string count_of(const Length& length) {
  if (length.most == Length().most) return "one or more";
  return length.least == 0 ? fmt::format("up to {}", length.most)
                           : fmt::format("{} to {}", length.least, length.most);
}

bool is_number(const ConfigScalar& scalar, const Range& range, bool is_whole) {
  if (const auto* whole = std::get_if<std::int64_t>(&scalar)) {
    return range.contains(static_cast<double>(*whole));
  }
  const auto* number = std::get_if<double>(&scalar);
  return number != nullptr && !is_whole && std::isfinite(*number) && range.contains(*number);
}
}  // namespace

bool Range::contains(double number) const {
  if (has_zero && number == 0.0) return true;
  return (has_least ? number >= least : number > least) &&
         (has_most ? number <= most : number < most);
}

std::string Range::to_text() const {
  const bool has_end = std::isfinite(most);
  std::string text = fmt::format("{:.15g}", least);
  text = !std::isfinite(least) ? "of any size"
         : !has_least          ? "above " + text
         : has_end             ? "from " + text
                               : "of " + text + " or more";
  if (has_end) {
    text += has_most ? (has_least ? " to " : ", at most ") : ", below ";
    text += fmt::format("{:.15g}", most);
  }
  return has_zero ? text + ", or 0" : text;
}

const ConfigValue* find_value(std::span<const Setting> settings, const std::string& key) {
  const auto found = std::ranges::find(settings, key, &Setting::key);
  return found == settings.end() ? nullptr : &found->value;
}

double Settings::shortest(float number) { return std::stod(fmt::format("{}", number)); }

Setting& Settings::begin(const std::string& key, const std::string& allowed, ConfigValue fallback,
                         const std::string& meaning, const std::string& letter) {
  const ConfigValue* given = given_.find(key);
  ConfigValue value = given != nullptr ? *given : fallback;
  auto place = std::ranges::find(declared_, key, &Setting::key);
  if (place == declared_.end()) place = declared_.emplace(place);
  *place = {key, allowed, std::move(fallback), meaning, letter, {}, std::move(value)};
  return *place;
}

void Settings::require(bool allowed, const std::string& key, const std::string& expected) const {
  if (allowed) return;
  const auto given = given_.given().find(key);
  if (given == given_.given().end()) {
    throw ConfigError(
        fmt::format("{} = {}: expected {}", key, to_toml(*find_value(declared_, key)), expected));
  }
  throw ConfigError(fmt::format("{} = {} (from {}): expected {}", key, to_toml(given->second.value),
                                given->second.origin, expected));
}

template <class T>
const T& Settings::take(const std::string& key, const std::string& allowed, const T& fallback,
                        const std::string& meaning, const std::string& letter) {
  const T* value = std::get_if<T>(&begin(key, allowed, fallback, meaning, letter).value);
  require(value != nullptr, key, allowed);
  return *value;
}

void Settings::add(const std::string& key, bool& value, const std::string& meaning) {
  value = take(key, "true or false", value, meaning);
}

void Settings::add(const std::string& key, std::string& value, const std::string& meaning,
                   const std::string& allowed) {
  value = take(key, allowed, value, meaning);
}

void Settings::add_word(const std::string& key, std::string& word,
                        const std::vector<std::string>& known, const std::string& meaning,
                        const std::string& letter) {
  const std::string allowed = fmt::format("one of {}", fmt::join(known, ", "));
  word = take(key, allowed, word, meaning, letter);
  require(std::ranges::find(known, word) != known.end(), key, allowed + hint(word, known));
}

std::int64_t Settings::read_number(const std::string& key, std::int64_t fallback,
                                   const Range& allowed, bool /*is_float*/,
                                   const std::string& meaning, const std::string& letter) {
  const std::string expected = "a whole number " + allowed.to_text();
  const std::int64_t number = take(key, expected, fallback, meaning, letter);
  require(allowed.contains(static_cast<double>(number)), key, expected);
  return number;
}

double Settings::read_number(const std::string& key, double fallback, const Range& allowed,
                             bool is_float, const std::string& meaning, const std::string& letter) {
  const std::string expected = "a number " + allowed.to_text();
  ConfigValue& value = begin(key, expected, fallback, meaning, letter).value;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) value = static_cast<double>(*whole);
  const auto* number = std::get_if<double>(&value);
  require(number != nullptr, key, expected);
  require(std::isfinite(*number), key, "a finite number");
  require(!is_float || std::abs(*number) <= static_cast<double>(std::numeric_limits<float>::max()),
          key, "a number that fits a float");
  require(allowed.contains(*number), key, expected);
  return *number;
}

void Settings::add_list(const std::string& key, Scalars& list, const std::string& allowed,
                        const std::function<bool(std::span<const ConfigScalar>)>& is_allowed,
                        const std::string& meaning, const std::string& letter) {
  list = take(key, allowed, list, meaning, letter);
  require(is_allowed(list), key, allowed);
}

void Settings::add_numbers(const std::string& key, Scalars& list, const Range& each,
                           const Length& length, bool are_whole, const std::string& meaning,
                           const std::string& letter) {
  const auto is_allowed = [&](std::span<const ConfigScalar> entries) {
    return entries.size() >= length.least && entries.size() <= length.most &&
           std::ranges::all_of(entries, [&](const ConfigScalar& entry) {
             return is_number(entry, each, are_whole);
           });
  };
  add_list(key, list,
           fmt::format("a list of {} {}numbers, each {}", count_of(length),
                       are_whole ? "whole " : "", each.to_text()),
           is_allowed, meaning, letter);
}

void Settings::note(const std::string& key, const std::string& note) {
  const auto declared = std::ranges::find(declared_, key, &Setting::key);
  expects(declared != declared_.end(), "notes are about declared settings");
  declared->note = note;
}

void Settings::reject_unknown() const {
  std::vector<std::string> known;
  for (const Setting& setting : declared_) known.push_back(setting.key);
  for (const auto& [key, given] : given_.given()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    throw ConfigError(fmt::format("unknown setting '{}' (from {}){}", key, given.origin,
                                  hint(key, known, "; see 'fedhur train --help-settings'")));
  }
}
}  // namespace fedhur
