// A certificate authority in a folder: what `fedhur pki` does.
//
//   ca.crt         its certificate; all members of the federation get it
//   ca.key         its private key, which can sign any certificate
//   revoked.crl    its revocation list; servers get it
//   issued.jsonl   every certificate it has issued
//
// All functions take the time as unix seconds. Several may work on one folder at the same time: the
// folder is locked while something in it changes. ConfigError if there is no CA in the folder,
// DataError if what is there is damaged.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fedhur/pki/certificate.hpp"
#include "fedhur/pki/identity.hpp"
#include "fedhur/pki/issue_record.hpp"
#include "fedhur/pki/revocation.hpp"

namespace fedhur::pki {
constexpr const char* kCaCertificate = "ca.crt";
constexpr const char* kCaKey = "ca.key";
constexpr const char* kRevocations = "revoked.crl";
constexpr const char* kIssued = "issued.jsonl";

constexpr std::int64_t kCaDays = 3650;
constexpr std::int64_t kCertificateDays = 365;
constexpr std::int64_t kRevocationDays = 365;
constexpr std::int64_t kMaxDays = 36500;

// Makes a CA in a folder that is new or empty, which becomes its owner's alone. A CA is never
// overwritten: with its key all certificates of the federation would be void.
[[nodiscard]] CertificateInfo create_authority(const std::filesystem::path& folder,
                                               const std::string& name, std::int64_t days,
                                               std::int64_t now);

struct IssuedKeyPair {
  std::string certificate;  // PEM
  std::string key;          // PEM, secret
};
// Certificates end with their CA at the latest, whatever `days` says. ConfigError for an identity
// that cannot be certified.
[[nodiscard]] IssuedKeyPair issue_certificate(const std::filesystem::path& folder,
                                              const Identity& identity, std::int64_t days,
                                              std::int64_t now);
// A certificate for the key of a request. Its name is the request's, all else is `identity`'s.
[[nodiscard]] std::string sign_request(const std::filesystem::path& folder,
                                       const std::string& request_pem, Identity identity,
                                       std::int64_t days, std::int64_t now);
// A certificate for the same key and identity, with a new serial number and new dates; the old one
// may have expired. DataError if it was revoked or is not of this CA. No key gets a certificate
// again after one of its certificates was revoked: sign_request refuses it too.
[[nodiscard]] std::string renew_certificate(const std::filesystem::path& folder,
                                            const std::string& certificate_pem, std::int64_t days,
                                            std::int64_t now);

struct Revocation {
  std::string serial;
  std::string name;
  bool was_revoked = false;           // already
  std::vector<std::string> renewals;  // other certificates of the same key, revoked now with it
};
// All certificates of the same key are revoked: with a renewed one also those it has replaced.
// DataError if the certificate is not of this CA; ConfigError if no such serial was issued.
[[nodiscard]] Revocation revoke_certificate(const std::filesystem::path& folder,
                                            const std::string& certificate_pem, std::int64_t now);
[[nodiscard]] Revocation revoke_serial(const std::filesystem::path& folder,
                                       const std::string& serial, std::int64_t now);
// The same list with new dates, before the present ones end.
RevocationInfo refresh_revocations(const std::filesystem::path& folder, std::int64_t now);

struct AuthorityState {
  CertificateInfo ca;
  RevocationInfo revocations;
  std::vector<IssueEntry> issued;  // in order
};
// Does not need the key.
[[nodiscard]] AuthorityState read_authority(const std::filesystem::path& folder);
}  // namespace fedhur::pki
