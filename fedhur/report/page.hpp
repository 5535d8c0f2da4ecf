// The report as one HTML file that needs nothing else.
#pragma once
#include <string>
#include <string_view>

namespace fedhur::report {
// With "@data@" where the data belong; compiled in from report/page/.
[[nodiscard]] std::string_view page_template();
// The page of these data, a JSON text. Whatever is in its strings stays text: nothing of it can end
// the element that holds it.
[[nodiscard]] std::string make_page(std::string_view json);
}  // namespace fedhur::report
