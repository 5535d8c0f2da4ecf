// A site's request for a certificate: its key never leaves, only this does.
#pragma once
#include <string>

namespace fedhur::pki {
struct RequestKeyPair {
  std::string request;  // PEM, for the CA
  std::string key;      // PEM, secret
};
// ConfigError if this cannot be a name.
[[nodiscard]] RequestKeyPair make_request(const std::string& name);

struct RequestInfo {
  std::string name;
  std::string key;         // its kind, such as "P-256"
  std::string key_sha256;  // what site and CA compare to be sure that it is the site's
};
// Verifies that the request was signed with its key. Other attributes that it asks for are ignored:
// the CA's operator decides them. DataError if it cannot be read or was altered, or for a key or
// name that no certificate should have.
[[nodiscard]] RequestInfo read_request(const std::string& pem);
}  // namespace fedhur::pki
