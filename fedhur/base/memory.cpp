#include "fedhur/base/memory.hpp"

#include <limits>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace fedhur {
void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

void share_freed_memory([[maybe_unused]] Index num_threads) {
#if defined(__GLIBC__)
  mallopt(M_ARENA_MAX, static_cast<int>(num_threads));
#endif
}
}  // namespace fedhur
