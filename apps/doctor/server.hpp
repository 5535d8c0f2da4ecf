// The checks of `fedhur doctor server`.
#pragma once
#include "apps/doctor/flags.hpp"
#include "apps/doctor/report.hpp"

namespace fedhur::apps {
void check_server(const ServerFlags& setup, Checkup& checkup);
}  // namespace fedhur::apps
