// Whole files in and out; a written file is there completely or not at all. And their folders.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fedhur/base/byte_stream.hpp"

namespace fedhur {
// Throws FileError with the system's reason. Writing goes through a temporary neighbour, fsync and
// rename, so that a crash or a full disk leaves the old file as it was.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomically(const std::filesystem::path& path, std::string_view text);
// The same for secrets: only the owner can read the file, from its creation on.
void write_private_file(const std::filesystem::path& path, std::string_view text);

// A large file written piece by piece, with a checksum of everything before it at its end. Nothing
// is at `path` before commit(); afterwards it survives the end of the machine.
class CheckedFileWriter final : public ByteSink {
 public:
  explicit CheckedFileWriter(std::filesystem::path path);
  ~CheckedFileWriter() override;
  CheckedFileWriter(const CheckedFileWriter&) = delete;
  CheckedFileWriter& operator=(const CheckedFileWriter&) = delete;
  void put_bytes(std::span<const std::byte> bytes) override;
  void commit();

 private:
  struct File;
  std::unique_ptr<File> file_;
};
// The bytes before the checksum. DataError if they do not match it.
[[nodiscard]] std::vector<std::byte> read_checked_file(const std::filesystem::path& path);

// New names in a folder survive the end of the machine after this, where the file system can
// promise that.
void sync_folder(const std::filesystem::path& folder);

[[nodiscard]] std::vector<std::byte> read_file(const std::filesystem::path& path);
[[nodiscard]] std::string read_text_file(const std::filesystem::path& path);

// With all folders above it, unless it is there. ConfigError with the system's reason, since it is
// users who say where folders go.
void make_folder(const std::filesystem::path& path);
// The same, for its owner alone to look into.
void make_private_folder(const std::filesystem::path& path);
}  // namespace fedhur
