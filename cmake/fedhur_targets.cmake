# fedhur_sources(a b): compile a.cpp and b.cpp of this folder into the library.
function(fedhur_sources)
  foreach(name IN LISTS ARGN)
    target_sources(fedhur PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp)
  endforeach()
endfunction()

# The labels of ctest, and threads; fedhur_unit_tests and the like build these programs only.
foreach(label unit property conformance golden slow threads)
  add_custom_target(fedhur_${label}_tests)
endforeach()

# fedhur_test(name LABEL unit [THREADS] SOURCES a.cpp b.cpp): one GoogleTest program, each test known to ctest.
# THREADS marks programs that run several threads: fedhur_threads_tests builds them, for the thread sanitizer.
function(fedhur_test name)
  cmake_parse_arguments(arg "THREADS" "LABEL" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE fedhur fedhur_test_support fedhur_options ${arg_LIBRARIES})
  target_precompile_headers(${name} REUSE_FROM fedhur_test_support)
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${arg_LABEL} TIMEOUT 300)
  add_dependencies(fedhur_${arg_LABEL}_tests ${name})
  if(arg_THREADS)
    add_dependencies(fedhur_threads_tests ${name})
  endif()
endfunction()
