#include "apps/time_slices.hpp"

#if defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#endif

namespace fedhur {
#if defined(__linux__)
namespace {
// As the system call has it; the C library and linux/sched/types.h do not go together.
struct SchedulingAttributes {
  std::uint32_t size = 0;
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t niceness = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  // of a time slice, in nanoseconds; older kernels ignore it
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};
static_assert(sizeof(SchedulingAttributes) == 48);
}  // namespace
#endif

void use_long_time_slices() {
#if defined(__linux__)
  constexpr std::uint64_t kSlice = 100'000'000;  // the kernel's maximum; its default is 3 million
  SchedulingAttributes attributes;
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  if (attributes.policy != SCHED_OTHER) return;  // the user has chosen another policy
  attributes.policy = SCHED_BATCH;
  attributes.runtime = kSlice;
  (void)::syscall(SYS_sched_setattr, 0, &attributes, 0);
#endif
}
}  // namespace fedhur
