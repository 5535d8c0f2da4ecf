// Float matrices in half or a quarter of their bytes. What comes out depends on the values alone,
// also where denormals are flushed to zero; rounding twice is rounding once.
#pragma once
#include <string>

#include "fedhur/base/byte_stream.hpp"
#include "fedhur/base/matrix.hpp"
#include "fedhur/message/wire_format.hpp"

namespace fedhur::message {
inline constexpr Index kBlock = 64;  // numbers of a row that share a scale in Precision::int8

// Whether the matrix can travel in this precision and gains by it. False if a number is not finite
// or beyond the largest half, and for single columns as int8; such a matrix travels as float32.
[[nodiscard]] bool is_rounded(const Matrix& matrix, Precision precision);

// The rest is for matrices with is_rounded().
[[nodiscard]] std::size_t rounded_size(const Matrix& matrix, Precision precision);  // in bytes
void put_rounded(const Matrix& matrix, Precision precision, ByteSink& sink);
// ProtocolError on anything that put_rounded() would not have written; allocates at most four times
// what arrived.
[[nodiscard]] Matrix take_rounded(ByteReader& reader, std::uint32_t rows, std::uint32_t cols,
                                  Precision precision, const std::string& name);
// What take_rounded() makes of put_rounded(), without the bytes.
[[nodiscard]] Matrix round_to(const Matrix& matrix, Precision precision);
}  // namespace fedhur::message
