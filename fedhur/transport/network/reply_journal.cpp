#include "fedhur/transport/network/reply_journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fedhur::transport {
namespace {
enum class Kind : std::uint8_t { reply, end };
}  // namespace

// Records come in any order of clients, and one may come twice: the first counts.
void ReplyJournal::read(std::span<const std::byte> record) {
  ByteReader reader(record);
  const auto kind = reader.get<Kind>();
  if (kind != Kind::reply && kind != Kind::end) throw ProtocolError("a record of unknown kind");
  Exchange& exchange = before_[reader.get<Sequence>()];
  if (kind == Kind::reply) {
    const auto client = static_cast<ClientId>(reader.get<std::uint32_t>());
    exchange.replies.try_emplace(client, copy_of(reader.take(reader.remaining())));
  } else if (!std::exchange(exchange.is_ended, true)) {
    while (reader.remaining() > 0) {
      exchange.counted.push_back(static_cast<ClientId>(reader.get<std::uint32_t>()));
    }
  }
}

ReplyJournal::ReplyJournal(const std::filesystem::path& path) : log_(path) {
  try {
    for (auto& record : log_.take_records()) {
      read(record);
      record = {};  // read() has copied it
    }
  } catch (const ProtocolError& error) {
    throw DataError(fmt::format("{}: not a journal of replies: {}", path.string(), error.what()));
  }
}

ReplyJournal::Exchange ReplyJournal::take(Sequence sequence) {
  newest_taken_ = std::max(newest_taken_, sequence);
  const auto found = before_.find(sequence);
  if (found == before_.end()) return {};
  Exchange exchange = std::move(found->second);
  before_.erase(found);
  return exchange;
}

void ReplyJournal::add(Sequence sequence, ClientId client, std::span<const std::byte> message) {
  ByteWriter head;
  head.put(Kind::reply);
  head.put(sequence);
  head.put(static_cast<std::uint32_t>(client));
  log_.append(head.finish(), message);
}

void ReplyJournal::end(Sequence sequence, const std::vector<ClientId>& counted) {
  ByteWriter record;
  record.put(Kind::end);
  record.put(sequence);
  for (const ClientId client : counted) record.put(static_cast<std::uint32_t>(client));
  log_.append(record.finish());
  is_synced_ = false;
}

void ReplyJournal::sync() {
  if (is_synced_) return;
  log_.sync();
  is_synced_ = true;
}

void ReplyJournal::clear() {
  before_.erase(before_.begin(), before_.upper_bound(newest_taken_));
  // Before a restart the server may have come further than it has now. Those replies are kept, and
  // older ones with them.
  if (!before_.empty()) return;
  log_.clear();
  is_synced_ = false;
}
}  // namespace fedhur::transport
