#include "fedhur/pki/identity.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "fedhur/base/error.hpp"
#include "fedhur/base/strings.hpp"

namespace fedhur::pki {
namespace {
constexpr std::size_t kMaxHosts = 100;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// The underscore is no part of host names by the book, but of those that containers get.
bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
         std::ranges::all_of(label,
                             [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; });
}

bool is_dns_name(std::string_view host) {
  if (host.size() > 253) return false;
  const auto labels = split_at(host, '.');
  // The last one is never a number: 10.0.0.256 is a mistake and no name.
  return std::ranges::all_of(labels, is_label) &&
         !std::ranges::all_of(labels.back(), [](char c) { return c >= '0' && c <= '9'; });
}

// As OpenSSL will write it, so that ::1 and 0:0:0:0:0:0:0:1 are one address.
std::string canonical_host(const std::string& host) {
  std::array<unsigned char, 16> bytes{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  for (const int family : {AF_INET, AF_INET6}) {
    if (::inet_pton(family, host.c_str(), bytes.data()) != 1) continue;
    return ::inet_ntop(family, bytes.data(), text.data(), text.size());
  }
  return lowercase(host);
}
}  // namespace

const char* name_of(Purpose purpose) { return purpose == Purpose::server ? "server" : "client"; }

bool is_ip_address(const std::string& host) {
  std::array<unsigned char, 16> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

std::vector<std::string> parse_hosts(const std::string& text) {
  std::vector<std::string> hosts;
  for (const std::string_view part : split_at(text, ',')) {
    const std::string host(part);
    const bool has_nul = host.find('\0') != std::string::npos;
    if (has_nul || (!is_ip_address(host) && !is_dns_name(host))) {
      throw ConfigError(
          fmt::format("host '{}' is neither a DNS name nor an IP address; expected such as "
                      "fed.example.org,10.0.0.5, without port",
                      is_printable(host) ? host.substr(0, 100) : "?"));
    }
    const std::string form = canonical_host(host);
    if (std::ranges::find(hosts, form) == hosts.end()) hosts.push_back(form);
  }
  if (hosts.size() > kMaxHosts) {
    throw ConfigError(fmt::format("{} hosts are too many for one certificate, expected at most {}",
                                  hosts.size(), kMaxHosts));
  }
  return hosts;
}

std::optional<std::string> find_name_fault(const std::string& name) {
  constexpr std::ptrdiff_t kMaxLetters = 64;  // of a common name, by X.509
  if (name.empty()) return "the name is empty";
  if (!is_printable(name)) return "the name holds what is no printable UTF-8";
  if (name.front() == ' ' || name.back() == ' ') return "the name begins or ends with a space";
  const auto letters = std::ranges::count_if(
      name, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  if (letters > kMaxLetters) {
    return fmt::format("the name has {} letters, expected at most {}", letters, kMaxLetters);
  }
  return std::nullopt;
}
}  // namespace fedhur::pki
