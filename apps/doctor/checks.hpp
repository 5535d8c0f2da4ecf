// The checks of `fedhur doctor`: what the command with these flags would meet.
#pragma once
#include "apps/client_flags.hpp"
#include "apps/doctor/report.hpp"
#include "apps/server_flags.hpp"

namespace fedhur::apps {
void check_server(const ServerFlags& flags, Checkup& checkup);
void check_client(const ClientFlags& flags, Checkup& checkup);
}  // namespace fedhur::apps
