#include "fedhur/pki/certificate.hpp"

#include <arpa/inet.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "fedhur/base/error.hpp"
#include "fedhur/pki/openssl.hpp"
#include "fedhur/pki/pem.hpp"
#include "fedhur/pki/signing.hpp"

namespace fedhur::pki {
namespace {
// The extension if there is one. DataError if it cannot be read or is there twice, which would be
// ambiguous.
template <class Pointer>
Pointer find_extension(const X509& certificate, int kind) {
  int state = 0;
  Pointer extension(static_cast<typename Pointer::pointer>(
      X509_get_ext_d2i(&certificate, kind, &state, nullptr)));
  constexpr int kAbsent = -1;
  if (extension == nullptr && state != kAbsent) {
    throw DataError(fmt::format("the extension {} is damaged or there twice", OBJ_nid2ln(kind)));
  }
  return extension;
}

std::string_view view_of(const ASN1_STRING* string) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
          static_cast<std::size_t>(ASN1_STRING_length(string))};
}

std::string address_of(const ASN1_STRING* bytes) {
  const int size = ASN1_STRING_length(bytes);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (size != 4 && size != 16) throw DataError("an IP address in it has neither 4 nor 16 bytes");
  (void)::inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(bytes), text.data(),
                    text.size());
  return text.data();
}

ClientRange range_of(std::string_view text) {
  try {
    const auto ranges = parse_client_ranges(std::string(text));
    if (ranges.size() == 1 && to_text(ranges) == text) return ranges.front();
  } catch (const ConfigError&) {  // said below
  }
  throw DataError("the client ids in it cannot be read");
}

void read_names(const X509& certificate, CertificateInfo& info) {
  const auto names = find_extension<GeneralNamesPtr>(certificate, NID_subject_alt_name);
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    int kind = 0;
    const auto* value = static_cast<const ASN1_STRING*>(
        GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &kind));
    if (kind == GEN_IPADD) {
      info.hosts.push_back(address_of(value));
    } else if (kind == GEN_DNS) {
      const std::string_view host = view_of(value);
      if (!std::ranges::all_of(host, [](char c) { return c > ' ' && c <= '~'; })) {
        throw DataError("a DNS name in it holds other characters than names have");
      }
      info.hosts.emplace_back(host);
    } else if (kind == GEN_URI && view_of(value).starts_with(kClientUri)) {
      info.clients.push_back(range_of(view_of(value).substr(kClientUri.size())));
    }
  }
  info.clients = canonical(std::move(info.clients));
}

void read_purposes(const X509& certificate, CertificateInfo& info) {
  const auto purposes = find_extension<KeyPurposesPtr>(certificate, NID_ext_key_usage);
  for (int i = 0; purposes != nullptr && i < sk_ASN1_OBJECT_num(purposes.get()); ++i) {
    const int purpose = OBJ_obj2nid(sk_ASN1_OBJECT_value(purposes.get(), i));
    info.for_server = info.for_server || purpose == NID_server_auth;
    info.for_client = info.for_client || purpose == NID_client_auth;
  }
}

CertificateInfo describe(X509& certificate) {
  if ((X509_get_extension_flags(&certificate) & EXFLAG_INVALID) != 0) {
    throw DataError(
        fmt::format("the extensions of the certificate are damaged: {}", take_reason()));
  }
  CertificateInfo info;
  info.name = name_text(X509_get_subject_name(&certificate));
  info.issuer = name_text(X509_get_issuer_name(&certificate));
  info.serial = hex_of(X509_get0_serialNumber(&certificate));
  info.not_before = unix_seconds(X509_get0_notBefore(&certificate));
  info.not_after = unix_seconds(X509_get0_notAfter(&certificate));
  info.is_ca = X509_check_ca(&certificate) == 1;
  info.sha256 = sha256_of(&certificate);
  EVP_PKEY* const key = X509_get0_pubkey(&certificate);
  if (key == nullptr) throw DataError(fmt::format("its key cannot be read: {}", take_reason()));
  info.key_sha256 = sha256_of(key);
  read_names(certificate, info);
  read_purposes(certificate, info);
  return info;
}

bool is_signed_by(X509& certificate, X509& ca) {
  const bool is_named =
      X509_NAME_cmp(X509_get_issuer_name(&certificate), X509_get_subject_name(&ca)) == 0;
  const bool is_signed = is_named && X509_verify(&certificate, X509_get0_pubkey(&ca)) == 1;
  return is_signed;
}

struct Verdict {
  int error = X509_V_OK;
  int depth = 0;  // 0 is about the certificate, more about the CA's
};

Verdict verify(X509& certificate, X509& ca, Purpose purpose, std::int64_t now) {
  const StorePtr store(must_have(X509_STORE_new(), "verify a certificate"));
  must(X509_STORE_add_cert(store.get(), &ca) == 1, "verify a certificate");
  const VerificationPtr context(must_have(X509_STORE_CTX_new(), "verify a certificate"));
  must(X509_STORE_CTX_init(context.get(), store.get(), &certificate, nullptr) == 1,
       "verify a certificate");
  X509_VERIFY_PARAM* const rules = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(rules, now);
  constexpr int kLevelOf112Bits = 2;
  X509_VERIFY_PARAM_set_auth_level(rules, kLevelOf112Bits);
  const bool is_server = purpose == Purpose::server;
  must(X509_VERIFY_PARAM_set_purpose(
           rules, is_server ? X509_PURPOSE_SSL_SERVER : X509_PURPOSE_SSL_CLIENT) == 1,
       "verify a certificate");
  const bool is_good = X509_verify_cert(context.get()) == 1;
  Verdict verdict{.error = X509_STORE_CTX_get_error(context.get()),
                  .depth = X509_STORE_CTX_get_error_depth(context.get())};
  if (!is_good && verdict.error == X509_V_OK) verdict.error = X509_V_ERR_UNSPECIFIED;
  return verdict;
}

std::string wrong_purpose(const CertificateInfo& info, Purpose purpose) {
  const char* what = info.is_ca                            ? "a CA's own"
                     : info.for_server && !info.for_client ? "a server's"
                     : info.for_client && !info.for_server ? "a client's"
                                                           : "for something else";
  return fmt::format("the certificate of {} is {}, expected a {}'s", info.name, what,
                     name_of(purpose));
}

std::string explain(const Verdict& verdict, const CertificateInfo& info, const CertificateInfo& ca,
                    Purpose purpose) {
  const CertificateInfo& at_fault = verdict.depth == 0 ? info : ca;
  const std::string whose = fmt::format("the certificate of {}", at_fault.name);
  switch (verdict.error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return fmt::format("{} ended on {}", whose, format_time(at_fault.not_after));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return fmt::format("{} begins on {}, which this machine's clock has not reached", whose,
                         format_time(at_fault.not_before));
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return fmt::format("{} was not issued by this CA, {}", whose, ca.name);
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return fmt::format("{} has a signature that is not of this CA, {}", whose, ca.name);
    case X509_V_ERR_INVALID_PURPOSE:
      return wrong_purpose(info, purpose);
    default:
      return fmt::format("{} is not to be trusted: {}", whose,
                         X509_verify_cert_error_string(verdict.error));
  }
}
}  // namespace

CertificateInfo read_certificate(const std::string& pem) {
  const CleanQueue queue;
  return describe(*parse_certificate(pem));
}

bool key_matches(const std::string& certificate_pem, const std::string& key_pem) {
  const CleanQueue queue;
  const CertificatePtr certificate = parse_certificate(certificate_pem);
  const bool matches = X509_check_private_key(certificate.get(), parse_key(key_pem).get()) == 1;
  return matches;
}

bool is_issued_by(const std::string& certificate_pem, const std::string& ca_pem) {
  const CleanQueue queue;
  return is_signed_by(*parse_certificate(certificate_pem), *parse_certificate(ca_pem));
}

std::optional<std::string> find_fault(const std::string& certificate_pem, const std::string& ca_pem,
                                      Purpose purpose, std::int64_t now) {
  const CleanQueue queue;
  const CertificatePtr ca = parse_certificate(ca_pem);
  const CertificateInfo ca_info = describe(*ca);
  if (!ca_info.is_ca) {
    throw DataError(fmt::format("the certificate of {} is not a CA's", ca_info.name));
  }
  CertificatePtr certificate;
  CertificateInfo info;
  try {
    certificate = parse_certificate(certificate_pem);
    info = describe(*certificate);
  } catch (const DataError& error) {
    return fmt::format("the certificate cannot be read: {}", error.what());
  }
  const Verdict verdict = verify(*certificate, *ca, purpose, now);
  if (verdict.error != X509_V_OK) return explain(verdict, info, ca_info, purpose);
  // OpenSSL takes a certificate without purposes for one that may do everything.
  const bool fits = purpose == Purpose::server ? info.for_server : info.for_client;
  if (info.is_ca || !fits) return wrong_purpose(info, purpose);
  return std::nullopt;
}

std::string format_time(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}
}  // namespace fedhur::pki
