// What a report shows of the insides of its runs.
#pragma once
#include "fedhur/report/report_model.hpp"

namespace fedhur::report {
// Fills in activity, popularity, relations and hierarchies, where any run has an inside.
void add_inside(ReportModel& model);
}  // namespace fedhur::report
