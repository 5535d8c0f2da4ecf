#include "fedhur/pki/pem.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

#include "fedhur/base/error.hpp"

namespace fedhur::pki {
namespace {
constexpr std::size_t kMaxBytes = std::size_t{16} << 20U;  // a list of 300 000 revoked certificates

struct Kind {
  const char* what = "";
  std::array<std::string_view, 2> labels;
};
constexpr Kind kCertificate{"a certificate", {"CERTIFICATE", "X509 CERTIFICATE"}};
constexpr Kind kRequest{"a certificate request",
                        {"CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"}};
constexpr Kind kCrl{"a revocation list", {"X509 CRL", "X509 CRL"}};

bool has_label(const Kind& kind, std::string_view label) {
  return std::ranges::find(kind.labels, label) != kind.labels.end();
}

[[noreturn]] void reject(const char* what, std::string_view why) {
  throw DataError(fmt::format("this is not {}: {}", what, why));
}

BioPtr open_text(const std::string& pem, const char* what) {
  if (pem.empty()) reject(what, "it is empty");
  if (pem.size() > kMaxBytes) reject(what, "it is too large");
  return BioPtr(must_have(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), "read text"));
}

// One labelled part of a PEM text; OpenSSL allocates all three.
struct PemBlock {
  PemBlock() = default;
  ~PemBlock() {
    OPENSSL_free(label);
    OPENSSL_free(header);
    OPENSSL_clear_free(bytes, static_cast<std::size_t>(size));  // it may be a key
  }
  PemBlock(const PemBlock&) = delete;
  PemBlock& operator=(const PemBlock&) = delete;
  char* label = nullptr;
  char* header = nullptr;
  unsigned char* bytes = nullptr;
  long size = 0;
};

// False at the end of the text.
bool read_block(BIO& text, PemBlock& block, const char* what) {
  if (PEM_read_bio(&text, &block.label, &block.header, &block.bytes, &block.size) == 1) return true;
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) reject(what, take_reason());
  ERR_clear_error();  // the end is no failure
  return false;
}

template <class Pointer, class Decode>
Pointer parse_one(const std::string& pem, const Kind& kind, Decode decode) {
  const BioPtr text = open_text(pem, kind.what);
  Pointer object;
  for (;;) {
    PemBlock block;
    if (!read_block(*text, block, kind.what)) break;
    if (!has_label(kind, block.label)) continue;
    if (object != nullptr) reject(kind.what, "there are several in one text, expected one");
    const unsigned char* next = block.bytes;
    object.reset(decode(nullptr, &next, block.size));
    if (object == nullptr) reject(kind.what, take_reason());
    if (next != block.bytes + block.size) reject(kind.what, "bytes follow its end");
  }
  if (object == nullptr) {
    reject(kind.what, fmt::format("it has no '-----BEGIN {}-----'", kind.labels.front()));
  }
  return object;
}

// Without this OpenSSL would ask at the terminal and wait.
int refuse_passphrase(char* /*buffer*/, int /*size*/, int /*is_writing*/, void* /*data*/) {
  return -1;
}

template <class Write>
std::string written(Write write) {
  const BioPtr text(must_have(BIO_new(BIO_s_secmem()), "write PEM"));
  must(write(text.get()) == 1, "write PEM");
  std::string pem(BIO_ctrl_pending(text.get()), '\0');
  must(BIO_read(text.get(), pem.data(), static_cast<int>(pem.size())) ==
           static_cast<int>(pem.size()),
       "write PEM");
  return pem;
}
}  // namespace

CertificatePtr parse_certificate(const std::string& pem) {
  return parse_one<CertificatePtr>(pem, kCertificate, d2i_X509);
}

RequestPtr parse_request(const std::string& pem) {
  return parse_one<RequestPtr>(pem, kRequest, d2i_X509_REQ);
}

CrlPtr parse_crl(const std::string& pem) { return parse_one<CrlPtr>(pem, kCrl, d2i_X509_CRL); }

KeyPtr parse_key(const std::string& pem) {
  constexpr const char* kWhat = "a private key";
  const BioPtr text = open_text(pem, kWhat);
  KeyPtr key(PEM_read_bio_PrivateKey(text.get(), nullptr, refuse_passphrase, nullptr));
  if (key != nullptr) return key;
  const bool is_locked = pem.find("ENCRYPTED") != std::string::npos;
  const std::string reason = take_reason();
  reject(kWhat, is_locked ? "it has a passphrase, expected a key without" : reason);
}

std::string to_pem(const X509& certificate) {
  return written([&](BIO* text) { return PEM_write_bio_X509(text, &certificate); });
}

std::string to_pem(const X509_REQ& request) {
  return written([&](BIO* text) { return PEM_write_bio_X509_REQ(text, &request); });
}

std::string to_pem(const X509_CRL& crl) {
  return written([&](BIO* text) { return PEM_write_bio_X509_CRL(text, &crl); });
}

std::string to_pem(const EVP_PKEY& key) {
  return written([&](BIO* text) {
    return PEM_write_bio_PKCS8PrivateKey(text, &key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

PemKind kind_of(const std::string& pem) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  for (auto at = pem.find(kBegin); at != std::string::npos; at = pem.find(kBegin, at + 1)) {
    const auto first = at + kBegin.size();
    const std::string_view label =
        std::string_view(pem).substr(first, pem.find("-----", first) - first);
    if (has_label(kCertificate, label)) return PemKind::certificate;
    if (has_label(kRequest, label)) return PemKind::request;
    if (has_label(kCrl, label)) return PemKind::revocations;
    if (label.ends_with("PRIVATE KEY")) return PemKind::key;
  }
  return PemKind::unknown;
}

std::string read_pem_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw DataError(fmt::format("{} is a folder, expected a file", path.string()));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const int error = errno;
    const std::string why = fmt::format("cannot open {}: {}", path.string(), std::strerror(error));
    if (error == ENOENT || error == ENOTDIR) throw DataError(why);
    throw FileError(why);
  }
  // Not by its size, which pipes and devices do not have.
  std::string text;
  std::array<char, 1U << 14U> piece{};
  while (file && text.size() <= kMaxBytes) {
    file.read(piece.data(), piece.size());
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) throw FileError(fmt::format("cannot read {}", path.string()));
  if (text.size() > kMaxBytes) {
    throw DataError(fmt::format("{} is larger than {} MB, which no certificate, key or list is",
                                path.string(), kMaxBytes >> 20U));
  }
  return text;
}
}  // namespace fedhur::pki
