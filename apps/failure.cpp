#include "apps/failure.hpp"

#include <new>

#include "fedhur/base/error.hpp"

namespace fedhur::apps {
namespace {
template <class Kind>
bool is_a(const std::exception& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

ExitCode exit_code_of(const std::exception& error) {
  if (is_a<ConfigError>(error)) return ExitCode::wrong_usage;
  if (is_a<DataError>(error)) return ExitCode::bad_data;
  const bool is_of_network = is_a<ProtocolError>(error) || is_a<TransportError>(error);
  return is_of_network ? ExitCode::federation_failure : ExitCode::unexpected_failure;
}
}  // namespace

Failure failure_of(const std::exception& error) {
  return {exit_code_of(error),
          is_a<std::bad_alloc>(error) ? "there is not enough memory for this" : error.what()};
}
}  // namespace fedhur::apps
