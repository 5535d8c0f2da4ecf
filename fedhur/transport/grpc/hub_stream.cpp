#include "fedhur/transport/grpc/hub_stream.hpp"

#include <fmt/format.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "fedhur/transport/grpc/frames.hpp"

namespace fedhur::transport {
using ::grpc::Status;
using ::grpc::StatusCode;
namespace {

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
  silent_until_ = Clock::time_point::max();  // who does not listen hears nothing
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
  // Whoever writes now learns that it is over; if not soon, then because nobody reads.
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
}  // namespace fedhur::transport
