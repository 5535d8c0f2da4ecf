# Installs fedhur below work_dir, then configures, builds and runs the project against it.
cmake_minimum_required(VERSION 3.25)
set(prefix ${work_dir}/prefix)
file(REMOVE_RECURSE ${work_dir})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${build_dir} --config ${config} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${project_dir} -B ${work_dir}/build -G ${generator}
    -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_BUILD_TYPE=${config} -D CMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${work_dir}/build --config ${config})
run(${work_dir}/build/consumer)
if(NOT output MATCHES "20 users, 30 items, [1-9][0-9]* interactions")
  message(FATAL_ERROR "the consumer printed:\n${output}")
endif()
run(${prefix}/bin/fedhur --help)
