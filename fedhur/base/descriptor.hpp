// An open file of the system, closed at the end of its scope.
#pragma once
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

namespace fedhur {
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }  // negative if it could not be opened
  [[nodiscard]] int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

// All of it, however many calls of write_some(bytes) that takes. False, with errno, if the system
// refuses.
template <class WriteSome>
[[nodiscard]] bool write_whole(std::span<const std::byte> bytes, const WriteSome& write_some) {
  while (!bytes.empty()) {
    const ssize_t size = write_some(bytes);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(size));
  }
  return true;
}
[[nodiscard]] inline bool write_all(int fd, std::span<const std::byte> bytes) {
  return write_whole(bytes, [fd](auto rest) { return ::write(fd, rest.data(), rest.size()); });
}
[[nodiscard]] inline bool write_at(int fd, off_t position, std::span<const std::byte> bytes) {
  const off_t end = position + static_cast<off_t>(bytes.size());
  return write_whole(bytes, [&](auto rest) {
    return ::pwrite(fd, rest.data(), rest.size(), end - static_cast<off_t>(rest.size()));
  });
}
}  // namespace fedhur
