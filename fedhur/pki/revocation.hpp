// Certificates that were taken back before their time.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fedhur::pki {
struct RevokedSerial {
  std::string serial;     // hexadecimal, lower case
  std::int64_t time = 0;  // of its revocation, unix seconds
};
struct RevocationInfo {
  std::string issuer;
  std::int64_t number = 0;  // every list of a CA has a higher one
  std::int64_t this_update = 0;
  std::int64_t next_update = 0;  // after that there should be a newer one
  std::vector<RevokedSerial> revoked;
};
// What the list says; its signature is not verified. DataError if it cannot be read.
[[nodiscard]] RevocationInfo read_revocations(const std::string& crl_pem);

// A serial number as people write it, with capitals, colons or leading zeros, in the form used
// here. Nothing if it is none.
[[nodiscard]] std::optional<std::string> parse_serial(const std::string& text);

class RevocationList {
 public:
  // DataError if the list cannot be read or is not of this CA.
  [[nodiscard]] static RevocationList read(const std::string& crl_pem, const std::string& ca_pem);
  [[nodiscard]] bool contains(const std::string& serial_hex) const;
  [[nodiscard]] std::int64_t next_update() const { return info_.next_update; }
  [[nodiscard]] const RevocationInfo& info() const { return info_; }

 private:
  explicit RevocationList(RevocationInfo info);
  RevocationInfo info_;  // by ascending serial
};
}  // namespace fedhur::pki
