// What a file of this folder's making holds.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "fedhur/base/error.hpp"

namespace fedhur::pki {
enum class PemKind : std::uint8_t { certificate, request, revocations, key, unknown };
// By the first label that is known.
[[nodiscard]] PemKind kind_of(const std::string& pem);

// The text of a file. DataError if it is missing, a folder, or larger than anything that is read
// here can be.
[[nodiscard]] std::string read_pem_file(const std::filesystem::path& path);
// What `parse` makes of that text; a DataError says which file it is about.
template <class Parse>
auto parse_pem_file(const std::filesystem::path& path, const Parse& parse) {
  const std::string text = read_pem_file(path);
  try {
    return parse(text);
  } catch (const DataError& error) {
    throw DataError(path.string() + ": " + error.what());
  }
}
}  // namespace fedhur::pki
