#include "apps/doctor/sockets.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace fedhur::apps {
namespace {
Resolved ask_resolver(const transport::Address& address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &list);
  if (error != 0) {
    return {.addresses = {},
            .problem = error == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(error)};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  Resolved resolved;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    SocketAddress found;
    found.size = entry->ai_addrlen;
    std::memcpy(&found.bytes, entry->ai_addr, entry->ai_addrlen);
    resolved.addresses.push_back(found);
  }
  return resolved;
}

const sockaddr* sockaddr_of(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr*>(&address.bytes);  // NOLINT: as sockets want it
}

// Host and port in numbers; nothing for what is no IP address.
std::optional<std::pair<std::string, std::string>> numbers_of(const sockaddr* address) {
  const bool is_v4 = address->sa_family == AF_INET;
  if (!is_v4 && address->sa_family != AF_INET6) return std::nullopt;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  const int error =
      ::getnameinfo(address, is_v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6), host.data(),
                    host.size(), port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  if (error != 0) return std::nullopt;
  return std::pair(std::string(host.data()), std::string(port.data()));
}

int wait_until_connected(int socket, std::chrono::milliseconds patience) {
  pollfd waiting{.fd = socket, .events = POLLOUT, .revents = 0};
  const int ready = ::poll(&waiting, 1, static_cast<int>(patience.count()));
  if (ready == 0) return ETIMEDOUT;
  if (ready < 0) return errno;
  int error = 0;
  socklen_t size = sizeof error;
  (void)::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}
}  // namespace

std::string to_text(const SocketAddress& address) {
  const auto numbers = numbers_of(sockaddr_of(address));
  if (!numbers) return "";
  const auto& [host, port] = *numbers;
  return (address.bytes.ss_family == AF_INET6 ? "[" + host + "]" : host) + ":" + port;
}

Resolved resolve_name(const transport::Address& address, std::chrono::milliseconds patience) {
  // The resolver cannot be interrupted: a thread that is still asking is left to itself.
  auto answer = std::make_shared<std::promise<Resolved>>();
  auto future = answer->get_future();
  std::thread([answer, address] { answer->set_value(ask_resolver(address)); }).detach();
  if (future.wait_for(patience) == std::future_status::ready) return future.get();
  return {.addresses = {},
          .problem = fmt::format("no answer within {} s", patience.count() / 1000)};
}

Connected connect_to(const SocketAddress& address, std::chrono::milliseconds patience) {
  const auto begin = std::chrono::steady_clock::now();
  Connected connected;
  connected.socket = std::make_unique<Descriptor>(
      ::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int number = connected.socket->get();
  if (number < 0 || ::connect(number, sockaddr_of(address), address.size) != 0) {
    connected.error = errno;
  }
  if (connected.error == EINPROGRESS) connected.error = wait_until_connected(number, patience);
  connected.took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin);
  return connected;
}

int try_to_bind(const SocketAddress& address) {
  const Descriptor socket(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return errno;
  // As gRPC does: connections of a server that has just ended do not keep its port.
  const int yes = 1;
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  return ::bind(socket.get(), sockaddr_of(address), address.size) == 0 ? 0 : errno;
}

std::vector<std::string> own_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::vector<std::string> addresses;
  std::vector<std::string> loopback;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const auto numbers = numbers_of(entry->ifa_addr);
    if (!numbers) continue;
    (transport::is_loopback(numbers->first) ? loopback : addresses).push_back(numbers->first);
  }
  addresses.insert(addresses.end(), loopback.begin(), loopback.end());
  return addresses;
}
}  // namespace fedhur::apps
