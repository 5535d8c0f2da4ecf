#include "fedhur/data/row_collector.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "fedhur/base/error.hpp"
#include "fedhur/base/strings.hpp"
#include "fedhur/data/records.hpp"

namespace fedhur::data {
namespace {
constexpr std::uint64_t kNumericIdEnd = std::uint64_t{1} << 32U;

// Positions of the rows, user by user, each user's in file order.
std::vector<std::size_t> rows_by_user(const std::vector<Interaction>& rows, std::size_t num_users) {
  std::vector<std::size_t> next(num_users + 1, 0);
  for (const Interaction& row : rows) ++next[slot(row.user) + 1];
  for (std::size_t user = 0; user < num_users; ++user) next[user + 1] += next[user];
  std::vector<std::size_t> order(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) order[next[slot(rows[i].user)]++] = i;
  return order;
}
}  // namespace

RowCollector::RowCollector(std::string file, bool skip_bad_rows, bool check_utf8)
    : file_(std::move(file)), skip_bad_rows_(skip_bad_rows), check_utf8_(check_utf8) {}

void RowCollector::fail(std::size_t line, std::string_view problem) const {
  fail_at(file_, line, problem);
}

void RowCollector::reject(std::size_t line, std::string_view problem) {
  if (!skip_bad_rows_) {
    reject_repeated();
    fail(line, problem);
  }
  if (first_problem_.empty()) first_problem_ = fmt::format("line {}: {}", line, problem);
  ++skipped_;
}

std::string RowCollector::id_problem(const SourceRow& row) const {
  if (row.user.empty()) return "found an empty user id";
  if (row.item.empty()) return "found an empty item id";
  if (!check_utf8_) return {};
  for (const std::string_view id : {row.user, row.item}) {
    if (!is_utf8(id)) return fmt::format("found id {}, expected UTF-8", excerpt(id));
  }
  return {};
}

void RowCollector::add(const SourceRow& row) {
  if (const auto problem = id_problem(row); !problem.empty()) return reject(row.line, problem);
  const std::uint32_t user = users_.number_of(row.user);
  if (!row.client.empty()) {
    if (user == user_clients_.size()) user_clients_.push_back(clients_.number_of(row.client));
    if (clients_.find(row.client) != user_clients_[user]) {
      return reject(row.line, fmt::format("found user {} in client {}, but further up in another",
                                          excerpt(row.user), excerpt(row.client)));
    }
  }
  rows_.push_back({.user = static_cast<UserId>(user),
                   .item = static_cast<ItemId>(items_.number_of(row.item)),
                   .rating = row.rating,
                   .timestamp = row.timestamp});
  lines_.push_back(row.line);
  if (row.part) parts_.push_back(*row.part);
}

std::vector<bool> RowCollector::find_repeated() const {
  std::vector<bool> repeated(rows_.size(), false);
  std::vector<std::uint32_t> last_user(items_.size(), UINT32_MAX);
  for (const std::size_t i : rows_by_user(rows_, users_.size())) {
    std::uint32_t& seen = last_user[slot(rows_[i].item)];
    repeated[i] = seen == static_cast<std::uint32_t>(rows_[i].user);
    seen = static_cast<std::uint32_t>(rows_[i].user);
  }
  return repeated;
}

void RowCollector::reject_repeated() {
  const std::vector<bool> repeated = find_repeated();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (repeated[i]) {
      const std::string_view problem = "found a pair of user and item that is further up already";
      if (!skip_bad_rows_) fail(lines_[i], problem);
      reject(lines_[i], problem);
      continue;
    }
    rows_[kept] = rows_[i];
    lines_[kept] = lines_[i];
    if (!parts_.empty()) parts_[kept] = parts_[i];
    ++kept;
  }
  rows_.resize(kept);
  lines_.resize(kept);
  if (!parts_.empty()) parts_.resize(kept);
}

void RowCollector::number_finally(Dataset& dataset) const {
  auto users = users_.order();
  auto items = items_.order();
  for (Interaction& row : dataset.interactions) {
    row.user = static_cast<UserId>(users.number[slot(row.user)]);
    row.item = static_cast<ItemId>(items.number[slot(row.item)]);
  }
  if (!user_clients_.empty()) {
    const auto clients = clients_.order();
    dataset.user_clients.resize(user_clients_.size());
    for (std::size_t user = 0; user < user_clients_.size(); ++user) {
      dataset.user_clients[users.number[user]] =
          static_cast<ClientId>(clients.number[user_clients_[user]]);
    }
  }
  dataset.user_names = std::move(users.names);
  dataset.item_names = std::move(items.names);
}

Dataset RowCollector::finish() {
  reject_repeated();
  if (rows_.empty()) {
    throw DataError(first_problem_.empty()
                        ? fmt::format("{}: found no rows, expected at least one interaction", file_)
                        : fmt::format("{}: all {} rows are bad; the first is {}", file_, skipped_,
                                      first_problem_));
  }
  Dataset dataset;
  dataset.interactions = std::move(rows_);
  dataset.parts = std::move(parts_);
  dataset.skipped_rows = skipped_;
  number_finally(dataset);
  dataset.item_titles.resize(dataset.item_names.size());
  return dataset;
}

bool parse_rating(std::string_view text, float& rating) {
  const auto number = parse_number<float>(text);
  if (number) rating = *number;
  return number && std::isfinite(rating);
}

bool parse_timestamp(std::string_view text, std::int64_t& timestamp) {
  if (const auto whole = parse_number<std::int64_t>(text)) {
    timestamp = *whole;
    return true;
  }
  const auto seconds = parse_number<double>(text);
  if (!seconds || !(std::abs(*seconds) < 9e18)) return false;
  timestamp = std::llround(*seconds);
  return true;
}

std::string numeric_id_problem(std::string_view what, std::string_view id) {
  const auto value = parse_plain_number(id);
  if (value && *value < kNumericIdEnd) return {};
  return fmt::format("found {} {}, expected a whole number from 0 to {}", what, excerpt(id),
                     kNumericIdEnd - 1);
}
}  // namespace fedhur::data
