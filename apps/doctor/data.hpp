// Whether a site's data can be read, and fit the federation.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "apps/client_flags.hpp"
#include "apps/doctor/report.hpp"
#include "fedhur/base/ids.hpp"

namespace fedhur::apps {
// What is known of the federation, from the server or from an earlier connection.
struct KnownTerms {
  std::string source = {};                    // who says so, for messages
  std::optional<std::string> catalogue = {};  // text
  std::optional<std::string> settings = {};   // TOML
  Index num_clients = 0;                      // of the federation; 0 if nobody has said
  std::vector<ClientId> clients = {};         // that the site hosts; empty if nobody has said
};

struct CheckedData {
  ConfigTable table = {};  // the settings that the site would have, as far as they are known
  Index num_items = 0;     // 0 if that is not known
};
[[nodiscard]] CheckedData check_data(const ClientFlags& flags, const KnownTerms& terms,
                                     Checkup& checkup);
}  // namespace fedhur::apps
