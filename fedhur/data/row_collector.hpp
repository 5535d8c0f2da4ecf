// Rows on their way into a Dataset: what a reader finds is checked, numbered and counted here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fedhur/data/id_table.hpp"
#include "fedhur/data/interactions.hpp"

namespace fedhur::data {
struct SourceRow {
  std::size_t line = 0;
  std::string_view user;
  std::string_view item;
  float rating = 1.0F;
  std::int64_t timestamp = 0;
  std::string_view client = {};   // empty where the source knows no clients
  std::optional<Part> part = {};  // in all rows or in none
};

class RowCollector {
 public:
  // `file` begins every message. With check_utf8 a row whose ids are not UTF-8 is bad.
  RowCollector(std::string file, bool skip_bad_rows, bool check_utf8);

  [[nodiscard]] const std::string& file() const { return file_; }
  // The file as a whole is not what it should be: DataError "file:line: problem".
  [[noreturn]] void fail(std::size_t line, std::string_view problem) const;
  // A bad row: fails, or counts it. A repeated pair further up is reported first.
  void reject(std::size_t line, std::string_view problem);
  // Rejects rows with empty ids and rows that put a user into a second client.
  void add(const SourceRow& row);

  // Rejects all but the first row of a pair; DataError if no row is left. Leaves the data set's
  // name, titles, digest and column flags to the caller.
  [[nodiscard]] Dataset finish();

 private:
  [[nodiscard]] std::string id_problem(const SourceRow& row) const;
  [[nodiscard]] std::vector<bool> find_repeated() const;
  void reject_repeated();
  void number_finally(Dataset& dataset) const;

  std::string file_;
  bool skip_bad_rows_;
  bool check_utf8_;
  std::vector<Interaction> rows_;
  std::vector<Part> parts_;
  std::vector<std::size_t> lines_;
  IdTable users_;
  IdTable items_;
  IdTable clients_;
  std::vector<std::uint32_t> user_clients_;
  std::int64_t skipped_ = 0;
  std::string first_problem_;
};

// Each false unless the whole text is what it should be.
[[nodiscard]] bool parse_rating(std::string_view text, float& rating);  // any finite number
// A whole number; fractions, as RecBole writes them, are rounded.
[[nodiscard]] bool parse_timestamp(std::string_view text, std::int64_t& timestamp);

// The problem with an id of a numeric format, which is a plain whole number below 2^32, or empty.
[[nodiscard]] std::string numeric_id_problem(std::string_view what, std::string_view id);
}  // namespace fedhur::data
