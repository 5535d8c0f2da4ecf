#include "fedhur/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "fedhur/base/error.hpp"
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace fedhur {
#if defined(__SSE2__)
FlushDenormals::FlushDenormals() : saved_(_mm_getcsr()) {
  constexpr unsigned kFlushToZero = 0x8000;
  constexpr unsigned kDenormalsAreZero = 0x0040;
  _mm_setcsr(saved_ | kFlushToZero | kDenormalsAreZero);
}
FlushDenormals::~FlushDenormals() { _mm_setcsr(saved_); }
#else
FlushDenormals::FlushDenormals() : saved_(0) {}
FlushDenormals::~FlushDenormals() = default;
#endif

class Executor::Pool {
 public:
  explicit Pool(Index num_threads) {
    for (Index i = 1; i < num_threads; ++i) {
      workers_.emplace_back([this] { serve(); });
    }
  }
  ~Pool() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  [[nodiscard]] Index num_threads() const { return static_cast<Index>(workers_.size()) + 1; }

  void run(Index count, const std::function<void(Index)>& task) {
    if (count <= 0) return;
    {
      const std::scoped_lock lock(mutex_);
      task_ = &task;
      count_ = count;
      next_.store(0);
      busy_ = workers_.size();
      failed_index_ = std::numeric_limits<Index>::max();
      failure_ = nullptr;
      ++generation_;
    }
    wake_.notify_all();
    work();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    task_ = nullptr;
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  void serve() {
    std::uint64_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
        if (stopping_) return;
        seen = generation_;
      }
      work();
      const std::scoped_lock lock(mutex_);
      if (--busy_ == 0) done_.notify_one();
    }
  }

  void work() {
    const FlushDenormals flush;
    for (Index i = next_.fetch_add(1); i < count_; i = next_.fetch_add(1)) {
      try {
        (*task_)(i);
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        next_.store(count_);  // nothing new is begun
        if (i < failed_index_) {
          failed_index_ = i;
          failure_ = std::current_exception();
        }
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const std::function<void(Index)>* task_ = nullptr;
  Index count_ = 0;
  std::atomic<Index> next_ = 0;
  std::size_t busy_ = 0;
  std::uint64_t generation_ = 0;
  bool stopping_ = false;
  Index failed_index_ = 0;
  std::exception_ptr failure_;
  std::vector<std::jthread> workers_;  // last: joined before what they use goes away
};

Executor::Executor(Index num_threads) {
  expects(num_threads >= 1, "an executor has at least one thread");
  pool_ = std::make_unique<Pool>(num_threads);
}
Executor::~Executor() = default;
Index Executor::num_threads() const { return pool_->num_threads(); }

void Executor::for_each(Index count, const std::function<void(Index)>& task) const {
  pool_->run(count, task);
}

double Executor::sum(Index count, const std::function<double(Index)>& term) const {
  constexpr Index kBlock = 64;
  const Index num_blocks = (count + kBlock - 1) / kBlock;
  std::vector<double> partial(static_cast<std::size_t>(num_blocks), 0.0);
  for_each(num_blocks, [&](Index block) {
    double total = 0.0;
    for (Index i = block * kBlock; i < std::min(count, (block + 1) * kBlock); ++i) total += term(i);
    partial[static_cast<std::size_t>(block)] = total;
  });
  double total = 0.0;
  for (const double value : partial) total += value;
  return total;
}
}  // namespace fedhur
