// A disk that is full, for tests.
#pragma once
#include <sys/resource.h>

#include <csignal>

namespace fedhur::tests {
// During its lifetime no file of this process grows beyond `bytes`, as on a disk that is full.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &saved_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = saved_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &saved_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit saved_{};
  void (*handler_)(int);
};
}  // namespace fedhur::tests
