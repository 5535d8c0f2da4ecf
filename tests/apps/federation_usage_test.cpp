// What fedhur server and fedhur client say to mistakes, and the codes they end with.

#include "federation_processes.hpp"

namespace fedhur::tests {
namespace {
class FederationMistakes : public FederationProcesses {
 protected:
  // One sentence on standard error, after nothing but warnings.
  void expect_refused(const Arguments& arguments, int exit_code, const std::string& part) const {
    const Finished finished = run_fedhur(arguments);
    EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
    EXPECT_EQ(finished.out, "");
    const auto last = finished.err.rfind('\n', finished.err.size() - 2);
    const std::string sentence = finished.err.substr(last == std::string::npos ? 0 : last + 1);
    EXPECT_THAT(sentence, AllOf(StartsWith("fedhur: "), HasSubstr(part))) << finished.err;
    EXPECT_THAT(finished.err, Not(HasSubstr("UNKNOWN"))) << "gRPC's words are not for people";
  }
  void expect_server_refused(const Arguments& more, int exit_code, const std::string& part) const {
    expect_refused(Arguments{"server", "--out", "new"} + more, exit_code, part);
    EXPECT_FALSE(place_.has("new")) << "a run that never began leaves nothing";
  }
  [[nodiscard]] Arguments client(const Arguments& more) const {
    return Arguments{"client", "--server", "localhost:" + port_, "--state", "site"} + more;
  }
};

using ServerMistakes = FederationMistakes;
using ClientMistakes = FederationMistakes;

TEST_F(ServerMistakes, AreNamedWithTheirFlag) {
  const Arguments items = {"--items", "items.tsv", "--insecure"};
  const Arguments good = items + Arguments{"--clients", "7"};
  expect_server_refused({"--insecure", "--clients", "7"}, 2, "--items is missing");
  expect_server_refused(items, 2, "--clients is missing");
  expect_server_refused(items + Arguments{"--clients", "0"}, 2, "--clients): expected a whole");
  expect_server_refused(items + Arguments{"--clients", "seven"}, 2, "--clients: expected a whole");
  expect_server_refused(good + Arguments{"--quorum", "8"}, 2, "--quorum): expected a number");
  expect_server_refused(good + Arguments{"--deadline", "0"}, 2, "--deadline): expected a number");
  expect_server_refused(good + Arguments{"--deadline", "soon"}, 2, "--deadline: expected a number");
  expect_server_refused(good + Arguments{"--monitor", "65536"}, 2, "--monitor 65536: expected");
  expect_server_refused(good + Arguments{"--method", "fedhurr"}, 2, "did you mean 'fedhur'?");
  expect_server_refused(good + Arguments{"--set", "trian.learning_rate=1"}, 2,
                        "did you mean 'train.learning_rate'?");
}

TEST_F(ServerMistakes, IncludeItemsThatAreNone) {
  const auto server = [](const std::string& items) {
    return Arguments{"--items", items, "--insecure", "--clients", "7"};
  };
  place_.write("empty.tsv", "");
  place_.write("header.tsv", "item\ttitle\n");
  place_.write("twice.tsv", "item\na\nb\na\n");
  expect_server_refused(server("none.tsv"), 3, "none.tsv: there is no such file");
  expect_server_refused(server("empty.tsv"), 3, "empty.tsv: the file is empty");
  expect_server_refused(server("header.tsv"), 3, "header.tsv has a header and no items");
  expect_server_refused(server("twice.tsv"), 3, "twice.tsv:4: item 'a' was in line 2 already");
}

TEST_F(ServerMistakes, IncludeAddressesAndCertificates) {
  const Arguments plain = {"--items", "items.tsv", "--clients", "7"};
  expect_server_refused(plain, 2, "--ca is missing");
  expect_server_refused(plain + Arguments{"--ca", "x", "--cert", "y"}, 2, "--key is missing");
  expect_server_refused(plain + Arguments{"--ca", "x", "--cert", "y", "--key", "z"}, 3, "x: ");
  expect_server_refused(plain + Arguments{"--ca", "x", "--insecure"}, 2, "leave one or the other");
  const Arguments open = plain + Arguments{"--insecure"};
  expect_server_refused(open + Arguments{"--listen", "0.0.0.0:0"}, 2, "0.0.0.0:0: without cert");
  expect_server_refused(open + Arguments{"--listen", "nowhere"}, 2, "expected host:port");
  expect_server_refused(open + Arguments{"--listen", "localhost:65536"}, 2, "expected host:port");

  const auto server = start_server({"--out", "run"});
  expect_server_refused(open + Arguments{"--listen", "localhost:" + port_}, 4,
                        "cannot listen on localhost:" + port_);
}

TEST_F(ServerMistakes, IncludeRunsThatCannotGoOn) {
  const Arguments settings = run_settings("fedmf", 1);
  const auto resume = [](const std::string& run) {
    return Arguments{"server", "--insecure", "--resume", run};
  };
  std::filesystem::create_directory(place_ / "folder");
  expect_refused(resume("none"), 2, "none is not a run folder");
  expect_refused(resume("folder"), 2, "folder is not a run folder");
  EXPECT_FALSE(place_.has("none"));
  EXPECT_TRUE(std::filesystem::is_empty(place_ / "folder"));

  simulate("simulation", settings);
  expect_refused(resume("simulation"), 2, "simulation is finished already");
  std::filesystem::remove(place_ / "simulation/result.json");
  expect_refused(resume("simulation"), 2, "simulation is not the run of a server");

  {
    const auto server = start_server(settings + Arguments{"--out", "run"});
    const auto site = start_site("site", "0-6");
    expect_success(*server, "server");
    expect_success(*site, "site");
  }
  expect_refused(resume("run"), 2, "run is finished already");
  for (const Arguments& more :
       {Arguments{"--items", "items.tsv"}, {"--clients", "7"}, {"--set", "seed=1"}}) {
    expect_refused(resume("run") + more, 2, "leave out " + more.front());
  }
  expect_refused({"server", "--insecure", "--items", "items.tsv", "--clients", "7", "--out", "run"},
                 2, "run exists and is not empty");
}

TEST_F(ClientMistakes, AreFoundBeforeAnybodyIsCalled) {
  port_ = find_quiet_port();  // no program listens there
  const Arguments synthetic = {"--data", "synthetic", "--insecure"};
  const Arguments good = synthetic + Arguments{"--clients", "0"};
  expect_refused({"client", "--data", "synthetic"}, 2, "--server HOST:PORT is missing");
  expect_refused(client({}), 2, "--data is missing");
  expect_refused(client({"--data", "none.csv"}), 3, "--data none.csv: there is no such file");
  expect_refused(client({"--data", "synthetic"}), 2, "--ca is missing");
  expect_refused(client(synthetic), 2, "--clients is missing");
  for (const char* ids : {"x", "5-3", "1,,2", "1-", "0-4294967295"}) {
    expect_refused(client(synthetic + Arguments{"--clients", ids}), 2, ids);
  }
  for (const char* seconds : {"0", "soon", "nan"}) {
    expect_refused(client(good + Arguments{"--give-up-after", seconds}), 2,
                   "--give-up-after: expected a number");
  }
  expect_refused(
      {"client", "--server", "localhost", "--data", "synthetic", "--insecure", "--clients", "0"}, 2,
      "expected host:port");
  expect_refused({"client", "--server", "fl.example.org:1", "--data", "synthetic", "--insecure",
                  "--clients", "0"},
                 2, "fl.example.org:1: without certificates");
  EXPECT_FALSE(place_.has("site"));
  expect_refused(client(good + Arguments{"--give-up-after", "0.3"}), 4,
                 "no connection for 0.3 s: cannot reach localhost:" + port_);
}

TEST_F(ClientMistakes, AreToldByTheServerAndTheData) {
  const auto server = start_server({"--out", "run"});
  const auto hosting = [this](const std::string& clients, const std::string& data) {
    return client({"--insecure", "--clients", clients, "--data", data});
  };
  place_.write("strange.csv", "user,item\nx,unheard-of\nx,i001\n");
  expect_refused(hosting("7", "strange.csv"), 4, "there is no client 7: this federation has 7");
  expect_refused(hosting("0-7", "strange.csv"), 4,
                 "8 clients are asked for, this federation has 7");
  expect_refused(hosting("0", "strange.csv"), 3, "item 'unheard-of' is not among the 90 of the");
  expect_refused(hosting("0", "items.tsv"), 3, "items.tsv");
  expect_refused(hosting("0", "synthetic") + Arguments{"--whole"}, 3, "has other items than the");
  expect_refused(hosting("0", "strange.csv") + Arguments{"--set", "data.pth=x"}, 2,
                 "did you mean 'data.path'?");
  EXPECT_FALSE(place_.has("site/site.json")) << "so far the folder is of no run";
  EXPECT_THAT(server->errors(), HasSubstr("refused 127.0.0.1"));

  Process lenient(place_, hosting("0", "strange.csv") + Arguments{"--skip-unknown-items"}, "site-");
  EXPECT_TRUE(lenient.wait_for_message("1 rows were skipped")) << lenient.errors();
  EXPECT_TRUE(lenient.wait_for_message("connected to localhost")) << lenient.errors();
}

TEST_F(ClientMistakes, IncludeTheFolderOfAnotherRunOrOfOtherClients) {
  const auto join = [this](const std::string& clients) {
    Process site(place_, site_arguments("site", clients), "site-");
    EXPECT_TRUE(site.wait_for_message("connected to localhost")) << site.errors();
  };
  {
    const auto server = start_server({"--out", "run"});
    join("0-2");
    join("0-2");  // its own
    expect_refused(site_arguments("site", "0-3"), 2, "site holds clients 0-2 of run ");
  }
  const auto server = start_server({"--out", "other"});
  expect_refused(site_arguments("site", "0-2"), 2, "choose another --state");
}

TEST_F(ClientMistakes, IncludeCertificatesOfOthers) {
  certify({{"mine", "0-2"}, {"theirs", "3-9"}});
  const auto server = start_server({"--out", "run"});
  expect_refused(site_arguments("mine", "2-3"), 4,
                 "the certificate of mine does not allow client 3, only 0-2");
  ASSERT_EQ(place_.fedhur({"pki", "revoke", "ca", "theirs.crt"}).exit_code, 0);
  expect_refused(site_arguments("theirs", "3-6"), 4, "was revoked");
  ASSERT_EQ(place_
                .shell("$FEDHUR pki init other && "
                       "$FEDHUR pki issue other --client 0-2 --name foreign")
                .exit_code,
            0);
  expect_refused(site_arguments("foreign", "0-2"), 2, "foreign.crt: ");
  Process good(place_, site_arguments("mine", "0-2"), "mine-");
  EXPECT_TRUE(good.wait_for_message("connected to localhost")) << good.errors();
}
}  // namespace
}  // namespace fedhur::tests
