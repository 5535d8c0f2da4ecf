#include "fedhur/data/stored_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>

#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"

namespace fedhur::data {
namespace {
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

[[noreturn]] void reject_file(const std::filesystem::path& name, std::string_view problem) {
  throw DataError(fmt::format("{}: {}", name.string(), problem));
}

class Inflater {
 public:
  Inflater() {
    const int accept_gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, accept_gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

// The last four bytes of a gzip file tell the size of its text; it may lie, so it is only a start.
std::size_t first_guess(std::string_view stored) {
  std::size_t claimed = 0;
  for (std::size_t i = 0; i < 4 && stored.size() >= 18; ++i) {
    claimed = claimed << 8U | static_cast<unsigned char>(stored[stored.size() - 1 - i]);
  }
  return std::clamp(claimed + 1, std::size_t{256}, stored.size() * 16 + 256);
}

bool is_padding(std::string_view rest) {
  return std::ranges::all_of(rest, [](char c) { return c == '\0'; });
}

// One call of inflate() into the free end of `text`, which grows as needed.
int inflate_some(z_stream& stream, std::string& text, std::size_t& used, std::size_t available) {
  if (used == text.size()) text.resize(text.size() * 2);
  const std::size_t most = std::numeric_limits<uInt>::max();
  const auto in = static_cast<uInt>(std::min(available, most));
  const auto out = static_cast<uInt>(std::min(text.size() - used, most));
  stream.avail_in = in;
  stream.next_out = reinterpret_cast<Bytef*>(text.data() + used);
  stream.avail_out = out;
  const int status = inflate(&stream, Z_NO_FLUSH);
  used += out - stream.avail_out;
  return status;
}

std::string inflate_gzip(std::string& stored, const std::filesystem::path& name) {
  Inflater inflater;
  z_stream& stream = inflater.stream();
  auto* const begin = reinterpret_cast<Bytef*>(stored.data());
  stream.next_in = begin;
  std::string text(first_guess(stored), '\0');
  std::size_t used = 0;
  for (;;) {
    const auto consumed = static_cast<std::size_t>(stream.next_in - begin);
    const int status = inflate_some(stream, text, used, stored.size() - consumed);
    if (used > kMaxTextBytes) reject_file(name, "the gzip content is larger than 4 GiB");
    const auto rest =
        std::string_view(stored).substr(static_cast<std::size_t>(stream.next_in - begin));
    if (status == Z_STREAM_END) {
      if (is_padding(rest)) break;
      if (!rest.starts_with(kGzipMagic))
        reject_file(name, "other bytes follow the end of the gzip content");
      if (inflateReset(&stream) != Z_OK) reject_file(name, "the gzip content cannot be read");
    } else if (status == Z_BUF_ERROR || (status == Z_OK && rest.empty() && stream.avail_out != 0)) {
      reject_file(name, "the gzip content ends too early; the file seems truncated");
    } else if (status != Z_OK) {
      reject_file(name, fmt::format("the gzip content is corrupt ({})",
                                    stream.msg != nullptr ? stream.msg : "unknown reason"));
    }
  }
  text.resize(used);
  return text;
}
}  // namespace

std::string read_stored_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    reject_file(path, "there is no such file");
  if (error) reject_file(path, error.message());
  if (std::filesystem::is_directory(status)) reject_file(path, "found a folder, expected a file");
  if (!std::filesystem::is_regular_file(status)) reject_file(path, "expected a regular file");
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size > kMaxTextBytes) reject_file(path, "the file is larger than 4 GiB");
  try {
    return read_text_file(path);
  } catch (const Error& reason) {  // a file of the user that cannot be read is wrong data
    throw DataError(reason.what());
  }
}

std::string text_of(std::string stored, const std::filesystem::path& name) {
  if (stored.empty()) reject_file(name, "the file is empty");
  const bool is_gzip = stored.starts_with(kGzipMagic);
  if (!is_gzip && name.extension() == ".gz") {
    reject_file(name, "found other content than the gzip that the name promises");
  }
  std::string text = is_gzip ? inflate_gzip(stored, name) : std::move(stored);
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  if (text.empty()) reject_file(name, "the file is empty");
  return text;
}

std::string plain_name(const std::filesystem::path& path) {
  return (path.extension() == ".gz" ? path.stem() : path.filename()).string();
}
}  // namespace fedhur::data
