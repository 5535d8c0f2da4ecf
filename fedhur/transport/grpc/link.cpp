#include "fedhur/transport/grpc/link.hpp"

#include <fmt/format.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "fedhur/base/error.hpp"
#include "fedhur/base/hash.hpp"
#include "fedhur/message/wire_codec.hpp"
#include "fedhur/transport/grpc/frames.hpp"

namespace fedhur::transport {
using ::grpc::Status;
using ::grpc::StatusCode;
namespace {
using std::chrono::milliseconds;
constexpr milliseconds kFirstPause{200};
constexpr milliseconds kLongestPause{15'000};

// Not for anything that has to be repeatable.
std::uint64_t seed_of(const void* object) {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) ^
         reinterpret_cast<std::uintptr_t>(object);
}

std::shared_ptr<::grpc::ChannelCredentials> site_credentials(const Security& security,
                                                             const TlsTexts& texts) {
  if (!security) return ::grpc::InsecureChannelCredentials();
  return ::grpc::SslCredentials({.pem_root_certs = texts.ca,
                                 .pem_private_key = texts.key,
                                 .pem_cert_chain = texts.certificate});
}

std::shared_ptr<::grpc::Channel> make_channel(const HubConnectionConfig& config,
                                              const TlsTexts& texts) {
  const int keepalive = static_cast<int>(config.keepalive.count());
  ::grpc::ChannelArguments arguments;
  // Sites that share a process do not share a connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A proxy that the environment names leads out, not back to this machine.
  const bool is_here = is_loopback(parse_address(config.server).host);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, is_here ? 0 : 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);  // the link does that
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetMaxReceiveMessageSize(kLargestFrame);
  return ::grpc::CreateCustomChannel(config.server, site_credentials(config.security, texts),
                                     arguments);
}

bool contains_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// gRPC's "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:7000: why": why.
std::string reason_of(const Status& status) {
  std::string text = status.error_message();
  constexpr std::string_view kLastError = "last error: ";
  if (const auto at = text.find(kLastError); at != std::string::npos) {
    text.erase(0, at + kLastError.size());
    const auto skip_part = [&text] {
      if (const auto end = text.find(": "); end != std::string::npos) text.erase(0, end + 2);
    };
    skip_part();  // the code
    if (text.starts_with("ipv")) skip_part();
  }
  return printable(text);
}

TlsTexts texts_of(const Security& security) {
  return security ? read_tls_files(*security, pki::Purpose::client) : TlsTexts{};
}
}  // namespace

HubStream::HubStream(const HubConnectionConfig& config, const TlsTexts& texts)
    : stub_(v1::Federation::NewStub(make_channel(config, texts))),
      silent_until_(Clock::now() + kHandshakeTime) {}

HubStream::~HubStream() = default;

void HubStream::open() {
  stream_ = stub_->Connect(&context_);
  const std::lock_guard lock(writing_);
  can_write_ = true;
}

bool HubStream::read(v1::FromServer& frame) {
  if (has_read_) silent_until_ = Clock::now() + kSilence;
  can_read_ = can_read_ && stream_->Read(&frame);
  has_read_ = true;
  silent_until_ = Clock::time_point::max();  // no timeout between two reads
  return can_read_;
}

bool HubStream::write(const v1::FromSite& frame) {
  const std::lock_guard lock(writing_);
  can_write_ = can_write_ && stream_->Write(frame);
  return can_write_;
}

void HubStream::end_writing() {
  const std::lock_guard lock(writing_);
  if (can_write_) (void)stream_->WritesDone();
  can_write_ = false;
}

Status HubStream::finish() {
  // A write in progress fails soon, unless the other end does not read: then it is cancelled.
  constexpr auto kPatience = std::chrono::seconds(2);
  std::unique_lock lock(writing_, kPatience);
  if (!lock) {
    cancel();
    lock.lock();
  }
  can_write_ = false;
  return stream_->Finish();
}

void HubStream::expire(Clock::time_point now) {
  if (now > silent_until_.load()) cancel();
}

std::string explain(const Status& status, const HubConnectionConfig& config, bool has_answered) {
  const std::string text = reason_of(status);
  constexpr std::array<std::string_view, 4> kTlsWords = {"andshake", "certificate", "SSL_", "TSI_"};
  constexpr std::array<std::string_view, 4> kClosedWords = {"ocket closed", "reset by peer",
                                                            "GOAWAY", "roken pipe"};
  switch (status.error_code()) {
    case StatusCode::OK:
      return fmt::format("{} has ended the connection", config.server);
    case StatusCode::CANCELLED:
      return fmt::format("{} has broken the connection", config.server);
    case StatusCode::UNAVAILABLE:
      break;
    default:
      return fmt::format("{}: {}", config.server, text);
  }
  if (has_answered) return fmt::format("the connection to {} is lost: {}", config.server, text);
  if (config.security && contains_any(text, kTlsWords)) {
    return fmt::format("the TLS handshake with {} has failed: {}", config.server, text);
  }
  if (config.security && contains_any(text, kClosedWords)) {
    return fmt::format(
        "{} has closed the connection without a word, maybe since it does not accept "
        "this site's certificate: {}",
        config.server, text);
  }
  return fmt::format("cannot reach {}: {}", config.server, text);
}

bool is_final(const Status& status) {
  switch (status.error_code()) {
    case StatusCode::FAILED_PRECONDITION:
    case StatusCode::UNAUTHENTICATED:
    case StatusCode::PERMISSION_DENIED:
    case StatusCode::INVALID_ARGUMENT:
    case StatusCode::UNIMPLEMENTED:
      return true;  // no server of ours
    default:
      return false;
  }
}

milliseconds Backoff::next() {
  const auto longest = std::min(kLongestPause, kFirstPause * (1 << std::min(num_failures_, 10)));
  ++num_failures_;
  return milliseconds(static_cast<std::int64_t>(static_cast<double>(longest.count()) *
                                                (0.5 + 0.5 * rng_.uniform())));
}

Farewell read_farewell(const v1::Farewell& frame) {
  return {.is_finished = frame.is_finished(), .reason = printable(frame.reason())};
}

Link::Link(HubConnectionConfig config, NetworkLog log)
    : config_(std::move(config)), log_(std::move(log)), backoff_(seed_of(this)) {
  check_security(config_.server, config_.security);
  texts_ = texts_of(config_.security);
}

Link::End Link::run(const Converse& converse) {
  auto lost_at = Clock::now();
  while (const std::shared_ptr<HubStream> stream = begin()) {
    const auto begun_at = Clock::now();
    bool has_answered = false;
    std::string parting;  // why the server leaves, if it does before the end of the run
    std::optional<End> end;
    stream->open();
    try {
      const Greeting greeting = shake_hands(*stream);
      has_answered = greeting.index() > 0;
      if (const auto* farewell = std::get_if<Farewell>(&greeting)) {
        if (farewell->is_finished) end = End{.is_done = true, .farewell = *farewell};
        parting = farewell->reason;
      } else if (const auto* welcome = std::get_if<Welcome>(&greeting)) {
        if (converse(stream, *welcome) == Talk::done) end = End{.is_done = true, .farewell = {}};
      }
    } catch (...) {
      stream->cancel();
      (void)stream->finish();
      throw;
    }
    if (end) stream->end_writing();
    for (v1::FromServer rest; stream->read(rest);) {
    }
    const Status status = stream->finish();
    if (end) return *end;
    if (is_final(status)) {
      throw TransportError(fmt::format("{} refuses this site: {}", config_.server,
                                       printable(status.error_message())));
    }
    if (has_answered) lost_at = Clock::now();
    if (has_answered && lost_at - begun_at > kLongestPause) backoff_.reset();
    if (!pause(parting.empty() ? explain(status, config_, has_answered) : parting, lost_at)) break;
  }
  return {};
}

std::shared_ptr<HubStream> Link::begin() {
  try {
    texts_ = texts_of(config_.security);  // certificates are renewed now and then
  } catch (const Error& error) {
    log_(Severity::warning, fmt::format("{}; going on with what was read before", error.what()));
  }
  auto stream = std::make_shared<HubStream>(config_, texts_);
  const std::lock_guard lock(mutex_);
  stream_ = is_stopping_ ? nullptr : std::move(stream);
  return stream_;
}

bool Link::pause(const std::string& reason, Clock::time_point lost_at) {
  milliseconds duration = backoff_.next();
  if (config_.give_up_after) {
    const auto rest =
        std::chrono::duration_cast<milliseconds>(lost_at + *config_.give_up_after - Clock::now());
    if (rest.count() <= 0) {
      throw TransportError(
          fmt::format("no connection for {:.1f} s: {}",
                      std::chrono::duration<double>(*config_.give_up_after).count(), reason));
    }
    duration = std::min(duration, rest);
  }
  const auto is_stopping = [this] { return is_stopping_; };
  std::unique_lock lock(mutex_);
  if (is_stopping()) return false;
  lock.unlock();
  log_(reason == last_reason_ ? Severity::detail : Severity::warning,
       fmt::format("{}; trying again in {:.1f} s", reason,
                   std::chrono::duration<double>(duration).count()));
  last_reason_ = reason;
  lock.lock();
  return !stopped_.wait_for(lock, duration, is_stopping);
}

void Link::stop() {
  const std::lock_guard lock(mutex_);
  is_stopping_ = true;
  if (stream_) stream_->cancel();
  stopped_.notify_all();
}

void Link::expire() {
  const std::lock_guard lock(mutex_);
  if (stream_) stream_->expire(Clock::now());
}

Link::Greeting Link::shake_hands(HubStream& stream) const {
  v1::FromSite frame;
  v1::Hello& hello = *frame.mutable_hello();
  hello.set_protocol(kProtocol);
  hello.set_wire_version(message::kWireVersion);
  hello.set_software(printable(config_.software));
  put_clients(config_.clients, *hello.mutable_clients());
  hello.set_catalogue_sha256(config_.catalogue_sha256);
  (void)stream.write(frame);  // reading tells whether it has arrived
  v1::FromServer answer;
  do {
    if (!stream.read(answer)) return {};
  } while (answer.has_beat());
  if (answer.has_farewell()) return read_farewell(answer.farewell());
  if (!answer.has_welcome()) {
    throw ProtocolError(fmt::format("{}: an unexpected frame, expected Welcome", config_.server));
  }
  Welcome welcome = read_welcome(answer.welcome());
  const bool is_known = welcome.catalogue_sha256 == config_.catalogue_sha256;
  if (!welcome.catalogue_sha256.empty() && !is_known) {
    if (!welcome.catalogue) welcome.catalogue = read_catalogue(stream);
    if (!welcome.catalogue) return {};
    if (sha256_hex(*welcome.catalogue) != welcome.catalogue_sha256) {
      throw ProtocolError(
          fmt::format("{}: the catalogue is not the one of the run", config_.server));
    }
  }
  return welcome;
}

Welcome Link::read_welcome(const v1::Welcome& frame) const {
  Welcome welcome{.run_id = printable(frame.run_id()),
                  .configuration = frame.configuration(),
                  .num_clients = static_cast<Index>(frame.num_clients()),
                  .clients = clients_of(frame.clients()),
                  .catalogue_sha256 = frame.catalogue_sha256()};
  if (!frame.catalogue().empty()) {
    welcome.catalogue = copy_of(std::as_bytes(std::span(frame.catalogue())));
  }
  const std::set<ClientId> granted(welcome.clients.begin(), welcome.clients.end());
  const auto is_granted = [&](ClientId client) { return granted.contains(client); };
  const auto exists = [&](ClientId client) { return index_of(client) < welcome.num_clients; };
  if (welcome.run_id.empty() || granted.empty() || granted.size() != welcome.clients.size() ||
      !std::ranges::all_of(welcome.clients, exists) ||
      !std::ranges::all_of(config_.clients, is_granted)) {
    throw ProtocolError(fmt::format(
        "{}: a Welcome to a run '{}' of {} clients with {} of them for this site, expected a name "
        "and the clients that were asked for",
        config_.server, welcome.run_id, welcome.num_clients, welcome.clients.size()));
  }
  return welcome;
}

Bytes Link::read_catalogue(HubStream& stream) const {
  Assembler assembler(config_.largest_task);
  for (v1::FromServer frame; stream.read(frame);) {
    if (!frame.has_chunk() || frame.chunk().sequence() != 0) {
      throw ProtocolError(
          fmt::format("{}: an unexpected frame, expected the catalogue", config_.server));
    }
    if (auto catalogue = assembler.add(piece_of(frame.chunk()))) {
      return share(std::move(*catalogue));
    }
  }
  return nullptr;
}
}  // namespace fedhur::transport
