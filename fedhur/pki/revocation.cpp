#include "fedhur/pki/revocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fedhur/base/error.hpp"
#include "fedhur/base/strings.hpp"
#include "fedhur/pki/openssl.hpp"
#include "fedhur/pki/pem.hpp"

namespace fedhur::pki {
namespace {
// A critical extension changes what a list means, as those of partial lists do. Ours have none.
void check_extension(X509_EXTENSION* extension) {
  if (X509_EXTENSION_get_critical(extension) != 0) {
    throw DataError("the revocation list has a critical extension, which is not known here");
  }
}

std::int64_t number_of_list(const X509_CRL& crl) {
  int state = 0;
  const IntegerPtr number(
      static_cast<ASN1_INTEGER*>(X509_CRL_get_ext_d2i(&crl, NID_crl_number, &state, nullptr)));
  constexpr int kAbsent = -1;
  if (number == nullptr && state == kAbsent) return 0;
  std::int64_t value = 0;
  if (number == nullptr || ASN1_INTEGER_get_int64(&value, number.get()) != 1 || value < 0) {
    throw DataError("the number of the revocation list cannot be read");
  }
  return value;
}

RevocationInfo describe(X509_CRL& crl) {
  for (int i = 0; i < X509_CRL_get_ext_count(&crl); ++i) {
    check_extension(X509_CRL_get_ext(&crl, i));
  }
  if (X509_CRL_get0_nextUpdate(&crl) == nullptr) {
    throw DataError("the revocation list does not say how long it is good");
  }
  RevocationInfo info;
  info.issuer = name_text(X509_CRL_get_issuer(&crl));
  info.number = number_of_list(crl);
  info.this_update = unix_seconds(X509_CRL_get0_lastUpdate(&crl));
  info.next_update = unix_seconds(X509_CRL_get0_nextUpdate(&crl));
  STACK_OF(X509_REVOKED)* const entries = X509_CRL_get_REVOKED(&crl);
  for (int i = 0; i < sk_X509_REVOKED_num(entries); ++i) {
    const X509_REVOKED* const entry = sk_X509_REVOKED_value(entries, i);
    for (int j = 0; j < X509_REVOKED_get_ext_count(entry); ++j) {
      check_extension(X509_REVOKED_get_ext(entry, j));
    }
    info.revoked.push_back({.serial = hex_of(X509_REVOKED_get0_serialNumber(entry)),
                            .time = unix_seconds(X509_REVOKED_get0_revocationDate(entry))});
  }
  std::ranges::sort(info.revoked, {}, &RevokedSerial::serial);
  return info;
}
}  // namespace

RevocationInfo read_revocations(const std::string& crl_pem) {
  const CleanQueue queue;
  return describe(*parse_crl(crl_pem));
}

std::optional<std::string> parse_serial(const std::string& text) {
  constexpr std::size_t kMaxDigits = 40;  // 20 bytes, by X.509
  std::string digits;
  for (const char c : lowercase(text)) {
    if (c == ':') continue;
    if (std::string_view("0123456789abcdef").find(c) == std::string_view::npos) return std::nullopt;
    digits += c;
  }
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.empty() || digits.size() > kMaxDigits) return std::nullopt;
  return digits.size() % 2 == 0 ? digits : "0" + digits;
}

RevocationList::RevocationList(RevocationInfo info) : info_(std::move(info)) {}

RevocationList RevocationList::read(const std::string& crl_pem, const std::string& ca_pem) {
  const CleanQueue queue;
  const CertificatePtr ca = parse_certificate(ca_pem);
  const CrlPtr crl = parse_crl(crl_pem);
  RevocationInfo info = describe(*crl);
  EVP_PKEY* const key = X509_get0_pubkey(ca.get());
  const bool is_of_ca =
      X509_NAME_cmp(X509_CRL_get_issuer(crl.get()), X509_get_subject_name(ca.get())) == 0 &&
      key != nullptr && X509_CRL_verify(crl.get(), key) == 1;
  if (!is_of_ca) {
    throw DataError(fmt::format("the revocation list was not signed by this CA, {}, or was altered",
                                name_text(X509_get_subject_name(ca.get()))));
  }
  return RevocationList(std::move(info));
}

bool RevocationList::contains(const std::string& serial_hex) const {
  // A strange number, such as a negative one, is looked for as it is: it may be on the list.
  const std::string serial = parse_serial(serial_hex).value_or(serial_hex);
  return std::ranges::binary_search(info_.revoked, serial, {}, &RevokedSerial::serial);
}
}  // namespace fedhur::pki
