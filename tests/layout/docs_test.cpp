// The pages are true about the tree: every file they name exists, and their lines are short enough
// to read in any editor.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {
namespace fs = std::filesystem;
const fs::path kRoot = FEDHUR_SOURCE_DIR;
constexpr std::size_t kColumns = 100;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Characters, not bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned>(c) & 0xc0U) != 0x80U; }));
}

// What stands between `open` and `close`, as often as it does; `rest` is the text without.
std::vector<std::string> take_between(std::string_view text, std::string_view open,
                                      std::string_view close, std::string& rest) {
  std::vector<std::string> found;
  for (;;) {
    const auto begin = text.find(open);
    const auto end = begin == text.npos ? begin : text.find(close, begin + open.size());
    rest += text.substr(0, end == text.npos ? text.npos : begin);
    if (end == text.npos) return found;
    found.emplace_back(text.substr(begin + open.size(), end - begin - open.size()));
    text.remove_prefix(end + close.size());
  }
}

// A link is to a file of the repository, seen from its page.
std::string check_link(const fs::path& page, std::string target) {
  target.erase(std::min(target.find('#'), target.size()));
  const bool is_elsewhere = target.empty() || target.find("://") != target.npos;
  if (is_elsewhere || fs::exists(kRoot / page.parent_path() / target)) return {};
  return "the link leads to " + target + ", which does not exist";
}

// `tests/layout/docs_test.cpp` is a file or folder of the repository. `data/load` is short for the
// files of that name below fedhur/. Anything else is not a path of ours.
std::string check_path(const std::string& word) {
  if (word.find('/') == word.npos ||
      word.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") != word.npos) {
    return {};
  }
  const std::string folder = word.substr(0, word.find('/'));
  constexpr std::array<std::string_view, 10> kFolders = {
      "apps", "bench", "cmake", "configs", "docs", "fedhur", "fuzz", "tests", "tools", ".ci"};
  if (std::ranges::find(kFolders, folder) != kFolders.end()) {
    return fs::exists(kRoot / word) ? "" : "there is no " + word;
  }
  const fs::path path = kRoot / "fedhur" / word;
  const bool is_ours = !folder.empty() && folder[0] != '.' && fs::exists(kRoot / "fedhur" / folder);
  const bool is_code =
      path.extension().empty() || path.extension() == ".cpp" || path.extension() == ".hpp";
  if (!is_ours || !is_code || fs::exists(path)) return {};
  for (const auto* extension : {".hpp", ".cpp"}) {
    if (fs::exists(fs::path(path) += extension)) return {};
  }
  return "there is no fedhur/" + word + ", neither a folder nor .hpp nor .cpp";
}

// Code and links may be longer, since they cannot be broken.
std::string check_width(const std::string& line, const std::string& prose) {
  if (line[0] == '|' || width_of(line) <= kColumns || width_of(prose) + 20 <= kColumns) return {};
  return "has " + std::to_string(width_of(line)) + " columns, at most 100 are allowed; wrap it";
}

// Everything wrong with a page, each as "page:line: what".
std::vector<std::string> find_page_faults(const fs::path& page, const std::string& text) {
  std::vector<std::string> faults;
  std::istringstream lines(text);
  bool is_code = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const bool is_fence =
        line.find("```") != line.npos && line.find_first_not_of(" `") >= line.find("```");
    if (is_fence) is_code = !is_code;
    if (is_code || is_fence || line.empty()) continue;
    const auto note = [&](const std::string& fault) {
      if (!fault.empty())
        faults.push_back(page.string() + ":" + std::to_string(number) + ": " + fault);
    };
    std::string words;
    std::string prose;
    for (const auto& code : take_between(line, "`", "`", words)) {
      std::istringstream parts(code);
      for (std::string word; parts >> word;) note(check_path(word));
    }
    for (const auto& target : take_between(words, "](", ")", prose)) note(check_link(page, target));
    note(check_width(line, prose));
  }
  return faults;
}

TEST(Pages, NameOnlyFilesThatExistInLinesOfAHundredColumns) {
  std::vector<fs::path> pages = {"README.md", "CONTRIBUTING.md"};
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path().lexically_relative(kRoot));
  }
  EXPECT_GT(pages.size(), 20U) << "the test has not found the pages below " << kRoot;
  std::ranges::sort(pages);
  for (const auto& page : pages) {
    for (const auto& fault : find_page_faults(page, text_of(kRoot / page))) ADD_FAILURE() << fault;
  }
}

TEST(Pages, FaultsAreFoundWithPageAndLine) {
  const fs::path page = "docs/x.md";
  const auto count = [&](const std::string& text) { return find_page_faults(page, text).size(); };
  EXPECT_EQ(find_page_faults(page, "\nsee `fedhur/data/lost.cpp`"),
            std::vector<std::string>{"docs/x.md:2: there is no fedhur/data/lost.cpp"});
  EXPECT_EQ(count("`data/load` `data/` `fedhur/data/load.hpp` `tools/check_round.py DIR`"), 0U);
  EXPECT_EQ(count("`data/distribute`"), 1U);
  EXPECT_EQ(count("[a](way_of_the_data.md#x) [b](../README.md) [c](https://example.org/d)"), 0U);
  EXPECT_EQ(count("[a](README.txt)"), 1U);
  EXPECT_EQ(count("`runs/a/b.csv` `model/model.bin` `configs/tuned/<data>/x.toml` `fedhur/*`"), 0U);
  const std::string wide(101, 'x');
  EXPECT_EQ(count(wide), 1U);
  EXPECT_EQ(count("| " + wide + "\n```\n" + wide + "\n```\n`" + wide + "`\n"), 0U);
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "ü";
  EXPECT_EQ(count(umlauts), 0U);
}
}  // namespace
