// Somebody who looks into one round of a simulation, to study it or to check it independently.
#pragma once
#include <functional>
#include <string>

#include "fedhur/base/ids.hpp"
#include "fedhur/base/matrix.hpp"

namespace fedhur::methods {
struct RoundWatcher {
  Round round = 0;  // the one to be shown
  // Names are relative paths without an ending: "scopes/3/projection".
  std::function<void(const std::string& name, ConstMatrixRef matrix)> show_matrix;
  std::function<void(const std::string& name, ConstVectorRef vector)> show_vector;
  std::function<void(const std::string& name, const std::string& json)> show_json;
};
}  // namespace fedhur::methods
