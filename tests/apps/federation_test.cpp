// fedhur server and fedhur client against fedhur train of the same configuration.
#include <sched.h>

#include <algorithm>
#include <thread>

#include "federation_processes.hpp"
#include "fedhur/base/file.hpp"
#include "tests/support/private_search.hpp"

namespace fedhur::tests {
namespace {
class DeployedMethods : public FederationProcesses,
                        public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, DeployedMethods,
                         testing::Values("fedmf", "fedcia", "fedhur", "fedncf"),
                         [](const auto& method) { return method.param; });

TEST_P(DeployedMethods, ThreeSitesOverTlsEndAsTheSimulation) {
  const Arguments settings = run_settings(GetParam(), 3);
  simulate("simulation", settings);
  const std::vector<std::pair<std::string, std::string>> shares = {
      {"a", "0"}, {"b", "1-4"}, {"c", "5-6"}};  // uneven
  certify(shares);
  const auto server = start_server(settings + Arguments{"--out", "run", "--json"});
  std::vector<std::unique_ptr<Process>> sites;
  for (const auto& [name, clients] : shares) sites.push_back(start_site(name, clients));

  const Finished served = server->wait();
  ASSERT_EQ(served.exit_code, 0) << served.err;
  for (std::size_t i = 0; i < sites.size(); ++i) expect_success(*sites[i], shares[i].first);
  expect_same_run("simulation", "run");
  EXPECT_EQ(json::parse(served.out), json::parse(place_.read("run/result.json")));
  EXPECT_FALSE(place_.has("run/model")) << "models stay at the sites";

  std::vector<std::string> scores;
  for (const auto& [name, clients] : shares) {
    const auto own = scores_of(name);
    EXPECT_FALSE(own.empty()) << name;
    scores.insert(scores.end(), own.begin(), own.end());
  }
  std::ranges::sort(scores);
  EXPECT_EQ(scores, scores_of("simulation")) << "every user is at one site, with the same scores";
}

TEST_P(DeployedMethods, OneSiteWithAllClientsHasTheModelOfTheSimulation) {
  const Arguments settings = run_settings(GetParam(), 2);
  simulate("simulation", settings);
  const auto server = start_server(settings + Arguments{"--out", "run"});
  const auto site = start_site("site", "0-6");
  expect_success(*server, "server");
  expect_success(*site, "site");
  expect_same_run("simulation", "run");
  EXPECT_EQ(place_.read("site/model/model.bin"), place_.read("simulation/model/model.bin"));
}

using FederationOfASplitFile = FederationProcesses;

// The server knows nothing of it, and its settings name another split.
TEST_F(FederationOfASplitFile, KeepsThePartsAndClientsOfTheFile) {
  Arguments data = whole_data();
  data.erase(data.begin());  // "data split" takes the path without its flag
  const Finished split =
      place_.fedhur(Arguments{"data", "split", "--seed", "5", "--out", "split.tsv"} + data);
  ASSERT_EQ(split.exit_code, 0) << split.err;
  const Finished items = place_.fedhur({"data", "items", "split.tsv", "--out", "split-items.tsv"});
  ASSERT_EQ(items.exit_code, 0) << items.err;
  const Arguments settings = run_settings("fedmf", 2);
  const Finished trained =
      place_.fedhur(Arguments{"train", "--data", "split.tsv", "--out", "simulation"} + settings);
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const auto server =
      start_server(settings + Arguments{"--out", "run", "--items", "split-items.tsv"});
  Process site(place_, {"client", "--server", "localhost:" + port_, "--insecure", "--clients",
                        "0-6", "--data", "split.tsv", "--whole", "--state", "site"});
  expect_success(*server, "server");
  expect_success(site, "site");
  expect_same_run("simulation", "run");
}

using FederationWithAbsentees = FederationProcesses;

TEST_F(FederationWithAbsentees, TheServerGoesOnWithoutASiteThatNeverComes) {
  const auto server = start_server(run_settings("fedhur", 2) +
                                   Arguments{"--out", "run", "--quorum", "5", "--deadline", "2"});
  const auto first = start_site("first", "0-1");
  const auto second = start_site("second", "2-4");
  const Finished served = server->wait();
  ASSERT_EQ(served.exit_code, 0) << served.err;
  expect_success(*first, "first");
  expect_success(*second, "second");
  const auto rounds = rounds_of("run");
  ASSERT_EQ(rounds.size(), 2U);
  for (const json& round : rounds) EXPECT_EQ(round.at("absent"), json({5, 6}));
  for (const std::string& text : {served.err, place_.read("run/log.txt")}) {
    EXPECT_THAT(text, HasSubstr("round 1: no answer to 'train' within 2 s from clients 5, 6"));
    EXPECT_THAT(text, Not(HasSubstr("round 2: no answer"))) << "it is waited for once";
  }
  EXPECT_FALSE(scores_of("first").empty());
}

using FederationWithADoubleClient = FederationProcesses;

TEST_F(FederationWithADoubleClient, TheOlderSiteHasTheModelsOfItsOtherClients) {
  const auto server = start_server(run_settings("fedmf", 2) + Arguments{"--out", "run"});
  const auto older = start_site("older", "4-6");
  ASSERT_TRUE(server->wait_for_message("connected with clients 4, 5, 6"));
  const auto newer = start_site("newer", "6");
  ASSERT_TRUE(server->wait_for_message("connected with client 6"));
  const auto rest = start_site("rest", "0-3");
  expect_success(*server, "server");
  expect_success(*newer, "newer");
  expect_success(*rest, "rest");
  const Finished ended = older->wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("fedhur: warning: no model of client 6: "),
                               HasSubstr("fedhur recommend older --user ID")));

  const auto user_of = [](const std::string& line) { return line.substr(0, line.find(',')); };
  const std::string without = user_of(scores_of("newer").front());
  const std::string with = user_of(scores_of("older").front());
  EXPECT_EQ(place_.fedhur({"recommend", "older", "--user", with}).exit_code, 0);
  const Finished refused = place_.fedhur({"recommend", "older", "--user", without});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, StartsWith("fedhur: there is no model for user '" + without + "': "));
  EXPECT_THAT(refused.out, IsEmpty());
  const Finished all = place_.fedhur({"recommend", "older", "--all", "--out", "all.csv"});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.err, HasSubstr("users are left out, since their clients have no model"));
  EXPECT_THAT(place_.read("all.csv"),
              AllOf(HasSubstr("\n" + with + ","), Not(HasSubstr("\n" + without + ","))));
  const Finished servers = place_.fedhur({"recommend", "run", "--user", with});
  EXPECT_EQ(servers.exit_code, 2);
  EXPECT_THAT(servers.err, HasSubstr("the models are at its sites"));
}

using FederationPrivacy = FederationProcesses;

TEST_F(FederationPrivacy, LogReportAndResultsOfTheServerHoldNothingPrivate) {
  place_.write("people.csv", telling_rows());
  ASSERT_EQ(place_.fedhur({"data", "items", "people.csv", "--out", "things.tsv"}).exit_code, 0);
  const auto server =
      start_server(run_settings("fedhur", 2) + Arguments{"--out", "run", "--items", "things.tsv"});
  const auto start = [&](const std::string& name, const std::string& clients) {
    return std::make_unique<Process>(
        place_,
        Arguments{"client", "--server", "localhost:" + port_, "--insecure", "--data", "people.csv",
                  "--whole", "--clients", clients, "--state", name},
        name + "-");
  };
  const auto first = start("first", "0-3");
  const auto second = start("second", "4-6");
  const Finished served = server->wait();
  ASSERT_EQ(served.exit_code, 0) << served.err;
  expect_success(*first, "first");
  expect_success(*second, "second");

  PrivatePatterns secrets;
  for (const char* site : {"first", "second"}) {
    secrets.add_model(read_model_content(place_ / site / "model"));
  }
  auto files = files_below(place_ / "run");
  for (const char* name : {"log.txt", "report.html", "result.json", "inside.json"}) {
    EXPECT_TRUE(files.contains(name)) << name << " was looked into";
  }
  files["what it printed"] = read_file(place_ / "server-out.txt");
  files["what it said"] = read_file(place_ / "server-err.txt");
  for (const auto& [name, bytes] : files) {
    EXPECT_THAT(secrets.find_in(bytes), IsEmpty()) << name;
  }
  EXPECT_THAT(secrets.find_in(read_file(place_ / "first/model/model.bin")), SizeIs(3))
      << "ids, vectors and lists are where they belong";
}

using MonitoredServer = FederationProcesses;

TEST_F(MonitoredServer, AnswersMonitorsWhileItRuns) {
  const auto server = start_server(run_settings("fedmf", 2) +
                                   Arguments{"--out", "run", "--quorum", "4", "--monitor", "0"});
  ASSERT_TRUE(server->wait_for_message("metrics at http://127.0.0.1:"));
  const std::string said = server->errors();
  const auto first = said.find("http://127.0.0.1:");
  const std::string address = said.substr(first, said.find("/metrics", first) - first);

  EXPECT_EQ(place_.get(address + "/healthz"), "200 ok\n\n");
  EXPECT_EQ(place_.get(address + "/readyz"), "503 0 clients connected, 4 needed\n\n");
  EXPECT_THAT(place_.get(address + "/metrics"),
              AllOf(StartsWith("200 "), HasSubstr("\nfedhur_clients 7"),
                    HasSubstr("\nfedhur_quorum 4"), HasSubstr("\nfedhur_connected_clients 0"),
                    HasSubstr("# TYPE fedhur_replies_total counter")));
  EXPECT_THAT(place_.get(address + "/else"), StartsWith("404"));

  const auto some = start_site("some", "0-4");
  ASSERT_TRUE(server->wait_for_message("connected with clients 0, 1, 2, 3, 4"));
  EXPECT_EQ(place_.get(address + "/readyz"), "200 5 clients connected, 4 needed\n\n");
  EXPECT_THAT(place_.get(address + "/metrics"), HasSubstr("\nfedhur_connected_clients 5"));
  const auto rest = start_site("rest", "5-6");
  expect_success(*server, "server");
  expect_success(*some, "some");
  expect_success(*rest, "rest");
  for (const json& round : rounds_of("run")) EXPECT_FALSE(round.contains("absent"));
}

using FederationTurns = FederationProcesses;

TEST_F(FederationTurns, AreLongUnlessSomebodyHasDecidedOtherwise) {
  if (sched_getscheduler(0) != SCHED_OTHER) GTEST_SKIP() << "these tests run at another priority";
  const auto server = start_server(run_settings("fedmf", 2) + Arguments{"--out", "run"});
  EXPECT_EQ(sched_getscheduler(server->id()), SCHED_BATCH);
  const auto site = start_site("some", "0-4");
  ASSERT_TRUE(server->wait_for_message("connected with clients 0, 1, 2, 3, 4"));
  EXPECT_EQ(sched_getscheduler(site->id()), SCHED_BATCH);

  std::unique_ptr<Process> rest;
  std::thread([&] {  // whose policy the process inherits
    const sched_param none{};
    EXPECT_EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
    rest = start_site("rest", "5-6");
  })
      .join();
  EXPECT_TRUE(server->wait_for_message("connected with clients 5, 6"));
  EXPECT_EQ(sched_getscheduler(rest->id()), SCHED_IDLE);
  expect_success(*server, "server");
}
}  // namespace
}  // namespace fedhur::tests
