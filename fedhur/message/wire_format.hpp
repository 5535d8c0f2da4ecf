// How exact the numbers of a message travel.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "fedhur/base/config_table.hpp"

namespace fedhur::message {
// Of float matrices only: doubles and integers are always exact.
enum class Precision : std::uint8_t {
  float32,  // exact; packed where that is smaller
  float16,  // IEEE halves: 11 significant bits, numbers below 6e-8 become zero
  int8,     // a byte per number and the largest magnitude of every 64 numbers of a row
};
constexpr auto names_of(Precision) { return std::array{"float32", "float16", "int8"}; }

struct WireFormat {
  Precision precision = Precision::float32;
};
}  // namespace fedhur::message
