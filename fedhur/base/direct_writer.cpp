#include "fedhur/base/direct_writer.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "fedhur/base/error.hpp"

namespace fedhur {
namespace {
constexpr std::size_t kBufferBytes = std::size_t{256} << 10U;
static_assert(kBufferBytes % DirectWriter::kBlock == 0);

std::byte* allocate_blocks(std::size_t size) {
  void* const bytes = std::aligned_alloc(DirectWriter::kBlock, size);
  if (bytes == nullptr) throw std::bad_alloc();
  return static_cast<std::byte*>(bytes);
}

std::size_t in_block(off_t position) {
  return static_cast<std::size_t>(position) % DirectWriter::kBlock;
}
}  // namespace

void DirectWriter::Free::operator()(std::byte* bytes) const { std::free(bytes); }

DirectWriter::DirectWriter(Descriptor file)
    : file_(std::move(file)),
      buffer_(allocate_blocks(kBufferBytes)),
      last_(allocate_blocks(kBlock)) {}

std::optional<DirectWriter> DirectWriter::open([[maybe_unused]] const std::filesystem::path& path) {
#if defined(O_DIRECT)
  Descriptor file(::open(path.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC));
  if (file.get() >= 0) return DirectWriter(std::move(file));
#endif
  return std::nullopt;
}

void DirectWriter::seek(off_t position, std::span<const std::byte> last) {
  expects(last.size() == in_block(position), "what stays is the beginning of the last block");
  position_ = position;
  std::ranges::copy(last, last_.get());
}

bool DirectWriter::append(std::initializer_list<std::span<const std::byte>> parts) {
  std::size_t used = in_block(position_);
  off_t written = position_ - static_cast<off_t>(used);
  off_t end = position_;
  std::memcpy(buffer_.get(), last_.get(), used);
  for (std::span<const std::byte> part : parts) {
    end += static_cast<off_t>(part.size());
    while (!part.empty()) {
      const std::size_t size = std::min(part.size(), kBufferBytes - used);
      std::memcpy(buffer_.get() + used, part.data(), size);
      part = part.subspan(size);
      used += size;
      if (used < kBufferBytes) continue;
      if (!write_at(file_.get(), written, {buffer_.get(), used})) return false;
      written += static_cast<off_t>(used);
      used = 0;
    }
  }
  const std::size_t whole = used - used % kBlock;
  const std::size_t rest = used - whole;
  if (rest > 0) std::memset(buffer_.get() + used, 0, kBlock - rest);
  const std::size_t size = rest > 0 ? whole + kBlock : whole;
  if (!write_at(file_.get(), written, {buffer_.get(), size})) return false;
  std::memcpy(last_.get(), buffer_.get() + whole, rest);
  position_ = end;
  return true;
}
}  // namespace fedhur
