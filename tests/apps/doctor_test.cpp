// fedhur doctor: every fault is found, named, and comes with a way to mend it.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "federation_processes.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/pki/authority.hpp"

namespace fedhur::tests {
namespace {
using ::testing::ContainsRegex;

constexpr std::int64_t kDay = 86400;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Arguments without(Arguments arguments, const std::string& flag) {
  const auto found = std::ranges::find(arguments, flag);
  if (found != arguments.end()) arguments.erase(found, found + 2);
  return arguments;
}

// The same command line with another value for a flag that it has.
Arguments with(Arguments arguments, const std::string& flag, const std::string& value) {
  const auto found = std::ranges::find(arguments, flag);
  EXPECT_NE(found, arguments.end()) << flag;
  if (found != arguments.end()) *std::next(found) = value;
  return arguments;
}

class Doctor : public FederationProcesses {
 protected:
  void SetUp() override {
    FederationProcesses::SetUp();
    port_ = find_quiet_port();
  }

  [[nodiscard]] Arguments server_arguments() const {
    return Arguments{"server", "--items",  "items.tsv",          "--clients",
                     "7",      "--listen", "localhost:" + port_, "--out",
                     "run"} +
           identity_of("server");
  }

  // What the doctor says of a command, and what it would end with.
  struct Opinion {
    int exit_code = -1;
    json checks;
    std::string text;
  };
  [[nodiscard]] Opinion examine(const Arguments& command) const {
    const Finished finished = place_.fedhur(Arguments{"doctor"} + command + Arguments{"--json"});
    EXPECT_EQ(finished.err, "");
    const json report = json::parse(finished.out, nullptr, false);
    EXPECT_TRUE(report.is_object()) << finished.out;
    if (!report.is_object()) return {};
    EXPECT_EQ(report.at("ok"), finished.exit_code == 0);
    for (const json& check : report.at("checks")) {
      const std::string state = check.at("state");
      const bool wants_mending = state == "warning" || state == "problem";
      EXPECT_EQ(check.at("mend").is_string(), wants_mending) << check;
    }
    return {finished.exit_code, report.at("checks"), report.dump(1)};
  }

  // How to mend it, after the doctor has found what it should.
  static std::string expect_found(const Opinion& opinion, const std::string& name,
                                  const std::string& state, const std::string& part) {
    for (const json& check : opinion.checks) {
      const std::string found = check.at("found");
      if (check.at("name") != name || check.at("state") != state) continue;
      if (found.find(part) == std::string::npos) continue;
      return check.at("mend").is_null() ? "" : check.at("mend").get<std::string>();
    }
    ADD_FAILURE() << "no " << state << " of " << name << " with '" << part << "' in "
                  << opinion.text;
    return "";
  }
  // Everything else is well.
  static void expect_only(const Opinion& opinion, const std::string& state,
                          const std::vector<std::string>& names) {
    std::vector<std::string> found;
    for (const json& check : opinion.checks) {
      if (check.at("state") == state) found.push_back(check.at("name"));
    }
    EXPECT_EQ(found, names) << opinion.text;
  }
  // Every check was made and is ok.
  static void expect_content(const Opinion& opinion) {
    EXPECT_EQ(opinion.exit_code, 0);
    for (const char* state : {"problem", "warning", "skipped"}) expect_only(opinion, state, {});
  }

  // A key pair as of another day, from a CA in `aged` that was there by then.
  void issue_as_of(const std::string& name, std::int64_t time) const {
    if (!place_.has("aged")) {
      (void)pki::create_authority(place_ / "aged", "aged CA", 600, now() - 580 * kDay);
    }
    const auto pair = pki::issue_certificate(
        place_ / "aged", {.name = name, .clients = {{.first = 0, .last = 3}}, .hosts = {}}, 10,
        time);
    write_private_file(place_ / (name + ".key"), pair.key);
    write_file_atomically(place_ / (name + ".crt"), pair.certificate);
  }
  void must(const std::string& command) const {
    const Finished finished = place_.shell("set -e; " + command);
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
  }
};

TEST_F(Doctor, FindsNothingWrongWithAGoodServer) {
  certify({{"a", "0-6"}});
  const std::string before = place_.shell("find . -printf '%p %T@ %s\n' | sort").out;
  const Opinion opinion = examine(server_arguments());
  expect_content(opinion);
  expect_found(opinion, "certificate", "ok", "server localhost for localhost, until ");
  expect_found(opinion, "catalogue", "ok", "items.tsv: 90 items");
  expect_found(opinion, "disk space", "ok", "7 clients x 90 items x 128 numbers x 4 bytes");
  expect_found(opinion, "clock", "ok", "ca/ca.crt, server.crt, ca/revoked.crl, the program");
  EXPECT_EQ(place_.shell("find . -printf '%p %T@ %s\n' | sort").out, before) << "nothing changes";
}

TEST_F(Doctor, AsksARunningServerAndDoesNotDisturbTheRun) {
  const Arguments settings = run_settings("fedhur", 3);
  simulate("simulation", settings);
  certify({{"a", "0-3"}, {"b", "4-6"}});
  const auto server = start_server(settings + Arguments{"--out", "run"});
  const Opinion before = examine(site_arguments("a", "0-3"));
  expect_content(before);
  expect_found(before, "federation", "ok", "of 7 clients, of which this site may host 0-3");
  expect_found(before, "TLS", "ok", "the server is localhost for localhost");
  expect_found(before, "items", "ok", "as the server says");
  expect_found(before, "clock", "ok", "the server's certificate");
  EXPECT_FALSE(place_.has("a"));

  const auto first = start_site("a", "0-3");
  ASSERT_TRUE(server->wait_for_message("connected with clients 0, 1, 2, 3"));
  const Opinion meanwhile = examine(site_arguments("a", "0-3"));
  EXPECT_EQ(meanwhile.exit_code, 0) << meanwhile.text;
  expect_found(meanwhile, "state folder", "warning", "a process works with it");
  expect_found(meanwhile, "federation", "ok", "this site may host 0-3");
  const Opinion again =
      examine(Arguments{"server", "--resume", "run", "--listen", "localhost:" + port_} +
              identity_of("server"));
  EXPECT_EQ(again.exit_code, 4);
  EXPECT_THAT(expect_found(again, "listening", "problem", "is taken"),
              HasSubstr("maybe this server runs already"));
  expect_found(again, "run folder", "warning", "a process works with it");

  const auto second = start_site("b", "4-6");
  expect_success(*server, "server");
  expect_success(*first, "a");
  expect_success(*second, "b");
  expect_same_run("simulation", "run");
  EXPECT_THAT(place_.read("run/log.txt"), Not(HasSubstr("connected anew")));
  EXPECT_THAT(place_.read("a/log.txt"), Not(HasSubstr("trying again")));
}

TEST_F(Doctor, TellsWhatIsWrongWithCertificatesOfASite) {
  certify({{"a", "0-3"}, {"b", "4-6"}});
  must(
      "$FEDHUR pki init other --name 'other CA'; $FEDHUR pki issue ca --client 0-3 --name soon "
      "--days 10");
  issue_as_of("old", now() - 400 * kDay);
  issue_as_of("future", now() + 5 * kDay);
  const Arguments good = site_arguments("a", "0-3");
  const auto mend_of = [&](const Arguments& command, const std::string& name,
                           const std::string& part) {
    const Opinion opinion = examine(command);
    EXPECT_EQ(opinion.exit_code, 2) << "certificates come before the server that is not there";
    return expect_found(opinion, name, "problem", part);
  };
  const auto as = [&](const std::string& name) {
    return with(with(good, "--cert", name + ".crt"), "--key", name + ".key");
  };
  EXPECT_THAT(mend_of(with(good, "--ca", "other/ca.crt"), "certificate",
                      "a.crt: the certificate of a was not issued by this CA, other CA"),
              HasSubstr("from the same CA"));
  EXPECT_THAT(mend_of(with(as("old"), "--ca", "aged/ca.crt"), "certificate",
                      "the certificate of old ended on "),
              HasSubstr("fedhur pki renew ca old.crt"));
  EXPECT_THAT(mend_of(as("server"), "certificate", "is a server's, expected a client's"),
              HasSubstr("fedhur pki issue ca --client IDS"));
  EXPECT_THAT(mend_of(with(good, "--key", "b.key"), "key", "b.key is not the key of a.crt"),
              HasSubstr("made together"));
  EXPECT_THAT(mend_of(with(good, "--clients", "2-4"), "clients", "the certificate allows 0-3"),
              HasSubstr("host some of 0-3"));
  EXPECT_THAT(mend_of(with(as("future"), "--ca", "aged/ca.crt"), "clock", "future.crt is of "),
              HasSubstr("set this machine's clock"));
  mend_of(with(good, "--cert", "none.crt"), "certificate", "none.crt: No such file");
  mend_of(with(good, "--cert", "a.key"), "certificate", "a.key holds a private key, expected");
  mend_of(with(good, "--ca", "a.crt"), "CA", "which is no CA");
  mend_of(without(good, "--key"), "key", "--key is missing");
  mend_of(good + Arguments{"--insecure"}, "certificates", "--insecure uses no certificates");
  place_.write("torn.crt", place_.read("a.crt").substr(0, 200));
  mend_of(with(good, "--cert", "torn.crt"), "certificate", "torn.crt: ");
  place_.write("torn.key", place_.read("a.key").substr(0, 100));
  mend_of(with(good, "--key", "torn.key"), "key", "torn.key: ");

  const Opinion soon = examine(as("soon"));
  EXPECT_EQ(soon.exit_code, 4) << "no server; a warning is no problem";
  EXPECT_THAT(expect_found(soon, "certificate", "warning", " days left"),
              HasSubstr("fedhur pki renew ca soon.crt"));
  expect_found(examine(with(good, "--ca", "aged/ca.crt")), "CA", "warning", " days left");
  std::filesystem::permissions(place_ / "a.key", std::filesystem::perms(0644));
  EXPECT_EQ(expect_found(examine(good), "key file", "warning", "a.key: mode 644"),
            "chmod 600 a.key");
}

TEST_F(Doctor, LooksAtRevocationsForAServer) {
  certify({{"a", "0-6"}});
  const Arguments good = server_arguments();
  const Opinion without_list = examine(without(good, "--revoked"));
  EXPECT_EQ(without_list.exit_code, 0);
  expect_found(without_list, "revocation list", "warning", "--revoked is missing");
  (void)pki::refresh_revocations(place_ / "ca", now() - 400 * kDay);
  EXPECT_THAT(expect_found(examine(good), "revocation list", "warning", "should be a newer one"),
              HasSubstr("fedhur pki revoke ca --refresh"));
  must("$FEDHUR pki revoke ca server.crt; $FEDHUR pki init other");
  const Opinion revoked = examine(good);
  EXPECT_EQ(revoked.exit_code, 2);
  expect_found(revoked, "revocation list", "problem", "it names server.crt");
  const Opinion foreign = examine(with(good, "--revoked", "other/revoked.crl"));
  EXPECT_EQ(foreign.exit_code, 2);
  expect_found(foreign, "revocation list", "problem", "not signed by this CA");
}

TEST_F(Doctor, FollowsTheWayToTheServerStepByStep) {
  certify({{"a", "0-6"}});
  const Arguments nowhere =
      with(site_arguments("a", "0-6"), "--server", std::string(64, 'x') + ".example:8470");
  const Opinion unknown = examine(nowhere);
  EXPECT_EQ(unknown.exit_code, 4);
  expect_only(unknown, "problem", {"server name"});
  expect_found(unknown, "server name", "problem", "xxx.example: ");
  expect_found(unknown, "federation", "skipped", "no good connection");
  const Opinion nobody = examine(site_arguments("a", "0-6"));
  EXPECT_EQ(nobody.exit_code, 4);
  EXPECT_THAT(expect_found(nobody, "connection", "problem", "refuses connections"),
              HasSubstr("start 'fedhur server'"));
  EXPECT_EQ(examine(without(site_arguments("a", "0-6"), "--server")).exit_code, 2);
  EXPECT_EQ(examine(with(site_arguments("a", "0-6"), "--server", "localhost")).exit_code, 2);

  const auto server = start_server({"--out", "run"});
  const Arguments good = site_arguments("a", "0-6");
  const Opinion renamed = examine(with(good, "--server", "127.0.0.1:" + port_));
  EXPECT_EQ(renamed.exit_code, 4);
  EXPECT_THAT(expect_found(renamed, "TLS", "problem", "is for localhost, not for 127.0.0.1"),
              HasSubstr("--server 127.0.0.1"));
  must("$FEDHUR pki init other --name 'other CA'; $FEDHUR pki issue other --client 0-6 --name c");
  const Arguments stranger = with(with(good, "--cert", "c.crt"), "--key", "c.key");
  const Opinion distrusting = examine(with(stranger, "--ca", "other/ca.crt"));
  EXPECT_EQ(distrusting.exit_code, 4);
  EXPECT_THAT(expect_found(distrusting, "TLS", "problem", "not issued by this CA, other CA"),
              HasSubstr("give --ca the ca.crt"));
  expect_found(examine(stranger), "TLS", "problem", "this site trusts the server, but not");
  const Opinion open = examine(
      Arguments{"client", "--server", "localhost:" + port_, "--clients", "0-6", "--insecure"} +
      whole_data());
  EXPECT_EQ(open.exit_code, 4);
  EXPECT_THAT(expect_found(open, "federation", "problem", "cannot reach"), HasSubstr("--cert"));
  place_.write("torn.key", place_.read("a.key").substr(0, 100));
  const Opinion torn = examine(with(good, "--key", "torn.key"));
  EXPECT_EQ(torn.exit_code, 2);
  expect_found(torn, "TLS", "problem", "this site trusts the server, but not");
  must("$FEDHUR pki revoke ca a.crt");
  const Opinion revoked = examine(good);
  EXPECT_EQ(revoked.exit_code, 4);
  EXPECT_THAT(expect_found(revoked, "federation", "problem", "was revoked"),
              HasSubstr("fedhur pki request"));
}

TEST_F(Doctor, NoticesAServerWithoutTls) {
  certify({{"a", "0-6"}});
  const Process server(place_, {"server", "--items", "items.tsv", "--clients", "7", "--insecure",
                                "--listen", "localhost:" + port_, "--out", "run"});
  ASSERT_TRUE(wait_until([&] { return server.errors().find("listening") != std::string::npos; }));
  const Opinion opinion = examine(site_arguments("a", "0-6"));
  EXPECT_EQ(opinion.exit_code, 4);
  EXPECT_THAT(expect_found(opinion, "TLS", "problem", "this is no TLS 1.3"),
              HasSubstr("--insecure"));
}

TEST_F(Doctor, KnowsWhereAServerCanListen) {
  const Arguments good = server_arguments();
  EXPECT_EQ(examine(good).exit_code, 0);
  const Opinion open = examine(with(good, "--listen", "0.0.0.0:" + port_));
  EXPECT_EQ(open.exit_code, 2);
  expect_found(open, "listening", "problem", "without certificates anyone");
  EXPECT_EQ(examine(with(good, "--listen", "8470")).exit_code, 2);
  certify({{"a", "0-6"}});
  EXPECT_EQ(examine(with(server_arguments(), "--listen", "0.0.0.0:" + port_)).exit_code, 0);
  const Opinion foreign = examine(with(server_arguments(), "--listen", "192.0.2.1:8470"));
  EXPECT_EQ(foreign.exit_code, 4);
  EXPECT_THAT(expect_found(foreign, "listening", "problem", "no address of this machine"),
              HasSubstr("127.0.0.1"));
  EXPECT_EQ(examine(server_arguments() + Arguments{"--monitor", "65536"}).exit_code, 2);
}

TEST_F(Doctor, LooksIntoFolders) {
  place_.write("file", "");
  std::filesystem::create_symlink("nowhere", place_ / "link");
  std::filesystem::create_directory(place_ / "full");
  place_.write("full/something", "");
  ASSERT_EQ(place_.train("run").exit_code, 0);
  const auto mend_of = [&](const Arguments& command, const std::string& name,
                           const std::string& part) {
    const Opinion opinion = examine(command);
    EXPECT_EQ(opinion.exit_code, 2);
    return expect_found(opinion, name, "problem", part);
  };
  const Arguments server = server_arguments();
  mend_of(with(server, "--out", "file"), "run folder", "/file is a file, expected a folder");
  mend_of(with(server, "--out", "file/run"), "run folder", "/file is a file, expected a folder");
  mend_of(with(server, "--out", "link"), "run folder", "/link is a link to nowhere");
  mend_of(with(server, "--out", "full"), "run folder", "full exists and is not empty");
  EXPECT_THAT(mend_of(server, "run folder", "run has a run already"), HasSubstr("--resume run"));
  const Arguments resumed = {"server", "--insecure", "--listen", "localhost:" + port_, "--resume"};
  mend_of(resumed + Arguments{"run"}, "run folder", "run is finished already");
  mend_of(resumed + Arguments{"run"}, "settings", "not the run of a server");
  mend_of(resumed + Arguments{"full"}, "run folder", "full is not a run folder");
  mend_of(resumed + Arguments{"run", "--clients", "7"}, "settings", "leave out --clients");

  const Arguments site = site_arguments("state", "0-6");
  mend_of(with(site, "--state", "link"), "state folder", "/link is a link to nowhere");
  std::filesystem::create_directory(place_ / "state");
  std::filesystem::permissions(place_ / "state", std::filesystem::perms(0755));
  EXPECT_THAT(expect_found(examine(site), "state folder", "warning", "state: mode 755"),
              HasSubstr("chmod 700 state"));
  place_.write("state/site.json", R"({"run":"r","clients":[0,1,2]})");
  mend_of(site, "state folder", "holds clients [0,1,2], not [0,1,2,3,4,5,6]");
}

TEST_F(Doctor, ReadsTheDataOfASite) {
  const auto server = start_server({"--out", "run"});
  const Arguments site = {"client", "--server",    "localhost:" + port_, "--state",   "state",
                          "--data", "ratings.csv", "--insecure",         "--clients", "0-1"};
  const Opinion missing = examine(site);
  EXPECT_EQ(missing.exit_code, 3);
  expect_found(missing, "data", "problem", "ratings.csv");
  EXPECT_EQ(examine(without(site, "--data")).exit_code, 2);

  place_.write("ratings.csv", "user,item,rating\nann,i001,4\nbob,i002,good\nbob,i003,bad\n");
  const Opinion bad = examine(site);
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_THAT(expect_found(bad, "data", "problem", "ratings.csv:3: "),
              HasSubstr("--skip-bad-rows"));
  expect_found(bad, "data", "problem", "2 bad rows in all");
  const Opinion skipping = examine(site + Arguments{"--skip-bad-rows"});
  expect_found(skipping, "data", "warning", "1 rows of 1 users and 1 items; 2 bad rows");
  EXPECT_EQ(skipping.exit_code, 2);
  expect_found(skipping, "users", "problem", "1 users are too few for 2 clients");

  const std::string catalogue = place_.read("items.tsv");
  const std::string known = catalogue.substr(catalogue.find('\n') + 1, 4);
  place_.write("ratings.csv", "user,item\nann," + known + "\nann,new\nbob,new\nbob,newer\n");
  const Opinion strange = examine(site);
  EXPECT_EQ(strange.exit_code, 3);
  EXPECT_THAT(expect_found(strange, "items", "problem", "2 items, such as 'new', with 3 rows"),
              HasSubstr("--skip-unknown-items"));
  const Opinion fewer = examine(site + Arguments{"--skip-unknown-items"});
  EXPECT_EQ(fewer.exit_code, 0);
  expect_found(fewer, "items", "warning", "these rows are left out");
  expect_found(fewer, "data", "ok", "ratings.csv: csv, 4 rows of 2 users and 3 items");
}

TEST_F(Doctor, RemembersTheCatalogueOfAnEarlierConnection) {
  place_.write("ratings.csv", "user,item\nann,new\n");
  std::filesystem::create_directory(place_ / "state");
  std::filesystem::copy_file(place_ / "items.tsv", place_ / "state/items.tsv");
  const Opinion opinion = examine({"client", "--server", "localhost:" + port_, "--state", "state",
                                   "--data", "ratings.csv", "--insecure", "--clients", "0"});
  EXPECT_EQ(opinion.exit_code, 3) << "data come before the server that is not there";
  expect_found(opinion, "items", "problem", "as state/items.tsv says");
}

TEST_F(Doctor, ReadsTheSettingsOfAServer) {
  const Arguments good = server_arguments();
  const auto expect_wrong = [&](const Arguments& command, const std::string& part) {
    const Opinion opinion = examine(command);
    EXPECT_EQ(opinion.exit_code, 2);
    expect_found(opinion, "settings", "problem", part);
  };
  expect_wrong(good + Arguments{"--set", "stop.max_round=3"}, "did you mean 'stop.max_rounds'?");
  expect_wrong(good + Arguments{"--quorum", "8"}, "federation.quorum = 8 (from --quorum)");
  expect_wrong(good + Arguments{"--deadline", "0"}, "federation.deadline_seconds");
  expect_wrong(without(good, "--clients"), "--clients is missing");
  expect_wrong(without(good, "--items"), "--items is missing");
  const Opinion hasty = examine(good + Arguments{"--deadline", "2"});
  EXPECT_EQ(hasty.exit_code, 0);
  expect_found(hasty, "settings", "warning", "within 2 s");
  const Opinion lost = examine(with(good, "--items", "none.tsv"));
  EXPECT_EQ(lost.exit_code, 3);
  EXPECT_THAT(expect_found(lost, "catalogue", "problem", "none.tsv"),
              HasSubstr("fedhur data items"));
  EXPECT_THAT(expect_found(examine(with(good, "--clients", "900000")), "open files", "warning",
                           "900100 are needed"),
              HasSubstr("LimitNOFILE=900100"));
}

TEST_F(Doctor, SpeaksToPeopleInLines) {
  const Arguments site = site_arguments("state", "0-6");
  const Finished spoken = place_.fedhur(Arguments{"doctor"} + site);
  EXPECT_EQ(spoken.exit_code, 4);
  EXPECT_EQ(spoken.err, "");
  EXPECT_THAT(spoken.out, ContainsRegex("ok +data +synthetic: built-in, "));
  EXPECT_THAT(spoken.out, ContainsRegex("problem +connection +.*\n +to mend it: +start 'fedhur"));
  EXPECT_THAT(spoken.out, EndsWith("\n1 problem\n"));
  const Finished quiet = place_.fedhur(Arguments{"doctor"} + site + Arguments{"--quiet"});
  EXPECT_EQ(quiet.exit_code, 4);
  EXPECT_THAT(quiet.out, StartsWith("problem  connection"));
  EXPECT_EQ(std::count(quiet.out.begin(), quiet.out.end(), '\n'), 2) << quiet.out;
}

TEST_F(Doctor, TakesTheFlagsOfTheCommandsAndHelps) {
  for (const char* role : {"server", "client"}) {
    const Finished help = place_.fedhur({"doctor", role, "--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.out, AllOf(HasSubstr("Examples:"), HasSubstr("--json"), HasSubstr("--ca ")));
    const Finished wrong = place_.fedhur({"doctor", role, "--insecur"});
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("did you mean '--insecure'?"));
  }
  EXPECT_THAT(place_.fedhur({"doctor"}).err, HasSubstr("server, client"));
  EXPECT_THAT(place_.fedhur({"doctor", "sever"}).err, HasSubstr("did you mean 'server'?"));
}
}  // namespace
}  // namespace fedhur::tests
