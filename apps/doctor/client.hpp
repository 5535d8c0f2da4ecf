// The checks of `fedhur doctor client`.
#pragma once
#include "apps/doctor/flags.hpp"
#include "apps/doctor/report.hpp"

namespace fedhur::apps {
void check_client(const ClientSetup& setup, Checkup& checkup);
}  // namespace fedhur::apps
