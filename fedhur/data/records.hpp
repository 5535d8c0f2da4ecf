// Text taken apart into records and fields, one at a time and without copies where none are needed.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fedhur::data {
// DataError "file:line: problem".
[[noreturn]] void fail_at(const std::filesystem::path& file, std::size_t line,
                          std::string_view problem);

inline constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 16U;

enum class Quoting : unsigned char {
  none,
  doubled,    // RFC 4180: "a ""quoted"" word"; a quoted field may span lines
  backslash,  // as Book-Crossing writes it: "a \"quoted\" word"
};

// Lines end in LF or CRLF, the last may lack it; blank lines are passed over. The text has to
// outlive the reader.
class RecordReader {
 public:
  RecordReader(std::string_view text, std::string_view delimiter, Quoting quoting);

  bool next();  // false when the text is used up
  // Both are valid until the next call of next(). Fields are empty where there is a problem.
  [[nodiscard]] std::span<const std::string_view> fields() const { return fields_; }
  // Why this is no record: broken quoting, a NUL byte, too long. Empty if it is one.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::size_t line() const { return line_; }  // 1-based; where the record begins

 private:
  [[nodiscard]] std::string_view line_at(std::size_t position) const;
  void split_plain(std::string_view record);
  void parse_quoted(std::string_view first_line);
  std::size_t parse_quoted_field(std::size_t at, std::size_t limit);
  [[nodiscard]] bool is_escape(std::size_t at) const;
  void reject(std::string problem);

  std::string_view text_;
  std::string_view delimiter_;
  Quoting quoting_;
  bool has_nul_;
  std::size_t position_ = 0;  // where the next line begins
  std::size_t next_line_ = 1;
  std::size_t line_ = 0;
  std::vector<std::string_view> fields_;
  std::string unescaped_;  // holds the fields that differ from the text
  std::string problem_;
};
}  // namespace fedhur::data
