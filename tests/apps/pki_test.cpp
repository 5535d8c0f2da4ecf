#include <gmock/gmock.h>

#include <algorithm>

#include "process.hpp"

namespace fedhur::tests {
namespace {
// A folder with a CA in `ca`.
class Pki : public ::testing::Test {
 protected:
  Pki() { run({"init", "ca", "--name", "test CA"}); }

  [[nodiscard]] Finished pki(const Arguments& arguments) const {
    return place_.fedhur(Arguments{"pki"} + arguments);
  }
  std::string run(const Arguments& arguments) const {
    const Finished finished = pki(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_EQ(finished.err, "");
    return finished.out;
  }
  [[nodiscard]] json run_json(const Arguments& arguments) const {
    return json::parse(run(arguments + Arguments{"--json"}));
  }
  void expect_refused(const Arguments& arguments, int exit_code, const std::string& part) const {
    const Finished finished = pki(arguments);
    EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, AllOf(StartsWith("fedhur: "), HasSubstr(part)));
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  }
  [[nodiscard]] std::filesystem::perms mode_of(const std::string& name) const {
    return std::filesystem::status(place_ / name).permissions();
  }

  Workplace place_;
};

// The lifetime without the five minutes for clocks that are behind.
std::int64_t days_of(const json& certificate) {
  return (certificate.at("not_after").get<std::int64_t>() -
          certificate.at("not_before").get<std::int64_t>()) /
         86400;
}

constexpr auto kOwnersFile =
    std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;

TEST_F(Pki, MakesACaOnceAndForItsOwnerAlone) {
  for (const char* file : {"ca/ca.crt", "ca/revoked.crl", "ca/issued.jsonl"}) {
    EXPECT_TRUE(place_.has(file)) << file;
  }
  EXPECT_EQ(mode_of("ca"), std::filesystem::perms::owner_all);
  EXPECT_EQ(mode_of("ca/ca.key"), kOwnersFile);
  const std::string key = place_.read("ca/ca.key");
  expect_refused({"init", "ca"}, 2, "ca is not empty");
  EXPECT_EQ(place_.read("ca/ca.key"), key);
  expect_refused({"init"}, 2, "as in 'fedhur pki init ca'");
  expect_refused({"init", "new", "--days", "0"}, 2, "expected 1 to 36500");
  expect_refused({"init", "new", "--days", "many"}, 2, "expected a whole number");
  EXPECT_FALSE(place_.has("new"));
  const json made = run_json({"init", "other", "--days", "20"});
  EXPECT_EQ(made.at("for"), "ca");
  EXPECT_EQ(made.at("name"), "fedhur CA");
  EXPECT_EQ(days_of(made), 20);
}

TEST_F(Pki, IssuesForClients) {
  EXPECT_THAT(run({"issue", "ca", "--client", "3,8-9", "--name", "hospital-a"}),
              AllOf(StartsWith("hospital-a.crt: client hospital-a for clients 3,8-9, until "),
                    HasSubstr("hospital-a.key: its private key")));
  EXPECT_EQ(mode_of("hospital-a.key"), kOwnersFile);
  const json shown = run_json({"show", "hospital-a.crt"});
  EXPECT_EQ(shown.at("name"), "hospital-a");
  EXPECT_EQ(shown.at("for"), "client");
  EXPECT_EQ(shown.at("clients"), "3,8-9");
  EXPECT_EQ(shown.at("hosts"), json::array());
  EXPECT_EQ(shown.at("issuer"), "test CA");
  EXPECT_EQ(days_of(shown), 365);
  EXPECT_NEAR(shown.at("days_left").get<int>(), 365, 1);
  EXPECT_FALSE(shown.contains("revoked")) << "only the CA knows";
}

TEST_F(Pki, IssuesForServers) {
  const json made = run_json(
      {"issue", "ca", "--server", "fed.example.org,10.0.0.5", "--out", "server", "--days", "10"});
  EXPECT_EQ(made.at("out"), "server.crt");
  EXPECT_EQ(made.at("key_file"), "server.key");
  EXPECT_EQ(made.at("name"), "fed.example.org");
  EXPECT_EQ(made.at("for"), "server");
  EXPECT_EQ(made.at("hosts"), json({"fed.example.org", "10.0.0.5"}));
  EXPECT_EQ(made.at("clients"), "");
}

TEST_F(Pki, RefusesWhatNoCertificateCanSay) {
  const auto issue = [](const Arguments& more) { return Arguments{"issue", "ca"} + more; };
  expect_refused(issue({}), 2, "expected either --client IDS");
  expect_refused(issue({"--client", "1", "--server", "a", "--name", "x"}), 2, "expected either");
  expect_refused(issue({"--client", "1"}), 2, "--name SITE is missing");
  for (const char* ids : {"5-3", "x", "", "1,,2", "99999999999"}) {
    expect_refused(issue({"--client", ids, "--name", "x"}), 2, "is not an id from 0 to");
  }
  EXPECT_EQ(pki(issue({"--client", "-1", "--name", "x"})).exit_code, 2);
  expect_refused(issue({"--server", "a:50051"}), 2, "without port");
  expect_refused(issue({"--client", "1", "--name", "a\nb"}), 2, "printable");
  expect_refused(issue({"--client", "1", "--name", "test CA"}), 2, "is the CA's own");
  expect_refused(issue({"--client", "1", "--name", "x", "--out", "no/folder"}), 2, "no folder");
  expect_refused({"issue", "none", "--client", "1", "--name", "x"}, 2,
                 "none is no CA's folder, since it has no ca.crt");
  expect_refused({"isue", "ca"}, 2, "did you mean 'issue'?");
  EXPECT_EQ(place_.read("ca/issued.jsonl"), "");
  EXPECT_FALSE(place_.has("x.crt") || place_.has("x.key"));
}

TEST_F(Pki, OverwritesOnlyByForceAndTheCaNever) {
  run({"issue", "ca", "--client", "1", "--name", "site"});
  const std::string key = place_.read("site.key");
  expect_refused({"issue", "ca", "--client", "1", "--name", "site"}, 2, "--force overwrites it");
  std::filesystem::remove(place_ / "site.crt");
  expect_refused({"issue", "ca", "--client", "1", "--name", "site"}, 2, "site.key exists already");
  expect_refused({"request", "--name", "site"}, 2, "site.key exists already");
  EXPECT_EQ(place_.read("site.key"), key);
  run({"issue", "ca", "--client", "1", "--name", "site", "--force"});
  EXPECT_NE(place_.read("site.key"), key);
  expect_refused({"issue", "ca", "--client", "1", "--name", "x", "--out", "ca/ca", "--force"}, 2,
                 "ca/ca.crt is also an input");
}

TEST_F(Pki, SignsRequestsOfKeysThatStayAtTheSite) {
  const json request = run_json({"request", "--name", "Klinik Köln", "--out", "site"});
  EXPECT_EQ(mode_of("site.key"), kOwnersFile);
  EXPECT_EQ(run_json({"show", "site.csr"}).at("key_sha256"), request.at("key_sha256"));
  expect_refused({"sign", "ca", "site.csr"}, 2, "expected either --client IDS");
  const json made = run_json({"sign", "ca", "site.csr", "--client", "0-24"});
  EXPECT_EQ(made.at("out"), "site.crt");
  EXPECT_EQ(made.at("name"), "Klinik Köln");
  EXPECT_EQ(made.at("clients"), "0-24");
  EXPECT_EQ(made.at("key_sha256"), request.at("key_sha256")) << "what both sides compare";
  expect_refused({"sign", "ca", "site.csr", "--client", "7"}, 2, "site.crt exists already");
  run({"sign", "ca", "site.csr", "--server", "localhost", "--out", "server.crt"});
  std::string altered = place_.read("site.csr");
  altered[altered.size() / 2] = altered[altered.size() / 2] == 'A' ? 'B' : 'A';
  place_.write("altered.csr", altered);
  expect_refused({"sign", "ca", "altered.csr", "--client", "1"}, 3, "altered.csr: ");
  place_.write("empty.csr", "");
  expect_refused({"sign", "ca", "empty.csr", "--client", "1"}, 3, "empty.csr: ");
  expect_refused({"sign", "ca", "none.csr", "--client", "1"}, 3, "none.csr");
  expect_refused({"sign", "ca", "site.crt", "--client", "1", "--out", "x.crt"}, 3, "site.crt: ");
}

TEST_F(Pki, Renews) {
  const json old = run_json({"issue", "ca", "--client", "3,5", "--name", "site", "--days", "3"});
  const json renewed = run_json({"renew", "ca", "site.crt"});
  EXPECT_EQ(renewed.at("out"), "site.renewed.crt");
  EXPECT_EQ(renewed.at("clients"), "3,5");
  EXPECT_EQ(renewed.at("key_sha256"), old.at("key_sha256"));
  EXPECT_NE(renewed.at("serial"), old.at("serial"));
  EXPECT_GT(renewed.at("days_left"), old.at("days_left"));
  expect_refused({"renew", "ca", "site.crt"}, 2, "--force overwrites it");
  run({"renew", "ca", "site.crt", "--out", "site.crt", "--force"});
  run({"init", "other"});
  expect_refused({"renew", "other", "site.crt", "--out", "x.crt"}, 3, "was not issued by this CA");
  run({"revoke", "ca", "site.crt"});
  expect_refused({"renew", "ca", "site.crt", "--out", "x.crt"}, 3, "was revoked");
  expect_refused({"renew", "ca", "none.crt"}, 3, "none.crt");
}

TEST_F(Pki, Revokes) {
  run({"issue", "ca", "--client", "1", "--name", "one"});
  const std::string serial =
      run_json({"issue", "ca", "--client", "2", "--name", "two"}).at("serial");
  EXPECT_THAT(run({"show", "one.crt", "--ca", "ca"}), HasSubstr("trusted     yes\n"));
  EXPECT_THAT(run({"revoke", "ca", "one.crt"}), HasSubstr("(one) is revoked\n"));
  EXPECT_THAT(run({"revoke", "ca", "one.crt"}), HasSubstr("(one) was revoked already\n"));
  const json by_serial = run_json({"revoke", "ca", serial});
  EXPECT_EQ(by_serial.at("name"), "two");
  EXPECT_EQ(by_serial.at("was_revoked"), false);
  const json shown = run_json({"show", "one.crt", "--ca", "ca"});
  EXPECT_EQ(shown.at("revoked"), true);
  EXPECT_EQ(shown.at("fault"), "it was revoked");
  EXPECT_EQ(run_json({"show", "ca/revoked.crl"}).at("revoked").size(), 2U);
  EXPECT_EQ(run_json({"revoke", "ca", "--refresh"}).at("number"), 4);
  expect_refused({"revoke", "ca", "one.crt", "--refresh"}, 2, "--refresh revokes nothing");
  expect_refused({"revoke", "ca"}, 2, "serial number is missing");
  expect_refused({"revoke", "ca", "abcdef"}, 2, "no certificate with the serial abcdef");
  expect_refused({"revoke", "ca", "none.crt"}, 3, "none.crt");
}

TEST_F(Pki, ShowsACaWithAllItIssued) {
  EXPECT_THAT(run({"show", "ca"}), HasSubstr("no certificates yet"));
  run({"issue", "ca", "--client", "0-24", "--name", "one"});
  run({"issue", "ca", "--server", "localhost"});
  run({"revoke", "ca", "one.crt"});
  const json shown = run_json({"show", "ca"});
  EXPECT_EQ(shown.at("kind"), "authority");
  EXPECT_EQ(shown.at("ca").at("name"), "test CA");
  EXPECT_EQ(shown.at("certificates").size(), 2U);
  EXPECT_EQ(shown.at("certificates")[0].at("status"), "revoked");
  EXPECT_EQ(shown.at("certificates")[1].at("status"), "valid");
  EXPECT_EQ(shown.at("certificates")[1].at("hosts"), json({"localhost"}));
  EXPECT_THAT(run({"show", "ca"}), AllOf(HasSubstr("clients 0-24"), HasSubstr("hosts localhost")));
}

TEST_F(Pki, ShowsNothingOfAKeyAndRefusesTheRest) {
  EXPECT_EQ(run({"show", "ca/ca.key"}), "private key; keep it secret\n");
  place_.write("empty", "");
  place_.write("text", "hello\n");
  place_.write("half.crt", place_.read("ca/ca.crt").substr(0, 200));
  expect_refused({"show", "empty"}, 3, "empty: expected a certificate");
  expect_refused({"show", "text"}, 3, "text: expected a certificate");
  expect_refused({"show", "half.crt"}, 3, "half.crt: this is not a certificate");
  expect_refused({"show", "/dev/zero"}, 3, "/dev/zero is larger than");
  expect_refused({"show", "none"}, 3, "none");
  expect_refused({"show", "."}, 2, "is no CA's folder");
  place_.write("ca/ca.key", "damaged");
  expect_refused({"issue", "ca", "--client", "1", "--name", "x"}, 3, "ca/ca.key: ");
}

TEST_F(Pki, AgreesWithTheOpensslProgram) {
  if (place_.shell("command -v openssl").exit_code != 0) {
    GTEST_SKIP() << "the program openssl is missing";
  }
  run({"issue", "ca", "--client", "0-24", "--name", "client"});
  run({"issue", "ca", "--server", "localhost,127.0.0.1", "--out", "server"});
  run({"request", "--name", "site"});
  run({"sign", "ca", "site.csr", "--client", "25"});
  const auto verify = [&](const std::string& arguments) {
    return place_.shell("openssl verify -x509_strict -CAfile ca/ca.crt " + arguments).exit_code;
  };
  EXPECT_EQ(verify("-purpose sslclient client.crt site.crt"), 0);
  EXPECT_EQ(verify("-purpose sslserver -verify_hostname localhost server.crt"), 0);
  EXPECT_EQ(verify("-purpose sslserver -verify_ip 127.0.0.1 server.crt"), 0);
  EXPECT_NE(verify("-purpose sslserver -verify_hostname example.org server.crt"), 0);
  EXPECT_NE(verify("-purpose sslserver client.crt"), 0);
  EXPECT_NE(verify("-purpose sslclient server.crt"), 0);
  const std::string with_list = "-crl_check -CRLfile ca/revoked.crl -purpose sslclient ";
  EXPECT_EQ(verify(with_list + "client.crt"), 0);
  run({"revoke", "ca", "client.crt"});
  EXPECT_NE(verify(with_list + "client.crt"), 0);
  EXPECT_EQ(verify(with_list + "site.crt"), 0);
  EXPECT_EQ(place_.shell("openssl req -in site.csr -noout -verify").exit_code, 0);
  EXPECT_THAT(place_.shell("openssl x509 -in client.crt -noout -text").out,
              AllOf(HasSubstr("URI:fedhur:client:0-24"), HasSubstr("ecdsa-with-SHA256"),
                    HasSubstr("TLS Web Client Authentication"), HasSubstr("CA:FALSE")));
}
}  // namespace
}  // namespace fedhur::tests
