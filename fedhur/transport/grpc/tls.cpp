#include "fedhur/transport/grpc/tls.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <string_view>

#include "fedhur/base/error.hpp"
#include "fedhur/pki/certificate.hpp"
#include "fedhur/pki/pem_kind.hpp"

namespace fedhur::transport {
namespace {
[[noreturn]] void reject_address(const std::string& text) {
  throw ConfigError(fmt::format("'{}' is not an address, expected host:port", text));
}

bool is_host_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
}
}  // namespace

Address parse_address(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) reject_address(text);
  Address address{.host = text.substr(0, colon), .port = -1};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, address.port);
  if (error != std::errc() || rest != end || address.port < 0 || address.port > 65535) {
    reject_address(text);
  }
  std::string& host = address.host;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    in6_addr ignored{};
    if (inet_pton(AF_INET6, host.c_str(), &ignored) != 1) reject_address(text);
  } else if (host.empty() || !std::ranges::all_of(host, is_host_character)) {
    reject_address(text);
  }
  return address;
}

bool is_loopback(const std::string& host) {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24U) == 127;
  in6_addr v6{};
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  constexpr std::string_view kName = "localhost";
  return std::ranges::equal(
      host, kName, [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

void check_security(const std::string& address, const Security& security) {
  const std::string host = parse_address(address).host;
  if (security || is_loopback(host)) return;
  throw ConfigError(fmt::format(
      "{}: without certificates anyone on the network can read and change what is sent; that is "
      "for 127.0.0.1, ::1 and localhost only",
      address));
}

TlsTexts read_tls_files(const TlsFiles& files, pki::Purpose purpose) {
  TlsTexts texts{.ca = pki::read_pem_file(files.ca),
                 .certificate = pki::read_pem_file(files.certificate),
                 .key = pki::read_pem_file(files.key)};
  try {
    if (const auto fault = pki::find_fault(texts.certificate, texts.ca, purpose, current_time())) {
      throw ConfigError(fmt::format("{}: {}", files.certificate.string(), *fault));
    }
    if (!pki::key_matches(texts.certificate, texts.key)) {
      throw ConfigError(
          fmt::format("{} is not the key of {}", files.key.string(), files.certificate.string()));
    }
  } catch (const DataError& error) {
    throw ConfigError(fmt::format("{}, {} and {}: {}", files.ca.string(),
                                  files.certificate.string(), files.key.string(), error.what()));
  }
  return texts;
}

std::int64_t current_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}
}  // namespace fedhur::transport
