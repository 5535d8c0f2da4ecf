// Connections break, servers and sites end and come back, and no client is asked twice.
#include "tests/transport/grpc_proxy.hpp"
#include "tests/transport/grpc_support.hpp"

namespace fedhur::transport {
namespace {
class GrpcReconnect : public GrpcTest {
 protected:
  // In a thread of its own.
  std::future<std::vector<Answer>> ask(double value, Index num_floats = 0) {
    return std::async(std::launch::async, [this, value, num_floats] {
      return federation::ask_all(hub(), make_message("work", value, num_floats));
    });
  }
  static std::vector<double> values_of(const std::vector<Answer>& answers) {
    std::vector<double> values;
    for (const Answer& answer : answers) values.push_back(answer.message.arrays.number("value"));
    return values;
  }
};

// Holds a client up until it is opened.
class Gate {
 public:
  void pass() {
    ++num_waiting;
    opened_.wait();
  }
  void open() { opening_.set_value(); }
  std::atomic<int> num_waiting = 0;

 private:
  std::promise<void> opening_;
  std::shared_future<void> opened_ = opening_.get_future().share();
};

TEST_F(GrpcReconnect, GoesOnWithANewServer) {
  start(3);
  Household two({0, 1});
  Household one({2});
  const auto first = run(two);
  const auto second = run(one);
  ASSERT_TRUE(all_connect());
  expect_exchange();
  for (int i = 0; i < 3; ++i) {
    stop_server();
    EXPECT_TRUE(hub().status().connected.empty());
    start_server();
    ASSERT_TRUE(all_connect());
    expect_exchange(1000);
  }
  EXPECT_EQ(hub().status().counters.connections, 8U);
  EXPECT_EQ(two.client(1).num_asked, 4);
  EXPECT_TRUE(first->lines.have("the connection to 127.0.0.1"));
}

TEST_F(GrpcReconnect, WorksOnWhileThereIsNoConnection) {
  start(2);
  Gate gate;
  Household busy({0});
  Household idle({1});
  busy.client(0).while_working = [&] { gate.pass(); };
  const auto first = run(busy);
  const auto second = run(idle);
  ASSERT_TRUE(all_connect());
  auto answers = ask(1);
  ASSERT_TRUE(eventually([&] { return gate.num_waiting == 1; }));
  stop_server();
  gate.open();  // its reply is lost
  ASSERT_TRUE(eventually([&] { return busy.site().progress()[0].answered == 1; }));
  start_server();
  EXPECT_EQ(values_of(answers.get()), (std::vector<double>{10, 11}));
  EXPECT_EQ(busy.client(0).num_asked, 1);
  EXPECT_EQ(idle.client(0).num_asked, 1);
}

TEST_F(GrpcReconnect, GoesOnWithAServerThatRemembersWhatItHasHeard) {
  const TempFolder folder;
  Household first({0});
  Household second({1});
  std::unique_ptr<RunningSite> site;
  {
    ReplyJournal journal(folder / "journal");
    start(2, &journal);
    site = run(first);
    auto answers = ask(1);
    ASSERT_TRUE(eventually([&] { return hub().status().answered == 1; }));
    stop_server();
    hub().close("killed");
    EXPECT_THROW((void)answers.get(), TransportError);
  }
  ReplyJournal journal(folder / "journal");
  start(2, &journal);
  const auto other = run(second);
  EXPECT_EQ(values_of(ask(1).get()), (std::vector<double>{10, 11}));
  ASSERT_TRUE(all_connect());
  EXPECT_EQ(values_of(ask(2).get()), (std::vector<double>{20, 21}));
  EXPECT_EQ(first.client(0).num_asked, 2);
  stop_server();  // before its journal goes
  hub().close("the test is over");
}

TEST_F(GrpcReconnect, WaitsForASiteThatComesBack) {
  start(2);
  Household first({0});
  Household second({1});
  const auto stays = run(first);
  const auto leaves = run(second);
  ASSERT_TRUE(all_connect());
  expect_exchange();
  EXPECT_FALSE(leaves->stop());
  ASSERT_TRUE(eventually([&] { return hub().status().connected.size() == 1; }));
  auto answers = ask(5);
  ASSERT_TRUE(eventually([&] { return hub().status().answered == 1; }));
  const auto returns = run(second);
  EXPECT_EQ(values_of(answers.get()), (std::vector<double>{50, 51}));
}

TEST_F(GrpcReconnect, EndsWhenTheServerHasBegunAnotherRun) {
  start(1);
  Household household({0});
  const auto site = run(household);
  ASSERT_TRUE(all_connect());
  stop_server();
  server_config_.welcome.run_id = "run-2";
  start_server();
  EXPECT_THAT(site->outcome(),
              testing::HasSubstr("has begun another run, run-2; this site takes part in run-1"));
}

TEST_F(GrpcReconnect, WaitsForAServerThatIsAboutToLeave) {
  start(1);
  hub().close("the server is being stopped");
  Household household({0});
  const auto site = run(household);  // finds the server, which listens until it is gone
  ASSERT_TRUE(eventually([&] { return site->lines.have("is being stopped; trying again"); }));
  EXPECT_FALSE(site->is_over());
  start(1);
  ASSERT_TRUE(all_connect());
  expect_exchange();
}

TEST_F(GrpcReconnect, GivesUpWhenAskedTo) {
  start(1);
  Household household({0});
  HubConnectionConfig config = site_config(household.ids());
  config.give_up_after = 300ms;
  const auto site = run(household, config);
  ASSERT_TRUE(all_connect());
  stop_server();
  EXPECT_THAT(site->outcome(), testing::StartsWith("no connection for 0.3 s: cannot reach"));
}

TEST_F(GrpcReconnect, NoticesThatTheNetworkIsSilent) {
  start_hub(1);
  server_config_.keepalive = 500ms;
  start_server();
  Proxy proxy(port_);
  Household household({0});
  HubConnectionConfig config = site_config(household.ids());
  config.server = fmt::format("127.0.0.1:{}", proxy.port());
  config.keepalive = 500ms;
  const auto site = run(household, config);
  ASSERT_TRUE(all_connect());
  expect_exchange();
  proxy.swallow(true);
  auto answers = ask(7);
  EXPECT_TRUE(eventually([&] { return hub().status().connected.empty(); }));
  EXPECT_TRUE(eventually([&] { return site->lines.have("is lost"); }));
  proxy.swallow(false);
  EXPECT_EQ(values_of(answers.get()), std::vector<double>{70});
}

TEST_F(GrpcReconnect, SendsAReplyAgainThatWasCutOff) {
  start(1);
  Proxy proxy(port_);
  Household household({0});
  HubConnectionConfig config = site_config(household.ids());
  config.server = fmt::format("127.0.0.1:{}", proxy.port());
  const auto site = run(household, config);
  ASSERT_TRUE(all_connect());
  proxy.cut_after(3'000'000);
  expect_exchange(1'250'000);
  EXPECT_TRUE(proxy.has_cut());
  EXPECT_EQ(household.client(0).num_asked, 1);
  EXPECT_EQ(hub().status().counters.connections, 2U);
}

TEST_F(GrpcReconnect, ListensToTheNewerOfTwoConnectionsOfAClient) {
  start(1);
  Household older({0});
  Household newer({0});
  const auto first = run(older);
  ASSERT_TRUE(all_connect());
  const auto second = run(newer);
  ASSERT_TRUE(eventually([&] { return lines().have("have connected anew"); }));
  for (int i = 0; i < 5; ++i) expect_exchange();  // wherever the client is
}
}  // namespace
}  // namespace fedhur::transport
