// Seconds since construction.
#pragma once
#include <chrono>
#include <ctime>

namespace fedhur {
class Stopwatch {  // by the clock on the wall
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Those in which this process worked, added up over its threads.
class WorkStopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC;
  }

 private:
  std::clock_t start_ = std::clock();
};
}  // namespace fedhur
