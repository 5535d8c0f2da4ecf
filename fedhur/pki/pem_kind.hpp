// What a file of this folder's making holds.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace fedhur::pki {
enum class PemKind : std::uint8_t { certificate, request, revocations, key, unknown };
// By the first label that is known.
[[nodiscard]] PemKind kind_of(const std::string& pem);

// The text of a file. DataError if it is missing, a folder, or larger than anything that is read
// here can be.
[[nodiscard]] std::string read_pem_file(const std::filesystem::path& path);
}  // namespace fedhur::pki
