#include "fedhur/message/wire_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "fedhur/message/packing.hpp"
#include "fedhur/message/rounding.hpp"

namespace fedhur::message {
namespace {
constexpr std::uint32_t kMagic = 0x314d4846;  // "FHM1"
constexpr std::size_t kMaxName = 255;
// Types of arrays, beside those of encode(array) in base/named_arrays.hpp.
constexpr std::uint8_t kHalves = 3;
constexpr std::uint8_t kBlocks = 4;
constexpr std::uint8_t kPacked = 5;  // exact

bool is_kind(const std::string& text) {
  return !text.empty() && text.size() <= kMaxName &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
         });
}

void expect_message(const Message& message) {
  expects(is_kind(message.kind), "a kind is a lower-case word");
  expects(message.round >= 0, "a round is not negative");
  expects(message.arrays.size() <= std::numeric_limits<std::uint16_t>::max(),
          "at most 65535 arrays");
  for (const auto& [name, array] : message.arrays.entries()) {
    expects(name.size() <= kMaxName, "a name has at most 255 bytes");
    std::visit(
        [](const auto& matrix) {
          constexpr Index kMost = std::numeric_limits<std::uint32_t>::max();
          expects(matrix->rows() <= kMost && matrix->cols() <= kMost, "sides fit 32 bits");
        },
        array);
  }
}

std::size_t head_size(const Message& message) {
  return sizeof(kMagic) + sizeof(kWireVersion) + 1 + message.kind.size() + sizeof(std::int64_t) +
         sizeof(std::uint16_t);
}

const Matrix* find_matrix(const Array& array) {  // nullptr if it is none of floats
  const auto* matrix = std::get_if<Shared<Matrix>>(&array);
  return matrix != nullptr ? matrix->get() : nullptr;
}

// How an array travels, and in how many bytes.
struct Layout {
  std::uint8_t type = 0;  // of those above; 0 as encode(array) writes it
  std::size_t size = 0;
};

Layout layout_of(const Array& array, Precision precision) {
  const std::size_t plain = fedhur::encoded_size(array);
  const Matrix* matrix = find_matrix(array);
  if (matrix == nullptr) return {.size = plain};
  constexpr std::size_t kHead = 1 + 2 * sizeof(std::uint32_t);
  if (is_rounded(*matrix, precision)) {
    return {.type = precision == Precision::float16 ? kHalves : kBlocks,
            .size = kHead + rounded_size(*matrix, precision)};
  }
  const std::size_t packed = kHead + packed_bytes(*matrix);
  return packed < plain ? Layout{kPacked, packed} : Layout{.size = plain};
}

Precision precision_of(std::uint8_t type) {
  if (type == kHalves) return Precision::float16;
  return type == kBlocks ? Precision::int8 : Precision::float32;
}

void put_head(std::uint8_t type, const Matrix& matrix, ByteSink& sink) {
  sink.put(type);
  sink.put(static_cast<std::uint32_t>(matrix.rows()));
  sink.put(static_cast<std::uint32_t>(matrix.cols()));
}

void put_array(const Array& array, std::uint8_t type, ByteSink& sink) {
  if (type == 0) return fedhur::encode(array, sink);
  const Matrix& matrix = *find_matrix(array);
  put_head(type, matrix, sink);
  type == kPacked ? put_packed(matrix, sink) : put_rounded(matrix, precision_of(type), sink);
}

Array take_array(ByteReader& reader, std::uint8_t type, const std::string& name) {
  const Precision precision = precision_of(type);
  if (precision == Precision::float32 && type != kPacked) {
    Array array = decode_array(reader, type, name);
    const Matrix* matrix = find_matrix(array);
    if (matrix != nullptr && is_packed(*matrix)) {
      throw ProtocolError(fmt::format("array '{}' is not packed though that is smaller", name));
    }
    return array;
  }
  const auto rows = reader.get<std::uint32_t>();
  const auto cols = reader.get<std::uint32_t>();
  return std::make_shared<const Matrix>(type == kPacked
                                            ? take_packed(reader, rows, cols, name)
                                            : take_rounded(reader, rows, cols, precision, name));
}

NamedArrays take_arrays(ByteReader& reader) {
  NamedArrays arrays;
  Precision precision = Precision::float32;  // of the message
  std::vector<std::pair<std::string, const Matrix*>> exact;
  const auto count = reader.get<std::uint16_t>();
  for (std::uint16_t i = 0; i < count; ++i) {
    const std::string name = reader.get_name();
    if (arrays.contains(name)) throw ProtocolError(fmt::format("array '{}' comes twice", name));
    const auto type = reader.get<std::uint8_t>();
    Array array = take_array(reader, type, name);
    const Precision own = precision_of(type);
    if (own != Precision::float32) {
      if (precision != Precision::float32 && precision != own) {
        throw ProtocolError("the message mixes float16 and int8");
      }
      precision = own;
    } else if (const Matrix* matrix = find_matrix(array)) {
      exact.emplace_back(name, matrix);
    }
    arrays.set(name, std::move(array));
  }
  for (const auto& [name, matrix] : exact) {
    if (is_rounded(*matrix, precision)) {
      throw ProtocolError(fmt::format("array '{}' is exact in a message that is not", name));
    }
  }
  return arrays;
}
}  // namespace

std::size_t encoded_size(const Message& message, const WireFormat& format) {
  std::size_t size = head_size(message);
  for (const auto& [name, array] : message.arrays.entries()) {
    size += 1 + name.size() + layout_of(array, format.precision).size;
  }
  return size;
}

std::vector<std::byte> encode(const Message& message, const WireFormat& format) {
  expect_message(message);
  std::vector<std::uint8_t> types;
  std::size_t size = head_size(message);
  for (const auto& [name, array] : message.arrays.entries()) {
    const Layout layout = layout_of(array, format.precision);
    types.push_back(layout.type);
    size += 1 + name.size() + layout.size;
  }
  ByteWriter writer(size);
  writer.put(kMagic);
  writer.put(kWireVersion);
  writer.put_name(message.kind);
  writer.put(static_cast<std::int64_t>(message.round));
  writer.put(static_cast<std::uint16_t>(message.arrays.size()));
  auto type = types.begin();
  for (const auto& [name, array] : message.arrays.entries()) {
    writer.put_name(name);
    put_array(array, *type++, writer);
  }
  return writer.finish();
}

Message decode(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  if (reader.get<std::uint32_t>() != kMagic) throw ProtocolError("these bytes are not a message");
  const auto version = reader.get<std::uint16_t>();
  if (version != kWireVersion) {
    throw ProtocolError(fmt::format("the message has wire version {}, expected {}: upgrade the {}",
                                    version, kWireVersion,
                                    version < kWireVersion ? "sender" : "receiver"));
  }
  Message message;
  message.kind = reader.get_name();
  if (!is_kind(message.kind)) throw ProtocolError("the message's kind is not a lower-case word");
  message.round = reader.get<std::int64_t>();
  if (message.round < 0) throw ProtocolError("the message's round is negative");
  message.arrays = take_arrays(reader);
  if (reader.remaining() != 0) {
    throw ProtocolError(fmt::format("{} bytes follow the message's end", reader.remaining()));
  }
  return message;
}

Message transmit(const Message& message, const WireFormat& format) {
  expect_message(message);
  Message arrived{.kind = message.kind, .round = message.round, .arrays = {}};
  for (const auto& [name, array] : message.arrays.entries()) {
    const Matrix* matrix = find_matrix(array);
    const bool is_exact = matrix == nullptr || !is_rounded(*matrix, format.precision);
    arrived.arrays.set(
        name, is_exact
                  ? array
                  : Array(std::make_shared<const Matrix>(round_to(*matrix, format.precision))));
  }
  return arrived;
}
}  // namespace fedhur::message
