#include "fedhur/base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "fedhur/base/checksum.hpp"
#include "fedhur/base/descriptor.hpp"
#include "fedhur/base/error.hpp"

namespace fedhur {
namespace {
[[noreturn]] void fail(const char* action, const std::filesystem::path& path) {
  throw FileError(fmt::format("cannot {} {}: {}", action, path.string(), std::strerror(errno)));
}

enum class Readers : std::uint8_t { all, owner };

// A temporary file that is there already may be readable by others or a symbolic link: a private
// file is always created anew.
int open_temporary(const std::string& path, Readers readers) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC;
  if (readers == Readers::all) return ::open(path.c_str(), kFlags | O_TRUNC, 0644);
  ::unlink(path.c_str());
  return ::open(path.c_str(), kFlags | O_EXCL | O_NOFOLLOW, 0600);
}

// Becomes `path` at commit(), vanishes without it.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path path, Readers readers = Readers::all)
      : path_(std::move(path)),
        temporary_(path_.string() + ".part"),
        file_(open_temporary(temporary_, readers)) {
    if (file_.get() < 0) fail("create", path_);
  }
  ~TemporaryFile() {
    if (!committed_) ::unlink(temporary_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::span<const std::byte> bytes) {
    if (!write_all(file_.get(), bytes)) fail("write", path_);
  }
  void commit() {
    if (::fsync(file_.get()) != 0) fail("write", path_);
    if (file_.close() != 0) fail("write", path_);
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename to", path_);
    committed_ = true;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::string temporary_;
  Descriptor file_;
  bool committed_ = false;
};

template <class Bytes>
Bytes read_whole(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail("open", path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail("inspect", path);
  if (S_ISDIR(info.st_mode))
    throw FileError(fmt::format("cannot read {}: it is a folder", path.string()));
  Bytes bytes;
  bytes.resize(static_cast<std::size_t>(std::max<off_t>(info.st_size, 0)) + 1);
  std::size_t used = 0;
  for (;;) {
    if (used == bytes.size()) bytes.resize(bytes.size() * 2);
    const ssize_t got = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  bytes.resize(used);
  return bytes;
}
}  // namespace

void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  TemporaryFile file(path);
  file.write(bytes);
  file.commit();
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

void write_private_file(const std::filesystem::path& path, std::string_view text) {
  TemporaryFile file(path, Readers::owner);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

struct CheckedFileWriter::File {
  explicit File(std::filesystem::path path) : file(std::move(path)) {}
  TemporaryFile file;
  Checksum checksum;
  std::vector<std::byte> buffer;  // small pieces wait here

  void flush() {
    checksum.update(buffer);
    file.write(buffer);
    buffer.clear();
  }
};

CheckedFileWriter::CheckedFileWriter(std::filesystem::path path)
    : file_(std::make_unique<File>(std::move(path))) {}
CheckedFileWriter::~CheckedFileWriter() = default;

void CheckedFileWriter::put_bytes(std::span<const std::byte> bytes) {
  constexpr std::size_t kBuffer = 1U << 20U;
  file_->buffer.insert(file_->buffer.end(), bytes.begin(), bytes.end());
  if (file_->buffer.size() >= kBuffer) file_->flush();
}

void CheckedFileWriter::commit() {
  file_->flush();
  file_->file.write(file_->checksum.digest());
  file_->file.commit();
  sync_folder(file_->file.path().parent_path());
}

void sync_folder(const std::filesystem::path& folder) {
  const Descriptor opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened.get() >= 0) (void)::fsync(opened.get());  // not every file system can
}

std::vector<std::byte> read_checked_file(const std::filesystem::path& path) {
  std::vector<std::byte> bytes = read_file(path);
  Checksum::Digest stored{};
  if (bytes.size() < stored.size()) {
    throw DataError(
        fmt::format("{}: {} bytes are too few for a checked file", path.string(), bytes.size()));
  }
  const std::size_t size = bytes.size() - stored.size();
  std::memcpy(stored.data(), bytes.data() + size, stored.size());
  bytes.resize(size);
  if (checksum_of(bytes) != stored) {
    throw DataError(
        fmt::format("{}: the checksum does not match, the file is damaged", path.string()));
  }
  return bytes;
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  return read_whole<std::vector<std::byte>>(path);
}

std::string read_text_file(const std::filesystem::path& path) {
  return read_whole<std::string>(path);
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    throw ConfigError(
        fmt::format("cannot create the folder {}: {}", path.string(), error.message()));
  }
}

void make_private_folder(const std::filesystem::path& path) {
  make_folder(path);
  std::error_code error;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
  if (error) {
    throw ConfigError(
        fmt::format("cannot protect the folder {}: {}", path.string(), error.message()));
  }
}
}  // namespace fedhur
