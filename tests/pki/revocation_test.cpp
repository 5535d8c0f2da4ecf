#include "fedhur/pki/revocation.hpp"

#include <gmock/gmock.h>
#include <openssl/err.h>

#include "fedhur/base/error.hpp"
#include "fedhur/pki/pem.hpp"
#include "fedhur/pki/signing.hpp"
#include "pki_support.hpp"

namespace fedhur::pki {
namespace {
struct SignedList {
  explicit SignedList(std::vector<RevokedSerial> revoked) {
    signer.key = make_key();
    signer.certificate =
        make_ca_certificate(*signer.key, "test CA", {.not_before = kNow, .not_after = kNow + kDay});
    list = sign_revocations(signer, {.issuer = "",
                                     .number = 5,
                                     .this_update = kNow,
                                     .next_update = kNow + 7 * kDay,
                                     .revoked = std::move(revoked)});
  }
  [[nodiscard]] std::string pem() const { return to_pem(*list); }
  [[nodiscard]] std::string ca() const { return to_pem(*signer.certificate); }
  Signer signer;
  CrlPtr list;
};

TEST(RevocationList, HoldsWhatWasRevoked) {
  const SignedList made({{.serial = "ff01", .time = kNow}, {.serial = "0a", .time = kNow + 1}});
  const RevocationList list = RevocationList::read(made.pem(), made.ca());
  for (const char* serial : {"ff01", "FF:01", "00ff01", "0a", "a"}) {
    EXPECT_TRUE(list.contains(serial)) << serial;
  }
  for (const char* serial : {"ff", "01", "", "ff0100", "x", "-0a"}) {
    EXPECT_FALSE(list.contains(serial)) << serial;
  }
  EXPECT_EQ(list.next_update(), kNow + 7 * kDay);
  EXPECT_EQ(list.info().number, 5);
  EXPECT_EQ(list.info().issuer, "test CA");
  EXPECT_EQ(list.info().this_update, kNow);
  EXPECT_EQ(list.info().revoked.front().time, kNow + 1);
}

TEST(RevocationList, MayBeEmpty) {
  const SignedList made({});
  EXPECT_FALSE(RevocationList::read(made.pem(), made.ca()).contains("01"));
}

TEST(RevocationList, WithOneBitFlippedIsRefused) {
  const SignedList made({{.serial = "ff01", .time = kNow}});
  const std::string pem = made.pem();
  for (std::size_t bit = 0; bit < count_bits(pem); bit += 7) {
    EXPECT_THROW((void)RevocationList::read(flip_bit(pem, bit), made.ca()), DataError) << bit;
  }
  EXPECT_EQ(ERR_peek_error(), 0U);
}

TEST(RevocationList, OfAnotherCaIsRefused) {
  const SignedList made({});
  const SignedList namesake({});
  EXPECT_THROW((void)RevocationList::read(made.pem(), namesake.ca()), DataError);
  EXPECT_THROW((void)RevocationList::read(made.ca(), made.ca()), DataError);
  EXPECT_THROW((void)RevocationList::read("", made.ca()), DataError);
  EXPECT_THROW((void)RevocationList::read(made.pem(), ""), DataError);
}

TEST(RevocationList, ThatMeansSomethingElseIsRefused) {
  const SignedList made({});
  const IntegerPtr base = integer_of("01");
  ASSERT_EQ(X509_CRL_add1_ext_i2d(made.list.get(), NID_delta_crl, base.get(), 1, 0), 1);
  X509_CRL_sign(made.list.get(), made.signer.key.get(), EVP_sha256());
  EXPECT_THROW((void)RevocationList::read(made.pem(), made.ca()), DataError) << "only changes";
}

TEST(Serial, HasOneForm) {
  EXPECT_EQ(parse_serial("0A:3F"), "0a3f");
  EXPECT_EQ(parse_serial("a3f"), "0a3f");
  EXPECT_EQ(parse_serial("000a3f"), "0a3f");
  for (const char* text : {"", "0", "00:00", "g", "0x1f", "-1", "site.crt"}) {
    EXPECT_EQ(parse_serial(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_serial(std::string(41, '1')), std::nullopt);
}
}  // namespace
}  // namespace fedhur::pki
