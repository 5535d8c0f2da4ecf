#include "fedhur/transport/grpc/grpc_process.hpp"

#include <absl/synchronization/mutex.h>
#include <fmt/format.h>
#include <grpc/support/log.h>

#include <mutex>
#include <string_view>

namespace fedhur::transport {
namespace {
// A global, because gRPC takes a plain function without context.
struct Receiver {
  std::mutex mutex;
  NetworkLog log;
};
Receiver& receiver() {
  static Receiver instance;
  return instance;
}

void forward(gpr_log_func_args* args) {
  const std::string_view text = args->message;
  // "Handshake failed with fatal error SSL_ERROR_SSL: error:0A0000C7:SSL routines::why."
  const bool is_handshake = text.starts_with("Handshake failed");
  const auto why = text.rfind("::");
  const std::string message =
      is_handshake && why != std::string_view::npos
          ? fmt::format("a TLS handshake has failed: {}", text.substr(why + 2))
          : fmt::format("gRPC: {}", text);
  // For a port in use start() throws a shorter message.
  const bool is_thrown = text.find("No address added out of") != std::string_view::npos;
  const bool matters = is_handshake || (args->severity == GPR_LOG_SEVERITY_ERROR && !is_thrown);
  const std::lock_guard lock(receiver().mutex);
  if (receiver().log) receiver().log(matters ? Severity::warning : Severity::detail, message);
}
}  // namespace

void forward_grpc_log(NetworkLog log) {
  const bool is_none = !log;
  {
    const std::lock_guard lock(receiver().mutex);
    receiver().log = std::move(log);
  }
  gpr_set_log_function(is_none ? nullptr : forward);
}

void disable_lock_checks() { absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore); }
}  // namespace fedhur::transport
