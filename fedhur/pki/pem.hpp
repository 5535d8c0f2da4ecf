// The text form that keys, certificates, requests and revocation lists travel in.
#pragma once
#include <string>

#include "fedhur/pki/openssl.hpp"
#include "fedhur/pki/pem_kind.hpp"

namespace fedhur::pki {
// Each expects exactly one object of its kind, whole; text around it is ignored. DataError says
// what is wrong. Keys with a passphrase are refused, since servers start unattended.
[[nodiscard]] CertificatePtr parse_certificate(const std::string& pem);
[[nodiscard]] RequestPtr parse_request(const std::string& pem);
[[nodiscard]] CrlPtr parse_crl(const std::string& pem);
[[nodiscard]] KeyPtr parse_key(const std::string& pem);

[[nodiscard]] std::string to_pem(const X509& certificate);
[[nodiscard]] std::string to_pem(const X509_REQ& request);
[[nodiscard]] std::string to_pem(const X509_CRL& crl);
[[nodiscard]] std::string to_pem(const EVP_PKEY& key);  // the private one, not encrypted
}  // namespace fedhur::pki
