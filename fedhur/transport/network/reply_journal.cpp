#include "fedhur/transport/network/reply_journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fedhur/base/record_log.hpp"

namespace fedhur::transport {
namespace {
enum class Kind : std::uint8_t { reply, end };
}  // namespace

struct ReplyJournal::State {
  explicit State(const std::filesystem::path& path) : log(path) {}
  RecordLog log;
  std::map<Sequence, Exchange> before;
  Sequence newest_taken = 0;
  bool is_synced = true;  // what end() and clear() have written is on disk

  // Records come in any order of clients, and one may come twice: the first counts.
  void read(std::span<const std::byte> record) {
    ByteReader reader(record);
    const auto kind = reader.get<Kind>();
    if (kind != Kind::reply && kind != Kind::end) throw ProtocolError("a record of unknown kind");
    Exchange& exchange = before[reader.get<Sequence>()];
    if (kind == Kind::reply) {
      const auto client = static_cast<ClientId>(reader.get<std::uint32_t>());
      const auto message = reader.take(reader.remaining());
      exchange.replies.try_emplace(
          client, std::make_shared<const std::vector<std::byte>>(message.begin(), message.end()));
    } else if (!std::exchange(exchange.is_ended, true)) {
      while (reader.remaining() > 0) {
        exchange.counted.push_back(static_cast<ClientId>(reader.get<std::uint32_t>()));
      }
    }
  }
};

ReplyJournal::ReplyJournal(const std::filesystem::path& path)
    : state_(std::make_unique<State>(path)) {
  try {
    for (auto& record : state_->log.take_records()) {
      state_->read(record);
      record = {};  // read() has copied it
    }
  } catch (const ProtocolError& error) {
    throw DataError(fmt::format("{}: not a journal of replies: {}", path.string(), error.what()));
  }
}
ReplyJournal::~ReplyJournal() = default;

ReplyJournal::Exchange ReplyJournal::take(Sequence sequence) {
  state_->newest_taken = std::max(state_->newest_taken, sequence);
  const auto found = state_->before.find(sequence);
  if (found == state_->before.end()) return {};
  Exchange exchange = std::move(found->second);
  state_->before.erase(found);
  return exchange;
}

void ReplyJournal::add(Sequence sequence, ClientId client, std::span<const std::byte> message) {
  ByteWriter head;
  head.put(Kind::reply);
  head.put(sequence);
  head.put(static_cast<std::uint32_t>(client));
  state_->log.append(head.finish(), message);
}

void ReplyJournal::end(Sequence sequence, const std::vector<ClientId>& counted) {
  ByteWriter record;
  record.put(Kind::end);
  record.put(sequence);
  for (const ClientId client : counted) record.put(static_cast<std::uint32_t>(client));
  state_->log.append(record.finish());
  state_->is_synced = false;
}

void ReplyJournal::sync() {
  if (state_->is_synced) return;
  state_->log.sync();
  state_->is_synced = true;
}

void ReplyJournal::clear() {
  auto& before = state_->before;
  before.erase(before.begin(), before.upper_bound(state_->newest_taken));
  // An earlier life may have come further than this one has. Its replies are worth more than the
  // room that older ones take.
  if (!before.empty()) return;
  state_->log.clear();
  state_->is_synced = false;
}
}  // namespace fedhur::transport
