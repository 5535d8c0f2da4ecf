// How strong a term of the loss is in a round.
#pragma once
#include <cmath>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/ids.hpp"

namespace fedhur::methods {
enum class Schedule : std::uint8_t {
  tanh,    // from 0 in round 0 towards 1
  fixed,   // 1
  sin,     // around a half
  frac,    // from 1 towards 0
  square,  // 1 and 0 in turns of five rounds
};

[[nodiscard]] inline double strength_in_round(Schedule schedule, Round round) {
  const auto t = static_cast<double>(round);
  switch (schedule) {
    case Schedule::tanh:
      return std::tanh(t / 10.0);
    case Schedule::fixed:
      return 1.0;
    case Schedule::sin:
      return (std::sin(t / 10.0) + 1.0) / 2.0;
    case Schedule::frac:
      return 1.0 / (t + 1.0);
    case Schedule::square:
      return round / 5 % 2 == 0 ? 1.0 : 0.0;
  }
  throw std::logic_error("a schedule without a formula");
}
}  // namespace fedhur::methods

template <>
struct fedhur::EnumNames<fedhur::methods::Schedule> {
  using enum fedhur::methods::Schedule;
  static constexpr std::array<std::pair<std::string_view, methods::Schedule>, 5> names = {
      {{"tanh", tanh}, {"fixed", fixed}, {"sin", sin}, {"frac", frac}, {"square", square}}};
};
