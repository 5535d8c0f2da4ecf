#include "fedhur/pki/request.hpp"

#include <gmock/gmock.h>
#include <openssl/rsa.h>

#include <functional>

#include "fedhur/base/error.hpp"
#include "fedhur/pki/pem.hpp"
#include "fedhur/pki/signing.hpp"
#include "pki_support.hpp"

namespace fedhur::pki {
namespace {
const Identity kClient{.name = "", .purpose = Purpose::client, .clients = {{7, 8}}, .hosts = {}};

std::string request_with(EVP_PKEY& key, const std::string& name,
                         const std::function<void(X509_REQ&)>& change = {}) {
  const RequestPtr request(X509_REQ_new());
  X509_REQ_set_subject_name(request.get(), make_name(name).get());
  X509_REQ_set_pubkey(request.get(), &key);
  if (change) change(*request);
  EXPECT_GT(X509_REQ_sign(request.get(), &key, EVP_sha256()), 0);
  return to_pem(*request);
}

std::string sign(const TestAuthority& ca, const std::string& request) {
  return sign_request(ca.path, request, kClient, kCertificateDays, kNow);
}

TEST(Request, BecomesACertificateForTheSameKey) {
  const TestAuthority ca;
  const RequestKeyPair request = make_request("hospital-a");
  const RequestInfo info = read_request(request.request);
  EXPECT_EQ(info.name, "hospital-a");
  EXPECT_EQ(info.key, "P-256");
  const std::string certificate = sign(ca, request.request);
  EXPECT_TRUE(key_matches(certificate, request.key));
  EXPECT_EQ(find_fault(certificate, ca.certificate, Purpose::client, kNow), std::nullopt);
  EXPECT_EQ(read_certificate(certificate).name, "hospital-a");
  EXPECT_EQ(read_certificate(certificate).key_sha256, info.key_sha256);
  EXPECT_EQ(to_text(read_certificate(certificate).clients), "7-8");
}

TEST(Request, IsGrantedWhatTheOperatorSaysAndNotWhatItAsksFor) {
  const TestAuthority ca;
  const KeyPtr key = make_key();
  const std::string greedy = request_with(*key, "site", [](X509_REQ& request) {
    STACK_OF(X509_EXTENSION)* wishes = nullptr;
    for (const auto& [kind, value] :
         {std::pair(NID_subject_alt_name, "URI:fedhur:client:0-99,DNS:fed.example.org"),
          std::pair(NID_basic_constraints, "critical,CA:TRUE"),
          std::pair(NID_ext_key_usage, "serverAuth,clientAuth")}) {
      const ExtensionPtr wish(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
      X509v3_add_ext(&wishes, wish.get(), -1);
    }
    X509_REQ_add_extensions(&request, wishes);
    sk_X509_EXTENSION_pop_free(wishes, X509_EXTENSION_free);
    X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(&request), "O", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("Root"), -1, -1, 0);
  });
  const std::string pem = sign(ca, greedy);
  const CertificateInfo info = read_certificate(pem);
  EXPECT_EQ(info.name, "site");
  EXPECT_EQ(to_text(info.clients), "7-8");
  EXPECT_TRUE(info.hosts.empty());
  EXPECT_FALSE(info.is_ca);
  EXPECT_FALSE(info.for_server);
  EXPECT_EQ(X509_NAME_entry_count(X509_get_subject_name(parse_certificate(pem).get())), 1);
}

TEST(Request, WithOneBitFlippedIsRefused) {
  const RequestKeyPair request = make_request("site");
  for (std::size_t bit = 0; bit < count_bits(request.request); bit += 7) {
    EXPECT_THROW((void)read_request(flip_bit(request.request, bit)), DataError) << bit;
  }
}

TEST(Request, WithTheKeyOfSomebodyElseIsRefused) {
  const TestAuthority ca;
  const KeyPtr mine = make_key();
  const KeyPtr theirs = make_key();
  const RequestPtr request(X509_REQ_new());
  X509_REQ_set_subject_name(request.get(), make_name("thief").get());
  X509_REQ_set_pubkey(request.get(), theirs.get());
  X509_REQ_sign(request.get(), mine.get(), EVP_sha256());
  EXPECT_THROW((void)sign(ca, to_pem(*request)), DataError);
}

TEST(Request, NeedsANameThatCanBePrinted) {
  const TestAuthority ca;
  const KeyPtr key = make_key();
  EXPECT_THROW((void)read_request(request_with(*key, "a\nb")), DataError);
  EXPECT_THROW((void)read_request(request_with(*key, " ")), DataError);
  EXPECT_THROW((void)sign(ca, request_with(*key, "test CA")), ConfigError);
  EXPECT_NO_THROW((void)sign(ca, request_with(*key, "Klinik Köln")));
  EXPECT_THROW((void)make_request(""), ConfigError);
}

TEST(Request, NeedsAKeyThatIsStrongAndCommon) {
  const auto key_of = [](const char* type, auto... more) {
    return KeyPtr(EVP_PKEY_Q_keygen(nullptr, nullptr, type, more...));
  };
  EXPECT_EQ(read_request(request_with(*key_of("EC", "P-384"), "x")).key, "P-384");
  EXPECT_EQ(read_request(request_with(*key_of("RSA", std::size_t{2048}), "x")).key, "RSA 2048");
  EXPECT_THROW((void)read_request(request_with(*key_of("RSA", std::size_t{1024}), "x")), DataError);
  EXPECT_THROW((void)read_request(request_with(*key_of("EC", "secp256k1"), "x")), DataError);
  EXPECT_THROW((void)read_request(request_with(*key_of("EC", "P-224"), "x")), DataError);
}

TEST(Request, IsNeitherACertificateNorNothing) {
  const TestAuthority ca;
  const std::string request = make_request("site").request;
  EXPECT_EQ(kind_of(request), PemKind::request);
  for (const std::string& text : {std::string(), ca.certificate, request + request,
                                  request.substr(0, 200), std::string(5000, '-')}) {
    EXPECT_THROW((void)read_request(text), DataError);
  }
  EXPECT_THROW((void)read_certificate(request), DataError);
}
}  // namespace
}  // namespace fedhur::pki
