// One exchange of a hub while it is under way: who is asked what, and how far that has come.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fedhur/base/error.hpp"
#include "fedhur/federation/federation.hpp"
#include "fedhur/message/wire_codec.hpp"
#include "fedhur/transport/network/task.hpp"

namespace fedhur::transport {
// A message that becomes bytes when the first site takes it: in that site's thread, once.
class Outgoing {
 public:
  Outgoing(std::shared_ptr<const message::Message> message, message::WireFormat format)
      : message_(std::move(message)), format_(format) {}
  [[nodiscard]] Bytes bytes() {
    std::call_once(is_encoded_, [&] {
      bytes_ = std::make_shared<const std::vector<std::byte>>(message::encode(*message_, format_));
    });
    size_ = bytes_->size();
    return bytes_;
  }
  [[nodiscard]] std::size_t size() const { return size_; }  // 0 as long as nobody has taken it
  [[nodiscard]] const std::string& kind() const { return message_->kind; }

 private:
  std::shared_ptr<const message::Message> message_;
  message::WireFormat format_;
  std::once_flag is_encoded_;
  Bytes bytes_;
  std::atomic<std::size_t> size_ = 0;
};

class ExchangeState {
 public:
  // What is expected of one client.
  enum class Phase : std::uint8_t { open, checking, answered, refused };
  struct Slot {
    federation::Request request;
    std::shared_ptr<Outgoing> message;
    Phase phase = Phase::open;  // changed through set_phase(), which counts
    message::Message answer;
    std::size_t answer_size = 0;  // in bytes
  };

  ExchangeState(Sequence sequence, std::span<const federation::Request> requests,
                const message::WireFormat& format)
      : sequence_(sequence) {
    if (!requests.empty()) {
      round_ = requests.front().message->round;
      kind_ = requests.front().message->kind;
    }
    std::map<const message::Message*, std::shared_ptr<Outgoing>> outgoing;
    for (const federation::Request& request : requests) {
      auto& message = outgoing[request.message.get()];
      if (!message) message = std::make_shared<Outgoing>(request.message, format);
      const bool is_new =
          slots_
              .try_emplace(request.client,
                           Slot{.request = request, .message = message, .answer = {}})
              .second;
      expects(is_new, "an exchange asks a client once");
    }
    count(Phase::open) = static_cast<Index>(slots_.size());
  }

  [[nodiscard]] Sequence sequence() const { return sequence_; }
  [[nodiscard]] Round round() const { return round_; }
  [[nodiscard]] const std::string& kind() const { return kind_; }
  [[nodiscard]] const std::map<ClientId, Slot>& slots() const { return slots_; }
  [[nodiscard]] Index num_asked() const { return static_cast<Index>(slots_.size()); }
  [[nodiscard]] Index num(Phase phase) const { return counts_[static_cast<std::size_t>(phase)]; }

  // nullptr if the client is not asked.
  [[nodiscard]] Slot* find(ClientId client) {
    const auto found = slots_.find(client);
    return found == slots_.end() ? nullptr : &found->second;
  }
  void set_phase(Slot& slot, Phase phase) {
    --count(slot.phase);
    ++count(phase);
    slot.phase = phase;
  }
  void set_answer(Slot& slot, message::Message answer, std::size_t size) {
    slot.answer = std::move(answer);
    slot.answer_size = size;
    set_phase(slot, Phase::answered);
  }

  [[nodiscard]] std::vector<ClientId> find_missing() const {
    std::vector<ClientId> missing;
    for (const auto& [client, slot] : slots_) {
      if (slot.phase != Phase::answered) missing.push_back(client);
    }
    return missing;
  }
  [[nodiscard]] std::vector<federation::Answer> take_answers() {
    std::vector<federation::Answer> answers;
    for (auto& [client, slot] : slots_) {
      if (slot.phase != Phase::answered) continue;
      answers.push_back({.client = client,
                         .message = std::move(slot.answer),
                         .request_size = slot.message->size(),
                         .size = slot.answer_size});
    }
    return answers;
  }

 private:
  [[nodiscard]] Index& count(Phase phase) { return counts_[static_cast<std::size_t>(phase)]; }

  Sequence sequence_;
  Round round_ = 0;
  std::string kind_;
  std::map<ClientId, Slot> slots_;
  std::array<Index, 4> counts_ = {};  // by phase: asked after every reply, with thousands of slots
};
}  // namespace fedhur::transport
