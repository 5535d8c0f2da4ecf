// The one place with threads in the numerics. Results never depend on how many there are.
#pragma once
#include <functional>
#include <memory>

#include "fedhur/base/index.hpp"

namespace fedhur {
class Executor {
 public:
  explicit Executor(Index num_threads);  // at least 1, the calling thread counted
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  [[nodiscard]] Index num_threads() const;

  // Calls task(i) once for every i in [0, count); a task writes only what belongs to its i.
  // The first exception (by index) reaches the caller after all running tasks have ended.
  // Tasks run with denormals flushed to zero. Not to be called from within a task.
  void for_each(Index count, const std::function<void(Index)>& task) const;

  // Sum of term(i), added in blocks of fixed size and in order, whatever the number of threads.
  [[nodiscard]] double sum(Index count, const std::function<double(Index)>& term) const;

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

// During its lifetime this thread rounds denormal floats to zero: idle Adam moments decay into
// denormals, which made training ten times slower.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned saved_;
};
}  // namespace fedhur
