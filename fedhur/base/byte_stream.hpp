// Little-endian bytes, written without surprises and read without trust.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fedhur/base/error.hpp"

namespace fedhur {
static_assert(std::endian::native == std::endian::little, "formats are little-endian");

// Where bytes go: to memory (ByteWriter) or to a file (CheckedFileWriter).
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void put_bytes(std::span<const std::byte> bytes) = 0;
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(T value) { put_bytes(std::as_bytes(std::span(&value, 1))); }
  void put_name(std::string_view name) {  // at most 255 bytes, its length first
    expects(name.size() <= 255, "a name has at most 255 bytes");
    put(static_cast<std::uint8_t>(name.size()));
    put_bytes(std::as_bytes(std::span(name)));
  }
};

class ByteWriter final : public ByteSink {
 public:
  explicit ByteWriter(std::size_t expected_size = 0) { bytes_.reserve(expected_size); }
  void put_bytes(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  [[nodiscard]] std::vector<std::byte> finish() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Every read is checked against what is left; running out is a ProtocolError.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  [[nodiscard]] std::size_t remaining() const { return rest_.size(); }
  [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }  // takes nothing
  [[nodiscard]] std::span<const std::byte> take(std::size_t count) {
    if (count > rest_.size()) throw ProtocolError("bytes end too early");
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  [[nodiscard]] std::string get_name() {
    const auto bytes = take(get<std::uint8_t>());
    std::string name(bytes.size(), '\0');
    if (!bytes.empty()) std::memcpy(name.data(), bytes.data(), bytes.size());
    return name;
  }

 private:
  std::span<const std::byte> rest_;
};
}  // namespace fedhur
