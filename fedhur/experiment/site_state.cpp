#include "fedhur/experiment/site_state.hpp"

#include <fmt/format.h>

#include <charconv>

#include "fedhur/base/file.hpp"

namespace fedhur::experiment {
namespace fs = std::filesystem;
using client::PrivateState;
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
  const auto message = reader.take(reader.remaining());
  task.message = std::make_shared<const std::vector<std::byte>>(message.begin(), message.end());
  return task;
}
}  // namespace

SiteState::SiteState(fs::path folder, std::vector<ClientId> ids, const Clients& clients)
    : folder_(std::move(folder)),
      ids_(std::move(ids)),
      clients_(&clients),
      answered_(ids_.size(), Sequence{0}) {
  for (const auto& entry : fs::directory_iterator(folder_)) {
    number_ = std::max(number_, number_of(entry.path(), kStatePrefix));
  }
  if (number_ > 0) restore(state_file(number_));
  journal_ = std::make_unique<RecordLog>(journal_file(number_), RecordLog::Cache::none);
}

fs::path SiteState::state_file(int number) const {
  return folder_ / fmt::format("{}{:06}.ckpt", kStatePrefix, number);
}

fs::path SiteState::journal_file(int number) const {
  return folder_ / fmt::format("{}{:06}.journal", kJournalPrefix, number);
}

void SiteState::restore(const fs::path& path) {
  try {
    const std::vector<std::byte> bytes = read_checked_file(path);
    ByteReader reader(bytes);
    if (reader.get<std::uint32_t>() != kStateMagic)
      throw DataError(path.string() + ": not a state");
    if (reader.get<std::uint32_t>() != ids_.size()) {
      throw DataError(path.string() + ": the state is of another number of clients");
    }
    PrivateState previous;
    PrivateState previous_kept;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (reader.get<std::uint32_t>() != static_cast<std::uint32_t>(ids_[i])) {
        throw DataError(path.string() + ": the state is of other clients");
      }
      answered_[i] = reader.get<Sequence>();
      previous = PrivateState::read(reader, &previous);
      (*clients_)[i]->inner().restore(previous);
      std::optional<PrivateState> kept;
      if (reader.get<std::uint8_t>() != 0) {
        kept = PrivateState::read(reader, &previous_kept);
        previous_kept = *kept;
      }
      (*clients_)[i]->restore_kept_model(std::move(kept));
    }
    state_bytes_ = bytes.size();
  } catch (const ProtocolError& error) {
    throw DataError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

std::size_t SiteState::replay(transport::Site& site) {
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

void SiteState::begin_round(Round round) {
  if (is_replaying_) return;
  // A long journal would take long to be worked through again.
  constexpr std::uint64_t kMostJournals = 8;
  const bool is_long = state_bytes_ > 0 && journal_bytes_ > kMostJournals * state_bytes_;
  if (!is_long && !clock_.is_due(round)) return;
  const Stopwatch watch;
  save();
  clock_.note(watch.seconds());
}

void SiteState::append(const Task& task) {
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
void SiteState::sync() {
  const std::lock_guard lock(syncing_);
  if (is_synced_) return;
  journal_->sync();
  is_synced_ = true;
}

void SiteState::save() {
  const auto seen = site_->seen();
  const fs::path path = state_file(number_ + 1);
  CheckedFileWriter writer(path);
  writer.put(kStateMagic);
  writer.put(static_cast<std::uint32_t>(ids_.size()));
  PrivateState previous;
  PrivateState previous_kept;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    writer.put(static_cast<std::uint32_t>(ids_[i]));
    writer.put(seen[i]);
    PrivateState state = (*clients_)[i]->inner().save();
    state.write(writer, &previous);
    previous = std::move(state);
    const auto& kept = (*clients_)[i]->kept_model();
    writer.put(static_cast<std::uint8_t>(kept ? 1 : 0));
    if (!kept) continue;
    kept->write(writer, &previous_kept);
    previous_kept = *kept;
  }
  writer.commit();
  // From here on the new state counts. Tasks that its journal inherits are older, and passed over.
  ++number_;
  journal_->rename(journal_file(number_));
  journal_->clear();
  journal_bytes_ = 0;
  state_bytes_ = fs::file_size(path);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const bool is_old = (number_of(entry.path(), kStatePrefix) < number_ &&
                         entry.path().filename().string().starts_with(kStatePrefix)) ||
                        (number_of(entry.path(), kJournalPrefix) < number_ &&
                         entry.path().filename().string().starts_with(kJournalPrefix));
    if (is_old) fs::remove(entry.path());
  }
}
}  // namespace fedhur::experiment
