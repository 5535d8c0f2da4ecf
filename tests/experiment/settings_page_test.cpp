// docs/settings.md is what the declarations say. Where FEDHUR_WRITE_PAGE is set, it is written.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "fedhur/base/file.hpp"
#include "fedhur/experiment/experiment_config.hpp"

namespace fedhur::experiment {
namespace {
using ::testing::HasSubstr;
using Names = std::vector<std::string>;

struct Declared {
  Setting setting;
  std::string method;
};
using Row = std::vector<Declared>;  // one declaration, by the methods that have it in common

std::vector<Setting> settings_of(const std::string& method) {
  ConfigTable table;
  add_assignment(table, "method=" + method);
  add_assignment(table, "federation.clients=1");
  add_assignment(table, "federation.items=items.tsv");
  return resolve(table).settings;
}

std::string section_of(const Row& row) {
  const std::string& key = row[0].setting.key;
  const std::size_t dot = key.find('.');
  return dot == std::string::npos ? "of a run" : key.substr(0, dot);
}

// Sections and keys in the order in which they are declared first.
std::vector<Row> all_rows() {
  std::vector<Row> rows;
  for (const auto& method : methods::all_methods()) {
    for (const Setting& setting : settings_of(method.name)) {
      const auto same = std::ranges::find_if(rows, [&](const Row& row) {
        const Setting& known = row[0].setting;
        return known.key == setting.key && known.allowed == setting.allowed &&
               known.meaning == setting.meaning;
      });
      auto row = same == rows.end() ? rows.insert(same, Row()) : same;
      row->push_back({setting, method.name});
    }
  }
  const auto sort_by = [&](const std::function<std::string(const Row&)>& name_of_row) {
    std::map<std::string, std::size_t> first;
    for (const Row& row : rows) first.emplace(name_of_row(row), first.size());
    std::ranges::stable_sort(rows, {}, [&](const Row& row) { return first.at(name_of_row(row)); });
  };
  sort_by([](const Row& row) { return row[0].setting.key; });
  sort_by(section_of);
  return rows;
}

// "a (fedmf, fedca), b (fedhur)", or "a" if it is so for all.
std::string by_method(const Row& row, const std::function<std::string(const Setting&)>& text_of) {
  std::vector<std::pair<std::string, Names>> texts;
  for (const auto& [setting, method] : row) {
    const std::string text = text_of(setting);
    if (text.empty()) continue;
    auto known = std::ranges::find(texts, text, &std::pair<std::string, Names>::first);
    if (known == texts.end()) known = texts.insert(known, {text, {}});
    known->second.push_back(method);
  }
  Names parts;
  for (const auto& [text, names] : texts) {
    parts.push_back(
        names.size() == row.size() ? text : fmt::format("{} ({})", text, fmt::join(names, ", ")));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string methods_of(const Row& row) {
  Names names;
  Names others;
  for (const auto& method : methods::all_methods()) {
    (std::ranges::count(row, method.name, &Declared::method) > 0 ? names : others)
        .push_back(method.name);
  }
  return others.empty()       ? "all"
         : others.size() <= 2 ? fmt::format("all but {}", fmt::join(others, ", "))
                              : fmt::format("{}", fmt::join(names, ", "));
}

std::string line_of(const Row& row) {
  const Setting& setting = row[0].setting;
  const std::string notes = by_method(row, [](const Setting& own) { return own.note; });
  return fmt::format(
      "| `{}` | {} | {} | {} | {} | {}{}{} |\n", setting.key,
      by_method(row, [](const Setting& own) { return "`" + fedhur::to_toml(own.fallback) + "`"; }),
      setting.allowed.substr(setting.allowed.starts_with("a ") ? 2 : 0), setting.letter,
      methods_of(row), setting.meaning, notes.empty() ? "" : "; ", notes);
}

std::string settings_page() {
  std::string page = R"(# Settings

Every setting with its default, what is allowed, its letter in the method's publication, and the
methods that have it. `fedhur train --method NAME --help-settings` prints those of one method,
`--show-config` what they come to. What the methods do: [methods.md](methods.md).

The code declares each setting once (`base/settings`), and a test compares this page with the
declarations. `FEDHUR_WRITE_PAGE=1 ctest --preset release -R SettingsPage` writes it.
)";
  std::string section;
  for (const Row& row : all_rows()) {
    if (section != section_of(row)) {
      section = section_of(row);
      page += fmt::format(
          "\n## {}\n\n| key | default | allowed | letter | methods | meaning and cost |\n"
          "| --- | --- | --- | --- | --- | --- |\n",
          section);
    }
    page += line_of(row);
  }
  return page;
}

TEST(SettingsPage, SaysWhatIsDeclared) {
  const auto path = std::filesystem::path(FEDHUR_SOURCE_DIR) / "docs" / "settings.md";
  const std::string page = settings_page();
  if (std::getenv("FEDHUR_WRITE_PAGE") != nullptr) std::ofstream(path) << page;
  EXPECT_EQ(read_text_file(path), page) << "the page itself says how it is written anew";
}

TEST(SettingsPage, HasEverySettingOfEveryMethodWithItsMeaning) {
  const std::string page = settings_page();
  std::set<std::string> keys;
  for (const auto& method : methods::all_methods()) {
    for (const Setting& setting : settings_of(method.name)) {
      keys.insert(setting.key);
      EXPECT_THAT(page, HasSubstr("\n| `" + setting.key + "` | "));
      EXPECT_FALSE(setting.meaning.empty()) << setting.key;
      EXPECT_FALSE(setting.allowed.empty()) << setting.key;
    }
  }
  EXPECT_GT(keys.size(), 100U);
  for (const char* row :
       {"| `train.learning_rate_decay` | `0.97` (local, fedmf, fedrap), `1.0` (fedncf, ",
        "| `hierarchy.branching` | `[8, 4, \"items\"]` | list of numbers from 1 to 65536",
        "| `evaluate.criterion` | `\"f1@10\"` | ", "; of each of the four tables (fedncf) |"}) {
    EXPECT_THAT(page, HasSubstr(row));
  }
}
}  // namespace
}  // namespace fedhur::experiment
