// The report as one HTML file that needs nothing else.
#pragma once
#include <string>
#include <string_view>

#include "fedhur/report/report_model.hpp"

namespace fedhur::report {
// With "@data@" where the data belong; compiled in from report/page/.
[[nodiscard]] std::string_view page_template();
// The page of these data, a JSON text. Whatever is in its strings stays text: nothing of it can end
// the element that holds it.
[[nodiscard]] std::string make_page(std::string_view json);

// How much of a run a live page has.
struct PageState {
  std::size_t sittings = 0;
  std::size_t rounds = 0;
  std::string inside;  // stands for what is in inside.json; empty: nothing
};
// The data of the page. That of a live model goes on asking for what is new, with the state that it
// was given; the answer has the points of later rounds only, and the inside if it has changed.
[[nodiscard]] std::string page_data(const ReportModel& model);
[[nodiscard]] std::string update_data(ReportModel model, const PageState& known);
}  // namespace fedhur::report
