// What a certificate says of its holder.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/pki/client_ranges.hpp"

namespace fedhur::pki {
enum class Purpose : std::uint8_t { server, client };
[[nodiscard]] const char* name_of(Purpose purpose);

struct Identity {
  std::string name;  // of the site or machine, for people
  Purpose purpose = Purpose::client;
  std::vector<ClientRange> clients;  // a client's
  std::vector<std::string> hosts;    // a server's: DNS names and IP addresses
};

// "server.example.org,10.0.0.5" as a list without repetitions, DNS names in lower case. ConfigError
// for what is neither, such as a host with a port.
[[nodiscard]] std::vector<std::string> parse_hosts(const std::string& text);
[[nodiscard]] bool is_ip_address(const std::string& host);

// Why this cannot be the name in a certificate; nothing if it can.
[[nodiscard]] std::optional<std::string> find_name_fault(const std::string& name);
}  // namespace fedhur::pki
