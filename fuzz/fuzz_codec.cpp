#include <cstddef>
#include <cstdint>

#include "fuzz/codec_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fedhur::fuzz::codec_input({bytes, size});
  return 0;
}
