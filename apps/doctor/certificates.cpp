#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>

#include "apps/doctor/checks.hpp"
#include "fedhur/base/error.hpp"
#include "fedhur/base/text.hpp"
#include "fedhur/pki/pem_kind.hpp"
#include "fedhur/pki/revocation.hpp"

namespace fedhur::apps {
namespace {
constexpr const char* kAuthority = "CA";
constexpr const char* kOwnCertificate = "certificate";
constexpr const char* kOwnKey = "key";
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

// The text of a file that holds what its flag expects; empty, after saying so, if not.
std::string read_identity_file(const std::string& path, const char* flag, pki::PemKind kind,
                               const char* name, Checkup& checkup) {
  std::string text;
  const std::string mend = fmt::format(
      "copy the file from where 'fedhur pki' made it, or correct {}; the user that runs fedhur "
      "has to be able to read it",
      flag);
  (void)checkup.run(name, mend, [&]() -> std::optional<Finding> {
    if (path.empty()) {
      return fail(fmt::format("{} is missing", flag),
                  "'fedhur pki' makes certificates, and --insecure does without on one machine");
    }
    std::string pem = pki::read_pem_file(path);
    const pki::PemKind found = pki::kind_of(pem);
    if (found != kind) {
      return fail(
          fmt::format("{} holds {}, expected {}", path, describe_kind(found), describe_kind(kind)),
          fmt::format("give {} another file; 'fedhur pki show FILE' tells what one holds", flag));
    }
    text = std::move(pem);
    return std::nullopt;
  });
  return text;
}

// What `check` finds in the file, which is a problem as well if it is damaged.
template <class Check>
bool check_content(const char* name, const std::string& path, Checkup& checkup,
                   const Check& check) {
  try {
    return checkup.add(name, check());
  } catch (const Error& error) {
    return checkup.add(name, fail(fmt::format("{}: {}", path, error.what()),
                                  "copy the file again from where it was made; 'fedhur pki show "
                                  "FILE' tells what one holds"));
  }
}

Finding check_authority(const std::string& path, const pki::CertificateInfo& info) {
  const std::int64_t now = transport::current_time();
  if (!info.is_ca) {
    return fail(fmt::format("{} is the certificate of {}, which is no CA", path, info.name),
                "give --ca the file ca.crt of the CA's folder");
  }
  const std::string found =
      fmt::format("{}: {}, until {}", path, info.name, pki::format_time(info.not_after));
  constexpr const char* kMend =
      "make a new CA with 'fedhur pki init', issue all certificates anew, and exchange ca.crt "
      "everywhere";
  if (now > info.not_after) return fail(found + ": it has ended", kMend);
  const std::string days_left = format_days_left(info.not_after, now);
  if (info.not_after - now < kSoon) return warn(fmt::format("{}: {}", found, days_left), kMend);
  return pass(fmt::format("{}, {}", found, days_left));
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
Finding check_own_certificate(const std::string& path, pki::Purpose purpose,
                              const pki::CertificateInfo& info, const transport::TlsTexts& texts) {
  const std::int64_t now = transport::current_time();
  if (texts.ca.empty()) {
    return skip(fmt::format("{}: it cannot be verified without its CA's certificate", path));
  }
  if (const auto fault = pki::find_fault(texts.certificate, texts.ca, purpose, now)) {
    return fail(fmt::format("{}: {}", path, *fault),
                mend_for_certificate(info, path, texts, purpose));
  }
  const std::string found = fmt::format("{}, {}", describe_certificate(info, path, purpose),
                                        format_days_left(info.not_after, now));
  if (info.not_after - now >= kSoon) return pass(found);
  return warn(found,
              fmt::format("at the CA: fedhur pki renew ca {}; then replace the file, the key stays",
                          shell_quoted(path)));
}

// Others who can read a key can be this end.
std::optional<Finding> check_key_mode(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;  // it has been read just now
  const auto mode = static_cast<unsigned>(info.st_mode) & 0777U;
  if ((mode & 077U) == 0) return pass(fmt::format("{}: mode {:o}", path, mode));
  return warn(
      fmt::format("{}: mode {:o}, so that other users of this machine can get at it", path, mode),
      fmt::format("chmod 600 {}", shell_quoted(path)));
}

Finding check_own_key(const IdentityFlags& flags, const transport::TlsTexts& texts) {
  if (texts.certificate.empty()) {
    return skip(fmt::format("{}: there is no certificate that it could belong to", flags.key));
  }
  if (pki::key_matches(texts.certificate, texts.key)) {
    return pass(fmt::format("{} is the key of {}", flags.key, flags.certificate));
  }
  return fail(fmt::format("{} is not the key of {}", flags.key, flags.certificate),
              "use the .key that was made together with the .crt (or with the .csr it was signed "
              "from); if that is lost, ask the CA for a new pair");
}

Finding check_revocation_list(const IdentityFlags& flags, const std::string& pem,
                              CheckedIdentity& identity) {
  const auto list = pki::RevocationList::read(pem, identity.texts.ca);
  const pki::RevocationInfo& info = list.info();
  identity.dates.push_back({.name = flags.revoked, .begin = info.this_update});
  if (identity.certificate && list.contains(identity.certificate->serial)) {
    identity.is_usable = false;
    return fail(fmt::format("{}: it names {}, the certificate of this end", flags.revoked,
                            flags.certificate),
                "ask the CA for a new certificate, with a new key");
  }
  const std::string found =
      fmt::format("{}: number {}, {} revoked, until {}", flags.revoked, info.number,
                  info.revoked.size(), pki::format_time(info.next_update));
  if (info.next_update >= transport::current_time()) return pass(found);
  return warn(found + ": there should be a newer one",
              "at the CA: fedhur pki revoke ca --refresh; then copy revoked.crl again");
}

void check_revocations(const IdentityFlags& flags, CheckedIdentity& identity, Checkup& checkup) {
  if (flags.revoked.empty()) {
    checkup.add(kRevocationList,
                warn("--revoked is missing: revoked certificates would still be accepted",
                     "copy revoked.crl from the CA's folder and add --revoked revoked.crl"));
    return;
  }
  const std::string pem = read_identity_file(flags.revoked, "--revoked", pki::PemKind::revocations,
                                             kRevocationList, checkup);
  if (pem.empty()) return;
  (void)check_content(kRevocationList, flags.revoked, checkup, [&] {
    if (!identity.texts.ca.empty()) return check_revocation_list(flags, pem, identity);
    return skip(
        fmt::format("{}: it cannot be verified without the CA's certificate", flags.revoked));
  });
}

void check_files(const IdentityFlags& flags, pki::Purpose purpose, CheckedIdentity& identity,
                 Checkup& checkup) {
  transport::TlsTexts& texts = identity.texts;
  // The certificate in a text, whose beginning is noted.
  const auto read_dated = [&](const std::string& text, const std::string& path) {
    pki::CertificateInfo info = pki::read_certificate(text);
    identity.dates.push_back({.name = path, .begin = info.not_before});
    return info;
  };
  bool is_authority = false;
  texts.ca = read_identity_file(flags.ca, "--ca", pki::PemKind::certificate, kAuthority, checkup);
  const bool has_ca = !texts.ca.empty() && check_content(kAuthority, flags.ca, checkup, [&] {
    const pki::CertificateInfo info = read_dated(texts.ca, flags.ca);
    is_authority = info.is_ca;
    return check_authority(flags.ca, info);
  });
  if (!is_authority) texts.ca.clear();
  texts.certificate = read_identity_file(flags.certificate, "--cert", pki::PemKind::certificate,
                                         kOwnCertificate, checkup);
  const bool is_trusted =
      !texts.certificate.empty() && check_content(kOwnCertificate, flags.certificate, checkup, [&] {
        identity.certificate = read_dated(texts.certificate, flags.certificate);
        return check_own_certificate(flags.certificate, purpose, *identity.certificate, texts);
      });
  if (!identity.certificate) texts.certificate.clear();
  texts.key = read_identity_file(flags.key, "--key", pki::PemKind::key, kOwnKey, checkup);
  const bool has_key = !texts.key.empty() && check_content(kOwnKey, flags.key, checkup, [&] {
    return check_own_key(flags, texts);
  });
  if (!texts.key.empty()) checkup.add("key file", check_key_mode(flags.key));
  if (!has_key) texts.key.clear();
  identity.is_usable = has_ca && is_trusted && has_key;
}
}  // namespace

CheckedIdentity check_identity_files(const IdentityFlags& flags, pki::Purpose purpose,
                                     Checkup& checkup) {
  CheckedIdentity identity;
  if (flags.is_insecure) {
    identity.is_usable =
        checkup.run("certificates",
                    "leave out --insecure between machines, and the files on a single one", [&] {
                      (void)to_security(flags);
                      return pass("none, with --insecure: for this machine alone");
                    });
    return identity;
  }
  check_files(flags, purpose, identity, checkup);
  if (purpose == pki::Purpose::server) check_revocations(flags, identity, checkup);
  return identity;
}

Finding check_client_ids(const std::string& clients, const CheckedIdentity& identity) {
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
  const std::vector<pki::ClientRange>& granted = identity.certificate->clients;
  const std::string allowed = pki::to_text(granted);
  if (wanted.empty()) return pass(fmt::format("{}, all that the certificate allows", allowed));
  const auto is_allowed = [&](const pki::ClientRange& range) {
    return std::ranges::any_of(granted, [&](const pki::ClientRange& own) {
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

Finding check_clock(std::vector<DatedThing> dates) {
  const std::int64_t now = transport::current_time();
  struct stat program {};
  if (::stat("/proc/self/exe", &program) == 0) {
    dates.push_back({.name = "the program", .begin = program.st_mtime});
  }
  std::vector<std::string> names;
  for (const DatedThing& thing : dates) names.push_back(thing.name);
  const auto newest = std::ranges::max_element(dates, {}, &DatedThing::begin);
  if (newest == dates.end()) return skip("there is nothing to compare it with");
  if (now < newest->begin) {
    return fail(
        fmt::format("this machine's clock says {}, but {} is of {}", pki::format_time(now),
                    newest->name, pki::format_time(newest->begin)),
        "set this machine's clock, such as with 'timedatectl set-ntp true'; if it is right, that "
        "of the CA was wrong");
  }
  return pass(fmt::format("{}, later than everything that has a date here: {}",
                          pki::format_time(now), fmt::join(names, ", ")));
}
}  // namespace fedhur::apps
