# fedhur_embed(fedhur::study::tuned_files ${PROJECT_SOURCE_DIR}/configs/tuned *.toml): compiles the texts of all such
# files below the folder into the library, as `std::span<const EmbeddedText> fedhur::study::tuned_files()`, by name.
# The binary then needs no files beside it, wherever it is installed.
function(fedhur_embed function folder pattern)
  string(REGEX REPLACE "::[^:]*$" "" namespace ${function})
  string(REGEX REPLACE "^.*::" "" name ${function})
  file(GLOB_RECURSE paths CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/${pattern})
  list(SORT paths)
  list(LENGTH paths count)
  set(entries "")
  foreach(path IN LISTS paths)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${path})
    file(READ ${folder}/${path} text)
    # Long literals are split: compilers need not take more than 64 kB in one piece.
    string(LENGTH "${text}" length)
    set(pieces "")
    set(first 0)
    while(first LESS length)
      string(SUBSTRING "${text}" ${first} 16000 piece)
      string(APPEND pieces "R\"__embedded(${piece})__embedded\"\n")
      math(EXPR first "${first} + 16000")
    endwhile()
    string(APPEND entries "    {\"${path}\", ${pieces}},\n")
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  set(content "#include <array>\n#include <span>\n#include \"fedhur/base/embedded_text.hpp\"\nnamespace ${namespace} {\n\
std::span<const EmbeddedText> ${name}();\n\
std::span<const EmbeddedText> ${name}() {\n  static constexpr std::array<EmbeddedText, ${count}> texts = {{\n${entries}  }};\n  return texts;\n}\n\
}  // namespace ${namespace}\n")
  file(GENERATE OUTPUT ${source} CONTENT "${content}")
  target_sources(fedhur PRIVATE ${source})
endfunction()
