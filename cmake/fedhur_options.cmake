# One interface target carries the dialect, the warnings and the sanitizers of every target here.
add_library(fedhur_options INTERFACE)
target_compile_features(fedhur_options INTERFACE cxx_std_20)
target_compile_options(fedhur_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees overlaps and dangling reads inside inlined std::string and Eigen code that are not there.
  target_compile_options(fedhur_options INTERFACE
    -Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  # In a unity build the file with the anonymous namespace is included, as a header would be.
  if(CMAKE_UNITY_BUILD)
    target_compile_options(fedhur_options INTERFACE -Wno-subobject-linkage)
  endif()
  # No source here needs a gigabyte: collecting garbage before that only takes time.
  target_compile_options(fedhur_options INTERFACE
    "SHELL:--param ggc-min-expand=400" "SHELL:--param ggc-min-heapsize=1000000")
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(fedhur_options INTERFACE -Wno-sign-conversion)  # g++ leaves it out of -Wconversion
endif()
if(FEDHUR_ARCH)
  target_compile_options(fedhur_options INTERFACE -march=${FEDHUR_ARCH})
endif()
if(FEDHUR_SANITIZE)
  target_compile_options(fedhur_options INTERFACE
    -fsanitize=${FEDHUR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(fedhur_options INTERFACE -fsanitize=${FEDHUR_SANITIZE})
  if(FEDHUR_SANITIZE MATCHES "address" AND FEDHUR_SANITIZE MATCHES "undefined")
    # A wrong pointer that is used is found by the address sanitizer; these checks cost a quarter of the time to compile.
    target_compile_options(fedhur_options INTERFACE -fno-sanitize=null,object-size,pointer-overflow)
  endif()
endif()
if(FEDHUR_BUILD_FUZZ)
  # The fuzzer steers by the edge counters of the library.
  target_compile_options(fedhur_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(FEDHUR_COVERAGE)
  target_compile_options(fedhur_options INTERFACE --coverage)
  target_link_options(fedhur_options INTERFACE --coverage)
endif()
