// Appending past the system's cache, for files that are read after a crash only: no memory of the
// system is filled with them.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>

#include "fedhur/base/descriptor.hpp"

namespace fedhur {
// Writes whole blocks, as the system demands: the last one is filled up with zeros, and written
// anew with what follows.
class DirectWriter {
 public:
  static constexpr std::size_t kBlock = 4096;

  // Nothing if the file system knows no such way.
  [[nodiscard]] static std::optional<DirectWriter> open(const std::filesystem::path& path);

  // Goes on at this position. `last` is what the file has between the last multiple of kBlock and
  // there, and stays as it is.
  void seek(off_t position, std::span<const std::byte> last);
  // False, with errno, if the system refuses; the position is that of before then, but what lies
  // behind it may have changed. Nothing but this writes to the file.
  [[nodiscard]] bool append(std::initializer_list<std::span<const std::byte>> parts);
  [[nodiscard]] off_t position() const { return position_; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  using Buffer = std::unique_ptr<std::byte[], Free>;  // NOLINT(modernize-avoid-c-arrays)

  explicit DirectWriter(Descriptor file);

  Descriptor file_;
  Buffer buffer_;  // what is written next
  Buffer last_;    // the last block of the file, up to position_
  off_t position_ = 0;
};
}  // namespace fedhur
