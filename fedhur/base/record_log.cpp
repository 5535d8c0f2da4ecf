#include "fedhur/base/record_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <utility>

#include "fedhur/base/checksum.hpp"
#include "fedhur/base/descriptor.hpp"
#include "fedhur/base/direct_writer.hpp"
#include "fedhur/base/file.hpp"

namespace fedhur {
namespace {
constexpr std::uint32_t kRecordMagic = 0x33524846;  // "FHR3"
constexpr std::uint32_t kEmptyMagic = 0x30524846;   // "FHR0"
constexpr std::uint32_t kOldMagic = 0x32524846;     // "FHR2"
struct Header {
  std::uint32_t magic = kRecordMagic;
  std::uint32_t generation = 0;  // how often the log was cleared: what follows may be of before
  std::uint64_t size = 0;
  std::array<std::byte, 8> checksum = {};  // of generation, size and content
};
static_assert(sizeof(Header) == 24);

std::array<std::byte, 8> record_checksum(const Header& header, std::span<const std::byte> head,
                                         std::span<const std::byte> body) {
  Checksum checksum;
  checksum.update(std::as_bytes(std::span(&header.generation, 1)));
  checksum.update(std::as_bytes(std::span(&header.size, 1)));
  checksum.update(head);
  checksum.update(body);
  const Checksum::Digest digest = checksum.digest();
  std::array<std::byte, 8> first{};
  std::memcpy(first.data(), digest.data(), first.size());
  return first;
}
}  // namespace

struct RecordLog::File {
  std::filesystem::path path;
  Descriptor file;
  off_t end = 0;  // of the last whole record
  std::atomic<std::uint32_t> generation = 0;
  std::vector<std::vector<std::byte>> records;
  std::mutex mutex;
  std::atomic<bool> has_failed = false;
  std::optional<DirectWriter> direct;  // for Cache::none, where there is one

  File(std::filesystem::path where, Cache cache)
      : path(std::move(where)), file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (file.get() < 0) fail("open");
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) fail("inspect");
    if (!S_ISREG(info.st_mode)) {
      throw FileError(fmt::format("cannot open {}: it is not a file", path.string()));
    }
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      throw FileError(fmt::format("cannot open {}: another process works with it", path.string()));
    }
    if (::fstat(file.get(), &info) != 0) fail("inspect");  // again, now under the lock
    read_records(info.st_size);
    if (::ftruncate(file.get(), end) != 0) fail("write");
    // Records of a process that was killed may be in memory only, and are relied on from here on.
    sync();
    if (end == 0) sync_folder(path.parent_path());
    if (cache == Cache::none) open_direct();
  }
  ~File() { (void)::ftruncate(file.get(), end); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[noreturn]] void fail(const char* action) const {
    throw FileError(fmt::format("cannot {} {}: {}", action, path.string(), std::strerror(errno)));
  }

  void open_direct() {
    direct = DirectWriter::open(path);
    if (!direct) return;
    const auto block = static_cast<off_t>(DirectWriter::kBlock);
    std::vector<std::byte> last(static_cast<std::size_t>(end % block));
    if (!read_at(end - end % block, last)) fail("read");
    direct->seek(end, last);
  }

  // Record by record: a log may be large, and is in memory once only.
  void read_records(off_t size) {
    constexpr off_t kHeader = sizeof(Header);
    while (size - end >= kHeader) {
      Header header;
      if (!read_at(end, std::as_writable_bytes(std::span(&header, 1)))) break;
      if (end == 0) {
        if (header.magic == kOldMagic) {
          throw FileError(
              fmt::format("cannot go on with {}: an older fedhur has written it", path.string()));
        }
        generation = header.generation;
      }
      if (header.magic != kRecordMagic || header.generation != generation ||
          header.size > static_cast<std::uint64_t>(size - end - kHeader)) {
        break;
      }
      std::vector<std::byte> content(header.size);
      if (!read_at(end + kHeader, content)) break;
      if (record_checksum(header, content, {}) != header.checksum) break;
      end += kHeader + static_cast<off_t>(content.size());
      records.push_back(std::move(content));
    }
  }

  // False if the file ends too early.
  [[nodiscard]] bool read_at(off_t position, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t got = ::pread(file.get(), bytes.data(), bytes.size(), position);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("read");
      if (got == 0) return false;
      position += got;
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
    return true;
  }

  // After a failure the system has forgotten what it could not write, and would say no more.
  void sync() {
    if (has_failed || ::fdatasync(file.get()) != 0) {
      if (has_failed.exchange(true)) errno = EIO;
      fail("write");
    }
  }

  // The disk may begin with it; sync() will have less to wait for.
  void begin_sync([[maybe_unused]] off_t from, [[maybe_unused]] off_t to) const {
#if defined(__linux__)
    (void)::sync_file_range(file.get(), from, to - from, SYNC_FILE_RANGE_WRITE);
#endif
  }

  using Parts = std::initializer_list<std::span<const std::byte>>;

  // Where it ends. On failure nothing has been written; a torn record would be cut off later
  // anyway.
  [[nodiscard]] off_t write(off_t position, Parts parts) {
    if (direct && direct->append(parts)) return direct->position();
    direct.reset();  // some file systems refuse at this point only
    if (!write_cached(position, parts)) {
      const int reason = errno;
      (void)::ftruncate(file.get(), end);
      errno = reason;
      fail("write");
    }
    return position;
  }

  [[nodiscard]] bool write_cached(off_t& position, Parts parts) const {
    const off_t begin = position;
    for (const std::span<const std::byte> bytes : parts) {
      if (!write_at(file.get(), position, bytes)) return false;
      position += static_cast<off_t>(bytes.size());
    }
    begin_sync(begin, position);
    return true;
  }
};

RecordLog::RecordLog(const std::filesystem::path& path, Cache cache)
    : file_(std::make_unique<File>(path, cache)) {}
RecordLog::~RecordLog() = default;

std::vector<std::vector<std::byte>> RecordLog::take_records() {
  return std::exchange(file_->records, {});
}

void RecordLog::append(std::span<const std::byte> head, std::span<const std::byte> body) {
  Header header{.generation = file_->generation, .size = head.size() + body.size()};
  header.checksum = record_checksum(header, head, body);
  const std::lock_guard lock(file_->mutex);
  expects(header.generation == file_->generation, "no append while the log is cleared");
  file_->end = file_->write(file_->end, {std::as_bytes(std::span(&header, 1)), head, body});
}

void RecordLog::sync() { file_->sync(); }

void RecordLog::clear() {
  const std::lock_guard lock(file_->mutex);
  if (file_->end == 0) return;
  const Header empty{.magic = kEmptyMagic, .generation = file_->generation + 1};
  if (file_->direct) file_->direct->seek(0, {});
  (void)file_->write(0, {std::as_bytes(std::span(&empty, 1))});
  if (file_->direct) file_->direct->seek(0, {});
  file_->generation = empty.generation;
  file_->end = 0;
}

void RecordLog::rename(const std::filesystem::path& path) {
  const std::lock_guard lock(file_->mutex);
  if (::rename(file_->path.c_str(), path.c_str()) != 0) file_->fail("rename");
  file_->path = path;
  sync_folder(path.parent_path());
}
}  // namespace fedhur
