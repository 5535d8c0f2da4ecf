#include "fedhur/pki/openssl.hpp"

#include <fmt/format.h>
#include <openssl/err.h>

#include <algorithm>
#include <ctime>
#include <span>

#include "fedhur/base/error.hpp"
#include "fedhur/base/hash.hpp"
#include "fedhur/base/strings.hpp"

namespace fedhur::pki {
namespace {
// A function, since OPENSSL_free is a macro.
void free_bytes(void* bytes) { OPENSSL_free(bytes); }
using BytesPtr = Owned<unsigned char, free_bytes>;
using CharsPtr = Owned<char, free_bytes>;

std::string whole_name(const X509_NAME* name) {
  const BioPtr text(must_have(BIO_new(BIO_s_mem()), "write a name"));
  must(X509_NAME_print_ex(text.get(), name, 0, XN_FLAG_RFC2253) >= 0, "write a name");
  std::string result(BIO_ctrl_pending(text.get()), '\0');
  const int size = BIO_read(text.get(), result.data(), static_cast<int>(result.size()));
  result.resize(static_cast<std::size_t>(std::max(size, 0)));
  return result;
}

std::string common_name(const X509_NAME* name, int index) {
  const ASN1_STRING* stored = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index));
  unsigned char* bytes = nullptr;
  const int size = ASN1_STRING_to_UTF8(&bytes, stored);
  const BytesPtr owner(bytes);
  if (size < 0) throw DataError(fmt::format("the name cannot be read: {}", take_reason()));
  return {bytes, bytes + size};
}

// Of what `encode` writes.
template <class Encode>
std::string sha256_of_der(const Encode& encode) {
  unsigned char* bytes = nullptr;
  const int size = encode(&bytes);
  const BytesPtr owner(bytes);
  must(size > 0, "compute a fingerprint");
  return sha256_hex(std::as_bytes(std::span(bytes, static_cast<std::size_t>(size))));
}
}  // namespace

CleanQueue::CleanQueue() { ERR_clear_error(); }
CleanQueue::~CleanQueue() { ERR_clear_error(); }

std::string take_reason() {
  const char* reason = ERR_reason_error_string(ERR_peek_error());
  ERR_clear_error();
  return reason == nullptr ? "no reason given" : reason;
}

void must(bool is_done, const char* action) {
  if (!is_done) throw Error(fmt::format("OpenSSL could not {}: {}", action, take_reason()));
}

std::int64_t unix_seconds(const ASN1_TIME* time) {
  std::tm calendar{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &calendar) != 1) {
    throw DataError(fmt::format("a date cannot be read: {}", take_reason()));
  }
  return ::timegm(&calendar);
}

TimePtr make_time(std::int64_t seconds) {
  return TimePtr(must_have(ASN1_TIME_set(nullptr, seconds), "write a date"));
}

std::string hex_of(const ASN1_INTEGER* number) {
  const NumberPtr value(must_have(ASN1_INTEGER_to_BN(number, nullptr), "read a number"));
  const CharsPtr hex(must_have(BN_bn2hex(value.get()), "write a number"));
  return lowercase(hex.get());
}

IntegerPtr integer_of(const std::string& hex) {
  BIGNUM* value = nullptr;
  const int size = BN_hex2bn(&value, hex.c_str());
  const NumberPtr owner(value);
  must(size > 0 && static_cast<std::size_t>(size) == hex.size(), "read a number");
  return IntegerPtr(must_have(BN_to_ASN1_INTEGER(value, nullptr), "write a number"));
}

std::string name_text(const X509_NAME* name) {
  const int first = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  const bool is_single = first >= 0 && X509_NAME_get_index_by_NID(name, NID_commonName, first) < 0;
  std::string text = is_single ? common_name(name, first) : whole_name(name);
  if (!is_printable(text)) {
    throw DataError("the name holds control characters, expected letters that can be printed");
  }
  return text;
}

NamePtr make_name(const std::string& common_name) {
  NamePtr name(must_have(X509_NAME_new(), "make a name"));
  const std::span bytes(reinterpret_cast<const unsigned char*>(common_name.data()),
                        common_name.size());
  must(X509_NAME_add_entry_by_NID(name.get(), NID_commonName, MBSTRING_UTF8, bytes.data(),
                                  static_cast<int>(bytes.size()), -1, 0) == 1,
       "make a name");
  return name;
}

std::string sha256_of(const X509* certificate) {
  return sha256_of_der([&](unsigned char** bytes) { return i2d_X509(certificate, bytes); });
}

std::string sha256_of(EVP_PKEY* key) {
  return sha256_of_der([&](unsigned char** bytes) { return i2d_PUBKEY(key, bytes); });
}
}  // namespace fedhur::pki
