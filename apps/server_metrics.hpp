// What a monitor sees of a server, in the text format of Prometheus.
#pragma once
#include <string>

#include "fedhur/transport/network/hub.hpp"

namespace fedhur::apps {
[[nodiscard]] std::string to_prometheus(const transport::HubStatus& status, Index num_clients,
                                        Index quorum);
}  // namespace fedhur::apps
