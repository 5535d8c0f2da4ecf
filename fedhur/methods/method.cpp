#include "fedhur/methods/method.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedhur/base/nearest_name.hpp"

namespace fedhur::methods {
Method find_method(const std::string& name) {
  std::vector<std::string> known;
  for (Method& method : all_methods()) {
    if (method.name == name) return std::move(method);
    known.push_back(method.name);
  }
  throw ConfigError(fmt::format("unknown method '{}': expected one of {}{}", name,
                                fmt::join(known, ", "), hint(name, known)));
}
}  // namespace fedhur::methods
