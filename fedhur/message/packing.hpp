// Float matrices in about seven eighths of their bytes without losing a bit: the numbers of a table
// have similar exponents, and four bits say how far each is below the largest of its block.
#pragma once
#include <string>

#include "fedhur/base/byte_stream.hpp"
#include "fedhur/base/matrix.hpp"

namespace fedhur::message {
// The values row by row in blocks of 64, the last one with what remains. A block is its largest
// biased exponent (a byte), 28 bits per value (two values in seven bytes, the first one lowest; an
// odd last one is filled up with zeros) and its exceptions. The 28 bits, from the highest: sign,
// offset (4) and mantissa (23). The offset is the largest exponent minus the own one, up to 14. A
// value further below has offset 15 and mantissa 0 if it is zero, otherwise mantissa 1: it is an
// exception, which follows after the block in its four bytes.
//
// In bytes, and exact also where packing does not pay; reads the values and writes nothing.
[[nodiscard]] std::size_t packed_bytes(const Matrix& matrix);
// Whether packing pays. A matrix that is false for travels as it is.
[[nodiscard]] bool is_packed(const Matrix& matrix);

// For matrices with is_packed().
void put_packed(const Matrix& matrix, ByteSink& sink);
// ProtocolError on anything that put_packed() would not have written; allocates at most 8/7 of what
// arrived.
[[nodiscard]] Matrix take_packed(ByteReader& reader, std::uint32_t rows, std::uint32_t cols,
                                 const std::string& name);
}  // namespace fedhur::message
