#include "fedhur/pki/request.hpp"

#include <fmt/format.h>

#include "fedhur/base/error.hpp"
#include "fedhur/pki/identity.hpp"
#include "fedhur/pki/openssl.hpp"
#include "fedhur/pki/pem.hpp"
#include "fedhur/pki/signing.hpp"

namespace fedhur::pki {
RequestKeyPair make_request(const std::string& name) {
  const CleanQueue queue;
  constexpr const char* kMake = "make a certificate request";
  if (const auto fault = find_name_fault(name)) throw ConfigError(*fault);
  const KeyPtr key = make_key();
  const RequestPtr request(must_have(X509_REQ_new(), kMake));
  must(X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) == 1 &&
           X509_REQ_set_subject_name(request.get(), make_name(name).get()) == 1 &&
           X509_REQ_set_pubkey(request.get(), key.get()) == 1 &&
           X509_REQ_sign(request.get(), key.get(), EVP_sha256()) > 0,
       kMake);
  return {.request = to_pem(*request), .key = to_pem(*key)};
}

RequestInfo read_request(const std::string& pem) {
  const CleanQueue queue;
  const RequestPtr request = parse_request(pem);
  EVP_PKEY* const key = X509_REQ_get0_pubkey(request.get());
  if (key == nullptr) {
    throw DataError(fmt::format("the key in the request cannot be read: {}", take_reason()));
  }
  RequestInfo info;
  info.key = describe_key(*key);  // before it is used for a signature
  if (X509_REQ_verify(request.get(), key) != 1) {
    throw DataError(fmt::format(
        "the request is not signed by the key in it, so it was altered or its sender does not have "
        "the key: {}",
        take_reason()));
  }
  info.name = name_text(X509_REQ_get_subject_name(request.get()));
  if (const auto fault = find_name_fault(info.name)) {
    throw DataError(fmt::format("the request cannot be granted: {}", *fault));
  }
  info.key_sha256 = sha256_of(key);
  return info;
}
}  // namespace fedhur::pki
