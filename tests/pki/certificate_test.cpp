#include "fedhur/pki/certificate.hpp"

#include <gmock/gmock.h>
#include <openssl/err.h>

#include "fedhur/base/error.hpp"
#include "fedhur/pki/pem.hpp"
#include "fedhur/pki/signing.hpp"
#include "pki_support.hpp"

namespace fedhur::pki {
namespace {
using ::testing::HasSubstr;
using ::testing::Optional;

constexpr Lifetime kLifetime{.not_before = kNow - kDay, .not_after = kNow + kDay};

TEST(Certificate, OfAClientSaysWhomItSpeaksFor) {
  const TestAuthority ca;
  const CertificateInfo info =
      read_certificate(ca.issue_client("3,5,8-9", "Klinik Köln").certificate);
  EXPECT_EQ(info.name, "Klinik Köln");
  EXPECT_EQ(info.issuer, "test CA");
  EXPECT_EQ(to_text(info.clients), "3,5,8-9");
  EXPECT_TRUE(info.hosts.empty());
  EXPECT_EQ(info.serial.size(), 32U);
  EXPECT_EQ(info.sha256.size(), 64U);
  EXPECT_EQ(info.not_before, kNow - 300) << "clocks differ";
  EXPECT_EQ(info.not_after, kNow + 365 * kDay);
  EXPECT_FALSE(info.is_ca);
  EXPECT_FALSE(info.for_server);
  EXPECT_TRUE(info.for_client);
}

TEST(Certificate, OfAServerSaysWhereItAnswers) {
  const TestAuthority ca;
  const CertificateInfo info =
      read_certificate(ca.issue_server("fed.example.org,10.0.0.5,::1").certificate);
  EXPECT_EQ(info.hosts, (std::vector<std::string>{"fed.example.org", "10.0.0.5", "::1"}));
  EXPECT_TRUE(info.clients.empty());
  EXPECT_TRUE(info.for_server);
  EXPECT_FALSE(info.for_client);
}

TEST(Certificate, OfACaIsOneAndForNothingElse) {
  const TestAuthority ca;
  const CertificateInfo info = read_certificate(ca.certificate);
  EXPECT_TRUE(info.is_ca);
  EXPECT_FALSE(info.for_server || info.for_client);
  EXPECT_EQ(info.not_after, kNow + 3650 * kDay);
}

TEST(Certificate, KnowsItsKey) {
  const TestAuthority ca;
  const IssuedKeyPair one = ca.issue_client("1");
  const IssuedKeyPair two = ca.issue_client("2");
  EXPECT_TRUE(key_matches(one.certificate, one.key));
  EXPECT_FALSE(key_matches(one.certificate, two.key));
  EXPECT_THROW((void)key_matches(one.certificate, one.certificate), DataError);
  EXPECT_THROW((void)key_matches(one.key, one.key), DataError);
  EXPECT_EQ(ERR_peek_error(), 0U) << "the next TLS connection would take it for its own";
}

TEST(Certificate, IsTrustedForItsPurposeOnly) {
  const TestAuthority ca;
  const std::string client = ca.issue_client("1").certificate;
  const std::string server = ca.issue_server("localhost").certificate;
  EXPECT_EQ(find_fault(client, ca.certificate, Purpose::client, kNow), std::nullopt);
  EXPECT_EQ(find_fault(server, ca.certificate, Purpose::server, kNow), std::nullopt);
  EXPECT_THAT(find_fault(client, ca.certificate, Purpose::server, kNow),
              Optional(HasSubstr("is a client's, expected a server's")));
  EXPECT_THAT(find_fault(server, ca.certificate, Purpose::client, kNow),
              Optional(HasSubstr("is a server's, expected a client's")));
  EXPECT_THAT(find_fault(ca.certificate, ca.certificate, Purpose::client, kNow),
              Optional(HasSubstr("a CA's own")));
}

TEST(Certificate, IsTrustedWithinItsDatesOnly) {
  const TestAuthority ca;
  const std::string client = ca.issue_client("1").certificate;
  const auto fault_at = [&](std::int64_t now) {
    return find_fault(client, ca.certificate, Purpose::client, now);
  };
  EXPECT_EQ(fault_at(kNow - 300), std::nullopt);
  EXPECT_EQ(fault_at(kNow + 365 * kDay - 1), std::nullopt);
  EXPECT_THAT(fault_at(kNow + 366 * kDay), Optional(HasSubstr("ended on 2028-01-15 08:00 UTC")));
  EXPECT_THAT(fault_at(kNow - kDay), Optional(HasSubstr("2027-01-15")));
  EXPECT_THAT(fault_at(0), Optional(HasSubstr("clock has not reached")));
}

TEST(Certificate, OfAForeignCaIsNotTrusted) {
  const TestAuthority ca;
  const TestAuthority namesake;
  const TestAuthority other("other CA");
  const std::string client = ca.issue_client("1").certificate;
  for (const TestAuthority* foreign : {&namesake, &other}) {
    EXPECT_THAT(find_fault(client, foreign->certificate, Purpose::client, kNow),
                Optional(HasSubstr("not issued by this CA")));
    EXPECT_FALSE(is_issued_by(client, foreign->certificate));
  }
  EXPECT_TRUE(is_issued_by(client, ca.certificate));
  EXPECT_THROW((void)find_fault(client, client, Purpose::client, kNow), DataError);
  EXPECT_THROW((void)find_fault(client, "", Purpose::client, kNow), DataError);
}

TEST(Certificate, WithOneBitFlippedIsNotTrusted) {
  const TestAuthority ca;
  const std::string client = ca.issue_client("7").certificate;
  for (std::size_t bit = 0; bit < count_bits(client); bit += 7) {
    const std::string tampered = flip_bit(client, bit);
    EXPECT_TRUE(find_fault(tampered, ca.certificate, Purpose::client, kNow)) << bit;
  }
  EXPECT_EQ(ERR_peek_error(), 0U);
}

// A client cannot sign for others, nor can one who calls itself by the CA's name.
TEST(Certificate, SignedByAClientIsNotTrusted) {
  const TestAuthority ca;
  const IssuedKeyPair client = ca.issue_client("7");
  Signer signer;
  signer.certificate = parse_certificate(client.certificate);
  signer.key = parse_key(client.key);
  const KeyPtr key = make_key();
  const Identity identity{
      .name = "evil", .purpose = Purpose::client, .clients = {{0, 9}}, .hosts = {}};
  const std::string forged = to_pem(*sign_certificate(signer, *key, identity, kLifetime));
  EXPECT_TRUE(find_fault(forged, ca.certificate, Purpose::client, kNow));
  EXPECT_TRUE(find_fault(forged + client.certificate, ca.certificate, Purpose::client, kNow));
  signer.certificate = make_ca_certificate(*key, "test CA", kLifetime);
  signer.key = KeyPtr(EVP_PKEY_dup(key.get()));
  const std::string claimed = to_pem(*sign_certificate(signer, *key, identity, kLifetime));
  EXPECT_TRUE(find_fault(claimed, ca.certificate, Purpose::client, kNow));
}

class OddCertificate : public ::testing::Test {
 protected:
  OddCertificate() {
    signer_.key = make_key();
    signer_.certificate = make_ca_certificate(*signer_.key, "odd CA", kLifetime);
    certificate_ = sign_certificate(
        signer_, *signer_.key,
        {.name = "odd", .purpose = Purpose::client, .clients = {{1, 1}}, .hosts = {}}, kLifetime);
  }
  void remove(int kind) {
    X509_EXTENSION_free(
        X509_delete_ext(certificate_.get(), X509_get_ext_by_NID(certificate_.get(), kind, -1)));
  }
  void add(int kind, const char* value) {
    X509V3_CTX context{};
    X509V3_set_ctx(&context, signer_.certificate.get(), certificate_.get(), nullptr, nullptr, 0);
    const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value));
    ASSERT_NE(extension, nullptr) << value;
    ASSERT_EQ(X509_add_ext(certificate_.get(), extension.get(), -1), 1);
  }
  std::string signed_pem() {
    X509_sign(certificate_.get(), signer_.key.get(), EVP_sha256());
    return to_pem(*certificate_);
  }
  std::optional<std::string> fault(Purpose purpose) {
    return find_fault(signed_pem(), to_pem(*signer_.certificate), purpose, kNow);
  }

  Signer signer_;
  CertificatePtr certificate_;
};

TEST_F(OddCertificate, WithoutPurposeIsGoodForNothing) {
  ASSERT_EQ(fault(Purpose::client), std::nullopt);
  remove(NID_ext_key_usage);
  EXPECT_TRUE(fault(Purpose::client));
  EXPECT_TRUE(fault(Purpose::server));
}

TEST_F(OddCertificate, MayNotNameClientsInAnotherForm) {
  for (const char* uri : {"fedhur:client:", "fedhur:client:x", "fedhur:client:5-3",
                          "fedhur:client:007", "fedhur:client:3-3", "fedhur:client:-1"}) {
    remove(NID_subject_alt_name);
    add(NID_subject_alt_name, (std::string("URI:") + uri).c_str());
    EXPECT_THROW((void)read_certificate(signed_pem()), DataError) << uri;
    EXPECT_THAT(fault(Purpose::client), Optional(HasSubstr("client ids"))) << uri;
  }
}

TEST_F(OddCertificate, SpeaksForNobodyWithoutSuchNames) {
  remove(NID_subject_alt_name);
  add(NID_subject_alt_name, "URI:https://example.org/fedhur:client:1,email:a@example.org");
  EXPECT_TRUE(read_certificate(signed_pem()).clients.empty());
  remove(NID_subject_alt_name);
  add(NID_subject_alt_name, "URI:fedhur:client:4,URI:fedhur:client:3,URI:fedhur:client:8-9");
  EXPECT_EQ(to_text(read_certificate(signed_pem()).clients), "3-4,8-9");
}

TEST_F(OddCertificate, MayNotSayAThingTwice) {
  add(NID_subject_alt_name, "URI:fedhur:client:0-99");
  EXPECT_THROW((void)read_certificate(signed_pem()), DataError);
}

TEST_F(OddCertificate, MayNotHaveANameThatForgesALogLine) {
  X509_set_subject_name(certificate_.get(), make_name("site\nserver: all is well").get());
  EXPECT_THROW((void)read_certificate(signed_pem()), DataError);
  X509_set_subject_name(certificate_.get(), make_name(std::string("site\0evil", 9)).get());
  EXPECT_THROW((void)read_certificate(signed_pem()), DataError);
}

TEST(Certificate, IsOneWholeObject) {
  const TestAuthority ca;
  const std::string client = ca.issue_client("1").certificate;
  EXPECT_EQ(read_certificate("Certificate of a site:\n" + client + "\nthe end\n").name, "site");
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("hello"), std::string(1000, '\0'),
        client + client, client.substr(0, client.size() / 2), client.substr(30),
        std::string("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"),
        std::string(std::size_t{20} << 20U, 'A')}) {
    EXPECT_THROW((void)read_certificate(text), DataError) << text.substr(0, 100);
  }
  EXPECT_EQ(ERR_peek_error(), 0U);
}

TEST(PemKind, IsToldByTheLabel) {
  const TestAuthority ca;
  const IssuedKeyPair pair = ca.issue_client("1");
  EXPECT_EQ(kind_of(pair.certificate), PemKind::certificate);
  EXPECT_EQ(kind_of(pair.key), PemKind::key);
  EXPECT_EQ(kind_of(read_pem_file(ca.path / kRevocations)), PemKind::revocations);
  EXPECT_EQ(kind_of("-----BEGIN RSA PRIVATE KEY-----"), PemKind::key);
  EXPECT_EQ(kind_of("-----BEGIN "), PemKind::unknown);
  EXPECT_EQ(kind_of(""), PemKind::unknown);
}

TEST(PemFile, IsAFileOfReasonableSize) {
  const tests::TempFolder folder;
  EXPECT_THROW((void)read_pem_file(folder.path()), DataError);
  EXPECT_THROW((void)read_pem_file(folder / "none"), DataError);
  EXPECT_THROW((void)read_pem_file("/dev/zero"), DataError);
  EXPECT_EQ(read_pem_file("/dev/null"), "");
}
}  // namespace
}  // namespace fedhur::pki
