// Who this end is to the others: whether they will believe it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/doctor/report.hpp"
#include "apps/network_flags.hpp"
#include "fedhur/pki/certificate.hpp"

namespace fedhur::apps {
// Something that was made at a known time: no right clock is before that.
struct DatedThing {
  std::string name;
  std::int64_t begin = 0;  // unix seconds
};

struct CheckedIdentity {
  bool is_usable = false;  // nothing stands against a connection, as far as this end can tell
  transport::TlsTexts texts = {};                        // each empty if it cannot be used
  std::optional<pki::CertificateInfo> certificate = {};  // of this end
  std::vector<DatedThing> dates = {};
};
[[nodiscard]] CheckedIdentity check_identity_files(const IdentityFlags& flags, pki::Purpose purpose,
                                                   Checkup& checkup);

// --clients of a client against what its certificate allows. False after a problem.
[[nodiscard]] bool check_client_ids(const std::string& clients, const CheckedIdentity& identity,
                                    Checkup& checkup);

// The clock against the dates of everything that is known to be made.
void check_clock(std::vector<DatedThing> dates, Checkup& checkup);
}  // namespace fedhur::apps
