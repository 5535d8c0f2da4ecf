// The checks of `fedhur doctor`: what the command with these flags would meet. Each tells the
// checkup what it finds and returns what later checks need of it.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/client_flags.hpp"
#include "apps/doctor/finding.hpp"
#include "apps/server_flags.hpp"
#include "fedhur/base/settings.hpp"
#include "fedhur/pki/certificate.hpp"
#include "fedhur/transport/network/task.hpp"

namespace fedhur::apps {
void check_server(const ServerFlags& flags, Checkup& checkup);
void check_client(const ClientFlags& flags, Checkup& checkup);

// --- certificates.cpp: whether the others will believe who this end is.

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
// --clients of a client against what its certificate allows.
[[nodiscard]] Finding check_client_ids(const std::string& clients, const CheckedIdentity& identity);
// The clock against the dates of everything that is known to be made.
[[nodiscard]] Finding check_clock(std::vector<DatedThing> dates);

// --- network.cpp: whether the two ends can come together.

// That a server can take its port, and that of --monitor.
void check_listening(const ServerFlags& flags, Checkup& checkup);

struct Reached {
  std::optional<transport::Welcome> welcome = {};     // what the server says of its run
  std::optional<DatedThing> server_certificate = {};  // seen in a handshake
};
// The way to the server: name, connection, TLS, and whether it takes this site. The server answers
// a site that asks and leaves; it counts as connected only once it says that it is ready to work,
// which this does not. `catalogue` is what the site has already, if any.
[[nodiscard]] Reached check_reachability(const ClientFlags& flags, const CheckedIdentity& identity,
                                         const std::optional<std::string>& catalogue,
                                         Checkup& checkup);

// --- data.cpp: whether a site's data can be read, and fit the federation.

// What is known of the federation, from the server or from an earlier connection.
struct KnownTerms {
  std::string source = {};                    // who says so, for messages
  std::optional<std::string> catalogue = {};  // text
  std::optional<std::string> settings = {};   // TOML
  Index num_clients = 0;                      // of the federation; 0 if it is not known
  std::vector<ClientId> clients = {};         // that the site hosts; empty if it is not known
};
struct CheckedData {
  std::vector<Setting> settings = {};  // that the site would have; none if they are not known
  Index num_items = 0;                 // 0 if that is not known
};
[[nodiscard]] CheckedData check_data(const ClientFlags& flags, const KnownTerms& terms,
                                     Checkup& checkup);

// --- disk.cpp: whether the folders of a run can be written and have room.

// A rough estimate of what a run will take.
struct SizeEstimate {
  double bytes = 0.0;
  std::string reckoning;  // how the number came about
};
// Of a server, on disk and in memory: what all clients send in a round.
[[nodiscard]] SizeEstimate estimate_server(Index clients, Index items,
                                           const std::vector<Setting>& settings);
// Of a site, on disk: what its clients keep.
[[nodiscard]] SizeEstimate estimate_site(Index clients, Index items,
                                         const std::vector<Setting>& settings);

// Why the folder cannot be written to, or made; nothing if it can.
[[nodiscard]] std::optional<Finding> check_folder(const std::filesystem::path& path,
                                                  const std::string& flag);
// That its file system has room for as much, if that is known. After check_folder().
[[nodiscard]] Finding check_disk_space(const std::filesystem::path& path,
                                       const std::optional<SizeEstimate>& need);
// Whether some process of this machine has locked the file, as far as this one can see.
[[nodiscard]] bool is_locked(const std::filesystem::path& file);
}  // namespace fedhur::apps
