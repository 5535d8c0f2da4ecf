// Reads what NumPy would read; only what fedhur writes.
#pragma once
#include <cstring>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "fedhur/base/file.hpp"
#include "fedhur/base/matrix.hpp"

namespace fedhur::tests {
struct NpyArray {
  std::vector<Index> shape;
  std::vector<Real> values;

  [[nodiscard]] Matrix matrix() const {
    return Eigen::Map<const Matrix>(values.data(), shape.at(0), shape.at(1));
  }
};

inline NpyArray read_npy(const std::filesystem::path& path) {
  const std::string bytes = read_text_file(path);
  constexpr std::size_t kPrefix = 10;
  const auto fail = [&](const char* what) { throw std::runtime_error(path.string() + what); };
  if (bytes.size() < kPrefix || bytes.compare(0, 8, std::string("\x93NUMPY\x01\0", 8)) != 0) {
    fail(": not a NumPy array of version 1.0");
  }
  const std::size_t length = static_cast<unsigned char>(bytes[8]) +
                             std::size_t{256} * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(kPrefix, length);
  if (header.find("'descr': '<f4'") == std::string::npos ||
      header.find("'fortran_order': False") == std::string::npos) {
    fail(": not float32 in C order");
  }
  NpyArray array;
  std::size_t count = 1;
  std::istringstream shape(header.substr(header.find("'shape': (") + 10));
  for (Index size = 0; shape >> size; shape.ignore(1, ',')) {
    array.shape.push_back(size);
    count *= static_cast<std::size_t>(size);
  }
  if (bytes.size() != kPrefix + length + count * sizeof(Real)) fail(": not of the size it tells");
  array.values.resize(count);
  if (count > 0) {
    std::memcpy(array.values.data(), bytes.data() + kPrefix + length, count * sizeof(Real));
  }
  return array;
}
}  // namespace fedhur::tests
