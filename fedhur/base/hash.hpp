// SHA-256, for the identity of data sets, runs and keys.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace fedhur {
[[nodiscard]] std::string sha256_hex(std::span<const std::byte> bytes);  // 64 lower-case digits
}  // namespace fedhur
