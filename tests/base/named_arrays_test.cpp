#include "fedhur/base/named_arrays.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fedhur {
namespace {
NamedArrays example() {
  NamedArrays arrays;
  arrays.set("floats", Matrix(Matrix::Random(3, 5)));
  arrays.set("integers", MatrixOf<std::int32_t>(MatrixOf<std::int32_t>::Constant(2, 1, -7)));
  arrays.set("empty", Matrix(0, 4));
  arrays.set_number("number", 0.25);
  SparseMatrix<Real> weights(70, 3);
  weights.append(2, 1, 0.5F);
  weights.append(69, 0, -3.0F);
  arrays.set("weights", std::move(weights));
  SparseMatrix<std::int64_t> counts(3, 3);
  counts.append(0, 2, std::int64_t{1} << 60);
  arrays.set("counts", std::move(counts));
  return arrays;
}

std::vector<std::byte> to_bytes(const NamedArrays& arrays, const NamedArrays* previous = nullptr) {
  ByteWriter writer;
  encode(arrays, writer, previous);
  return writer.finish();
}

TEST(NamedArrays, ComeBackFromBytesAsTheyWere) {
  const NamedArrays arrays = example();
  const auto bytes = to_bytes(arrays);
  EXPECT_EQ(bytes.size(), encoded_size(arrays));
  ByteReader reader(bytes);
  const NamedArrays decoded = decode_arrays(reader);
  ASSERT_EQ(decoded.size(), arrays.size());
  for (const auto& [name, array] : arrays.entries())
    EXPECT_TRUE(is_same(array, *decoded.find(name)));
  EXPECT_EQ(decoded.number("number"), 0.25);
}

TEST(NamedArrays, StoreWhatEqualsThePreviousOnlyOnce) {
  const NamedArrays arrays = example();
  NamedArrays changed = example();
  changed.set("floats", *arrays.find("floats"));
  changed.set_number("number", 0.5);
  const auto bytes = to_bytes(changed, &arrays);
  EXPECT_LT(bytes.size(), to_bytes(changed).size());
  ByteReader reader(bytes);
  const NamedArrays decoded = decode_arrays(reader, &arrays);
  EXPECT_EQ(decoded.matrix("floats"), arrays.matrix("floats"));
  EXPECT_EQ(decoded.number("number"), 0.5);
  ByteReader without_previous(bytes);
  EXPECT_THROW((void)decode_arrays(without_previous), ProtocolError);
}

TEST(NamedArrays, RefuseEveryTruncation) {
  const auto bytes = to_bytes(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ByteReader reader(std::span<const std::byte>(bytes).first(size));
    EXPECT_THROW((void)decode_arrays(reader), ProtocolError) << size;
  }
}

TEST(NamedArrays, RefuseSizesThatDidNotArriveBeforeAllocating) {
  ByteWriter writer;
  writer.put(std::uint16_t{1});
  writer.put_name("huge");
  writer.put(std::uint8_t{0});
  writer.put(std::numeric_limits<std::uint32_t>::max());
  writer.put(std::numeric_limits<std::uint32_t>::max());
  const auto bytes = writer.finish();
  ByteReader reader(bytes);
  EXPECT_THROW((void)decode_arrays(reader), ProtocolError);
}

TEST(IsWithin, ComparesMagnitudes) {
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  Matrix matrix = Matrix::Zero(3, 5);
  for (const Real value : {0.0F, -0.0F, 1e-40F, 7.5F, -7.5F}) {
    matrix(2, 3) = value;
    EXPECT_TRUE(is_within(matrix, 7.5F)) << value;
  }
  for (const Real value :
       {std::nextafter(7.5F, 8.0F), -std::nextafter(7.5F, 8.0F), -1e30F, kInfinity, -kInfinity,
        std::numeric_limits<Real>::quiet_NaN(), -std::numeric_limits<Real>::quiet_NaN()}) {
    matrix(2, 3) = value;
    EXPECT_FALSE(is_within(matrix, 7.5F)) << value;
    EXPECT_EQ(is_finite(matrix), std::isfinite(value)) << value;
  }
  EXPECT_TRUE(is_within(Matrix(0, 4), 0.0F));
}

TEST(NamedArrays, CheckTheTypeAndShapeOfSparseOnes) {
  const NamedArrays arrays = example();
  EXPECT_EQ(arrays.shared_sparse<Real>("weights")->num_entries(), 2U);
  EXPECT_EQ(arrays.shaped_sparse<std::int64_t>("counts", 3, 3)->values().front(),
            std::int64_t{1} << 60);
  EXPECT_THROW((void)arrays.shared_sparse<Real>("counts"), ProtocolError);
  EXPECT_THROW((void)arrays.shared_sparse<Real>("floats"), ProtocolError);
  EXPECT_THROW((void)arrays.shaped_sparse<Real>("weights", 3, 70), ProtocolError);
}

TEST(NamedArrays, CheckShapeAndFiniteness) {
  NamedArrays arrays;
  Matrix matrix = Matrix::Ones(2, 3);
  arrays.set("m", matrix);
  EXPECT_NO_THROW((void)arrays.finite_matrix("m", 2, 3));
  EXPECT_THROW((void)arrays.finite_matrix("m", 3, 2), ProtocolError);
  EXPECT_THROW((void)arrays.matrix("other"), ProtocolError);
  EXPECT_THROW((void)arrays.doubles("m"), ProtocolError);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    matrix(1, 1) = bad;
    arrays.set("m", matrix);
    EXPECT_THROW((void)arrays.finite_matrix("m", 2, 3), ProtocolError);
  }
}
}  // namespace
}  // namespace fedhur
