// A file that grows by records. What a crash tears off is noticed and left out.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "fedhur/base/byte_stream.hpp"

namespace fedhur {
class RecordLog {
 public:
  // Opens or creates; what follows the last whole record is cut off. FileError if the system
  // refuses, or if another process has it open: two writers would corrupt each other's records.
  // `Cache::none` is for logs that are read after a crash only: they take no memory of the system,
  // where the file system can do without, and appending waits for the disk.
  enum class Cache : std::uint8_t { ordinary, none };
  explicit RecordLog(const std::filesystem::path& path, Cache cache = Cache::ordinary);
  ~RecordLog();
  RecordLog(const RecordLog&) = delete;
  RecordLog& operator=(const RecordLog&) = delete;

  // The whole records in the file at the time it was opened, in order.
  [[nodiscard]] std::vector<std::vector<std::byte>> take_records();
  // In one piece for readers of the file; survives the end of the process at once, and of the
  // machine after sync(). May be called from several threads. FileError leaves the file as it was.
  void append(std::span<const std::byte> head, std::span<const std::byte> body = {});
  void sync();
  // Not during an append. The file keeps its length, and new records overwrite old ones: to
  // give room back and take it again costs more than to write. It is cut to what counts when it is
  // closed or opened.
  void clear();
  // Survives the end of the machine where the file system can promise that.
  void rename(const std::filesystem::path& path);

 private:
  struct File;
  std::unique_ptr<File> file_;
};
}  // namespace fedhur
