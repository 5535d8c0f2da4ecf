// A federation of real servers and sites, joined by the plainest of carriers, against a simulation
// of the same configuration.
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "fedhur/base/file.hpp"
#include "fedhur/experiment/prepare_data.hpp"
#include "fedhur/experiment/server_run.hpp"
#include "fedhur/experiment/site_run.hpp"
#include "fedhur/experiment/stored_model.hpp"
#include "fedhur/message/wire_codec.hpp"
#include "tests/support/private_search.hpp"
#include "tests/support/support.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::experiment {
namespace {
namespace fs = std::filesystem;
using tests::TempFolder;
using tests::tiny_settings;
using transport::Hub;
constexpr Index kNumClients = 7;
const auto kMethods = testing::Values("fedmf", "fedcia", "fedhur", "fedncf", "fedca");

std::string name_of_method(const testing::TestParamInfo<std::string>& given) { return given.param; }

std::vector<ClientId> client_range(Index first, Index last) {
  std::vector<ClientId> clients;
  for (Index client = first; client <= last; ++client) clients.push_back(client_id(client));
  return clients;
}

// The settings that say what the data are, and those that say what is done with them.
struct Divided {
  ConfigTable server;
  ConfigTable site;
};
Divided divide(const ConfigTable& whole, const fs::path& items) {
  const ResolvedConfig resolved = resolve(whole);
  write_file_atomically(items,
                        data::to_text(data::catalogue_of(load_dataset(resolved.config.data))));
  Divided divided;
  for (const Setting& setting : resolved.settings) {
    const std::string& key = setting.key;
    const bool is_data =
        key.starts_with("data.") || key.starts_with("synthetic.") || key.starts_with("clients.");
    (is_data ? divided.site : divided.server).set(key, setting.value, "the test");
  }
  divided.server.set("federation.clients", std::int64_t{kNumClients}, "the test");
  divided.server.set("federation.items", items.string(), "the test");
  divided.server.set("federation.deadline_seconds", 60.0, "the test");
  return divided;
}

// What a site of the test is, and whom it hosts.
struct Hosting {
  SiteConfig config;
  std::vector<ClientId> clients;
};

transport::Welcome welcome_of(const ServerRun& server, const std::vector<ClientId>& clients) {
  transport::Welcome welcome = server.welcome();
  welcome.clients = clients;
  return welcome;
}

// One site and the thread that works for it.
class Plugged {
 public:
  // `most_tasks` ends it in the middle of things, as a crash would. What `loses` is true of never
  // reaches that client.
  using Loses = std::function<bool(const std::string& kind, ClientId client)>;
  Plugged(const Hosting& hosting, ServerRun& server, int most_tasks = 1 << 30,
          const Loses& loses = {})
      : site_(std::make_unique<SiteRun>(hosting.config, welcome_of(server, hosting.clients))),
        hub_(&server.hub()) {
    thread_ = std::jthread([this, most_tasks, loses](const std::stop_token& stop) {
      const Hub::Session session = hub_->connect("a site", site_->site().progress());
      int num_tasks = 0;
      while (!stop.stop_requested() && num_tasks < most_tasks) {
        auto task = hub_->next_task(session, std::chrono::milliseconds(20));
        if (!task) continue;
        if (loses) {
          const std::string kind = message::decode(*task->message).kind;
          std::erase_if(task->clients, [&](ClientId client) { return loses(kind, client); });
        }
        ++num_tasks;
        const bool is_last = num_tasks == most_tasks;
        site_->site().work(std::span(&*task, 1), [&](const transport::Reply& reply) {
          if (!is_last) hub_->accept(session, reply);  // the last reply is lost
        });
      }
      hub_->disconnect(session);
    });
  }
  void wait() { thread_.join(); }
  SiteRun& site() { return *site_; }
  ~Plugged() {
    if (thread_.joinable()) {
      thread_.request_stop();
      thread_.join();
    }
  }
  Plugged(const Plugged&) = delete;
  Plugged& operator=(const Plugged&) = delete;

 private:
  std::unique_ptr<SiteRun> site_;
  Hub* hub_;
  std::jthread thread_;
};

std::unique_ptr<ServerRun> start_server(const ConfigTable& table, const fs::path& folder) {
  return std::make_unique<ServerRun>(
      resolve(table),
      RunFolder::is_run(folder) ? RunFolder::open(folder) : RunFolder::create(folder),
      transport::NetworkLog{}, TrainingHooks{});
}

void expect_same_run(const RunFolder& simulated, const RunFolder& federated) {
  const auto before = simulated.read_rounds();
  const auto after = federated.read_rounds();
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].valid, after[i].valid) << i;
    EXPECT_EQ(before[i].test, after[i].test) << i;
    EXPECT_EQ(before[i].loss, after[i].loss) << i;
    EXPECT_EQ(before[i].is_best, after[i].is_best) << i;
    EXPECT_TRUE(after[i].absent.empty());
    for (const auto& [kind, bytes] : before[i].traffic) {
      EXPECT_EQ(bytes.up, after[i].traffic.at(kind).up) << kind;
      EXPECT_EQ(bytes.down, after[i].traffic.at(kind).down) << kind;
    }
  }
}

// All lists of a model, by user.
std::map<std::string, std::vector<std::pair<std::string, Real>>> lists_of(const fs::path& model) {
  const StoredModel stored(model);
  std::map<std::string, std::vector<std::pair<std::string, Real>>> lists;
  for (std::size_t user = 0; user < stored.user_names().size(); ++user) {
    auto& list = lists[stored.user_names()[user]];
    for (const auto& item : stored.recommend(user_id(static_cast<Index>(user)), 5)) {
      list.emplace_back(item.name, item.score);
    }
  }
  return lists;
}

class Federated : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    // "fedhur", or "fedhur_spectral", with a spectral start and a server rate.
    const auto end = GetParam().find('_');
    ConfigTable table = tiny_settings(GetParam().substr(0, end));
    if (end != std::string::npos) {
      add_assignment(table, "model.start=spectral");
      add_assignment(table, "server.rate=2");
    }
    (void)tests::train_tiny(folder_ / "simulated", table);
    divided_ = divide(table, folder_ / "items.tsv");
  }
  [[nodiscard]] Hosting site(const std::string& name, Index first, Index last) const {
    return {.config = {.folder = folder_ / name, .own = divided_.site, .has_whole_data = true},
            .clients = client_range(first, last)};
  }
  [[nodiscard]] RunFolder simulated() const { return RunFolder::open(folder_ / "simulated"); }
  [[nodiscard]] RunFolder federated() const { return RunFolder::open(folder_ / "server"); }
  TempFolder folder_;
  Divided divided_;
};
INSTANTIATE_TEST_SUITE_P(Methods, Federated, kMethods, name_of_method);
INSTANTIATE_TEST_SUITE_P(Starts, Federated, testing::Values("fedmf_spectral", "fedhur_spectral"),
                         name_of_method);

TEST_P(Federated, OneSiteWithAllClientsEndsWithTheModelOfASimulation) {
  auto server = start_server(divided_.server, folder_ / "server");
  Plugged all(site("site", 0, kNumClients - 1), *server);
  const TrainingOutcome outcome = server->run({});
  EXPECT_FALSE(outcome.was_interrupted);
  expect_same_run(simulated(), federated());
  ASSERT_TRUE(all.site().write_model());
  EXPECT_EQ(read_file(folder_ / "site" / "model" / "model.bin"),
            read_file(simulated().model() / "model.bin"));
}

TEST_P(Federated, SeveralSitesEndWithItsListsBetweenThem) {
  auto server = start_server(divided_.server, folder_ / "server");
  Plugged first(site("first", 0, 0), *server);
  Plugged second(site("second", 1, 4), *server);
  Plugged third(site("third", 5, 6), *server);
  (void)server->run({});
  expect_same_run(simulated(), federated());
  auto expected = lists_of(simulated().model());
  for (auto* plugged : {&first, &second, &third}) ASSERT_TRUE(plugged->site().write_model());
  for (const char* name : {"first", "second", "third"}) {
    for (const auto& [user, list] : lists_of(folder_ / name / "model")) {
      ASSERT_TRUE(expected.contains(user)) << user << " is at one site only";
      EXPECT_EQ(list, expected.at(user)) << user;
      expected.erase(user);
    }
  }
  EXPECT_TRUE(expected.empty());
}

// A site is killed after 1, 2, ... tasks with its last reply unsent, and is started again.
TEST_P(Federated, ASiteThatDiesAndComesBackChangesNothing) {
  auto server = start_server(divided_.server, folder_ / "server");
  Plugged others(site("others", 3, kNumClients - 1), *server);
  std::jthread dying([&] {
    for (int life = 1; life <= 4; ++life) {
      Plugged mortal(site("mortal", 0, 2), *server, life);
      mortal.wait();
    }
    Plugged last(site("mortal", 0, 2), *server);
    while (!fs::exists(folder_ / "server" / "result.json")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  (void)server->run({});
  dying.join();
  expect_same_run(simulated(), federated());
}

// The server is killed in the middle of a round; after the restart no client that has answered is
// asked again.
TEST_P(Federated, AServerThatDiesAndComesBackChangesNothing) {
  for (int life = 1; life <= 3; ++life) {
    auto server = start_server(divided_.server, folder_ / "server");
    // The second site stops without a reply, so the server waits in mid-round when it is ended.
    Plugged first(site("first", 0, 4), *server);
    Plugged second(site("second", 5, 6), *server, 2 + life);
    std::jthread ending([&] {
      second.wait();
      server->hub().close("the server was ended");
    });
    EXPECT_THROW((void)server->run({}), TransportError) << life;
  }
  auto server = start_server(divided_.server, folder_ / "server");
  Plugged first(site("first", 0, 4), *server);
  Plugged second(site("second", 5, 6), *server);
  (void)server->run({});
  expect_same_run(simulated(), federated());
}

TEST_P(Federated, GoesOnWithoutASiteThatStaysAway) {
  divided_.server.set("federation.quorum", std::int64_t{5}, "the test");
  divided_.server.set("federation.deadline_seconds", 0.3, "the test");
  auto server = start_server(divided_.server, folder_ / "server");
  Plugged present(site("present", 0, 4), *server);
  {
    Plugged leaving(site("leaving", 5, 6), *server, 2);
    std::jthread gone([&] { leaving.wait(); });
    (void)server->run({});
  }
  const auto rounds = federated().read_rounds();
  ASSERT_EQ(rounds.size(), simulated().read_rounds().size());
  for (const auto& round : rounds) EXPECT_EQ(round.absent, (std::vector<Index>{5, 6}));
  EXPECT_TRUE(present.site().write_model());
}

TEST_P(Federated, AClientThatMissedEveryKeepLeavesTheModelsOfTheOthers) {
  divided_.server.set("federation.quorum", std::int64_t{6}, "the test");
  divided_.server.set("federation.deadline_seconds", 0.3, "the test");
  auto server = start_server(divided_.server, folder_ / "server");
  Plugged all(site("site", 0, kNumClients - 1), *server, 1 << 30,
              [](const std::string& kind, ClientId client) {
                return kind == "keep" && client == client_id(4);
              });
  (void)server->run({});
  EXPECT_EQ(all.site().clients_without_model(), client_range(4, 4));
  ASSERT_TRUE(all.site().write_model());
  const StoredModel stored(folder_ / "site" / "model");
  std::size_t num_without = 0;
  for (std::size_t i = 0; i < stored.user_names().size(); ++i) {
    const UserId user = user_id(static_cast<Index>(i));
    if (stored.has_model(user)) {
      EXPECT_EQ(stored.recommend(user, 5, true).size(), 5U);
      continue;
    }
    ++num_without;
    EXPECT_FALSE(stored.seen(user).empty()) << "what the user has seen is known";
    try {
      (void)stored.recommend(user, 5);
      FAIL() << "recommendations without a model";
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("no model for user '" + stored.user_names()[i]),
                std::string::npos)
          << error.what();
    }
  }
  EXPECT_GT(num_without, 0U);
  EXPECT_LT(num_without, stored.user_names().size());
}

TEST_P(Federated, ASiteWithoutAnyModelWritesNone) {
  auto server = start_server(divided_.server, folder_ / "server");
  const Hosting hosting = site("site", 0, 1);
  const SiteRun idle(hosting.config, welcome_of(*server, hosting.clients));
  EXPECT_FALSE(idle.write_model());
  EXPECT_EQ(idle.clients_without_model(), client_range(0, 1));
  EXPECT_FALSE(fs::exists(folder_ / "site" / "model"));
}

// One sum in the clear: only where the federation says so.
class FederatedSum : public Federated {};
INSTANTIATE_TEST_SUITE_P(Methods, FederatedSum, testing::Values("fedslim"), name_of_method);

TEST_P(FederatedSum, OfOneSiteEndsWithTheModelOfASimulation) {
  divided_.server.set("filter.plain_sums", true, "the test");
  auto server = start_server(divided_.server, folder_ / "server");
  Plugged all(site("site", 0, kNumClients - 1), *server);
  (void)server->run({});
  expect_same_run(simulated(), federated());
  ASSERT_TRUE(all.site().write_model());
  EXPECT_EQ(read_file(folder_ / "site" / "model" / "model.bin"),
            read_file(simulated().model() / "model.bin"));
}

TEST_P(FederatedSum, OfSeveralSitesIsThatOfASimulation) {
  divided_.server.set("filter.plain_sums", true, "the test");
  auto server = start_server(divided_.server, folder_ / "server");
  Plugged first(site("first", 0, 2), *server);
  Plugged second(site("second", 3, 6), *server);
  (void)server->run({});
  expect_same_run(simulated(), federated());
}

TEST_P(FederatedSum, IsRefusedUnlessAskedForByName) {
  EXPECT_THROW((void)start_server(divided_.server, folder_ / "server"), ConfigError);
  divided_.server.set("filter.plain_sums", true, "the test");
  const auto server = start_server(divided_.server, folder_ / "other");
  const Hosting hosting = site("site", 0, 1);
  transport::Welcome welcome = welcome_of(*server, hosting.clients);
  EXPECT_NO_THROW((void)SiteRun(hosting.config, welcome));
  const std::string allowed = "plain_sums = true";
  const auto at = welcome.configuration.find(allowed);
  ASSERT_NE(at, std::string::npos);
  welcome.configuration.replace(at, allowed.size(), "plain_sums = false");
  EXPECT_THROW((void)SiteRun(hosting.config, welcome), ConfigError);
}

TEST(SiteRun, NamesClientsInFewWords) {
  EXPECT_EQ(describe_clients(client_range(3, 3)), "client 3");
  auto clients = client_range(0, 2);
  clients.push_back(client_id(5));
  EXPECT_EQ(describe_clients(clients), "clients 0-2,5");
}

// A federation of people with telling names, whose clients keep a model in every round.
class FederatedPrivacy : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    write_file_atomically(folder_ / "people.csv", tests::telling_rows());
    ConfigTable table;
    for (const std::string& setting :
         {"method=" + GetParam(), "data.path=" + (folder_ / "people.csv").string(),
          std::string("clients.count=7"), std::string("stop.max_rounds=3"),
          std::string("split.valid_fraction=0"), std::string("model.embedding_dim=6"),
          std::string("train.local_epochs=2")}) {
      add_assignment(table, setting);
    }
    divided_ = divide(table, folder_ / "items.tsv");
  }
  TempFolder folder_;
  Divided divided_;
};
INSTANTIATE_TEST_SUITE_P(Methods, FederatedPrivacy, kMethods, name_of_method);

TEST_P(FederatedPrivacy, TheServersFilesNeverHoldUsersVectorsOrInteractions) {
  auto server = start_server(divided_.server, folder_ / "server");
  Plugged all({.config = {.folder = folder_ / "site", .own = divided_.site, .has_whole_data = true},
               .clients = client_range(0, kNumClients - 1)},
              *server);
  tests::PrivatePatterns secrets;
  std::vector<std::map<std::string, std::vector<std::byte>>> moments;
  const auto look = [&] { moments.push_back(tests::files_below(folder_ / "server")); };
  const auto add_model = [&] {
    ASSERT_TRUE(all.site().write_model());
    secrets.add_model(tests::read_model_content(folder_ / "site" / "model"));
  };
  TrainingHooks hooks;
  hooks.on_phase = [&](Round round, const std::string& phase) {
    look();
    // Who has trained in this round has kept the model of the last.
    if (phase == "evaluation" && round > 0) add_model();
  };
  hooks.on_round = [&](const report::RoundReport& round, const ExperimentConfig&) {
    look();
    EXPECT_TRUE(round.is_best);
  };
  (void)server->run(hooks);
  look();
  add_model();
  ASSERT_EQ(moments.size(), 3U * 3U + 1U);
  ASSERT_GT(secrets.size(), 50'000U);

  std::size_t largest_journal = 0;
  std::set<std::string> names;
  for (const auto& files : moments) {
    for (const auto& [name, bytes] : files) {
      names.insert(name);
      if (name == "checkpoints/replies.journal") {
        largest_journal = std::max(largest_journal, bytes.size());
      }
      for (const auto& [kind, example] : secrets.find_in(bytes)) {
        ADD_FAILURE() << name << " holds a " << kind << ": " << example;
      }
    }
  }
  EXPECT_GT(largest_journal, 7U * 300U * sizeof(Real)) << "the uploads of a round were in it";
  for (const char* name : {"checkpoints/round-000001.ckpt", "rounds.jsonl", "inside.json",
                           "result.json", "manifest.json", "config.toml"}) {
    EXPECT_TRUE(names.contains(name)) << name << " was looked into";
  }
  EXPECT_FALSE(fs::exists(folder_ / "server" / "model"));

  // The same search finds it where it belongs; how much else is there depends on when states were
  // saved.
  std::set<std::string> kinds;
  for (const auto& [name, bytes] : tests::files_below(folder_ / "site")) {
    for (const auto& [kind, example] : secrets.find_in(bytes)) kinds.insert(kind);
  }
  for (const char* kind : {"user id", "vector", "list of items"}) {
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  }
}

TEST_P(FederatedPrivacy, TheSearchFindsWhatIsSentOrWrittenByMistake) {
  auto server = start_server(divided_.server, folder_ / "server");
  Plugged all({.config = {.folder = folder_ / "site", .own = divided_.site, .has_whole_data = true},
               .clients = client_range(0, kNumClients - 1)},
              *server);
  (void)server->run({});
  ASSERT_TRUE(all.site().write_model());
  const auto model = tests::read_model_content(folder_ / "site" / "model");
  tests::PrivatePatterns secrets;
  secrets.add_model(model);
  const auto& client = model.clients.back();
  const auto expect_found = [&](std::span<const std::byte> bytes, const std::string& kind) {
    EXPECT_TRUE(secrets.find_in(bytes).contains(kind)) << kind;
  };
  message::Message leak{.kind = "leak", .round = 0, .arrays = {}};
  leak.arrays.set("table", tests::user_tables(client).back());
  expect_found(message::encode(leak), "packed vector");
  // Amid a table of others, and after larger numbers.
  Matrix mixed = tests::random_matrix(20, 7, 3);
  mixed.block(9, 1, 1, 6) = tests::user_tables(client).front().row(0);
  leak.arrays.set("table", mixed);
  expect_found(message::encode(leak), "packed vector");

  const std::int32_t user = client.integers("users")(0);
  const std::int32_t item = client.integers("seen_items")(1);
  ASSERT_GE(user, 300) << "no item has this number";
  ASSERT_GT(item, 0);
  const std::vector<std::int64_t> pair = {user, item};
  expect_found(std::as_bytes(std::span(pair)), "interaction");
  const std::vector<float> reversed = {static_cast<float>(item), static_cast<float>(user)};
  expect_found(std::as_bytes(std::span(reversed)), "interaction");
  std::string list = "[";
  for (Index i = 0; i < 5; ++i) list += fmt::format("{}, ", client.integers("seen_items")(i));
  expect_found(std::as_bytes(std::span(list)), "list of items");
  const std::string line = "hello " + model.user_names.back() + "!";
  expect_found(std::as_bytes(std::span(line)), "user id");
}

TEST(SiteRun, TakesItsOwnFileAndTheServersItems) {
  const TempFolder folder;
  write_file_atomically(folder / "items.tsv", "item\ttitle\nb\tBee\na\tAnt\nc\tCat\n");
  write_file_atomically(folder / "mine.csv", "user,item\nx,a\nx,b\nx,c\ny,c\ny,a\nz,b\nz,a\n");
  ConfigTable own;
  own.set("data.path", (folder / "mine.csv").string(), "the test");
  SiteConfig config{.folder = folder / "site", .own = own};
  const transport::Welcome welcome{.run_id = "r",
                                   .configuration = "method = \"fedmf\"\nsplit.kind = \"user\"\n",
                                   .num_clients = 5,
                                   .clients = client_range(4, 4),
                                   .catalogue = transport::share(read_file(folder / "items.tsv"))};
  {
    const SiteRun site(config, welcome);
    EXPECT_NE(site.describe().find("3 users"), std::string::npos) << site.describe();
    EXPECT_EQ(fs::status(folder / "site").permissions() & fs::perms::others_all, fs::perms::none);
    EXPECT_TRUE(SiteRun::is_site(folder / "site"));
  }
  transport::Welcome other = welcome;
  other.run_id = "another";
  EXPECT_THROW(SiteRun(config, other), ConfigError) << "the folder is of another run";
  write_file_atomically(folder / "mine.csv", "user,item\nx,a\nx,unheard-of\n");
  config.folder = folder / "new";
  try {
    const SiteRun site(config, welcome);
    FAIL() << "an item that the federation does not know";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("unheard-of"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(SiteRun::is_site(folder / "new"));
  config.skips_unknown_items = true;
  EXPECT_EQ(SiteRun(config, welcome).skipped_rows(), 1);
}

TEST(ServerRun, TellsSitesNothingOfItsOwnMachine) {
  const TempFolder folder;
  const Divided divided = divide(tiny_settings("fedmf"), folder / "items.tsv");
  const auto server = start_server(divided.server, folder / "server");
  const std::string& settings = server->welcome().configuration;
  EXPECT_EQ(settings.find("items"), std::string::npos) << settings;
  EXPECT_EQ(settings.find(folder.path().string()), std::string::npos);
  EXPECT_NE(settings.find("train.learning_rate"), std::string::npos);
}
}  // namespace
}  // namespace fedhur::experiment
