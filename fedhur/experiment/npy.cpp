#include "fedhur/experiment/npy.hpp"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "fedhur/base/error.hpp"

namespace fedhur::experiment {
namespace {
static_assert(std::endian::native == std::endian::little && sizeof(Real) == 4, "'<f4'");

// Magic, version, length and a Python dictionary, filled up so that the data begin at a multiple
// of 64 bytes.
std::string make_header(const std::string& shape) {
  constexpr std::size_t kAlignment = 64;
  constexpr std::size_t kPrefix = 10;  // before the dictionary
  std::string text =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': {}, }}", shape);
  const std::size_t used = (kPrefix + text.size() + 1) % kAlignment;
  text.append((kAlignment - used) % kAlignment, ' ');
  text += '\n';
  std::string header = "\x93NUMPY";
  header += '\x01';  // version 1.0
  header += '\0';
  header += static_cast<char>(text.size() & 0xFFU);
  header += static_cast<char>(text.size() >> 8U);
  return header + text;
}

class NpyFile {
 public:
  NpyFile(const std::filesystem::path& path, const std::string& shape) : path_(path) {
    errno = 0;
    file_.open(path, std::ios::binary | std::ios::trunc);
    check();
    const std::string header = make_header(shape);
    file_.write(header.data(), static_cast<std::streamsize>(header.size()));
  }
  void put(const Real* values, Index count) {
    file_.write(reinterpret_cast<const char*>(values),  // NOLINT: bytes of numbers
                static_cast<std::streamsize>(count) * static_cast<std::streamsize>(sizeof(Real)));
  }
  void close() {
    file_.close();
    check();
  }

 private:
  void check() const {
    if (file_) return;
    throw Error(fmt::format("cannot write {}: {}", path_.string(),
                            errno != 0 ? std::strerror(errno) : "no reason is known"));
  }
  std::filesystem::path path_;
  std::ofstream file_;
};
}  // namespace

void write_npy(const std::filesystem::path& path, ConstMatrixRef matrix) {
  NpyFile file(path, fmt::format("({}, {})", matrix.rows(), matrix.cols()));
  for (Index row = 0; row < matrix.rows(); ++row) file.put(matrix.row(row).data(), matrix.cols());
  file.close();
}

void write_npy_vector(const std::filesystem::path& path, ConstVectorRef vector) {
  NpyFile file(path, fmt::format("({},)", vector.size()));
  file.put(vector.data(), vector.size());
  file.close();
}
}  // namespace fedhur::experiment
