// A text file that was compiled into the library: see cmake/fedhur_embed.cmake.
#pragma once
#include <string_view>

namespace fedhur {
struct EmbeddedText {
  std::string_view
      name;  // the file's path below the folder that was embedded: "ml-100k/fedmf.toml"
  std::string_view text;
};
}  // namespace fedhur
