// OpenSSL's objects as values that free themselves, and its failures as errors. Only sources of
// this folder and the TLS probe include it; other folders see PEM text.
#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace fedhur::pki {
template <auto release>
struct Release {
  template <class T>
  void operator()(T* object) const {
    release(object);
  }
};
template <class T, auto release>
using Owned = std::unique_ptr<T, Release<release>>;

using BioPtr = Owned<BIO, BIO_free>;
using NumberPtr = Owned<BIGNUM, BN_free>;
using IntegerPtr = Owned<ASN1_INTEGER, ASN1_INTEGER_free>;
using TimePtr = Owned<ASN1_TIME, ASN1_TIME_free>;
using KeyPtr = Owned<EVP_PKEY, EVP_PKEY_free>;
using NamePtr = Owned<X509_NAME, X509_NAME_free>;
using CertificatePtr = Owned<X509, X509_free>;
using RequestPtr = Owned<X509_REQ, X509_REQ_free>;
using CrlPtr = Owned<X509_CRL, X509_CRL_free>;
using RevokedPtr = Owned<X509_REVOKED, X509_REVOKED_free>;
using ExtensionPtr = Owned<X509_EXTENSION, X509_EXTENSION_free>;
using GeneralNamePtr = Owned<GENERAL_NAME, GENERAL_NAME_free>;
using GeneralNamesPtr = Owned<GENERAL_NAMES, GENERAL_NAMES_free>;
using KeyPurposesPtr = Owned<EXTENDED_KEY_USAGE, EXTENDED_KEY_USAGE_free>;
using StorePtr = Owned<X509_STORE, X509_STORE_free>;
using VerificationPtr = Owned<X509_STORE_CTX, X509_STORE_CTX_free>;

// OpenSSL's queue of failures is empty while this begins and when it ends, however that happens.
// What is left in there would be taken for a failure of the next TLS connection on this thread.
class CleanQueue {
 public:
  CleanQueue();
  ~CleanQueue();
  CleanQueue(const CleanQueue&) = delete;
  CleanQueue& operator=(const CleanQueue&) = delete;
};

// Why the last call failed, in OpenSSL's words; empties the queue.
[[nodiscard]] std::string take_reason();

// Error with OpenSSL's reason unless `is_done`; `action` as in "OpenSSL could not <action>".
void must(bool is_done, const char* action);

template <class Pointer>
[[nodiscard]] Pointer must_have(Pointer pointer, const char* action) {
  must(pointer != nullptr, action);
  return pointer;
}

// DataError for a time that no calendar has.
[[nodiscard]] std::int64_t unix_seconds(const ASN1_TIME* time);
[[nodiscard]] TimePtr make_time(std::int64_t seconds);

// Hexadecimal, lower case, whole bytes, such as "0a3f".
[[nodiscard]] std::string hex_of(const ASN1_INTEGER* number);
[[nodiscard]] IntegerPtr integer_of(const std::string& hex);

// The common name if there is one, else the whole name as in RFC 2253. DataError if it holds what
// could steer a terminal or forge a line of a log.
[[nodiscard]] std::string name_text(const X509_NAME* name);
// A name that has nothing but a common name.
[[nodiscard]] NamePtr make_name(const std::string& common_name);

[[nodiscard]] std::string sha256_of(const X509* certificate);
// Of the public key with its algorithm, so that a key has one fingerprint wherever it turns up.
[[nodiscard]] std::string sha256_of(EVP_PKEY* key);
}  // namespace fedhur::pki
