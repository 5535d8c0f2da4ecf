#include "fedhur/report/page.hpp"

#include "fedhur/base/error.hpp"

namespace fedhur::report {
std::string make_page(std::string_view json) {
  constexpr std::string_view kMark = "@data@";
  const std::string_view page = page_template();
  const std::size_t at = page.find(kMark);
  expects(at != std::string_view::npos, "the page has a place for its data");
  std::string text(page.substr(0, at));
  text.reserve(page.size() + json.size() + json.size() / 64);
  for (const char c : json) {  // outside of strings JSON has none of these
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text.append(page.substr(at + kMark.size()));
}
}  // namespace fedhur::report
