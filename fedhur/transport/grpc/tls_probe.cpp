#include "fedhur/transport/grpc/tls_probe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "fedhur/base/error.hpp"
#include "fedhur/pki/certificate.hpp"
#include "fedhur/pki/pem.hpp"

namespace fedhur::transport {
namespace {
using ProbeClock = std::chrono::steady_clock;
using ProbeEnd = TlsProbe::End;

using TlsContextPtr = pki::Owned<SSL_CTX, SSL_CTX_free>;
using TlsPtr = pki::Owned<SSL, SSL_free>;

void must_probe(bool is_done) { pki::must(is_done, "prepare a TLS handshake"); }

void show_certificate(SSL_CTX& context, const TlsTexts& texts) {
  if (texts.certificate.empty() || texts.key.empty()) return;
  must_probe(SSL_CTX_use_certificate(&context, pki::parse_certificate(texts.certificate).get()) ==
                 1 &&
             SSL_CTX_use_PrivateKey(&context, pki::parse_key(texts.key).get()) == 1);
}

bool is_for_host(X509* certificate, const std::string& host) {
  return pki::is_ip_address(host)
             ? X509_check_ip_asc(certificate, host.c_str(), 0) == 1
             : X509_check_host(certificate, host.data(), host.size(), 0, nullptr) == 1;
}

class Handshake {
 public:
  Handshake(int socket, const std::string& host, const TlsTexts& texts,
            std::chrono::milliseconds patience)
      : socket_(socket),
        host_(host),
        ca_(texts.ca),
        end_(ProbeClock::now() + patience),
        context_(SSL_CTX_new(TLS_client_method())) {
    must_probe(context_ != nullptr);
    must_probe(SSL_CTX_set_min_proto_version(context_.get(), TLS1_3_VERSION) == 1);
    SSL_CTX_set_cert_verify_callback(context_.get(), judge_server, this);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    show_certificate(*context_, texts);
    tls_.reset(SSL_new(context_.get()));
    must_probe(tls_ != nullptr && SSL_set_fd(tls_.get(), socket) == 1);
    constexpr std::array<unsigned char, 3> kHttp2 = {2, 'h', '2'};
    must_probe(SSL_set_alpn_protos(tls_.get(), kHttp2.data(), kHttp2.size()) == 0);
    if (!pki::is_ip_address(host)) {
      must_probe(SSL_set_tlsext_host_name(tls_.get(), host.c_str()) == 1);
    }
  }

  [[nodiscard]] TlsProbe run() {
    if (!keep_trying([this] { return SSL_connect(tls_.get()); })) return explain_handshake();
    // By now this end is content. Whether the server is, tells its first frame: in TLS 1.3 a
    // client is done before the server has looked at its certificate.
    constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    constexpr std::array<char, 9> kNoSettings = {0, 0, 0, 4, 0, 0, 0, 0, 0};
    std::string greeting(kPreface);
    greeting.append(kNoSettings.data(), kNoSettings.size());
    std::array<char, 9> frame{};
    const bool is_answered =
        keep_trying([&] {
          return SSL_write(tls_.get(), greeting.data(), static_cast<int>(greeting.size()));
        }) &&
        keep_trying([&] { return SSL_read(tls_.get(), frame.data(), frame.size()); });
    if (!is_answered) return explain_refusal();
    constexpr char kSettingsFrame = 4;
    if (frame[3] != kSettingsFrame)
      return end_as(ProbeEnd::no_tls, "it speaks TLS, but not HTTP/2");
    return end_as(ProbeEnd::accepted, "");
  }

 private:
  // Called amid the handshake, before this end shows its own certificate.
  static int judge_server(X509_STORE_CTX* store, void* self) {
    try {
      static_cast<Handshake*>(self)->judge(X509_STORE_CTX_get0_cert(store));
    } catch (const std::exception& error) {
      static_cast<Handshake*>(self)->fault_ = error.what();
    }
    const bool is_trusted = static_cast<Handshake*>(self)->fault_.empty();
    X509_STORE_CTX_set_error(store, is_trusted ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION);
    return is_trusted ? 1 : 0;
  }

  void judge(X509* certificate) {
    certificate_ = pki::to_pem(*certificate);
    fault_ = pki::find_fault(certificate_, ca_, pki::Purpose::server, current_time()).value_or("");
    if (!fault_.empty() || is_for_host(certificate, host_)) return;
    is_of_other_host_ = true;
    fault_ = fmt::format("its certificate is for {}, not for {}",
                         fmt::join(pki::read_certificate(certificate_).hosts, ", "), host_);
  }

  // Until the socket has had all it wants, or there is no more time.
  template <class Step>
  bool keep_trying(Step step) {
    for (;;) {
      ERR_clear_error();
      const int result = step();
      if (result > 0) return true;
      const int error = SSL_get_error(tls_.get(), result);
      if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return false;
      const auto rest =
          std::chrono::duration_cast<std::chrono::milliseconds>(end_ - ProbeClock::now());
      pollfd socket{.fd = socket_,
                    .events = static_cast<short>(error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT),
                    .revents = 0};
      if (rest.count() <= 0 || ::poll(&socket, 1, static_cast<int>(rest.count())) <= 0) {
        is_late_ = true;
        return false;
      }
    }
  }

  [[nodiscard]] TlsProbe end_as(ProbeEnd end, const std::string& reason) const {
    return {.end = end, .reason = reason, .certificate = certificate_};
  }

  // OpenSSL's words, such as "tlsv13 alert certificate required"; empty if it has none.
  [[nodiscard]] static std::string words() {
    const char* const text = ERR_reason_error_string(ERR_peek_last_error());
    return text == nullptr ? "" : text;
  }

  [[nodiscard]] TlsProbe explain_handshake() const {
    if (is_late_) return end_as(ProbeEnd::silent, "no answer to a TLS handshake");
    if (is_of_other_host_) return end_as(ProbeEnd::other_host, fault_);
    if (!fault_.empty()) return end_as(ProbeEnd::distrusted, fault_);
    const std::string why = words();
    if (why.empty() || why.find("unexpected eof") != std::string::npos) {
      return end_as(ProbeEnd::no_tls, "the connection was closed amid the TLS handshake");
    }
    return end_as(ProbeEnd::no_tls, fmt::format("this is no TLS 1.3: {}", why));
  }

  [[nodiscard]] TlsProbe explain_refusal() const {
    if (is_late_) return end_as(ProbeEnd::silent, "no answer after the TLS handshake");
    const std::string why = words();
    constexpr std::string_view kAlert = "alert ";
    const auto alert = why.find(kAlert);
    if (alert == std::string::npos) {
      return end_as(ProbeEnd::refused, "it has closed the connection without a word");
    }
    return end_as(ProbeEnd::refused,
                  fmt::format("it answers '{}'", why.substr(alert + kAlert.size())));
  }

  int socket_;
  std::string host_;
  std::string ca_;
  ProbeClock::time_point end_;
  TlsContextPtr context_;
  TlsPtr tls_;
  bool is_late_ = false;
  bool is_of_other_host_ = false;
  std::string certificate_;
  std::string fault_;  // of the server's certificate
};
}  // namespace

TlsProbe probe_tls(int socket, const std::string& host, const TlsTexts& texts,
                   std::chrono::milliseconds patience) {
  const int flags = ::fcntl(socket, F_GETFL);
  if (flags < 0 || ::fcntl(socket, F_SETFL, flags | O_NONBLOCK) != 0) {
    throw Error("a socket that cannot be used");
  }
  const pki::CleanQueue clean;
  return Handshake(socket, host, texts, patience).run();
}
}  // namespace fedhur::transport
