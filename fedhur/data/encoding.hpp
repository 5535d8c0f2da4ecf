// Bytes that claim to be text: UTF-8 is kept, Latin-1 becomes UTF-8.
#pragma once
#include <string>
#include <string_view>

namespace fedhur::data {
[[nodiscard]] bool is_utf8(std::string_view text);
// Text that is not UTF-8 is taken for Latin-1, which the old data sets are written in.
[[nodiscard]] std::string to_utf8(std::string_view text);
// A to Z as a to z, everything else as it is.
[[nodiscard]] std::string lowercase(std::string_view text);
// For messages: in single quotes, at most 40 bytes of it, unprintable bytes as \xNN.
[[nodiscard]] std::string excerpt(std::string_view text);
}  // namespace fedhur::data
