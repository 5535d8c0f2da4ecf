#include "fedhur/pki/authority.hpp"

#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/pki/request.hpp"
#include "pki_support.hpp"

namespace fedhur::pki {
namespace {
namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr fs::perms kOwnersFile = fs::perms::owner_read | fs::perms::owner_write;

fs::perms mode_of(const fs::path& path) { return fs::status(path).permissions(); }

template <class Action>
std::string message_of(Action action) {
  try {
    (void)action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Authority, KeepsItsKeyToItself) {
  const TestAuthority ca;
  EXPECT_EQ(mode_of(ca.path), fs::perms::owner_all);
  EXPECT_EQ(mode_of(ca.path / kCaKey), kOwnersFile);
  EXPECT_TRUE(key_matches(ca.certificate, read_pem_file(ca.path / kCaKey)));
  const AuthorityState state = read_authority(ca.path);
  EXPECT_EQ(state.ca.name, "test CA");
  EXPECT_EQ(state.revocations.number, 1);
  EXPECT_TRUE(state.revocations.revoked.empty());
  EXPECT_TRUE(state.issued.empty());
}

TEST(Authority, TakesAnEmptyFolderAndNoOther) {
  const tests::TempFolder folder;
  fs::create_directory(folder / "empty");
  fs::permissions(folder / "empty", fs::perms::all);
  (void)create_authority(folder / "empty", "CA", 10, kNow);
  EXPECT_EQ(mode_of(folder / "empty"), fs::perms::owner_all);
  const std::string key = read_text_file(folder / "empty" / kCaKey);
  EXPECT_THROW((void)create_authority(folder / "empty", "CA", 10, kNow), ConfigError);
  EXPECT_EQ(read_text_file(folder / "empty" / kCaKey), key);
  write_file_atomically(folder / "file", std::string_view("x"));
  EXPECT_THROW((void)create_authority(folder / "file", "CA", 10, kNow), ConfigError);
  EXPECT_THROW((void)create_authority(folder / "no" / "folder", "CA", 10, kNow), ConfigError);
  for (const std::int64_t days : {0, -1, 36501}) {
    EXPECT_THROW((void)create_authority(folder / "new", "CA", days, kNow), ConfigError);
  }
  EXPECT_THROW((void)create_authority(folder / "new", "a\nb", 10, kNow), ConfigError);
  EXPECT_FALSE(fs::exists(folder / "new"));
}

TEST(Authority, RemembersWhatItIssued) {
  const TestAuthority ca;
  const CertificateInfo client = read_certificate(ca.issue_client("3,5", "site \"a\"").certificate);
  const CertificateInfo server = read_certificate(ca.issue_server("a.org,::1").certificate);
  EXPECT_NE(client.serial, server.serial);
  const auto issued = read_authority(ca.path).issued;
  ASSERT_EQ(issued.size(), 2U);
  EXPECT_EQ(issued[0].serial, client.serial);
  EXPECT_EQ(issued[0].identity.name, "site \"a\"");
  EXPECT_EQ(issued[0].identity.purpose, Purpose::client);
  EXPECT_EQ(to_text(issued[0].identity.clients), "3,5");
  EXPECT_EQ(issued[0].not_after, client.not_after);
  EXPECT_FALSE(issued[0].is_revoked);
  EXPECT_EQ(issued[1].identity.purpose, Purpose::server);
  EXPECT_THAT(issued[1].identity.hosts, ElementsAre("a.org", "::1"));
}

TEST(Authority, LosesNothingWhenSeveralWorkAtOnce) {
  const TestAuthority ca;
  {
    std::vector<std::jthread> operators;
    for (int i = 0; i < 4; ++i) {
      operators.emplace_back([&ca, i] {
        for (int j = 0; j < 5; ++j) (void)ca.issue_client(std::to_string(10 * i + j));
      });
    }
  }
  std::set<std::string> serials;
  for (const IssueEntry& entry : read_authority(ca.path).issued) serials.insert(entry.serial);
  EXPECT_EQ(serials.size(), 20U);
}

TEST(Authority, IssuesNothingThatOutlivesIt) {
  const tests::TempFolder folder;
  const Identity identity{
      .name = "site", .purpose = Purpose::client, .clients = {{1, 1}}, .hosts = {}};
  const CertificateInfo ca = create_authority(folder / "ca", "CA", 10, kNow);
  const auto issue_at = [&](std::int64_t now) {
    return read_certificate(issue_certificate(folder / "ca", identity, 365, now).certificate);
  };
  EXPECT_EQ(issue_at(kNow + kDay).not_after, ca.not_after);
  EXPECT_EQ(issue_at(kNow).not_before, ca.not_before);
  EXPECT_THAT(message_of([&] { return issue_at(kNow + 10 * kDay); }), HasSubstr("the CA ended on"));
  EXPECT_THAT(message_of([&] { return issue_at(kNow - kDay); }), HasSubstr("is the clock right?"));
  EXPECT_THROW((void)issue_certificate(folder / "ca", identity, 0, kNow), ConfigError);
}

TEST(Authority, RenewsForTheSameKeyAndIdentity) {
  const TestAuthority ca;
  const std::int64_t later = kNow + 400 * kDay;
  for (const IssuedKeyPair& old : {ca.issue_client("3,8-9"), ca.issue_server("a.org,10.0.0.5")}) {
    const CertificateInfo before = read_certificate(old.certificate);
    const std::string renewed = renew_certificate(ca.path, old.certificate, 30, later);
    const CertificateInfo after = read_certificate(renewed);
    EXPECT_TRUE(key_matches(renewed, old.key));
    EXPECT_EQ(after.name, before.name);
    EXPECT_EQ(after.clients, before.clients);
    EXPECT_EQ(after.hosts, before.hosts);
    EXPECT_EQ(after.for_server, before.for_server);
    EXPECT_NE(after.serial, before.serial);
    EXPECT_EQ(after.not_after, later + 30 * kDay);
    const Purpose purpose = after.for_server ? Purpose::server : Purpose::client;
    EXPECT_EQ(find_fault(renewed, ca.certificate, purpose, later), std::nullopt);
  }
  EXPECT_EQ(read_authority(ca.path).issued.size(), 4U);
}

TEST(Authority, RenewsNothingThatIsRevokedForeignOrItsOwn) {
  const TestAuthority ca;
  const TestAuthority other;
  const std::string client = ca.issue_client("1").certificate;
  const auto renew = [&](const std::string& certificate) {
    return renew_certificate(ca.path, certificate, 30, kNow);
  };
  EXPECT_THROW((void)renew(other.issue_client("1").certificate), DataError);
  EXPECT_THROW((void)renew(ca.certificate), DataError);
  EXPECT_THROW((void)renew("hello"), DataError);
  (void)revoke_certificate(ca.path, client, kNow);
  EXPECT_THAT(message_of([&] { return renew(client); }), HasSubstr("was revoked"));
}

TEST(Authority, RevokesByCertificateOrSerialAndTwiceDoesNoHarm) {
  const TestAuthority ca;
  const std::string one = ca.issue_client("1", "one").certificate;
  const std::string serial_one = read_certificate(one).serial;
  const std::string serial_two = read_certificate(ca.issue_client("2").certificate).serial;
  const std::string serial_three = read_certificate(ca.issue_client("3").certificate).serial;
  const Revocation revoked = revoke_certificate(ca.path, one, kNow);
  EXPECT_EQ(revoked.serial, serial_one);
  EXPECT_EQ(revoked.name, "one");
  EXPECT_FALSE(revoked.was_revoked);
  EXPECT_FALSE(revoke_serial(ca.path, "00:" + serial_two, kNow + kDay).was_revoked);
  const std::string list = read_text_file(ca.path / kRevocations);
  EXPECT_TRUE(revoke_certificate(ca.path, one, kNow + 2 * kDay).was_revoked);
  EXPECT_TRUE(revoke_serial(ca.path, serial_two, kNow + 2 * kDay).was_revoked);
  EXPECT_EQ(read_text_file(ca.path / kRevocations), list);
  EXPECT_TRUE(ca.revocations().contains(serial_one));
  EXPECT_TRUE(ca.revocations().contains(serial_two));
  EXPECT_FALSE(ca.revocations().contains(serial_three));
  const AuthorityState state = read_authority(ca.path);
  EXPECT_EQ(state.revocations.number, 3);
  EXPECT_TRUE(state.issued[0].is_revoked && state.issued[1].is_revoked);
  EXPECT_FALSE(state.issued[2].is_revoked);
}

TEST(Authority, RevokesNothingOfOthers) {
  const TestAuthority ca;
  const TestAuthority other;
  const std::string foreign = other.issue_client("1").certificate;
  EXPECT_THROW((void)revoke_certificate(ca.path, foreign, kNow), DataError);
  EXPECT_THROW((void)revoke_certificate(ca.path, ca.certificate, kNow), DataError);
  EXPECT_THROW((void)revoke_serial(ca.path, read_certificate(foreign).serial, kNow), ConfigError);
  EXPECT_THROW((void)revoke_serial(ca.path, "hello", kNow), ConfigError);
  EXPECT_EQ(ca.revocations().info().number, 1);
}

TEST(Authority, RevokesAKeyWithAllItsCertificates) {
  const TestAuthority ca;
  const RequestKeyPair request = make_request("site");
  const Identity identity{.name = "", .purpose = Purpose::client, .clients = {{1, 1}}, .hosts = {}};
  const std::string old = sign_request(ca.path, request.request, identity, 365, kNow);
  const std::string renewed = renew_certificate(ca.path, old, 365, kNow);
  const std::string other = ca.issue_client("2").certificate;
  const Revocation revoked = revoke_certificate(ca.path, renewed, kNow);
  EXPECT_THAT(revoked.renewals, ElementsAre(read_certificate(old).serial));
  EXPECT_TRUE(ca.revocations().contains(read_certificate(old).serial));
  EXPECT_FALSE(ca.revocations().contains(read_certificate(other).serial));
  EXPECT_THAT(
      message_of([&] { return sign_request(ca.path, request.request, identity, 365, kNow); }),
      HasSubstr("the key of site was revoked"));
}

TEST(Authority, FinishesARevocationThatACrashInterrupted) {
  const TestAuthority ca;
  const std::string client = ca.issue_client("1").certificate;
  const std::string record = read_text_file(ca.path / kIssued);
  (void)revoke_certificate(ca.path, client, kNow);
  write_file_atomically(ca.path / kIssued, record);  // the list was written, the record not yet
  EXPECT_TRUE(read_authority(ca.path).issued[0].is_revoked) << "the list decides";
  EXPECT_TRUE(revoke_certificate(ca.path, client, kNow).was_revoked);
  EXPECT_THAT(read_text_file(ca.path / kIssued), HasSubstr("\"status\":\"revoked\""));
}

TEST(Authority, RevokesACertificateThatItsRecordHasLost) {
  const TestAuthority ca;
  const std::string client = ca.issue_client("1").certificate;
  write_file_atomically(ca.path / kIssued, std::string_view());
  EXPECT_FALSE(revoke_certificate(ca.path, client, kNow).was_revoked);
  EXPECT_TRUE(ca.revocations().contains(read_certificate(client).serial));
}

TEST(Authority, RefreshesItsListWithoutForgetting) {
  const TestAuthority ca;
  const std::string client = ca.issue_client("1").certificate;
  (void)revoke_certificate(ca.path, client, kNow);
  (void)refresh_revocations(ca.path, kNow + 300 * kDay);
  EXPECT_TRUE(ca.revocations().contains(read_certificate(client).serial));
  EXPECT_EQ(ca.revocations().next_update(), kNow + 665 * kDay);
  EXPECT_EQ(ca.revocations().info().number, 3);
  EXPECT_EQ(ca.revocations().info().revoked.front().time, kNow);
}

TEST(Authority, NoticesDamage) {
  const tests::TempFolder empty;
  EXPECT_THROW((void)read_authority(empty.path()), ConfigError);
  EXPECT_THROW((void)read_authority(empty / "none"), ConfigError);
  const TestAuthority other;
  for (const char* file : {kCaCertificate, kCaKey, kRevocations, kIssued}) {
    for (const std::string& content :
         {std::string("damaged"), std::string(100, '\0'), other.issue_client("1").certificate,
          std::string("{\"serial\":\"zz\"}\n"), read_text_file(other.path / file)}) {
      if (file == std::string(kIssued) && content == read_text_file(other.path / file)) continue;
      const TestAuthority ca;
      write_file_atomically(ca.path / file, content);
      EXPECT_THROW((void)ca.issue_client("1"), DataError) << file << ": " << content;
    }
    const TestAuthority ca;
    fs::remove(ca.path / file);
    EXPECT_THAT(message_of([&] { return ca.issue_client("1"); }), HasSubstr(file));
  }
}

TEST(IssueRecord, NamesTheLineThatCannotBeRead) {
  const TestAuthority ca;
  (void)ca.issue_client("1");
  const std::string good = read_text_file(ca.path / kIssued);
  EXPECT_EQ(to_json_lines(parse_issue_record(good)), good);
  EXPECT_THAT(message_of([&] { return parse_issue_record(good + "\nrubbish\n"); }),
              HasSubstr("line 3 "));
  for (const char* time : {"1e30", "-1", "1e3", "\"1\"", "99999999999999999999", "253402300800"}) {
    std::string bad = good;
    const auto first = bad.find("\"not_after\":") + 12;
    bad.replace(first, bad.find(',', first) - first, time);
    EXPECT_THROW((void)parse_issue_record(bad), DataError) << bad;
  }
  EXPECT_THROW((void)parse_issue_record("[]"), DataError);
  EXPECT_THROW((void)parse_issue_record("{}"), DataError);
  EXPECT_THROW((void)parse_issue_record(good.substr(0, good.size() / 2)), DataError);
}
}  // namespace
}  // namespace fedhur::pki
