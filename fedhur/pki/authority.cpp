#include "fedhur/pki/authority.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "fedhur/base/descriptor.hpp"
#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/pki/openssl.hpp"
#include "fedhur/pki/pem.hpp"
#include "fedhur/pki/request.hpp"
#include "fedhur/pki/signing.hpp"

namespace fedhur::pki {
namespace {
namespace fs = std::filesystem;

constexpr std::int64_t kSecondsPerDay = 86400;
// The clock of a machine that gets a new certificate may be a little behind.
constexpr std::int64_t kClockSkew = 300;

// One process at a time changes what is in the folder; the system unlocks it when the process ends.
Descriptor lock_folder(const fs::path& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (folder.get() >= 0 && ::flock(folder.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  return folder;
}

std::vector<IssueEntry> read_issued(const fs::path& folder) {
  const fs::path path = folder / kIssued;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    throw DataError(fmt::format("{} is missing; restore it from a backup", path.string()));
  }
  try {
    return parse_issue_record(read_text_file(path));
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

bool is_listed(const RevocationInfo& list, const std::string& serial) {
  return std::ranges::find(list.revoked, serial, &RevokedSerial::serial) != list.revoked.end();
}

std::string read_ca(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / kCaCertificate, ignored)) {
    throw ConfigError(
        fmt::format("{0} is no CA's folder, since it has no {1}; 'fedhur pki init {0}' would make "
                    "one",
                    folder.string(), kCaCertificate));
  }
  return parse_pem_file(folder / kCaCertificate, [](const std::string& text) {
    if (!read_certificate(text).is_ca) throw DataError("this is not the certificate of a CA");
    return text;
  });
}

AuthorityState read_state(const fs::path& folder, const std::string& certificate) {
  AuthorityState state;
  state.ca = read_certificate(certificate);
  state.revocations = parse_pem_file(folder / kRevocations, [&](const std::string& text) {
    return RevocationList::read(text, certificate).info();
  });
  state.issued = read_issued(folder);
  for (IssueEntry& entry : state.issued) {  // the list decides
    entry.is_revoked = entry.is_revoked || is_listed(state.revocations, entry.serial);
  }
  return state;
}

// The state of a CA that can sign; its folder is locked meanwhile.
struct Authority : AuthorityState {
  explicit Authority(const fs::path& path)
      : folder(path), lock(lock_folder(path)), certificate(read_ca(path)) {
    signer.certificate = parse_certificate(certificate);
    signer.key = parse_pem_file(folder / kCaKey, parse_key);
    if (X509_check_private_key(signer.certificate.get(), signer.key.get()) != 1) {
      throw DataError(fmt::format("{} is not the key of {} ({})", (folder / kCaKey).string(),
                                  (folder / kCaCertificate).string(), take_reason()));
    }
    static_cast<AuthorityState&>(*this) = read_state(folder, certificate);
  }

  CleanQueue queue;
  fs::path folder;
  Descriptor lock;
  std::string certificate;
  Signer signer;
};

Identity identity_of(const CertificateInfo& info) {
  if (info.for_server) {
    return {.name = info.name, .purpose = Purpose::server, .clients = {}, .hosts = info.hosts};
  }
  return {.name = info.name, .purpose = Purpose::client, .clients = info.clients, .hosts = {}};
}

void check_days(std::int64_t days) {
  if (days < 1 || days > kMaxDays) {
    throw ConfigError(
        fmt::format("a lifetime of {} days is not possible, expected 1 to {}", days, kMaxDays));
  }
}

Lifetime lifetime_of(std::int64_t days, std::int64_t now) {
  check_days(days);
  return {.not_before = now - kClockSkew, .not_after = now + days * kSecondsPerDay};
}

Lifetime lifetime_within(const Authority& authority, std::int64_t days, std::int64_t now) {
  Lifetime lifetime = lifetime_of(days, now);
  if (now < authority.ca.not_before) {
    throw DataError(
        fmt::format("the CA begins on {}, and this machine's clock says {}; is the clock right?",
                    format_time(authority.ca.not_before), format_time(now)));
  }
  if (now >= authority.ca.not_after) {
    throw DataError(
        fmt::format("the CA ended on {}; 'fedhur pki init' in another folder makes a "
                    "new one",
                    format_time(authority.ca.not_after)));
  }
  lifetime.not_before = std::max(lifetime.not_before, authority.ca.not_before);
  lifetime.not_after = std::min(lifetime.not_after, authority.ca.not_after);
  return lifetime;
}

void check_identity(const Identity& identity, const CertificateInfo& ca) {
  if (const auto fault = find_name_fault(identity.name)) throw ConfigError(*fault);
  if (identity.name == ca.name) {
    throw ConfigError(fmt::format("the name {} is the CA's own; choose another", identity.name));
  }
  const bool is_server = identity.purpose == Purpose::server;
  expects(is_server ? !identity.hosts.empty() : !identity.clients.empty(),
          "a server has hosts, a client has ids");
  expects(is_server ? identity.clients.empty() : identity.hosts.empty(),
          "a certificate is for one purpose");
}

IssueEntry entry_of(const CertificateInfo& info) {
  return {.serial = info.serial,
          .identity = identity_of(info),
          .key_sha256 = info.key_sha256,
          .not_before = info.not_before,
          .not_after = info.not_after,
          .is_revoked = false};
}

void check_key(const Authority& authority, const std::string& key_sha256) {
  for (const IssueEntry& entry : authority.issued) {
    if (entry.key_sha256 != key_sha256 || !entry.is_revoked) continue;
    throw DataError(fmt::format("the key of {} was revoked with its certificate {}; make a new key",
                                entry.identity.name, entry.serial));
  }
}

// The record is written first: a certificate that is not in it could not be revoked by its serial.
std::string certify(Authority& authority, EVP_PKEY& holder, const Identity& identity,
                    std::int64_t days, std::int64_t now) {
  check_identity(identity, authority.ca);
  check_key(authority, sha256_of(&holder));
  const Lifetime lifetime = lifetime_within(authority, days, now);
  std::string pem = to_pem(*sign_certificate(authority.signer, holder, identity, lifetime));
  authority.issued.push_back(entry_of(read_certificate(pem)));
  write_file_atomically(authority.folder / kIssued, to_json_lines(authority.issued));
  return pem;
}

const IssueEntry* find_entry(const Authority& authority, const std::string& serial) {
  const auto found = std::ranges::find(authority.issued, serial, &IssueEntry::serial);
  return found == authority.issued.end() ? nullptr : &*found;
}

CertificateInfo check_issued(const Authority& authority, const std::string& certificate_pem) {
  CertificateInfo info = read_certificate(certificate_pem);
  if (!is_issued_by(certificate_pem, authority.certificate)) {
    throw DataError(fmt::format("the certificate of {} was not issued by this CA, {}", info.name,
                                authority.ca.name));
  }
  if (info.is_ca) throw DataError("this is the certificate of the CA itself");
  const bool is_of_one_kind = info.for_server != info.for_client &&
                              info.for_server != info.hosts.empty() &&
                              info.for_client != info.clients.empty();
  if (!is_of_one_kind) {
    throw DataError(
        fmt::format("the certificate of {} is neither a server's nor a client's alone", info.name));
  }
  return info;
}

void write_revocations(Authority& authority, std::int64_t now) {
  RevocationInfo& list = authority.revocations;
  ++list.number;
  list.this_update = now - kClockSkew;
  list.next_update = now + kRevocationDays * kSecondsPerDay;
  write_file_atomically(authority.folder / kRevocations,
                        to_pem(*sign_revocations(authority.signer, list)));
}

// The list is written before the record, since the list is what servers read. After a crash between
// the two, revoking again completes it.
Revocation revoke(Authority& authority, const IssueEntry& chosen, std::int64_t now) {
  Revocation result{.serial = chosen.serial,
                    .name = chosen.identity.name,
                    .was_revoked = is_listed(authority.revocations, chosen.serial),
                    .renewals = {}};
  const std::string key_sha256 = chosen.key_sha256;
  bool is_new = false;
  for (IssueEntry& entry : authority.issued) {
    if (entry.key_sha256 != key_sha256) continue;
    entry.is_revoked = true;
    if (is_listed(authority.revocations, entry.serial)) continue;
    authority.revocations.revoked.push_back({.serial = entry.serial, .time = now});
    if (entry.serial != result.serial) result.renewals.push_back(entry.serial);
    is_new = true;
  }
  if (is_new) write_revocations(authority, now);
  write_file_atomically(authority.folder / kIssued, to_json_lines(authority.issued));
  return result;
}

// Makes the folder, or takes one that is empty, for its owner alone.
void claim_folder(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0) return;
  const int reason = errno;
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw ConfigError(
        fmt::format("cannot create the folder {}: {}", folder.string(), std::strerror(reason)));
  }
  if (!fs::is_empty(folder, error)) {
    throw ConfigError(
        fmt::format("{} is not empty; a CA needs a folder of its own and is never overwritten",
                    folder.string()));
  }
  fs::permissions(folder, fs::perms::owner_all, error);
  if (error) {
    throw FileError(fmt::format("cannot make {} private: {}", folder.string(), error.message()));
  }
}
}  // namespace

CertificateInfo create_authority(const fs::path& folder, const std::string& name, std::int64_t days,
                                 std::int64_t now) {
  const CleanQueue queue;
  if (const auto fault = find_name_fault(name)) throw ConfigError(*fault);
  const Lifetime lifetime = lifetime_of(days, now);
  Signer signer;
  signer.key = make_key();
  signer.certificate = make_ca_certificate(*signer.key, name, lifetime);
  const RevocationInfo revocations{.issuer = name,
                                   .number = 1,
                                   .this_update = lifetime.not_before,
                                   .next_update = now + kRevocationDays * kSecondsPerDay,
                                   .revoked = {}};
  const std::string certificate = to_pem(*signer.certificate);
  claim_folder(folder);
  const Descriptor lock = lock_folder(folder);
  try {  // the certificate last: it is what makes the folder a CA's
    write_private_file(folder / kCaKey, to_pem(*signer.key));
    write_file_atomically(folder / kRevocations, to_pem(*sign_revocations(signer, revocations)));
    write_file_atomically(folder / kIssued, std::string_view());
    write_file_atomically(folder / kCaCertificate, certificate);
  } catch (...) {  // a full disk: half a CA would be in the way of the next attempt
    std::error_code ignored;
    for (const char* file : {kCaKey, kRevocations, kIssued}) fs::remove(folder / file, ignored);
    throw;
  }
  return read_certificate(certificate);
}

IssuedKeyPair issue_certificate(const fs::path& folder, const Identity& identity, std::int64_t days,
                                std::int64_t now) {
  Authority authority(folder);
  const KeyPtr key = make_key();
  std::string certificate = certify(authority, *key, identity, days, now);
  return {.certificate = std::move(certificate), .key = to_pem(*key)};
}

std::string sign_request(const fs::path& folder, const std::string& request_pem, Identity identity,
                         std::int64_t days, std::int64_t now) {
  Authority authority(folder);
  identity.name = read_request(request_pem).name;
  const RequestPtr request = parse_request(request_pem);
  return certify(authority, *X509_REQ_get0_pubkey(request.get()), identity, days, now);
}

std::string renew_certificate(const fs::path& folder, const std::string& certificate_pem,
                              std::int64_t days, std::int64_t now) {
  Authority authority(folder);
  const CertificateInfo info = check_issued(authority, certificate_pem);
  if (is_listed(authority.revocations, info.serial)) {
    throw DataError(fmt::format(
        "the certificate of {} was revoked and cannot be renewed; make a new key", info.name));
  }
  const CertificatePtr old = parse_certificate(certificate_pem);
  return certify(authority, *X509_get0_pubkey(old.get()), identity_of(info), days, now);
}

Revocation revoke_certificate(const fs::path& folder, const std::string& certificate_pem,
                              std::int64_t now) {
  Authority authority(folder);
  const CertificateInfo info = check_issued(authority, certificate_pem);
  if (find_entry(authority, info.serial) == nullptr) {  // the record was lost
    authority.issued.push_back(entry_of(info));
  }
  return revoke(authority, *find_entry(authority, info.serial), now);
}

Revocation revoke_serial(const fs::path& folder, const std::string& serial, std::int64_t now) {
  Authority authority(folder);
  const IssueEntry* entry = find_entry(authority, parse_serial(serial).value_or(""));
  if (entry == nullptr) {
    throw ConfigError(fmt::format("the CA in {} has issued no certificate with the serial {}",
                                  folder.string(), serial));
  }
  return revoke(authority, *entry, now);
}

RevocationInfo refresh_revocations(const fs::path& folder, std::int64_t now) {
  Authority authority(folder);
  write_revocations(authority, now);
  return authority.revocations;
}

AuthorityState read_authority(const fs::path& folder) {
  return read_state(folder, read_ca(folder));
}
}  // namespace fedhur::pki
