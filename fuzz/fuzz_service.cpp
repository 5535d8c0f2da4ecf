#include <cstddef>
#include <cstdint>

#include "fuzz/service_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fedhur::fuzz::service_input({bytes, size});
  return 0;
}
