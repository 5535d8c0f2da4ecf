#include "fedhur/experiment/site_journal.hpp"

#include <fmt/format.h>

#include <charconv>

#include "fedhur/base/file.hpp"

namespace fedhur::experiment {
namespace fs = std::filesystem;
using transport::Sequence;
using transport::Task;
namespace {
constexpr std::uint32_t kStateMagic = 0x31534846;  // "FHS1"
constexpr std::string_view kStatePrefix = "state-";
constexpr std::string_view kJournalPrefix = "tasks-";

// The number in "state-000012.ckpt"; 0 if it is another file.
int number_of(const fs::path& path, std::string_view prefix) {
  const std::string name = path.filename().string();
  int number = 0;
  if (!name.starts_with(prefix) || path.extension() == ".part") return 0;
  (void)std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
  return number;
}

Task read_task(const std::vector<std::byte>& record) {
  ByteReader reader(record);
  Task task;
  task.sequence = reader.get<Sequence>();
  const auto count = reader.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < count; ++i) {
    task.clients.push_back(static_cast<ClientId>(reader.get<std::uint32_t>()));
  }
  task.message = transport::copy_of(reader.take(reader.remaining()));
  return task;
}
}  // namespace

SiteJournal::SiteJournal(fs::path folder, Party& party)
    : folder_(std::move(folder)), party_(&party), answered_(party.size(), Sequence{0}) {
  for (const auto& entry : fs::directory_iterator(folder_)) {
    number_ = std::max(number_, number_of(entry.path(), kStatePrefix));
  }
  if (number_ > 0) restore(state_file(number_));
  journal_ = std::make_unique<RecordLog>(journal_file(number_), RecordLog::Cache::none);
}

fs::path SiteJournal::state_file(int number) const {
  return folder_ / fmt::format("{}{:06}.ckpt", kStatePrefix, number);
}

fs::path SiteJournal::journal_file(int number) const {
  return folder_ / fmt::format("{}{:06}.journal", kJournalPrefix, number);
}

void SiteJournal::restore(const fs::path& path) {
  try {
    const std::vector<std::byte> bytes = read_checked_file(path);
    ByteReader reader(bytes);
    if (reader.get<std::uint32_t>() != kStateMagic) throw ProtocolError("not a state");
    party_->restore(reader, [&](std::size_t i) {
      if (reader.get<std::uint32_t>() != static_cast<std::uint32_t>(party_->ids()[i])) {
        throw ProtocolError("the state is of other clients");
      }
      answered_[i] = reader.get<Sequence>();
    });
    state_bytes_ = bytes.size();
  } catch (const ProtocolError& error) {
    throw DataError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

std::size_t SiteJournal::replay(transport::Site& site) {
  site_ = &site;
  std::vector<Task> tasks;
  for (const auto& record : journal_->take_records()) {
    tasks.push_back(read_task(record));
    journal_bytes_ += record.size();
  }
  is_replaying_ = true;
  site.work(tasks, [](const transport::Reply&) {});
  is_replaying_ = false;
  return tasks.size();
}

void SiteJournal::begin_round(Round round) {
  if (is_replaying_) return;
  // A long journal would take long to be worked through again.
  constexpr std::uint64_t kMostJournals = 8;
  const bool is_long = state_bytes_ > 0 && journal_bytes_ > kMostJournals * state_bytes_;
  if (!is_long && !clock_.is_due(round)) return;
  const Stopwatch watch;
  save();
  clock_.note(watch.seconds());
}

void SiteJournal::append(const Task& task) {
  if (is_replaying_) return;
  ByteWriter head;
  head.put(task.sequence);
  head.put(static_cast<std::uint32_t>(task.clients.size()));
  for (const ClientId client : task.clients) head.put(static_cast<std::uint32_t>(client));
  journal_->append(head.finish(), *task.message);
  journal_bytes_ += task.message->size();
  const std::lock_guard lock(syncing_);
  is_synced_ = false;
}

// One wait is for all tasks of an exchange, and comes when its first reply is ready.
void SiteJournal::sync() {
  const std::lock_guard lock(syncing_);
  if (is_synced_) return;
  journal_->sync();
  is_synced_ = true;
}

void SiteJournal::save() {
  const auto seen = site_->seen();
  const fs::path path = state_file(number_ + 1);
  CheckedFileWriter writer(path);
  writer.put(kStateMagic);
  party_->save(writer, [&](std::size_t i) {
    writer.put(static_cast<std::uint32_t>(party_->ids()[i]));
    writer.put(seen[i]);
  });
  writer.commit();
  // From here on the new state counts. Tasks that its journal inherits are older, and passed over.
  ++number_;
  journal_->rename(journal_file(number_));
  journal_->clear();
  journal_bytes_ = 0;
  state_bytes_ = fs::file_size(path);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    for (const std::string_view prefix : {kStatePrefix, kJournalPrefix}) {
      const bool has_prefix = entry.path().filename().string().starts_with(prefix);
      if (has_prefix && number_of(entry.path(), prefix) < number_) fs::remove(entry.path());
    }
  }
}
}  // namespace fedhur::experiment
