// How a command that fails is told of, and what the program ends with.
#pragma once
#include <exception>
#include <string>

#include "apps/command.hpp"

namespace fedhur::apps {
struct Failure {
  ExitCode code = ExitCode::unexpected_failure;
  std::string what;
};
[[nodiscard]] Failure failure_of(const std::exception& error);
}  // namespace fedhur::apps
