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

// All of it, however many calls that takes. False, with errno, if the system refuses.
[[nodiscard]] inline bool write_at(int fd, off_t position, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::pwrite(fd, bytes.data(), bytes.size(), position);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return false;
    position += size;
    bytes = bytes.subspan(static_cast<std::size_t>(size));
  }
  return true;
}
}  // namespace fedhur
