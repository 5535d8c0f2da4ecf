// Servers and sites that are stopped or killed while a federation trains, and started again.
#include <chrono>
#include <csignal>
#include <thread>

#include "federation_processes.hpp"
#include "fedhur/base/random.hpp"

namespace fedhur::tests {
namespace {
constexpr int kNumRounds = 60;

// Two sites, "a" and "b", and the simulation they are measured by.
class InterruptedFederation : public FederationProcesses {
 protected:
  void SetUp() override {
    FederationProcesses::SetUp();
    simulate("simulation", settings_);
  }
  void start_all(const Arguments& more = {}) {
    server_ = start_server(settings_ + more +
                           Arguments{"--out", "run", "--listen", "localhost:" + find_quiet_port()});
    a_ = start_site("a", "0-3");
    b_ = start_site("b", "4-6");
  }
  void expect_the_simulations_end() {
    expect_success(*server_, "server");
    expect_success(*a_, "a");
    expect_success(*b_, "b");
    expect_same_run("simulation", "run");
    auto scores = scores_of("a");
    for (const std::string& line : scores_of("b")) scores.push_back(line);
    std::ranges::sort(scores);
    EXPECT_EQ(scores, scores_of("simulation"));
  }

  Arguments settings_ = run_settings("fedhur", kNumRounds);
  std::unique_ptr<Process> server_, a_, b_;
};

std::string round_line(int round) {
  const std::string number = std::to_string(round);
  return "round " + std::string(3 - number.size(), ' ') + number + " ";
}

TEST_F(InterruptedFederation, AServerThatIsStoppedGoesOnWithTheSitesThatWait) {
  start_all();
  ASSERT_TRUE(server_->wait_for_message(round_line(2)));
  b_->send(SIGSTOP);  // so that the round cannot end
  server_->send(SIGTERM);
  ASSERT_TRUE(server_->wait_for_message("stopping"));
  b_->send(SIGCONT);
  const Finished stopped = server_->wait();
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_THAT(stopped.out, IsEmpty());
  EXPECT_THAT(stopped.err, HasSubstr("to go on: fedhur server --resume run"));
  EXPECT_FALSE(place_.has("run/result.json"));
  EXPECT_THAT(place_.read("run/log.txt"),
              HasSubstr("interrupted after round " + std::to_string(rounds_of("run").size())));
  EXPECT_TRUE(a_->wait_for_message("the server is being stopped; waiting for the server to go on"));
  EXPECT_FALSE(a_->has_ended() || b_->has_ended());

  server_ = resume_server("run");
  expect_the_simulations_end();
  EXPECT_THAT(server_->errors(),
              AllOf(HasSubstr("going on with round "), Not(HasSubstr(round_line(1)))));
}

TEST_F(InterruptedFederation, ASiteThatIsStoppedHasAModelAndGoesOn) {
  start_all();
  ASSERT_TRUE(server_->wait_for_message(round_line(2)));
  b_->send(SIGSTOP);  // so that the run cannot end
  a_->send(SIGTERM);
  const Finished stopped = a_->wait();
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_THAT(stopped.err, AllOf(HasSubstr("fedhur recommend a --user ID"),
                                 HasSubstr("the same command goes on")));
  EXPECT_FALSE(scores_of("a").empty());
  EXPECT_TRUE(server_->wait_for_message("disconnected"));
  b_->send(SIGCONT);

  a_ = start_site("a", "0-3");
  expect_the_simulations_end();
}

TEST_F(InterruptedFederation, BelowTheQuorumTheServerEndsAndCanBeResumed) {
  start_all({"--deadline", "2"});
  ASSERT_TRUE(server_->wait_for_message(round_line(2)));
  b_.reset();  // killed
  const Finished ended = server_->wait();
  EXPECT_EQ(ended.exit_code, 4) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr(" of 7 clients answered"), HasSubstr("missing: client")));
  ASSERT_TRUE(a_->wait_for_message("waiting for the server to go on"));

  b_ = start_site("b", "4-6");
  server_ = resume_server("run", {"--deadline", "60"});
  expect_the_simulations_end();
}

// A short version of tools/kill_test.
class KilledFederation : public InterruptedFederation,
                         public testing::WithParamInterface<std::uint64_t> {
 protected:
  // After some round and a while.
  void wait_for_a_moment(Process& process) {
    const auto round = 1 + static_cast<int>(rng_.below(kNumRounds / 4));
    ASSERT_TRUE(server_->wait_for_message(round_line(round)));
    ASSERT_FALSE(process.has_ended());
    std::this_thread::sleep_for(std::chrono::microseconds(rng_.below(20'000)));
  }
  Rng rng_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Seeds, KilledFederation, testing::Values(1, 2));

TEST_P(KilledFederation, AServerThatIsKilledGoesOnAsIfNothingHadHappened) {
  start_all();
  wait_for_a_moment(*server_);
  server_->send(SIGKILL);
  EXPECT_EQ(server_->wait().exit_code, 1000 + SIGKILL);
  EXPECT_TRUE(a_->wait_for_message("trying again in"));
  server_ = resume_server("run");
  expect_the_simulations_end();
}

TEST_P(KilledFederation, ASiteThatIsKilledGoesOnAsIfNothingHadHappened) {
  start_all();
  wait_for_a_moment(*a_);
  a_->send(SIGKILL);
  EXPECT_EQ(a_->wait().exit_code, 1000 + SIGKILL);
  a_ = start_site("a", "0-3");
  expect_the_simulations_end();
}
}  // namespace
}  // namespace fedhur::tests
