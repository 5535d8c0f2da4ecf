#include "fedhur/base/file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fedhur/base/checksum.hpp"
#include "fedhur/base/error.hpp"
#include "fedhur/base/hash.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur {
namespace {
TEST(File, IsReplacedWholeAndLeavesNoTemporaryBehind) {
  const tests::TempFolder folder;
  write_file_atomically(folder / "a", std::string_view("one"));
  write_file_atomically(folder / "a", std::string_view("two"));
  EXPECT_EQ(read_text_file(folder / "a"), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(File, ErrorsNameThePathAndTheReason) {
  const tests::TempFolder folder;
  EXPECT_THROW((void)read_file(folder / "missing"), Error);
  EXPECT_THROW((void)read_file(folder.path()), Error);
  EXPECT_THROW(write_file_atomically(folder / "no" / "file", std::string_view("x")), Error);
}

TEST(PrivateFile, IsTheOwnersAloneWhateverWasThereBefore) {
  using std::filesystem::perms;
  const tests::TempFolder folder;
  write_file_atomically(folder / "key", std::string_view("open"));
  write_file_atomically(folder / "key.part", std::string_view("left by a crash"));
  write_file_atomically(folder / "other", std::string_view("precious"));
  write_private_file(folder / "key", "secret");
  EXPECT_EQ(read_text_file(folder / "key"), "secret");
  EXPECT_EQ(std::filesystem::status(folder / "key").permissions(),
            perms::owner_read | perms::owner_write);
  std::filesystem::create_symlink(folder / "other", folder / "key.part");
  write_private_file(folder / "key", "again");
  EXPECT_EQ(read_text_file(folder / "key"), "again");
  EXPECT_EQ(read_text_file(folder / "other"), "precious");
  EXPECT_THROW(write_private_file(folder / "no" / "key", "x"), FileError);
}

TEST(Folder, IsMadeWithThoseAboveItUnlessAFileIsInTheWay) {
  const tests::TempFolder folder;
  make_folder(folder / "a/b");
  make_folder(folder / "a/b");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a/b"));
  write_file_atomically(folder / "file", std::string_view("x"));
  EXPECT_THROW(make_folder(folder / "file/b"), ConfigError);
  EXPECT_THROW(make_folder(folder / "file"), ConfigError);
}

TEST(CheckedFile, AppearsAtCommitOnly) {
  const tests::TempFolder folder;
  {
    CheckedFileWriter writer(folder / "c");
    writer.put(std::uint32_t{5});
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "c"));
  CheckedFileWriter writer(folder / "c");
  writer.put(std::uint32_t{5});
  writer.commit();
  EXPECT_EQ(read_checked_file(folder / "c").size(), 4U);
}

TEST(CheckedFile, NoticesEveryFlippedBitAndTruncation) {
  const tests::TempFolder folder;
  CheckedFileWriter writer(folder / "c");
  writer.put(std::uint64_t{0x0123456789abcdefULL});
  writer.commit();
  const std::vector<std::byte> good = read_file(folder / "c");
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<std::byte> bad = good;
    bad[i] ^= std::byte{4};
    write_file_atomically(folder / "bad", bad);
    EXPECT_THROW((void)read_checked_file(folder / "bad"), DataError) << i;
    bad = good;
    bad.resize(i);
    write_file_atomically(folder / "bad", bad);
    EXPECT_THROW((void)read_checked_file(folder / "bad"), DataError) << i;
  }
}

TEST(Checksum, IsThatOfXxhsum) {
  const Checksum::Digest digest = checksum_of(std::as_bytes(std::span("abc", 3)));
  std::string hex;
  for (const std::byte byte : digest) hex += fmt::format("{:02x}", static_cast<unsigned>(byte));
  EXPECT_EQ(hex, "06b05ab6733a618578af5f94892f3950") << "printf abc | xxhsum -H2";
}

TEST(Checksum, OfPiecesIsThatOfTheWhole) {
  const std::vector<std::byte> bytes = [] {
    std::vector<std::byte> some;
    for (int i = 0; i < 2000; ++i) some.push_back(static_cast<std::byte>(i * 7));
    return some;
  }();
  Checksum checksum;
  EXPECT_EQ(checksum.digest(), checksum_of({}));
  for (const std::size_t end : {0U, 1U, 17U, 256U, 1500U, 2000U}) {
    static constexpr std::size_t kWhole = 2000;
    Checksum pieces;
    pieces.update(std::span(bytes).first(end));
    pieces.update(std::span(bytes).last(kWhole - end));
    EXPECT_EQ(pieces.digest(), checksum_of(bytes)) << end;
  }
}

TEST(Sha256, HasTheDigestOfTheStandard) {
  EXPECT_EQ(sha256_hex(std::as_bytes(std::span("abc", 3))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
}  // namespace
}  // namespace fedhur
