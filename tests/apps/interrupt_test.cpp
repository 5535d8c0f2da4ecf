#include <chrono>
#include <csignal>
#include <thread>

#include "process.hpp"

namespace fedhur::tests {
namespace {
// Long enough that a signal after the first round always finds it at work.
Arguments long_run(const std::string& run) {
  return Arguments{"train", "--out", run} + small_settings() +
         Arguments{"--set", "stop.max_rounds=300",    "--set", "stop.patience=300",
                   "--set", "model.embedding_dim=32", "--set", "synthetic.num_interactions=3000"};
}

// Everything of a result that does not depend on the clock or the folder.
json outcome_of(const Workplace& place, const std::string& run) {
  json result = json::parse(place.read(run + "/result.json"));
  for (const char* key : {"seconds", "peak_rss_mb", "run"}) result.erase(key);
  return result;
}

TEST(Interrupt, StopsAfterTheRoundAndResumesToTheSameResult) {
  const Workplace place;
  ASSERT_EQ(place.fedhur(long_run("whole")).exit_code, 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string run = signal == SIGINT ? "interrupted" : "terminated";
    Process process(place, long_run(run));
    ASSERT_TRUE(process.wait_for_message("round   2"));
    process.send(signal);
    const Finished stopped = process.wait();
    EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
    EXPECT_THAT(stopped.out, IsEmpty());
    EXPECT_THAT(stopped.err, HasSubstr("fedhur train --resume " + run));
    EXPECT_FALSE(place.has(run + "/result.json"));

    const Finished early = place.fedhur({"recommend", run, "--user", "u001"});
    EXPECT_EQ(early.exit_code, 2);
    EXPECT_THAT(early.err, HasSubstr("fedhur train --resume " + run));
    EXPECT_EQ(place.fedhur({"compare", run}).exit_code, 2);

    const Finished resumed = place.fedhur({"train", "--resume", run, "--threads", "2"});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_THAT(resumed.err, Not(HasSubstr("round   1 ")));
    EXPECT_EQ(outcome_of(place, run), outcome_of(place, "whole"));
    EXPECT_EQ(place.read(run + "/model/model.bin"), place.read("whole/model/model.bin"));
  }
}

TEST(Interrupt, ASecondOneStopsAtOnce) {
  const Workplace place;
  // One round would take minutes.
  Process process(place, Arguments{"train", "--out", "run"} + small_settings() +
                             Arguments{"--set", "train.local_epochs=1000000"});
  ASSERT_TRUE(process.wait_for_message("7 clients"));
  while (!place.has("run/rounds.jsonl")) {  // written right before the first round
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  process.send(SIGINT);
  ASSERT_TRUE(process.wait_for_message("Ctrl-C again stops at once"));
  process.send(SIGINT);
  const Finished stopped = process.wait();
  EXPECT_EQ(stopped.exit_code, 130);
  EXPECT_THAT(stopped.err, Not(HasSubstr("stopped after round")));
  EXPECT_TRUE(place.has("run/config.toml")) << "the run can be resumed from its beginning";
}
}  // namespace
}  // namespace fedhur::tests
