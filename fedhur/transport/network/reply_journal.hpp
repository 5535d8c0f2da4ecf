// The replies of the current round, on the server's disk: after a restart the server does not ask
// for them again.
#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <vector>

#include "fedhur/base/record_log.hpp"
#include "fedhur/transport/network/task.hpp"

namespace fedhur::transport {
class ReplyJournal {
 public:
  // Goes on with the journal at `path`; a record torn by a crash, and what follows it, is dropped.
  // FileError as RecordLog; DataError for a log of something else.
  explicit ReplyJournal(const std::filesystem::path& path);

  struct Exchange {
    std::map<ClientId, Bytes> replies;
    // Set when the exchange had ended: whose replies counted.
    bool is_ended = false;
    std::vector<ClientId> counted;
  };
  // What was written before this process began; each exchange is given away once, in order.
  [[nodiscard]] Exchange take(Sequence sequence);

  // May be called from several threads.
  void add(Sequence sequence, ClientId client, std::span<const std::byte> message);
  void end(Sequence sequence, const std::vector<ClientId>& counted);
  // After this all exchanges that have ended are on disk, whatever happens to the machine. Before
  // anybody is told something that follows from them: until then the disk has time.
  void sync();
  // A checkpoint holds every exchange that was taken so far: forgets those.
  void clear();

 private:
  void read(std::span<const std::byte> record);

  RecordLog log_;
  std::map<Sequence, Exchange> before_;
  Sequence newest_taken_ = 0;
  bool is_synced_ = true;  // what end() and clear() have written is on disk
};
}  // namespace fedhur::transport
