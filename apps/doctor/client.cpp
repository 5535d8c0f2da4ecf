#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "apps/doctor/checks.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/base/text.hpp"
#include "fedhur/pki/client_ranges.hpp"

namespace fedhur::apps {
namespace {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// A file of the state folder; nothing if there is none, or it cannot be read.
std::optional<std::string> read_state_file(const ClientFlags& flags, const char* name) {
  const fs::path path = fs::path(flags.state) / name;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  try {
    return read_text_file(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Those that the server grants, or else those of the flag or the certificate.
std::vector<ClientId> hosted_clients(const ClientFlags& flags, const CheckedIdentity& identity,
                                     const Reached& reached) {
  if (reached.welcome) return reached.welcome->clients;
  try {
    if (!flags.clients.empty()) return clients_in(parse_clients(flags.clients));
  } catch (const ConfigError&) {  // said before
    return {};
  }
  return identity.certificate ? clients_in(identity.certificate->clients) : std::vector<ClientId>{};
}

KnownTerms find_terms(const ClientFlags& flags, const CheckedIdentity& identity,
                      const Reached& reached, std::optional<std::string> known_items) {
  KnownTerms terms;
  terms.clients = hosted_clients(flags, identity, reached);
  if (reached.welcome) {
    terms.source = "as the server says";
    terms.settings = reached.welcome->configuration;
    terms.num_clients = reached.welcome->num_clients;
    terms.catalogue = catalogue_of(*reached.welcome, std::move(known_items));
  } else {
    terms.source = fmt::format("as {} says", (fs::path(flags.state) / "items.tsv").string());
    terms.settings = read_state_file(flags, "settings.toml");
    terms.catalogue = std::move(known_items);
  }
  return terms;
}

bool has_locked_journal(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder / "state", ignored)) {
    if (entry.path().extension() == ".journal" && is_locked(entry.path())) return true;
  }
  return false;
}

// The owner's alone: what clients keep is as private as their data.
std::optional<Finding> check_state_mode(const std::string& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) return std::nullopt;  // it will be made
  if (info.st_uid != ::geteuid() && ::geteuid() != 0) {
    return fail(fmt::format("{} belongs to another user, so that it cannot be protected", folder),
                fmt::format("chown {} {}, or choose another --state",
                            static_cast<unsigned>(::geteuid()), shell_quoted(folder)));
  }
  const auto mode = static_cast<unsigned>(info.st_mode) & 0777U;
  if ((mode & 077U) == 0) return std::nullopt;
  return warn(fmt::format("{}: mode {:o}, so that other users of this machine can look into it",
                          folder, mode),
              fmt::format("chmod 700 {}; 'fedhur client' does that, too", shell_quoted(folder)));
}

// What the folder holds against what the site is about to do. An empty answer if it fits.
std::string find_foreign_state(const Json& known, const KnownTerms& terms, const Reached& reached) {
  std::vector<Index> clients;
  for (const ClientId client : terms.clients) clients.push_back(index_of(client));
  if (!clients.empty() && known.value("clients", Json()) != Json(clients)) {
    return fmt::format("holds clients {}, not {}", known.value("clients", Json()).dump(),
                       Json(clients).dump());
  }
  const std::string run = known.value("run", "");
  if (reached.welcome && run != reached.welcome->run_id) {
    return fmt::format("is of run {}, but the server has run {}", run, reached.welcome->run_id);
  }
  return "";
}

Finding check_state_content(const ClientFlags& flags, const KnownTerms& terms,
                            const Reached& reached) {
  const auto text = read_state_file(flags, "site.json");
  if (!text) {
    return pass(fmt::format("{} can be written; nothing of a run is in it yet", flags.state));
  }
  const Json known = Json::parse(*text, nullptr, false);
  if (!known.is_object()) {
    return fail(fmt::format("{}/site.json is damaged", flags.state),
                "bring the folder back from a backup, or choose another --state",
                ExitCode::bad_data);
  }
  if (const std::string why = find_foreign_state(known, terms, reached); !why.empty()) {
    return fail(fmt::format("{} {}", flags.state, why),
                "choose another --state; this one keeps what it has");
  }
  if (has_locked_journal(flags.state)) {
    return warn(flags.state + ": a process works with it",
                "that is this site if it runs already: then nothing is to be done");
  }
  return pass(fmt::format("{} goes on with clients {} of run {}", flags.state,
                          known.value("clients", Json()).dump(), known.value("run", "")));
}

void check_state(const ClientFlags& flags, const KnownTerms& terms, const Reached& reached,
                 const CheckedData& data, Checkup& checkup) {
  constexpr const char* kStateFolder = "state folder";
  if (!checkup.add(kStateFolder, check_folder(flags.state, "--state"))) return;
  if (checkup.add(kStateFolder, check_state_mode(flags.state))) {
    checkup.add(kStateFolder, check_state_content(flags, terms, reached));
  }
  std::optional<SizeEstimate> need;
  if (data.num_items > 0 && terms.settings && !terms.clients.empty()) {
    need = estimate_site(static_cast<Index>(terms.clients.size()), data.num_items, data.settings);
  }
  checkup.add("disk space", check_disk_space(flags.state, need));
}
}  // namespace

void check_client(const ClientFlags& flags, Checkup& checkup) {
  (void)checkup.run("settings", "correct it, or leave it out to try for ever", [&] {
    check_patience(flags);
    return std::nullopt;
  });
  CheckedIdentity identity = check_identity_files(flags.identity, pki::Purpose::client, checkup);
  identity.is_usable =
      checkup.add("clients", check_client_ids(flags.clients, identity)) && identity.is_usable;
  const auto items = read_state_file(flags, "items.tsv");
  const Reached reached = check_reachability(flags, identity, items, checkup);
  if (reached.server_certificate) identity.dates.push_back(*reached.server_certificate);
  checkup.add("clock", check_clock(identity.dates));
  const KnownTerms terms = find_terms(flags, identity, reached, items);
  const CheckedData data = check_data(flags, terms, checkup);
  check_state(flags, terms, reached, data, checkup);
}
}  // namespace fedhur::apps
