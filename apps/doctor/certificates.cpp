#include "apps/doctor/certificates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>

#include "apps/pki_text.hpp"
#include "apps/text.hpp"
#include "fedhur/base/error.hpp"
#include "fedhur/pki/pem_kind.hpp"
#include "fedhur/pki/revocation.hpp"

namespace fedhur::apps {
namespace {
constexpr const char* kAuthority = "CA";
constexpr const char* kOwnCertificate = "certificate";
constexpr const char* kOwnKey = "key";
constexpr const char* kKeyFile = "key file";
constexpr const char* kRevocationList = "revocation list";
constexpr std::int64_t kDay = 86400;
constexpr std::int64_t kSoon = 30 * kDay;

std::string format_days_left(std::int64_t end, std::int64_t now) {
  const std::int64_t days = (end - now) / kDay;
  return days == 1 ? "1 day left" : fmt::format("{} days left", days);
}

const char* describe_kind(pki::PemKind kind) {
  switch (kind) {
    case pki::PemKind::certificate:
      return "a certificate";
    case pki::PemKind::request:
      return "a certificate request, which the CA has to sign ('fedhur pki sign')";
    case pki::PemKind::revocations:
      return "a revocation list";
    case pki::PemKind::key:
      return "a private key";
    case pki::PemKind::unknown:
      break;
  }
  return "nothing that is known here";
}

// The text of a file that holds what its flag expects; nothing, after saying so, if not.
std::optional<std::string> read_identity_file(const std::string& path, const char* flag,
                                              pki::PemKind kind, const char* name,
                                              Checkup& checkup) {
  if (path.empty()) {
    checkup.fail(ExitCode::wrong_usage, name, fmt::format("{} is missing", flag),
                 "'fedhur pki' makes certificates, and --insecure does without on one machine");
    return std::nullopt;
  }
  try {
    std::string text = pki::read_pem_file(path);
    const pki::PemKind found = pki::kind_of(text);
    if (found == kind) return text;
    checkup.fail(
        ExitCode::wrong_usage, name,
        fmt::format("{} holds {}, expected {}", path, describe_kind(found), describe_kind(kind)),
        fmt::format("give {} another file; 'fedhur pki show FILE' tells what one holds", flag));
  } catch (const Error& error) {
    checkup.fail(ExitCode::wrong_usage, name, error.what(),
                 fmt::format("copy the file from where 'fedhur pki' made it, or correct {}; "
                             "whoever runs fedhur has to be able to read it",
                             flag));
  }
  return std::nullopt;
}

void note_date(CheckedIdentity& identity, const std::string& name, std::int64_t begin) {
  identity.dates.push_back({.name = name, .begin = begin});
}

// Whether it is good for judging others.
bool check_authority(const std::string& path, CheckedIdentity& identity, Checkup& checkup) {
  const std::int64_t now = transport::current_time();
  const pki::CertificateInfo info = pki::read_certificate(identity.texts.ca);
  note_date(identity, path, info.not_before);
  if (!info.is_ca) {
    checkup.fail(ExitCode::wrong_usage, kAuthority,
                 fmt::format("{} is the certificate of {}, which is no CA", path, info.name),
                 "give --ca the file ca.crt of the CA's folder");
    return false;
  }
  const std::string found =
      fmt::format("{}: {}, until {}", path, info.name, pki::format_time(info.not_after));
  constexpr const char* kMend =
      "make a new CA with 'fedhur pki init', issue all certificates anew, and exchange ca.crt "
      "everywhere";
  if (now > info.not_after) {
    checkup.fail(ExitCode::wrong_usage, kAuthority, found + ": it has ended", kMend);
  } else if (info.not_after - now < kSoon) {
    checkup.warn(kAuthority, fmt::format("{}: {}", found, format_days_left(info.not_after, now)),
                 kMend);
  } else {
    checkup.ok(kAuthority, fmt::format("{}, {}", found, format_days_left(info.not_after, now)));
  }
  return true;
}

// What helps against what find_fault() has found.
std::string mend_for_certificate(const pki::CertificateInfo& info, const std::string& path,
                                 const transport::TlsTexts& texts, pki::Purpose purpose) {
  const std::int64_t now = transport::current_time();
  const bool fits = purpose == pki::Purpose::server ? info.for_server : info.for_client;
  if (!pki::is_issued_by(texts.certificate, texts.ca)) {
    return "take --ca and --cert from the same CA: 'fedhur pki show' tells who has issued a "
           "certificate";
  }
  if (info.is_ca || !fits) {
    return purpose == pki::Purpose::server
               ? "at the CA: fedhur pki issue ca --server HOSTS, and use that certificate and key"
               : "at the CA: fedhur pki issue ca --client IDS --name SITE, and use that "
                 "certificate and key";
  }
  if (now < info.not_before) return "set this machine's clock, such as with 'timedatectl'";
  return fmt::format(
      "if this machine's clock is right, at the CA: fedhur pki renew ca {}; then "
      "replace the file, the key stays",
      shell_quoted(path));
}

std::string describe_certificate(const pki::CertificateInfo& info, const std::string& path,
                                 pki::Purpose purpose) {
  const std::string scope = purpose == pki::Purpose::server
                                ? fmt::format("{}", fmt::join(info.hosts, ", "))
                                : fmt::format("clients {}", pki::to_text(info.clients));
  return fmt::format("{}: {} {} for {}, until {}", path, pki::name_of(purpose), info.name, scope,
                     pki::format_time(info.not_after));
}

// With the CA's certificate: whether the others will trust this one.
bool check_own_certificate(const std::string& path, pki::Purpose purpose, CheckedIdentity& identity,
                           Checkup& checkup) {
  const std::int64_t now = transport::current_time();
  const pki::CertificateInfo info = pki::read_certificate(identity.texts.certificate);
  identity.certificate = info;
  note_date(identity, path, info.not_before);
  if (identity.texts.ca.empty()) {
    checkup.skip(kOwnCertificate, fmt::format("{}: without its CA's certificate nobody can tell "
                                              "whether it is good",
                                              path));
    return false;
  }
  const auto fault = pki::find_fault(identity.texts.certificate, identity.texts.ca, purpose, now);
  if (fault) {
    checkup.fail(ExitCode::wrong_usage, kOwnCertificate, fmt::format("{}: {}", path, *fault),
                 mend_for_certificate(info, path, identity.texts, purpose));
    return false;
  }
  const std::string found = fmt::format("{}, {}", describe_certificate(info, path, purpose),
                                        format_days_left(info.not_after, now));
  if (info.not_after - now < kSoon) {
    checkup.warn(kOwnCertificate, found,
                 fmt::format("at the CA: fedhur pki renew ca {}; then replace the file, the key "
                             "stays",
                             shell_quoted(path)));
  } else {
    checkup.ok(kOwnCertificate, found);
  }
  return true;
}

// Others who can read a key can be this end.
void check_key_mode(const std::string& path, Checkup& checkup) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return;  // it has been read just now
  const auto mode = static_cast<unsigned>(info.st_mode) & 0777U;
  if ((mode & 077U) == 0) return checkup.ok(kKeyFile, fmt::format("{}: mode {:o}", path, mode));
  checkup.warn(
      kKeyFile,
      fmt::format("{}: mode {:o}, so that other users of this machine can get at it", path, mode),
      fmt::format("chmod 600 {}", shell_quoted(path)));
}

bool check_own_key(const IdentityFlags& flags, const CheckedIdentity& identity, Checkup& checkup) {
  if (identity.texts.certificate.empty()) {
    checkup.skip(kOwnKey,
                 fmt::format("{}: there is no certificate that it could belong to", flags.key));
    return false;
  }
  if (pki::key_matches(identity.texts.certificate, identity.texts.key)) {
    checkup.ok(kOwnKey, fmt::format("{} is the key of {}", flags.key, flags.certificate));
    return true;
  }
  checkup.fail(ExitCode::wrong_usage, kOwnKey,
               fmt::format("{} is not the key of {}", flags.key, flags.certificate),
               "use the .key that was made together with the .crt (or with the .csr it was signed "
               "from); if that is lost, ask the CA for a new pair");
  return false;
}

void check_revocation_list(const IdentityFlags& flags, CheckedIdentity& identity,
                           Checkup& checkup) {
  if (flags.revoked.empty()) {
    return checkup.warn(kRevocationList,
                        "--revoked is missing: whoever was revoked would still be let in",
                        "copy revoked.crl from the CA's folder and add --revoked revoked.crl");
  }
  const auto pem = read_identity_file(flags.revoked, "--revoked", pki::PemKind::revocations,
                                      kRevocationList, checkup);
  if (!pem) return;
  if (identity.texts.ca.empty()) {
    return checkup.skip(kRevocationList,
                        fmt::format("{}: without the CA's certificate nobody can tell whether it "
                                    "is good",
                                    flags.revoked));
  }
  const std::int64_t now = transport::current_time();
  const auto list = pki::RevocationList::read(*pem, identity.texts.ca);
  note_date(identity, flags.revoked, list.info().this_update);
  const std::string found =
      fmt::format("{}: number {}, {} revoked, until {}", flags.revoked, list.info().number,
                  list.info().revoked.size(), pki::format_time(list.next_update()));
  if (identity.certificate && list.contains(identity.certificate->serial)) {
    identity.is_usable = false;
    return checkup.fail(ExitCode::wrong_usage, kRevocationList,
                        fmt::format("{}: it names {}, the certificate of this end", flags.revoked,
                                    flags.certificate),
                        "ask the CA for a new certificate, with a new key");
  }
  if (list.next_update() < now) {
    return checkup.warn(kRevocationList, found + ": there should be a newer one",
                        "at the CA: fedhur pki revoke ca --refresh; then copy revoked.crl again");
  }
  checkup.ok(kRevocationList, found);
}

// A file that is damaged, or says what it must not.
template <class Check>
bool with_damage_told(const char* name, const std::string& path, Checkup& checkup, Check check) {
  try {
    return check();
  } catch (const Error& error) {
    checkup.fail(ExitCode::wrong_usage, name, fmt::format("{}: {}", path, error.what()),
                 "copy the file again from where it was made; 'fedhur pki show FILE' tells what "
                 "one holds");
    return false;
  }
}

void check_files(const IdentityFlags& flags, pki::Purpose purpose, CheckedIdentity& identity,
                 Checkup& checkup) {
  transport::TlsTexts& texts = identity.texts;
  const auto read = [&](const std::string& path, const char* flag, pki::PemKind kind,
                        const char* name) {
    return read_identity_file(path, flag, kind, name, checkup).value_or("");
  };
  texts.ca = read(flags.ca, "--ca", pki::PemKind::certificate, kAuthority);
  const bool has_ca = !texts.ca.empty() && with_damage_told(kAuthority, flags.ca, checkup, [&] {
    return check_authority(flags.ca, identity, checkup);
  });
  if (!has_ca) texts.ca.clear();
  texts.certificate = read(flags.certificate, "--cert", pki::PemKind::certificate, kOwnCertificate);
  const bool is_trusted =
      !texts.certificate.empty() &&
      with_damage_told(kOwnCertificate, flags.certificate, checkup, [&] {
        return check_own_certificate(flags.certificate, purpose, identity, checkup);
      });
  if (!identity.certificate) texts.certificate.clear();
  texts.key = read(flags.key, "--key", pki::PemKind::key, kOwnKey);
  const bool has_key = !texts.key.empty() && with_damage_told(kOwnKey, flags.key, checkup, [&] {
    return check_own_key(flags, identity, checkup);
  });
  if (!texts.key.empty()) check_key_mode(flags.key, checkup);
  if (!has_key) texts.key.clear();
  identity.is_usable = has_ca && is_trusted && has_key;
}
}  // namespace

CheckedIdentity check_identity_files(const IdentityFlags& flags, pki::Purpose purpose,
                                     Checkup& checkup) {
  CheckedIdentity identity;
  if (flags.is_insecure) {
    try {
      (void)to_security(flags);
      identity.is_usable = true;
      checkup.ok("certificates", "none, with --insecure: for this machine alone");
    } catch (const ConfigError& error) {
      checkup.fail(ExitCode::wrong_usage, "certificates", error.what(),
                   "leave out --insecure between machines, and the files on a single one");
    }
    return identity;
  }
  check_files(flags, purpose, identity, checkup);
  if (purpose == pki::Purpose::server) {
    (void)with_damage_told(kRevocationList, flags.revoked, checkup, [&] {
      check_revocation_list(flags, identity, checkup);
      return true;
    });
  }
  return identity;
}

bool check_client_ids(const std::string& clients, const CheckedIdentity& identity,
                      Checkup& checkup) {
  constexpr const char* kClients = "clients";
  const auto fail = [&](const std::string& found, const std::string& mend) {
    checkup.fail(ExitCode::wrong_usage, kClients, found, mend);
    return false;
  };
  const auto pass = [&](const std::string& found) {
    checkup.ok(kClients, found);
    return true;
  };
  std::vector<pki::ClientRange> wanted;
  try {
    wanted = parse_clients(clients);
  } catch (const ConfigError& error) {
    return fail(error.what(), "correct --clients, such as --clients 0-24");
  }
  const std::string asked = pki::to_text(wanted);
  if (!identity.certificate) {
    if (!wanted.empty()) return pass(asked);
    return fail("--clients is missing: without a certificate nothing says whom this site hosts",
                "add --clients IDS, such as --clients 0-24");
  }
  const std::string allowed = pki::to_text(identity.certificate->clients);
  if (wanted.empty()) return pass(fmt::format("{}, all that the certificate allows", allowed));
  const auto is_allowed = [&](const pki::ClientRange& range) {
    return std::ranges::any_of(identity.certificate->clients, [&](const pki::ClientRange& own) {
      return own.first <= range.first && range.last <= own.last;
    });
  };
  if (std::ranges::all_of(wanted, is_allowed)) {
    return pass(fmt::format("{}, and the certificate allows {}", asked, allowed));
  }
  return fail(
      fmt::format("--clients {}, but the certificate allows {}", asked, allowed),
      fmt::format("host some of {}, or have the CA issue a certificate for {}", allowed, asked));
}

void check_clock(std::vector<DatedThing> dates, Checkup& checkup) {
  constexpr const char* kClock = "clock";
  const std::int64_t now = transport::current_time();
  struct stat program {};
  if (::stat("/proc/self/exe", &program) == 0) {
    dates.push_back({.name = "the program", .begin = program.st_mtime});
  }
  std::vector<std::string> names;
  for (const DatedThing& thing : dates) names.push_back(thing.name);
  const auto newest = std::ranges::max_element(dates, {}, &DatedThing::begin);
  if (newest == dates.end()) return checkup.skip(kClock, "there is nothing to compare it with");
  if (now < newest->begin) {
    return checkup.fail(
        ExitCode::wrong_usage, kClock,
        fmt::format("this machine's clock says {}, but {} is of {}", pki::format_time(now),
                    newest->name, pki::format_time(newest->begin)),
        "set this machine's clock, such as with 'timedatectl set-ntp true'; if it is right, that "
        "of the CA was wrong");
  }
  checkup.ok(kClock, fmt::format("{}, later than everything that has a date here: {}",
                                 pki::format_time(now), fmt::join(names, ", ")));
}
}  // namespace fedhur::apps
