#include "fuzz/pki_input.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "fedhur/base/error.hpp"
#include "fedhur/base/strings.hpp"
#include "fedhur/pki/certificate.hpp"
#include "fedhur/pki/issue_record.hpp"
#include "fedhur/pki/pem.hpp"
#include "fedhur/pki/request.hpp"
#include "fedhur/pki/revocation.hpp"
#include "fedhur/pki/signing.hpp"

namespace fedhur::fuzz {
namespace {
constexpr std::int64_t kNow = 1'800'000'000;

// Nothing that the fuzzer invents is signed by it.
const std::string& ca() {
  static const std::string pem = [] {
    const pki::KeyPtr key = pki::make_key();
    return pki::to_pem(*pki::make_ca_certificate(
        *key, "fedhur CA", {.not_before = kNow - 1000, .not_after = kNow + 1000}));
  }();
  return pem;
}

std::string to_pem(const char* label, std::span<const std::uint8_t> der) {
  const pki::BioPtr text(BIO_new(BIO_s_mem()));
  PEM_write_bio(text.get(), label, "", der.data(), static_cast<long>(der.size()));
  std::string pem(BIO_ctrl_pending(text.get()), '\0');
  BIO_read(text.get(), pem.data(), static_cast<int>(pem.size()));
  return pem;
}

// Runs it; a DataError has to be a sentence that a terminal can show.
template <class Read>
void take(Read read) {
  try {
    read();
  } catch (const DataError& error) {
    const std::string_view message = error.what();
    expects(!message.empty() && message.size() < 500, "a message is one sentence");
    expects(is_printable(message), "a message is printable");
  }
  expects(ERR_peek_error() == 0, "nothing is left in OpenSSL's queue");
}

void take_certificate(const std::string& pem) {
  take([&] {
    const pki::CertificateInfo info = pki::read_certificate(pem);
    expects(is_printable(info.name) && is_printable(info.issuer), "names are printable");
    expects(!info.serial.empty(), "there is a serial");
    expects(pki::canonical(info.clients) == info.clients, "ranges are canonical");
    expects(info.sha256.size() == 64 && info.key_sha256.size() == 64, "there are fingerprints");
    const auto purpose = info.for_server ? pki::Purpose::server : pki::Purpose::client;
    expects(pki::find_fault(pem, ca(), purpose, kNow).has_value(), "strangers stay outside");
    (void)pki::format_time(info.not_after);
  });
}

void take_request(const std::string& pem) {
  take([&] {
    const pki::RequestInfo info = pki::read_request(pem);
    expects(!pki::find_name_fault(info.name), "the name can be in a certificate");
  });
}

void take_revocations(const std::string& pem) {
  take([&] {
    const pki::RevocationInfo info = pki::read_revocations(pem);
    expects(is_printable(info.issuer), "names are printable");
    expects(info.number >= 0, "lists are numbered from 0");
    (void)pki::RevocationList::read(pem, ca());
    expects(false, "the CA knows what it has signed");
  });
}
}  // namespace

void pki_input(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  const auto rest = input.subspan(1);
  switch (input.front()) {
    case '0':
      return take_certificate(to_pem("CERTIFICATE", rest));
    case '1':
      return take_request(to_pem("CERTIFICATE REQUEST", rest));
    case '2':
      return take_revocations(to_pem("X509 CRL", rest));
    default:
      break;
  }
  const std::string text(rest.begin(), rest.end());
  take_certificate(text);
  take_request(text);
  take_revocations(text);
  if (pki::kind_of(text) == pki::PemKind::key) {  // asking OpenSSL takes long
    take([&] { (void)pki::key_matches(ca(), text); });
  }
  take([&] {
    const auto entries = pki::parse_issue_record(text);
    expects(pki::parse_issue_record(pki::to_json_lines(entries)).size() == entries.size(),
            "a record reads back");
  });
}
}  // namespace fedhur::fuzz
