// A network between site and server that fails when the test says so.
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace fedhur::transport {
class Proxy {
 public:
  explicit Proxy(int target_port) : target_port_(target_port), listener_(open_socket()) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);
    if (bind(listener_, as_sockaddr(&address), size) != 0 || listen(listener_, 16) != 0 ||
        getsockname(listener_, as_sockaddr(&address), &size) != 0) {
      throw std::runtime_error("the proxy cannot listen");
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~Proxy() {
    is_over_ = true;
    acceptor_.join();
    for (std::thread& pump : pumps_) pump.join();
    close(listener_);
  }
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  [[nodiscard]] int port() const { return port_; }
  // Connections stay, but nothing passes, and no new ones are taken.
  void swallow(bool is_swallowing) { is_swallowing_ = is_swallowing; }
  // Breaks the connection that carries this byte from a site; later ones pass.
  void cut_after(std::int64_t num_bytes) { bytes_left_ = num_bytes; }
  [[nodiscard]] bool has_cut() const { return bytes_left_ < 0; }

 private:
  static sockaddr* as_sockaddr(sockaddr_in* address) {
    return reinterpret_cast<sockaddr*>(address);
  }
  static int open_socket() { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }
  static sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
  }
  [[nodiscard]] bool can_read(int socket) const {
    constexpr int kPatience = 20;  // milliseconds
    pollfd waiting{.fd = socket, .events = POLLIN, .revents = 0};
    if (!is_swallowing_) return poll(&waiting, 1, kPatience) > 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(kPatience));
    return false;
  }

  void accept_all() {
    while (!is_over_) {
      if (!can_read(listener_)) continue;
      const int site = accept(listener_, nullptr, nullptr);
      const int server = open_socket();
      sockaddr_in address = loopback(target_port_);
      if (connect(server, as_sockaddr(&address), sizeof(address)) != 0) {
        close(site);
        close(server);
        continue;
      }
      pumps_.emplace_back([this, site, server] {
        std::thread back([&] { pump(server, site, false); });
        pump(site, server, true);
        back.join();
        close(site);
        close(server);
      });
    }
  }

  void pump(int from, int to, bool is_from_site) {
    std::array<char, 65536> buffer{};
    while (!is_over_) {
      if (!can_read(from)) continue;
      const auto size = recv(from, buffer.data(), buffer.size(), 0);
      if (size <= 0) break;
      if (is_from_site && bytes_left_ >= 0) {
        bytes_left_ -= size;
        if (bytes_left_ < 0) break;
      }
      if (send(to, buffer.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL) != size) break;
    }
    shutdown(from, SHUT_RDWR);
    shutdown(to, SHUT_RDWR);
  }

  int target_port_;
  int listener_;
  int port_ = 0;
  std::atomic<bool> is_over_ = false;
  std::atomic<bool> is_swallowing_ = false;
  std::atomic<std::int64_t> bytes_left_ = std::numeric_limits<std::int64_t>::max();
  std::thread acceptor_;
  std::vector<std::thread> pumps_;
};
}  // namespace fedhur::transport
