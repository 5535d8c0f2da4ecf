// NumPy's file format for arrays (.npy, version 1.0): float32, little-endian, in C order.
#pragma once
#include <filesystem>

#include "fedhur/base/matrix.hpp"

namespace fedhur::experiment {
// Arrays of shape (rows, cols) and (size,). Error with the system's reason if the file cannot be
// written whole.
void write_npy(const std::filesystem::path& path, ConstMatrixRef matrix);
void write_npy_vector(const std::filesystem::path& path, ConstVectorRef vector);
}  // namespace fedhur::experiment
