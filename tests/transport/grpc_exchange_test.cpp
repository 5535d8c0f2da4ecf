// Exchanges over healthy connections.
#include "tests/transport/grpc_raw.hpp"
#include "tests/transport/grpc_support.hpp"

namespace fedhur::transport {
namespace {
constexpr Index kFiveMegabytes = 1'250'000;  // floats

TEST_F(GrpcTest, CarriesSmallAndLargeMessagesForSitesOfAnySize) {
  start(7);
  Household many({0, 2, 4, 6}, 2);
  Household one({1});
  Household two({3, 5});
  const auto sites = {run(many), run(one), run(two)};
  ASSERT_TRUE(all_connect());
  expect_exchange();
  expect_exchange(3);
  expect_exchange(kFiveMegabytes);
  expect_exchange();
  EXPECT_EQ(hub().status().counters.refused, 0U);
}

TEST_F(GrpcTest, SendsABroadcastOncePerSiteAndOtherMessagesOncePerClient) {
  start(5);
  Household many({0, 1, 2, 3});
  Household one({4});
  const auto first = run(many);
  const auto second = run(one);
  ASSERT_TRUE(all_connect());
  expect_exchange();
  EXPECT_EQ(hub().status().counters.tasks, 2U);

  std::vector<federation::Request> requests;
  for (int client = 0; client < 5; ++client) {
    requests.push_back({client_id(client),
                        std::make_shared<const Message>(make_message("personal", 100 + client))});
  }
  const auto answers = hub().exchange(requests);
  ASSERT_EQ(answers.size(), 5U);
  for (int client = 0; client < 5; ++client) {
    EXPECT_EQ(answers[static_cast<std::size_t>(client)].message.arrays.number("value"),
              10 * (100 + client) + client);
  }
  EXPECT_EQ(hub().status().counters.tasks, 7U);
  EXPECT_EQ(many.client(3).num_asked, 2);
}

TEST_F(GrpcTest, CarriesWhatIsToldWithItsPlaceAndBringsNoReply) {
  start(2);
  Household one({0});
  const auto site = run(one);
  RawSite raw(port_);
  ASSERT_TRUE(raw.join({client_id(1)}));
  ASSERT_TRUE(all_connect());
  for (const char* kind : {"update", "keep"}) {
    federation::tell_all(hub(), make_message(kind, 1));
  }
  for (const Sequence sequence : {1U, 2U}) {
    const v1::FromServer frame = raw.read();
    EXPECT_EQ(frame.chunk().sequence(), sequence);
    EXPECT_EQ(frame.chunk().after(), sequence - 1);
    EXPECT_TRUE(frame.chunk().is_told());
  }
  const std::vector<ClientId> first = {client_id(0)};
  EXPECT_EQ(federation::ask(hub(), first, make_message("train", 1)).size(), 1U);
  EXPECT_EQ(one.client(0).num_asked, 3);
  EXPECT_EQ(hub().status().counters.late, 0U) << "a reply to what was told would have come first";
}

TEST_F(GrpcTest, CarriesAThousandExchanges) {
  start(3);
  Household two({0, 2});
  Household one({1});
  const auto first = run(two);
  const auto second = run(one);
  ASSERT_TRUE(all_connect());
  for (int i = 0; i < 1000; ++i) expect_exchange();
  EXPECT_EQ(hub().status().counters.tasks, 2000U);
  EXPECT_EQ(hub().status().counters.connections, 2U);
}

TEST_F(GrpcTest, TellsSitesOfTheRunAndSendsTheCatalogueToThoseWhoNeedIt) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1000}, std::size_t{3'000'000}}) {
    const auto catalogue = bytes_of(std::string(size, 'x'));
    server_config_.welcome.catalogue = catalogue;
    server_config_.welcome.catalogue_sha256 = sha256_hex(*catalogue);
    start(4);
    HubConnectionConfig config = site_config({client_id(3), client_id(1)});
    const auto welcome = HubConnection(config, {}).connect({});
    ASSERT_TRUE(welcome);
    EXPECT_EQ(welcome->run_id, "run-1");
    EXPECT_EQ(welcome->configuration, "method = \"fedmf\"\n");
    EXPECT_EQ(welcome->num_clients, 4);
    EXPECT_EQ(welcome->clients, (std::vector{client_id(1), client_id(3)}));
    ASSERT_TRUE(welcome->catalogue);
    EXPECT_EQ(*welcome->catalogue, *catalogue);
    config.catalogue_sha256 = welcome->catalogue_sha256;
    EXPECT_FALSE(HubConnection(config, {}).connect({})->catalogue) << "it has a copy";
    EXPECT_TRUE(eventually([&] { return server().num_sessions() == 0; }));
  }
}

TEST_F(GrpcTest, SendsSitesAwayAtTheEnd) {
  start(2);
  Household first({0});
  Household second({1});
  const auto a = run(first);
  const auto b = run(second);
  ASSERT_TRUE(all_connect());
  expect_exchange();
  server().close({.is_finished = true, .reason = "all rounds are done"});
  EXPECT_EQ(server().num_sessions(), 0);
  EXPECT_EQ(a->outcome(), "finished: all rounds are done");
  EXPECT_EQ(b->outcome(), "finished: all rounds are done");
  // A site that connects too late is told the same.
  Household third({0});
  EXPECT_THAT(run(third)->outcome(), testing::HasSubstr("has ended the run: all rounds are done"));
}

TEST_F(GrpcTest, TellsSitesWhyARunEndsEarly) {
  start(1);
  Household household({0});
  const auto site = run(household);
  ASSERT_TRUE(all_connect());
  hub().close("the disk is full");
  EXPECT_EQ(site->outcome(), "ended: the disk is full");
}

TEST_F(GrpcTest, StopsASiteSoon) {
  start(2);
  Household household({0});
  const auto site = run(household);
  ASSERT_TRUE(eventually([&] { return hub().status().connected.size() == 1; }));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(site->stop());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s) << "it takes a fraction of a second";
  EXPECT_TRUE(eventually([&] { return hub().status().connected.empty(); }));
  // Also while it tries to reach a server in vain.
  stop_server();
  const auto lonely = run(household);
  ASSERT_TRUE(eventually([&] { return lonely->lines.have("cannot reach 127.0.0.1"); }));
  const auto again = std::chrono::steady_clock::now();
  EXPECT_FALSE(lonely->stop());
  EXPECT_LT(std::chrono::steady_clock::now() - again, 5s);
}

TEST_F(GrpcTest, GivesTheExceptionOfAClientToWhomeverServes) {
  deadline_seconds_ = 0.3;
  start(1);
  Household household({0});
  const auto site = run(household);
  ASSERT_TRUE(all_connect());
  EXPECT_THROW((void)federation::ask_all(hub(), make_message("bug", 1)), TransportError);
  EXPECT_EQ(site->outcome(), "a bug in the client");
}

TEST_F(GrpcTest, CarriesTheReasonOfAClientThatCannotAnswer) {
  start(1);
  Household household({0});
  const auto site = run(household);
  ASSERT_TRUE(all_connect());
  EXPECT_THROW((void)federation::ask_all(hub(), make_message("nonsense", 1)), TransportError);
  EXPECT_TRUE(lines().have("client 0: what is 'nonsense'?"));
  expect_exchange();
}

TEST_F(GrpcTest, RefusesToTalkOpenlyWithOthersThanThisMachine) {
  start_hub(1);
  GrpcServerConfig config = server_config_;
  config.welcome.num_clients = 1;
  for (const char* address : {"0.0.0.0:0", "[::]:0", "192.168.1.2:0", "example.org:7000"}) {
    config.listen = address;
    EXPECT_THROW(GrpcServer(config, hub(), {}), ConfigError) << address;
    HubConnectionConfig site;
    site.server = address;
    EXPECT_THROW(HubConnection(site, {}), ConfigError) << address;
  }
  config.listen = "localhost:0";
  EXPECT_NO_THROW(GrpcServer(config, hub(), {}));
}

TEST_F(GrpcTest, SaysThatAPortIsTaken) {
  start(1);
  GrpcServerConfig config = server_config_;
  config.welcome.num_clients = 1;
  config.listen = fmt::format("127.0.0.1:{}", port_);
  EXPECT_THROW(GrpcServer(config, hub(), {}), TransportError);
}
}  // namespace
}  // namespace fedhur::transport
