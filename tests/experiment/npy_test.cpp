#include "fedhur/experiment/npy.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "fedhur/base/error.hpp"
#include "tests/support/npy.hpp"
#include "tests/support/support.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::experiment {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::read_npy;
using tests::TempFolder;

std::string why_not(const std::filesystem::path& path) {
  try {
    write_npy(path, Matrix::Ones(40, 50));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Npy, IsTheFormatByteForByte) {
  const TempFolder folder;
  write_npy(folder / "a.npy", (Matrix(2, 3) << 1, 2, 3, -4, 0.5F, 0).finished());
  const std::string bytes = read_text_file(folder / "a.npy");
  const std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  const std::string header = std::string("\x93NUMPY\x01\0\x76\0", 10) + text +
                             std::string(128 - 10 - text.size() - 1, ' ') + '\n';
  const std::string values("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\xc0\0\0\0\x3f\0\0\0\0", 24);
  EXPECT_EQ(bytes, header + values);
}

TEST(Npy, DataBeginAtAMultipleOf64BytesWhateverTheShape) {
  const TempFolder folder;
  for (const Index rows : {0, 1, 9, 10, 99, 12345}) {
    for (const Index cols : {1, 7, 10}) {
      write_npy(folder / "a.npy", Matrix::Zero(rows, cols));
      const std::string bytes = read_text_file(folder / "a.npy");
      EXPECT_EQ((bytes.size() - static_cast<std::size_t>(rows * cols) * 4) % 64, 0U);
      EXPECT_THAT(read_npy(folder / "a.npy").shape, ElementsAre(rows, cols));
    }
  }
}

TEST(Npy, VectorsHaveOneDimension) {
  const TempFolder folder;
  write_npy_vector(folder / "v.npy", Vector::LinSpaced(5, 0.0F, 4.0F));
  EXPECT_THAT(read_text_file(folder / "v.npy"), HasSubstr("'shape': (5,), }"));
  EXPECT_THAT(read_npy(folder / "v.npy").values, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(read_npy(folder / "v.npy").shape, ElementsAre(5));
  write_npy_vector(folder / "none.npy", Vector());
  EXPECT_THAT(read_npy(folder / "none.npy").shape, ElementsAre(0));
}

TEST(Npy, TakesBlocksOfAMatrixAndKeepsEveryBit) {
  const TempFolder folder;
  Matrix whole = tests::random_matrix(6, 5, 3);
  whole(2, 1) = std::numeric_limits<Real>::infinity();
  whole(3, 2) = std::numeric_limits<Real>::denorm_min();
  write_npy(folder / "block.npy", whole.block(1, 1, 4, 3));
  EXPECT_EQ(read_npy(folder / "block.npy").matrix(), Matrix(whole.block(1, 1, 4, 3)));
  whole(0, 0) = std::numeric_limits<Real>::quiet_NaN();
  write_npy(folder / "block.npy", whole);
  EXPECT_TRUE(std::isnan(read_npy(folder / "block.npy").values[0]));
}

TEST(Npy, TellsWhyAFileCannotBeWritten) {
  const TempFolder folder;
  EXPECT_THAT(why_not(folder / "nowhere" / "a.npy"), HasSubstr("No such file or directory"));
  EXPECT_THAT(why_not("/dev/full"), HasSubstr("/dev/full: No space left on device"));
  EXPECT_THAT(why_not(folder / "a.npy"), IsEmpty());
}
}  // namespace
}  // namespace fedhur::experiment
