#include "fedhur/transport/grpc/lock_checks.hpp"

#include <absl/synchronization/mutex.h>

namespace fedhur::transport {
void end_lock_checks() { absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore); }
}  // namespace fedhur::transport
