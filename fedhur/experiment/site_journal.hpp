// What a site keeps on its own disk: the private state of its clients as of some round, and the
// tasks since. Worked through again, they lead to the same bits.
#pragma once
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "fedhur/base/record_log.hpp"
#include "fedhur/experiment/checkpoint.hpp"
#include "fedhur/transport/network/site.hpp"

namespace fedhur::experiment {
class SiteJournal : public transport::TaskJournal {
 public:
  // The party outlives this. Restores the newest state below `folder`, if there is one. DataError
  // if it is damaged or of other clients.
  SiteJournal(std::filesystem::path folder, Party& party);

  // The newest task that each client's state has seen.
  [[nodiscard]] const std::vector<transport::Sequence>& answered() const { return answered_; }
  // Works through the tasks that came after the state; how many there were. Before the site works
  // on any other: it tells from here on how far clients have come.
  std::size_t replay(transport::Site& site);

  void begin_round(Round round) override;
  void append(const transport::Task& task) override;
  void sync() override;

 private:
  void restore(const std::filesystem::path& path);
  void save();
  [[nodiscard]] std::filesystem::path state_file(int number) const;
  [[nodiscard]] std::filesystem::path journal_file(int number) const;

  std::filesystem::path folder_;
  Party* party_;
  std::vector<transport::Sequence> answered_;
  int number_ = 0;  // of state and journal; state 0 is how clients begin, and has no file
  std::unique_ptr<RecordLog> journal_;
  std::mutex syncing_;
  bool is_synced_ = true;  // all of the journal is on disk
  std::uint64_t journal_bytes_ = 0;
  std::uint64_t state_bytes_ = 0;
  const transport::Site* site_ = nullptr;
  bool is_replaying_ = false;
  // A site mostly waits for others, which it will not do again.
  CheckpointClock<WorkStopwatch> clock_{0};
};
}  // namespace fedhur::experiment
