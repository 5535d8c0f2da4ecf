// The type of sizes and positions, without the matrices.
#pragma once
#include <cstddef>

namespace fedhur {
using Index = std::ptrdiff_t;
}  // namespace fedhur
