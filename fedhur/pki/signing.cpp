#include "fedhur/pki/signing.hpp"

#include <fmt/format.h>
#include <openssl/core_names.h>

#include <array>

#include "fedhur/base/error.hpp"

namespace fedhur::pki {
namespace {
constexpr const char* kMake = "make a certificate";

// 128 random bits: unpredictable and unique. The highest is set, so that all have one length.
IntegerPtr random_serial() {
  const NumberPtr number(must_have(BN_new(), kMake));
  must(BN_rand(number.get(), 128, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1, kMake);
  return IntegerPtr(must_have(BN_to_ASN1_INTEGER(number.get(), nullptr), kMake));
}

// Only with texts of our own: in this language of OpenSSL's a comma ends a value.
void add_extension(X509& certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer, &certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(
      must_have(X509V3_EXT_conf_nid(nullptr, &context, kind, value), kMake));
  must(X509_add_ext(&certificate, extension.get(), -1) == 1, kMake);
}

void add_name(GENERAL_NAMES& names, int kind, ASN1_STRING* value) {
  GeneralNamePtr name(GENERAL_NAME_new());
  if (name == nullptr) ASN1_STRING_free(value);
  must(name != nullptr, kMake);
  GENERAL_NAME_set0_value(name.get(), kind, value);
  must(sk_GENERAL_NAME_push(&names, name.get()) > 0, kMake);
  (void)name.release();  // now of the list
}

void add_text(GENERAL_NAMES& names, int kind, const std::string& text) {
  Owned<ASN1_STRING, ASN1_STRING_free> value(must_have(ASN1_IA5STRING_new(), kMake));
  must(ASN1_STRING_set(value.get(), text.data(), static_cast<int>(text.size())) == 1, kMake);
  add_name(names, kind, value.release());
}

void add_alternative_names(X509& certificate, const Identity& identity) {
  const GeneralNamesPtr names(must_have(GENERAL_NAMES_new(), kMake));
  for (const std::string& host : identity.hosts) {
    if (is_ip_address(host)) {
      add_name(*names, GEN_IPADD, must_have(a2i_IPADDRESS(host.c_str()), kMake));
    } else {
      add_text(*names, GEN_DNS, host);
    }
  }
  for (const ClientRange& range : canonical(identity.clients)) {
    add_text(*names, GEN_URI, std::string(kClientUri) + to_text({range}));
  }
  must(X509_add1_ext_i2d(&certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) ==
           1,
       kMake);
}

CertificatePtr make_blank(EVP_PKEY& holder, const X509_NAME* issuer, const std::string& name,
                          const Lifetime& lifetime) {
  CertificatePtr certificate(must_have(X509_new(), kMake));
  X509* const raw = certificate.get();
  const NamePtr subject = make_name(name);
  must(X509_set_version(raw, X509_VERSION_3) == 1 &&
           X509_set_serialNumber(raw, random_serial().get()) == 1 &&
           X509_set_subject_name(raw, subject.get()) == 1 &&
           X509_set_issuer_name(raw, issuer == nullptr ? subject.get() : issuer) == 1 &&
           X509_set1_notBefore(raw, make_time(lifetime.not_before).get()) == 1 &&
           X509_set1_notAfter(raw, make_time(lifetime.not_after).get()) == 1 &&
           X509_set_pubkey(raw, &holder) == 1,
       kMake);
  return certificate;
}

std::string curve_of(EVP_PKEY& key) {
  std::array<char, 64> curve{};
  std::array<char, 64> encoding{};
  const bool is_known =
      EVP_PKEY_get_utf8_string_param(&key, OSSL_PKEY_PARAM_GROUP_NAME, curve.data(), curve.size(),
                                     nullptr) == 1 &&
      EVP_PKEY_get_utf8_string_param(&key, OSSL_PKEY_PARAM_EC_ENCODING, encoding.data(),
                                     encoding.size(), nullptr) == 1;
  // A curve that brings its own numbers may be one that was made to be weak.
  return is_known && std::string_view(encoding.data()) == OSSL_PKEY_EC_ENCODING_GROUP ? curve.data()
                                                                                      : "";
}
}  // namespace

KeyPtr make_key() {
  return KeyPtr(must_have(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"), "make a key"));
}

std::string describe_key(EVP_PKEY& key) {
  if (EVP_PKEY_is_a(&key, "EC") == 1) {
    const std::string curve = curve_of(key);
    if (curve == "prime256v1") return "P-256";
    if (curve == "secp384r1") return "P-384";
  }
  const int num_bits = EVP_PKEY_get_bits(&key);
  if (EVP_PKEY_is_a(&key, "RSA") == 1 && num_bits >= 2048 && num_bits <= 8192) {
    return fmt::format("RSA {}", num_bits);
  }
  throw DataError(
      fmt::format("its key of {} bits is of a kind that is not taken here; expected EC P-256 or "
                  "P-384, or RSA with 2048 to 8192 bits",
                  num_bits));
}

CertificatePtr make_ca_certificate(EVP_PKEY& key, const std::string& name,
                                   const Lifetime& lifetime) {
  CertificatePtr certificate = make_blank(key, nullptr, name, lifetime);
  X509* const raw = certificate.get();
  add_extension(*raw, raw, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(*raw, raw, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(*raw, raw, NID_subject_key_identifier, "hash");
  must(X509_sign(raw, &key, EVP_sha256()) > 0, kMake);
  return certificate;
}

CertificatePtr sign_certificate(const Signer& signer, EVP_PKEY& holder, const Identity& identity,
                                const Lifetime& lifetime) {
  X509* const ca = signer.certificate.get();
  CertificatePtr certificate =
      make_blank(holder, X509_get_subject_name(ca), identity.name, lifetime);
  X509* const raw = certificate.get();
  const bool is_server = identity.purpose == Purpose::server;
  add_extension(*raw, ca, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(*raw, ca, NID_key_usage, "critical,digitalSignature");
  // One purpose each: a client's key that leaks cannot play the server.
  add_extension(*raw, ca, NID_ext_key_usage, is_server ? "serverAuth" : "clientAuth");
  add_extension(*raw, ca, NID_subject_key_identifier, "hash");
  add_extension(*raw, ca, NID_authority_key_identifier, "keyid:always");
  add_alternative_names(*raw, identity);
  must(X509_sign(raw, signer.key.get(), EVP_sha256()) > 0, kMake);
  return certificate;
}

CrlPtr sign_revocations(const Signer& signer, const RevocationInfo& revocations) {
  constexpr const char* kSign = "make a revocation list";
  X509* const ca = signer.certificate.get();
  CrlPtr crl(must_have(X509_CRL_new(), kSign));
  X509_CRL* const raw = crl.get();
  must(X509_CRL_set_version(raw, X509_CRL_VERSION_2) == 1 &&
           X509_CRL_set_issuer_name(raw, X509_get_subject_name(ca)) == 1 &&
           X509_CRL_set1_lastUpdate(raw, make_time(revocations.this_update).get()) == 1 &&
           X509_CRL_set1_nextUpdate(raw, make_time(revocations.next_update).get()) == 1,
       kSign);
  for (const RevokedSerial& revoked : revocations.revoked) {
    RevokedPtr entry(must_have(X509_REVOKED_new(), kSign));
    must(X509_REVOKED_set_serialNumber(entry.get(), integer_of(revoked.serial).get()) == 1 &&
             X509_REVOKED_set_revocationDate(entry.get(), make_time(revoked.time).get()) == 1 &&
             X509_CRL_add0_revoked(raw, entry.get()) == 1,
         kSign);
    (void)entry.release();  // now of the list
  }
  must(X509_CRL_sort(raw) == 1, kSign);
  const IntegerPtr number(must_have(ASN1_INTEGER_new(), kSign));
  must(ASN1_INTEGER_set_int64(number.get(), revocations.number) == 1 &&
           X509_CRL_add1_ext_i2d(raw, NID_crl_number, number.get(), 0, X509V3_ADD_DEFAULT) == 1,
       kSign);
  X509V3_CTX context{};
  X509V3_set_ctx(&context, ca, nullptr, nullptr, raw, 0);
  const ExtensionPtr key_id(must_have(
      X509V3_EXT_conf_nid(nullptr, &context, NID_authority_key_identifier, "keyid:always"), kSign));
  must(X509_CRL_add_ext(raw, key_id.get(), -1) == 1, kSign);
  must(X509_CRL_sign(raw, signer.key.get(), EVP_sha256()) > 0, kSign);
  return crl;
}
}  // namespace fedhur::pki
