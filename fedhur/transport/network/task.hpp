// What passes between a server and its sites, whatever carries it. A site is a process that hosts
// one or many clients.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fedhur/base/checksum.hpp"
#include "fedhur/base/ids.hpp"
#include "fedhur/message/wire_codec.hpp"

namespace fedhur::transport {
// Numbers the exchanges of a run: 1, 2, ... Server and sites agree on it across restarts.
using Sequence = std::uint64_t;
// An encoded message; many sites may be sent the same one.
using Bytes = std::shared_ptr<const std::vector<std::byte>>;
[[nodiscard]] inline Bytes share(std::vector<std::byte> bytes) {
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}
[[nodiscard]] inline Bytes copy_of(std::span<const std::byte> bytes) {
  return share({bytes.begin(), bytes.end()});
}

// A message that becomes bytes, with a checksum, when the first site takes it: in that site's
// thread, once.
class Outgoing {
 public:
  Outgoing(std::shared_ptr<const message::Message> message, message::WireFormat format)
      : message_(std::move(message)), format_(format) {}
  [[nodiscard]] Bytes bytes() {
    std::call_once(is_encoded_, [&] {
      bytes_ = share(message::encode(*message_, format_));
      digest_ = checksum_of(*bytes_);
    });
    size_ = bytes_->size();
    return bytes_;
  }
  [[nodiscard]] const Checksum::Digest& digest() const { return digest_; }  // after bytes()
  [[nodiscard]] std::size_t size() const { return size_; }  // 0 until the bytes were taken
  [[nodiscard]] const message::Message& message() const { return *message_; }

 private:
  std::shared_ptr<const message::Message> message_;
  message::WireFormat format_;
  std::once_flag is_encoded_;
  Bytes bytes_;
  Checksum::Digest digest_{};
  std::atomic<std::size_t> size_ = 0;
};

struct Task {  // one request to one or several clients of a site
  Sequence sequence = 0;
  std::vector<ClientId> clients;
  Bytes message;
  Sequence after = 0;    // what the clients were told before and must have worked on; 0 for nothing
  bool is_told = false;  // no reply is expected; only a problem is sent
  Checksum::Digest digest{};  // of the message, for those who send it on
};

struct Reply {  // of one client
  Sequence sequence = 0;
  ClientId client{};
  Bytes message = nullptr;
  std::string problem = {};  // instead of a message: why the client could not answer
};

// How far a client has come, as its site says.
struct ClientProgress {
  ClientId client{};
  Sequence received = 0;  // the newest task that has arrived, or begun to
  Sequence answered = 0;  // the newest task whose reply was sent
};

// What the server sends when a site connects.
struct Welcome {
  std::string run_id;                  // differs from run to run; a restart goes on with the same
  std::string configuration;           // TOML
  Index num_clients = 0;               // of the federation
  std::vector<ClientId> clients = {};  // that the site may speak for; the server fills it in
  std::string catalogue_sha256 = {};   // hexadecimal; empty without a catalogue
  Bytes catalogue = nullptr;           // a site gets none if its copy is the same
};

// The text of the catalogue: what the server has sent, or else what the site knows.
[[nodiscard]] inline std::optional<std::string> catalogue_of(const Welcome& welcome,
                                                             std::optional<std::string> known) {
  if (!welcome.catalogue) return known;
  const auto& bytes = *welcome.catalogue;
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());  // NOLINT: text
}

// What it sends when it closes the connection for good.
struct Farewell {
  bool is_finished = false;  // false: the run has ended early
  std::string reason;
};
}  // namespace fedhur::transport
