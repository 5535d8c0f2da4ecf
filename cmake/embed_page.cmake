# Writes a C++ file that holds the report's page: markup, style, D3 and our scripts in one string.
#   cmake -D folder=DIR -D scripts=a.js,b.js -D libraries=FILE,FILE -D version=V -D output=FILE -P embed_page.cmake
function(read_all result files)
  set(text "")
  string(REPLACE "," ";" files "${files}")
  foreach(file IN LISTS files)
    file(READ "${file}" part)
    string(APPEND text "${part}\n")
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

file(READ "${folder}/page.html" page)
read_all(style "${folder}/page.css")
read_all(licence "${folder}/d3_licence.txt")
read_all(d3 "${libraries}")
read_all(scripts "${scripts}")
foreach(part style licence d3 scripts version)
  string(REPLACE "@${part}@" "${${part}}" page "${page}")
endforeach()
file(WRITE "${output}" "// Made by cmake/embed_page.cmake.
#include \"fedhur/report/page.hpp\"

namespace fedhur::report {
std::string_view page_template() {
  return R\"page(${page})page\";
}
}  // namespace fedhur::report
")
