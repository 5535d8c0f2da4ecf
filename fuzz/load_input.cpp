#include "fuzz/load_input.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "fedhur/base/error.hpp"
#include "fedhur/base/strings.hpp"
#include "fedhur/data/load.hpp"
#include "fedhur/data/stored_file.hpp"
#include "fedhur/data/titles.hpp"

namespace fedhur::fuzz {
namespace {
constexpr unsigned kNumFormats = 9;
constexpr std::array<std::string_view, 8> kDataNames = {"data",          "u.data",  "ratings.dat",
                                                        "x.inter",       "x.csv",   "x-split.tsv",
                                                        "ratings_x.csv", "x.tsv.gz"};
constexpr std::array<std::string_view, 6> kTitleNames = {"titles",       "u.item",    "movies.dat",
                                                         "BX-Books.csv", "items.tsv", "items.csv"};

void check_names(const std::vector<std::string>& names, const char* what) {
  const std::set<std::string_view> distinct(names.begin(), names.end());
  expects(distinct.size() == names.size(), what);
  for (const std::string& name : names) expects(!name.empty() && is_utf8(name), what);
}

void check_rows(const data::Dataset& dataset) {
  std::set<std::pair<Index, Index>> pairs;
  std::set<Index> users;
  std::set<Index> items;
  for (const data::Interaction& row : dataset.interactions) {
    expects(index_of(row.user) < dataset.num_users(), "users are numbered");
    expects(index_of(row.item) < dataset.num_items(), "items are numbered");
    expects(std::isfinite(row.rating), "ratings are finite");
    expects(pairs.emplace(index_of(row.user), index_of(row.item)).second, "pairs occur once");
    users.insert(index_of(row.user));
    items.insert(index_of(row.item));
  }
  expects(!pairs.empty(), "there are rows");
  expects(std::cmp_equal(users.size(), dataset.num_users()), "users have rows");
  expects(std::cmp_equal(items.size(), dataset.num_items()), "items have rows");
}

void check(const data::Dataset& dataset) {
  check_rows(dataset);
  check_names(dataset.user_names, "users have distinct names in UTF-8");
  check_names(dataset.item_names, "items have distinct names in UTF-8");
  expects(dataset.item_titles.size() == dataset.item_names.size(), "items have titles");
  expects(dataset.sha256.size() == 64, "the file has a digest");
  expects(dataset.parts.empty() || dataset.parts.size() == dataset.interactions.size(),
          "parts are told for all rows or for none");
  expects(dataset.user_clients.empty() || dataset.user_clients.size() == dataset.user_names.size(),
          "clients are told for all users or for none");
  const std::set<ClientId> clients(dataset.user_clients.begin(), dataset.user_clients.end());
  expects(clients.empty() || std::cmp_equal(clients.size(), index_of(*clients.rbegin()) + 1),
          "clients are numbered without gaps");
}

void check_titles(std::string stored, std::string_view name, bool skip_bad_rows) {
  const std::string text = data::text_of(std::move(stored), name);
  const data::TitleTable table = data::parse_titles(text, name, skip_bad_rows);
  expects(table.ids.size() == table.columns.size(), "columns have names");
  for (const auto& ids : table.ids) expects(ids.size() == table.titles.size(), "rows have ids");
  for (const auto& title : table.titles) expects(is_utf8(title), "titles are UTF-8");
  for (const bool from_zero : {false, true}) {
    (void)data::match_titles(table, {"0", "1", "x"}, from_zero, "x");
  }
}
}  // namespace

void load_input(std::span<const std::uint8_t> input) {
  if (input.size() < 2) return;
  const unsigned format = (input[0] - unsigned{'0'}) % (kNumFormats + 1);
  const unsigned options = (input[1] - unsigned{'0'}) & 0xffU;
  const bool skip_bad_rows = (options & 1U) != 0;
  std::string stored(input.begin() + 2, input.end());
  try {
    if (format == kNumFormats) {
      const auto name = kTitleNames[(options >> 1U) % kTitleNames.size()];
      return check_titles(std::move(stored), name, skip_bad_rows);
    }
    data::LoadConfig config;
    config.format = static_cast<data::Format>(format);
    config.skip_bad_rows = skip_bad_rows;
    const auto name = kDataNames[(options >> 1U) % kDataNames.size()];
    check(data::parse(std::move(stored), name, config));
  } catch (const DataError& error) {
    const std::string_view message = error.what();
    expects(!message.empty() && message.size() < 500, "a message is one sentence");
    expects(std::ranges::all_of(message, [](char c) { return c >= ' ' && c <= '~'; }),
            "a message is printable");
  }
}
}  // namespace fedhur::fuzz
