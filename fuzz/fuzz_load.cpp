#include <cstddef>
#include <cstdint>

#include "fuzz/load_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fedhur::fuzz::load_input({bytes, size});
  return 0;
}
