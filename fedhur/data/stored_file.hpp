// The bytes of a data file, and the text in them: plain or gzipped.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace fedhur::data {
// More text than this is refused: a few kilobytes of gzip can unfold to any size.
inline constexpr std::size_t kMaxTextBytes = std::size_t{4} << 30U;

// Bytes as stored. DataError if there is no such file, if it is a folder or cannot be read.
[[nodiscard]] std::string read_stored_file(const std::filesystem::path& path);

// The text without its byte order mark, inflated where it is gzip (known by its first bytes;
// several members in a row are one text). DataError if it is empty, truncated, corrupt or too
// large, or if the name ends in .gz and the content is something else.
[[nodiscard]] std::string text_of(std::string stored, const std::filesystem::path& name);

// Name of the file without a trailing .gz.
[[nodiscard]] std::string plain_name(const std::filesystem::path& path);
}  // namespace fedhur::data
