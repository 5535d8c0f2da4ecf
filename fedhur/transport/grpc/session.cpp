#include "fedhur/transport/grpc/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "fedhur/transport/grpc/frames.hpp"

namespace fedhur::transport {
using ::grpc::Status;
using ::grpc::StatusCode;
using std::chrono::seconds;
namespace {
constexpr seconds kLeavingTime{3};
constexpr seconds kBeat{5};  // of the server, while there is nothing to send

ProtocolError unexpected(const char* expected) {
  return ProtocolError(fmt::format("an unexpected frame, expected {}", expected));
}
}  // namespace

Session::Session(SessionHost& host, ::grpc::ServerContext& context, Stream& stream)
    : host_(host),
      context_(context),
      stream_(stream),
      silent_until_(Clock::now() + kHandshakeTime) {}

void Session::expire(Clock::time_point now) {
  if (now > silent_until_.load() || now > ends_.load()) context_.TryCancel();
}

void Session::end_within(Clock::duration duration) {
  const auto end = Clock::now() + duration;
  if (end < ends_.load()) ends_ = end;
}

Status Session::run() {
  peer_.name = readable_address(context_.peer());
  Status status;
  try {
    converse();
  } catch (const Refusal& refusal) {
    status = {refusal.code, refusal.what()};
  } catch (const ProtocolError& error) {
    status = {StatusCode::INVALID_ARGUMENT, error.what()};
  } catch (const std::exception& error) {
    // Ours, not the site's, which may try again.
    host_.log(Severity::warning, fmt::format("{}: {}", peer_.name, error.what()));
    return {StatusCode::INTERNAL, "the server could not go on with this connection"};
  }
  if (!status.ok()) {
    host_.log(Severity::warning, fmt::format("refused {}: {}", peer_.name, status.error_message()));
  }
  return status;
}

void Session::converse() {
  peer_ = host_.gatekeeper.identify(peer_.name, *context_.auth_context());
  v1::FromSite frame;
  const bool has_read = stream_.Read(&frame);
  if (context_.IsCancelled()) return;
  if (!has_read || !frame.has_hello()) throw unexpected("Hello");
  const std::vector<ClientId> granted = host_.gatekeeper.admit(peer_, frame.hello());
  if (!host_.hub.closing().empty()) {
    (void)say_farewell();
    return;
  }
  host_.log(Severity::detail,
            fmt::format("{} says hello for {} clients, software '{}'", peer_.name, granted.size(),
                        printable(frame.hello().software(), 100)));
  if (!welcome(frame.hello(), granted)) return;
  expect_within(kHandshakeTime);
  if (!stream_.Read(&frame)) return;  // it only wanted to know
  const std::vector<ClientProgress> progress = read_ready(granted, frame);
  for (const ClientProgress& client : progress) hosted_.insert(client.client);
  const Hub::Session id = host_.hub.connect(peer_.name, progress);
  std::jthread writer;
  struct Leaving {
    Session& session;
    Hub::Session id;
    ~Leaving() {
      session.is_leaving_ = true;
      session.end_within(kLeavingTime);  // a peer that does not read would hold the writer up
      session.host_.hub.disconnect(id);
    }
  } const leaving{*this, id};
  writer = std::jthread([this, id] { write_tasks(id); });
  read_frames(id);
}

bool Session::welcome(const v1::Hello& hello, const std::vector<ClientId>& clients) {
  const Welcome& content = host_.config.welcome;
  v1::FromServer frame;
  v1::Welcome& welcome = *frame.mutable_welcome();
  welcome.set_run_id(content.run_id);
  welcome.set_configuration(content.configuration);
  welcome.set_num_clients(static_cast<std::uint32_t>(content.num_clients));
  put_clients(clients, *welcome.mutable_clients());
  welcome.set_catalogue_sha256(content.catalogue_sha256);
  const bool is_wanted = content.catalogue && hello.catalogue_sha256() != content.catalogue_sha256;
  // An empty field could not be told from a catalogue that follows.
  const bool is_small =
      is_wanted && !content.catalogue->empty() && content.catalogue->size() <= kPieceBytes;
  if (is_small) welcome.set_catalogue(content.catalogue->data(), content.catalogue->size());
  if (!stream_.Write(frame)) return false;
  if (!is_wanted || is_small) return true;
  frame.mutable_chunk()->set_sequence(0);
  return send(frame, Splitter(*content.catalogue));
}

bool Session::say_farewell() {
  has_said_farewell_ = true;
  v1::FromServer frame;
  frame.mutable_farewell()->set_is_finished(host_.is_finished);
  frame.mutable_farewell()->set_reason(printable(host_.hub.closing()));
  return stream_.Write(frame);
}

std::vector<ClientProgress> Session::read_ready(const std::vector<ClientId>& granted,
                                                const v1::FromSite& frame) const {
  if (!frame.has_ready()) throw unexpected("Ready");
  std::vector<ClientProgress> progress = progress_of(frame.ready().progress());
  std::set<ClientId> seen;
  for (const ClientProgress& client : progress) {
    if (!std::ranges::binary_search(granted, client.client) || !seen.insert(client.client).second) {
      throw ProtocolError(fmt::format("Ready with client {}, which was not granted or comes twice",
                                      index_of(client.client)));
    }
  }
  if (progress.empty()) throw ProtocolError("Ready without a client");
  return progress;
}

void Session::read_frames(Hub::Session id) {
  v1::FromSite frame;
  for (expect_within(kSilence); stream_.Read(&frame); expect_within(kSilence)) {
    host_.gatekeeper.check(peer_);
    if (frame.has_chunk()) {
      take(id, frame.chunk());
    } else if (frame.has_beat()) {
      host_.hub.note_progress(id, progress_of(frame.beat().progress()));
    } else {
      throw unexpected("Chunk or Beat");
    }
  }
  // A site ends by breaking the connection, or when it was told to.
  if (!has_said_farewell_ && !context_.IsCancelled()) {
    throw ProtocolError("a frame that cannot be read, or no more frames before the end of the run");
  }
}

void Session::take(Hub::Session id, const v1::Chunk& chunk) {
  const auto client =
      chunk.clients_size() == 1 ? static_cast<ClientId>(chunk.clients(0)) : ClientId{};
  if (chunk.clients_size() != 1 || !hosted_.contains(client)) {
    throw ProtocolError(
        fmt::format("a reply of {} clients, the first {}, expected one that this "
                    "site hosts",
                    chunk.clients_size(), chunk.clients_size() > 0 ? chunk.clients(0) : 0));
  }
  const auto found = partials_.find(client);
  if (found != partials_.end() && found->second.sequence != chunk.sequence()) {
    throw ProtocolError(fmt::format("client {}: a reply to task {} amid the one to task {}",
                                    index_of(client), chunk.sequence(), found->second.sequence));
  }
  Reply reply{.sequence = chunk.sequence(), .client = client};
  if (!chunk.problem().empty()) {
    if (found != partials_.end() || chunk.total_size() > 0 || !chunk.payload().empty()) {
      throw ProtocolError(
          fmt::format("client {}: a problem together with a reply", index_of(client)));
    }
    reply.problem = printable(chunk.problem());
  } else {
    Partial& partial =
        partials_
            .try_emplace(client, Partial{.sequence = chunk.sequence(),
                                         .assembler = Assembler(host_.config.largest_reply)})
            .first->second;
    try {
      auto message = partial.assembler.add(piece_of(chunk));
      if (!message) return;
      reply.message = share(std::move(*message));
    } catch (const ProtocolError& error) {
      throw ProtocolError(fmt::format("client {}: {}", index_of(client), error.what()));
    }
    partials_.erase(client);
  }
  host_.hub.accept(id, reply);
}

void Session::write_tasks(Hub::Session id) {
  try {
    v1::FromServer frame;
    auto last_written = Clock::now();
    while (host_.hub.is_open(id)) {
      host_.gatekeeper.check(peer_);
      const auto task = host_.hub.next_task(id, seconds(1));
      if (task && !task->clients.empty()) {
        frame.mutable_chunk()->set_sequence(task->sequence);
        frame.mutable_chunk()->set_after(task->after);
        frame.mutable_chunk()->set_is_told(task->is_told);
        put_clients(task->clients, *frame.mutable_chunk()->mutable_clients());
        if (!send(frame, Splitter(*task->message, task->digest)))
          return;  // the reader will find out, too
        last_written = Clock::now();
      } else if (Clock::now() - last_written > kBeat) {
        frame.mutable_beat();
        if (!stream_.Write(frame)) return;
        last_written = Clock::now();
      }
    }
    if (is_leaving_) return;
    if (!host_.hub.closing().empty()) {
      (void)say_farewell();
      end_within(kLeavingTime);
      return;
    }
    host_.log(Severity::info,
              fmt::format("{}: its clients have connected anew, this connection ends", peer_.name));
  } catch (const Refusal&) {
    // The next frame of the site is answered with the reason; there is none if it is silent.
    end_within(kLeavingTime);
    return;
  } catch (const std::exception& error) {
    host_.log(Severity::warning, fmt::format("{}: {}", peer_.name, error.what()));
  }
  context_.TryCancel();
}

bool Session::send(v1::FromServer& frame, Splitter pieces) {
  while (const auto piece = pieces.next()) {
    put_piece(*piece, *frame.mutable_chunk());
    if (!stream_.Write(frame)) return false;
    expect_within(kSilence);
  }
  return true;
}
}  // namespace fedhur::transport
