#include "fedhur/base/record_log.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <latch>
#include <map>
#include <memory>
#include <thread>

#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"
#include "tests/support/small_disk.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur {
namespace {
using Records = std::vector<std::string>;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

void append(RecordLog& log, std::string_view head, std::string_view body = "") {
  log.append(bytes_of(head), bytes_of(body));
}

Records read(RecordLog& log) {
  Records texts;
  for (const auto& record : log.take_records()) {
    texts.emplace_back(reinterpret_cast<const char*>(record.data()), record.size());
  }
  return texts;
}

Records read(const std::filesystem::path& path) {
  RecordLog log(path);
  return read(log);
}

void write(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

// Three records of different lengths, one of them empty, and where each ends.
struct ThreeRecords {
  explicit ThreeRecords(const std::filesystem::path& path) {
    RecordLog log(path);
    for (const std::string& record : records) {
      append(log, record);
      ends.push_back(std::filesystem::file_size(path));
    }
    bytes = read_file(path);
  }
  // How many are whole before `position`.
  [[nodiscard]] Records whole_before(std::size_t position) const {
    Records whole;
    for (std::size_t i = 0; i < ends.size() && ends[i] <= position; ++i)
      whole.push_back(records[i]);
    return whole;
  }
  Records records = {"first", "", "the third"};
  std::vector<std::size_t> ends;
  std::vector<std::byte> bytes;
};

// The log has these records, and takes another.
void expect_to_go_on(const std::filesystem::path& path, Records whole, RecordLog::Cache cache) {
  const auto length = std::filesystem::file_size(path);
  {
    RecordLog log(path, cache);
    EXPECT_EQ(read(log), whole) << length;
    append(log, "next");
  }
  whole.emplace_back("next");
  EXPECT_EQ(read(path), whole) << length;
}

TEST(RecordLog, IsEmptyWhenNew) {
  const tests::TempFolder folder;
  EXPECT_TRUE(read(folder / "log").empty());
  EXPECT_TRUE(read(folder / "log").empty()) << "and when opened again";
}

TEST(RecordLog, GivesBackWhatWasAppendedInOrder) {
  const tests::TempFolder folder;
  {
    RecordLog log(folder / "log");
    append(log, "head and ", "body");
    append(log, "");
    append(log, "", std::string(100'000, 'x'));
    EXPECT_TRUE(read(log).empty()) << "only what was there when it was opened";
  }
  RecordLog log(folder / "log");
  EXPECT_EQ(read(log), (Records{"head and body", "", std::string(100'000, 'x')}));
  EXPECT_TRUE(read(log).empty()) << "they were taken";
  append(log, "another");
  EXPECT_EQ(read_file(folder / "log").size(), 4 * 24U + 13 + 100'000 + 7);
}

TEST(RecordLog, CutsOffATailThatWasTornAtAnyByteAndGoesOnFromThere) {
  const tests::TempFolder folder;
  const ThreeRecords three(folder / "log");
  for (std::size_t length = 0; length <= three.bytes.size(); ++length) {
    write(folder / "torn", std::span(three.bytes).first(length));
    expect_to_go_on(folder / "torn", three.whole_before(length), RecordLog::Cache::ordinary);
  }
}

TEST(RecordLog, NoticesAFlippedBitInAnyByte) {
  const tests::TempFolder folder;
  const ThreeRecords three(folder / "log");
  for (std::size_t i = 0; i < three.bytes.size(); ++i) {
    std::vector<std::byte> bad = three.bytes;
    bad[i] ^= static_cast<std::byte>(1U << (i % 8));
    write(folder / "bad", bad);
    EXPECT_EQ(read(folder / "bad"), three.whole_before(i)) << "byte " << i;
  }
}

TEST(RecordLog, TakesNoFileForALogThatIsNone) {
  const tests::TempFolder folder;
  write_file_atomically(folder / "zeros", std::string(1000, '\0'));  // blocks never written
  EXPECT_TRUE(read(folder / "zeros").empty());
  EXPECT_EQ(std::filesystem::file_size(folder / "zeros"), 0U);
  EXPECT_THROW(RecordLog(folder / "no" / "log"), FileError);
  EXPECT_THROW(RecordLog{folder.path()}, FileError) << "a folder";
  EXPECT_THROW(RecordLog("/dev/full"), FileError) << "reading it would never end";
}

TEST(RecordLog, BelongsToOneProcessAtATime) {
  const tests::TempFolder folder;
  {
    RecordLog log(folder / "log");
    append(log, "mine");
    EXPECT_THROW(RecordLog(folder / "log"), FileError);
  }
  EXPECT_EQ(read(folder / "log"), Records{"mine"});
}

TEST(RecordLog, IsTheOwnersAlone) {
  using std::filesystem::perms;
  const tests::TempFolder folder;
  const RecordLog log(folder / "log");
  EXPECT_EQ(std::filesystem::status(folder / "log").permissions(),
            perms::owner_read | perms::owner_write);
}

TEST(RecordLog, BeginsAnewWhenCleared) {
  const tests::TempFolder folder;
  {
    RecordLog log(folder / "log");
    append(log, "a long record that is gone");
    log.clear();
    append(log, "new");
    log.sync();
    append(log, "newer");
  }
  EXPECT_EQ(read(folder / "log"), (Records{"new", "newer"}));
}

TEST(RecordLog, ForgetsWhatWasClearedHoweverLittleFollows) {
  const tests::TempFolder folder;
  const Records old = {"one", "two", "three"};
  for (const Records& records :
       {Records{}, Records{"new"}, Records{"ONE"}, Records{"ONE", "TWO"}}) {
    RecordLog log(folder / "log");
    for (int generation = 0; generation < 3; ++generation) {
      log.clear();
      for (const std::string& record : old) append(log, record);
    }
    log.clear();
    log.clear();
    for (const std::string& record : records) append(log, record);
    // As a process leaves it that is killed: the old records are still there, byte for byte where
    // another would begin.
    const auto bytes = read_file(folder / "log");
    EXPECT_EQ(bytes.size(), 3 * 24U + 11);
    write(folder / "killed", bytes);
    RecordLog next(folder / "killed");
    EXPECT_EQ(read(next), records);
    append(next, "last");
    next.sync();
    write(folder / "killed again", read_file(folder / "killed"));
    Records all = records;
    all.emplace_back("last");
    EXPECT_EQ(read(folder / "killed again"), all);
  }
}

TEST(RecordLog, GivesTheRoomOfClearedRecordsBackWhenItIsClosed) {
  const tests::TempFolder folder;
  {
    RecordLog log(folder / "log");
    append(log, std::string(1000, 'x'));
    log.clear();
    EXPECT_GT(std::filesystem::file_size(folder / "log"), 1000U);
  }
  EXPECT_EQ(std::filesystem::file_size(folder / "log"), 0U);
}

TEST(RecordLog, RefusesThatOfAnOlderVersionInsteadOfCuttingItOff) {
  const tests::TempFolder folder;
  const std::string old = "FHR2" + std::string(100, 'x');
  write_file_atomically(folder / "log", old);
  EXPECT_THROW(RecordLog(folder / "log"), FileError);
  EXPECT_EQ(read_text_file(folder / "log"), old);
}

TEST(RecordLog, GoesOnUnderAnotherName) {
  const tests::TempFolder folder;
  {
    RecordLog log(folder / "before");
    append(log, "one");
    log.rename(folder / "after");
    append(log, "two");
    EXPECT_THROW(log.rename(folder / "no" / "where"), FileError);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "before"));
  EXPECT_EQ(read(folder / "after"), (Records{"one", "two"}));
}

TEST(RecordLog, OnAFullDiskStaysAsItWas) {
  const tests::TempFolder folder;
  RecordLog log(folder / "log");
  append(log, "before");
  const auto before = read_file(folder / "log");
  for (const std::size_t room : {0U, 3U, 24U, 28U, 40U}) {  // nothing, and within every part
    const tests::SmallDisk disk(before.size() + room);
    try {
      append(log, "head", std::string(1000, 'b'));
      ADD_FAILURE() << "there was room";
    } catch (const FileError& error) {
      EXPECT_NE(std::string(error.what()).find((folder / "log").string()), std::string::npos)
          << error.what();
    }
    EXPECT_EQ(read_file(folder / "log"), before) << room;
  }
  append(log, "after");
  EXPECT_EQ(read_file(folder / "log").size(), before.size() + 24 + 5);
}

// Past the cache only whole blocks are written, so that files are longer than their records.
constexpr auto kUncached = RecordLog::Cache::none;

TEST(UncachedRecordLog, HoldsRecordsOfAnyLengthAndWhatAKilledProcessHasAppended) {
  const tests::TempFolder folder;
  const auto path = folder / "log";
  // Within a block, up to its end, over it; the same of what is written at once, and of both.
  const std::vector<std::size_t> lengths = {
      0, 1, 4000, 4096 - 24, 4096, 8192, 100'000, 262'144, 262'120, 262'143, 524'289, 1'500'000};
  Records records;
  for (const bool is_opened_anew : {false, true}) {
    auto log = std::make_unique<RecordLog>(path, kUncached);
    for (const std::size_t length : lengths) {
      if (is_opened_anew) {
        log.reset();
        log = std::make_unique<RecordLog>(path, kUncached);
        EXPECT_EQ(read(*log), records);
      }
      records.push_back("h" + std::string(length, static_cast<char>('a' + records.size())));
      append(*log, "h", records.back().substr(1));
      write(folder / "killed", read_file(path));
      EXPECT_EQ(read(folder / "killed"), records) << length;
    }
  }
  EXPECT_EQ(read(path), records) << "as an ordinary log";
}

TEST(UncachedRecordLog, CutsOffATailThatWasTornAndGoesOnFromThere) {
  const tests::TempFolder folder;
  const Records records = {"short", std::string(5000, 'a'), std::string(300'000, 'b')};
  {
    RecordLog log(folder / "log");
    for (const std::string& record : records) append(log, record);
  }
  const auto bytes = read_file(folder / "log");
  const std::vector<std::size_t> ends = {29, 29 + 5024, 29 + 5024 + 300'024};
  for (std::size_t length = 0; length <= bytes.size(); length += 997) {
    write(folder / "torn", std::span(bytes).first(length));
    Records whole;
    for (std::size_t i = 0; i < 3 && ends[i] <= length; ++i) whole.push_back(records[i]);
    expect_to_go_on(folder / "torn", whole, kUncached);
  }
}

TEST(UncachedRecordLog, ForgetsWhatWasClearedHoweverLittleFollows) {
  const tests::TempFolder folder;
  for (const Records& records :
       {Records{}, Records{"new"}, Records{"new", std::string(9000, 'n')}}) {
    RecordLog log(folder / "log", kUncached);
    append(log, "old");
    append(log, std::string(9000, 'o'));
    log.rename(folder / "moved");
    log.clear();
    for (const std::string& record : records) append(log, record);
    write(folder / "killed", read_file(folder / "moved"));
    EXPECT_EQ(read(folder / "killed"), records);
    log.clear();
  }
}

TEST(UncachedRecordLog, OnAFullDiskKeepsItsRecordsAndGoesOnWhenThereIsRoom) {
  const tests::TempFolder folder;
  for (const std::size_t room : {0U, 10U, 5000U, 300'000U}) {
    const auto path = folder / std::to_string(room);
    {
      RecordLog log(path, kUncached);
      append(log, "before");
      {
        const tests::SmallDisk disk(30 + room);
        EXPECT_THROW(append(log, "head", std::string(1'000'000, 'b')), FileError) << room;
      }
      write(folder / "killed", read_file(path));
      EXPECT_EQ(read(folder / "killed"), Records{"before"}) << room;
      append(log, "after");
    }
    EXPECT_EQ(read(path), (Records{"before", "after"})) << room;
  }
}

TEST(RecordLog, KeepsRecordsWholeThatSeveralThreadsAppend) {
  constexpr int kThreads = 4;
  constexpr int kRecords = 300;
  const tests::TempFolder folder;
  {
    RecordLog log(folder / "log");
    std::latch start(kThreads);
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&log, &start, thread] {
        start.arrive_and_wait();
        for (int i = 0; i < kRecords; ++i) {
          append(log, std::to_string(thread) + " ",
                 std::string(100 * static_cast<std::size_t>(i), 'r'));
        }
      });
    }
  }
  std::map<char, std::size_t> next;  // by thread: its records come in its order
  const Records records = read(folder / "log");
  EXPECT_EQ(records.size(), std::size_t{kThreads} * kRecords);
  for (const std::string& record : records) {
    EXPECT_EQ(record.substr(2), std::string(100 * next[record.at(0)]++, 'r'));
  }
}

TEST(RecordLog, LeavesNoDescriptorOpenWhenItCannotBeOpened) {
  const tests::TempFolder folder;
  const RecordLog taken(folder / "log");
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = count();
  for (int i = 0; i < 5; ++i) EXPECT_THROW(RecordLog(folder / "log"), FileError);
  EXPECT_EQ(count(), before);
}
}  // namespace
}  // namespace fedhur
