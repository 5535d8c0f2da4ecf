#include "fedhur/transport/network/site.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "fedhur/base/error.hpp"
#include "fedhur/message/wire_codec.hpp"

namespace fedhur::transport {
using message::Message;

Site::Site(const std::vector<HostedClient>& clients, const Executor& executor,
           const message::WireFormat& format, TaskJournal* journal)
    : executor_(&executor), format_(format), journal_(journal) {
  for (const HostedClient& client : clients) {
    clients_.push_back(
        {.client = client, .progress = {client.id, client.answered, client.answered}, .last = {}});
  }
}

Site::Hosted* Site::find(ClientId client) {
  const auto found = std::ranges::find_if(
      clients_, [&](const Hosted& hosted) { return hosted.client.id == client; });
  return found == clients_.end() ? nullptr : &*found;
}

void Site::work(std::span<const Task> tasks, const Send& send) {
  // One exchange after the other; within one, all clients at once.
  std::map<Sequence, std::vector<const Task*>> exchanges;
  for (const Task& task : tasks) exchanges[task.sequence].push_back(&task);
  for (const auto& [sequence, same] : exchanges) {
    std::vector<Message> messages;
    messages.reserve(same.size());  // jobs point into it
    std::vector<Job> jobs;
    for (const Task* task : same) {
      const Task fresh = find_fresh(*task, jobs, send);
      if (fresh.clients.empty()) continue;
      try {
        messages.push_back(message::decode(*task->message));
      } catch (const ProtocolError& error) {
        refuse(fresh, error.what(), send);
        continue;
      }
      note(fresh, messages.back().round);
      for (const ClientId client : fresh.clients) {
        jobs.push_back({find(client), task, &messages.back()});
      }
    }
    executor_->for_each(static_cast<Index>(jobs.size()),
                        [&](Index i) { answer(jobs[static_cast<std::size_t>(i)], send); });
  }
}

Task Site::find_fresh(const Task& task, std::span<const Job> jobs, const Send& send) {
  Task fresh{.sequence = task.sequence, .clients = {}, .message = task.message};
  for (const ClientId client : task.clients) {
    Hosted* hosted = find(client);
    if (hosted == nullptr || task.sequence < hosted->client.answered) continue;
    if (task.sequence == hosted->client.answered) {
      const bool is_awaited = !task.is_told || !hosted->last.problem.empty();
      if (hosted->last.sequence == task.sequence && is_awaited) send_last(*hosted, send);
      continue;
    }
    if (task.after > hosted->client.answered) {  // what comes before it was lost on the way
      pass_over(*hosted);
      continue;
    }
    const bool is_there =
        std::ranges::any_of(jobs, [&](const Job& job) { return job.client == hosted; }) ||
        std::ranges::find(fresh.clients, client) != fresh.clients.end();
    if (!is_there) fresh.clients.push_back(client);
  }
  return fresh;
}

void Site::note(const Task& task, Round round) {
  // A client that catches up works on older rounds; those were begun before.
  const bool is_new = !round_ || round > *round_;
  if (journal_ != nullptr) {
    if (is_new) journal_->begin_round(round);
    journal_->append(task);
  }
  if (is_new) round_ = round;
}

void Site::answer(const Job& job, const Send& send) {
  Hosted& hosted = *job.client;
  Reply reply{.sequence = job.task->sequence, .client = hosted.client.id};
  try {
    const Message message = hosted.client.method->answer(*job.message);
    reply.message = share(message::encode(message, format_));
  } catch (const ProtocolError& error) {
    reply.problem = error.what();
  }
  hosted.client.answered = reply.sequence;
  hosted.last = std::move(reply);
  if (job.task->is_told && hosted.last.problem.empty()) {
    const std::lock_guard lock(mutex_);
    hosted.told = hosted.last.sequence;
    return;
  }
  if (journal_ != nullptr) journal_->sync();
  send_last(hosted, send);
}

// While a reply is on its way its client counts as busy, lest the reply seem lost.
void Site::send_last(Hosted& hosted, const Send& send) {
  const Sequence sequence = hosted.last.sequence;
  const auto set_answered = [&](Sequence answered) {
    const std::lock_guard lock(mutex_);
    hosted.progress.received = std::max(hosted.progress.received, sequence);
    hosted.progress.answered = answered;
  };
  set_answered(sequence - 1);
  try {
    send(hosted.last);
  } catch (...) {
    set_answered(sequence);
    throw;
  }
  set_answered(sequence);
}

// The clients have not seen it, so nothing is noted, and they are not busy with it either.
void Site::refuse(const Task& task, const std::string& problem, const Send& send) {
  for (const ClientId client : task.clients) {
    send({.sequence = task.sequence, .client = client, .problem = problem});
    pass_over(*find(client));
  }
}

void Site::pass_over(Hosted& hosted) {
  const std::lock_guard lock(mutex_);
  hosted.progress.received = hosted.progress.answered;
}

std::vector<ClientProgress> Site::progress() {
  const std::vector<Sequence> told = find_unsettled();
  if (journal_ != nullptr && !told.empty()) journal_->sync();
  const std::lock_guard lock(mutex_);
  std::vector<ClientProgress> progress;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    ClientProgress& own = clients_[i].progress;
    if (!told.empty()) own.answered = std::max(own.answered, told[i]);
    own.received = std::max(own.received, own.answered);
    progress.push_back(own);
  }
  return progress;
}

std::vector<Sequence> Site::find_unsettled() const {
  const std::lock_guard lock(mutex_);
  const bool are_settled = std::ranges::all_of(
      clients_, [](const Hosted& hosted) { return hosted.told <= hosted.progress.answered; });
  std::vector<Sequence> told;
  if (are_settled) return told;
  for (const Hosted& hosted : clients_) told.push_back(hosted.told);
  return told;
}

std::vector<Sequence> Site::seen() const {
  std::vector<Sequence> seen;
  for (const Hosted& hosted : clients_) seen.push_back(hosted.client.answered);
  return seen;
}

void Site::note_arrival(Sequence sequence, std::span<const ClientId> clients) {
  const std::lock_guard lock(mutex_);
  for (const ClientId client : clients) {
    if (Hosted* hosted = find(client)) {
      hosted->progress.received = std::max(hosted->progress.received, sequence);
    }
  }
}
}  // namespace fedhur::transport
