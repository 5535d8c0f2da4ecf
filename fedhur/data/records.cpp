#include "fedhur/data/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fedhur/base/error.hpp"

namespace fedhur::data {
void fail_at(const std::filesystem::path& file, std::size_t line, std::string_view problem) {
  throw DataError(fmt::format("{}:{}: {}", file.string(), line, problem));
}

RecordReader::RecordReader(std::string_view text, std::string_view delimiter, Quoting quoting)
    : text_(text),
      delimiter_(delimiter),
      quoting_(quoting),
      has_nul_(text.find('\0') != std::string_view::npos) {
  expects(!delimiter.empty(), "a delimiter has at least one byte");
}

std::string_view RecordReader::line_at(std::size_t position) const {
  const std::size_t end = std::min(text_.find('\n', position), text_.size());
  return text_.substr(position, end - position);
}

bool RecordReader::next() {
  fields_.clear();
  problem_.clear();
  while (position_ < text_.size()) {
    std::string_view line = line_at(position_);
    const std::size_t begin = std::exchange(position_, position_ + line.size() + 1);
    line_ = next_line_++;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (line.size() > kMaxRecordBytes) {
      reject(fmt::format("found a line of {} bytes, expected at most {}", line.size(),
                         kMaxRecordBytes));
    } else if (has_nul_ && line.find('\0') != std::string_view::npos) {
      reject("found a NUL byte, expected text");
    } else if (quoting_ == Quoting::none || line.find('"') == std::string_view::npos) {
      split_plain(line);
    } else {
      parse_quoted(text_.substr(begin, line.size()));
    }
    return true;
  }
  return false;
}

void RecordReader::reject(std::string problem) {
  fields_.clear();
  problem_ = std::move(problem);
}

void RecordReader::split_plain(std::string_view record) {
  for (;;) {
    const std::size_t end = record.find(delimiter_);
    fields_.push_back(record.substr(0, end));
    if (end == std::string_view::npos) return;
    record.remove_prefix(end + delimiter_.size());
  }
}

// Broken quoting costs one line only: reading goes on behind the line where the record began.
void RecordReader::parse_quoted(std::string_view first_line) {
  const auto begin = static_cast<std::size_t>(first_line.data() - text_.data());
  const std::size_t limit = std::min(begin + kMaxRecordBytes, text_.size());
  unescaped_.clear();
  unescaped_.reserve(kMaxRecordBytes);  // so that fields pointing into it stay valid
  std::size_t at = begin;
  for (;;) {
    if (at < limit && text_[at] == '"') {
      at = parse_quoted_field(at + 1, limit);
      if (!problem_.empty()) return;
    } else {
      const std::string_view line = line_at(at);
      std::string_view field = line.substr(0, line.find(delimiter_));
      at += field.size();
      if (field.size() == line.size() && field.ends_with('\r')) field.remove_suffix(1);
      if (field.find('"') != std::string_view::npos) {
        return reject("found a quote inside an unquoted field");
      }
      fields_.push_back(field);
    }
    if (at >= text_.size() || text_[at] == '\n') break;
    at += delimiter_.size();
    if (at > limit) return reject("found a record that is too long");
  }
  const std::string_view record = text_.substr(begin, at - begin);
  if (has_nul_ && record.find('\0') != std::string_view::npos) {
    return reject("found a NUL byte, expected text");
  }
  next_line_ += static_cast<std::size_t>(std::ranges::count(record, '\n'));
  position_ = at + 1;
}

// A backslash escapes a quote or another backslash. Some ids end in a backslash that escapes
// nothing, as in "123\";"5": there the quote closes the field.
bool RecordReader::is_escape(std::size_t at) const {
  const std::string_view rest = text_.substr(at);
  if (!rest.starts_with("\\\"")) return rest.starts_with("\\\\");
  const std::string_view behind = rest.substr(2);
  const bool closes =
      behind.empty() || behind.starts_with('\n') || behind.starts_with("\r\n") ||
      (behind.starts_with(delimiter_) && behind.substr(delimiter_.size()).starts_with('"'));
  return !closes;
}

// Reads from behind the opening quote and returns where the delimiter or the line end begins.
std::size_t RecordReader::parse_quoted_field(std::size_t at, std::size_t limit) {
  const std::size_t first = unescaped_.size();
  for (;; ++at) {
    if (at >= limit) {
      reject("found a quote that is not closed");
      return at;
    }
    const bool pair = at + 1 < limit;
    if (quoting_ == Quoting::backslash && is_escape(at)) {
      unescaped_.push_back(text_[++at]);
    } else if (text_[at] != '"') {
      unescaped_.push_back(text_[at]);
    } else if (quoting_ == Quoting::doubled && pair && text_[at + 1] == '"') {
      unescaped_.push_back(text_[++at]);
    } else {
      break;
    }
  }
  fields_.push_back(std::string_view(unescaped_).substr(first));
  std::string_view rest = text_.substr(at + 1);
  if (rest.starts_with("\r\n") || rest == "\r") return at + 2;
  if (!rest.empty() && rest.front() != '\n' && !rest.starts_with(delimiter_)) {
    reject("found text behind a closing quote");
  }
  return at + 1;
}
}  // namespace fedhur::data
