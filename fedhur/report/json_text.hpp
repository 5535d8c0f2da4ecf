// JSON texts in and out.
#pragma once
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "fedhur/base/error.hpp"

namespace fedhur::report {
using Json = nlohmann::ordered_json;

// On one line. Names, titles and paths may hold any bytes; JSON may not.
[[nodiscard]] inline std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What `read` makes of it. DataError if it is not JSON, or not what `read` expects.
template <class Read>
auto parse_json(const std::string& text, const char* what, Read read) {
  try {
    return read(Json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    throw DataError(fmt::format("not {}: {}", what, error.what()));
  }
}
}  // namespace fedhur::report
