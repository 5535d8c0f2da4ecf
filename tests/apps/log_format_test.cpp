// --log-format json: every line on standard error and in log.txt is an object.
#include <csignal>

#include "federation_processes.hpp"

namespace fedhur::tests {
namespace {
std::vector<json> log_lines_of(const std::string& text) {
  std::vector<json> lines;
  for (const std::string& line : text_lines_of(text)) {
    lines.push_back(json::parse(line, nullptr, false));
    EXPECT_TRUE(lines.back().is_object()) << line;
    if (!lines.back().is_object()) continue;
    EXPECT_THAT(
        lines.back().value("time", ""),
        MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}[+]00:00"));
    EXPECT_THAT(lines.back().value("level", ""), MatchesRegex("info|warning|error"));
    EXPECT_THAT(lines.back().value("message", ""), Not(IsEmpty()));
  }
  return lines;
}

bool tells(const std::vector<json>& lines, const std::string& level, const std::string& part) {
  for (const json& line : lines) {
    if (line.value("level", "") == level &&
        line.value("message", "").find(part) != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::vector<json> round_lines_of(const std::vector<json>& lines) {
  std::vector<json> rounds;
  for (const json& line : lines) {
    if (line.value("event", "") == "round") rounds.push_back(line);
  }
  return rounds;
}

const Arguments kForPrograms = {"--log-format", "json"};

using StructuredLog = FederationProcesses;

TEST_F(StructuredLog, OfServerAndSitesIsAnObjectPerLine) {
  const auto server = start_server(run_settings("fedmf", 2) + kForPrograms +
                                   Arguments{"--out", "run", "--quorum", "5", "--deadline", "2"});
  const auto site = start_site("site", "0-4", kForPrograms);
  const Finished stranger = run_fedhur(site_arguments("stranger", "9") + kForPrograms);
  EXPECT_EQ(stranger.exit_code, 4);
  EXPECT_TRUE(tells(log_lines_of(stranger.err), "error", "there is no client 9"));
  const Finished served = server->wait();
  ASSERT_EQ(served.exit_code, 0) << served.err;
  EXPECT_THAT(served.out, HasSubstr("run folder: run")) << "the result is for people all the same";
  const auto said = log_lines_of(served.err);
  const auto kept = log_lines_of(place_.read("run/log.txt"));
  EXPECT_TRUE(tells(said, "info", "listening on port " + port_));
  EXPECT_TRUE(tells(said, "warning", "there is no client 9"));
  EXPECT_TRUE(tells(kept, "warning", "no answer to"));
  EXPECT_GT(kept.size(), said.size()) << "details are in the file only";

  const auto rounds = round_lines_of(said);
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_EQ(round_lines_of(kept).size(), 2U);
  const auto reports = rounds_of("run");
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    EXPECT_EQ(rounds[i].at("round"), i + 1);
    EXPECT_EQ(rounds[i].at("valid_ndcg"), reports[i].at("valid").at("ndcg@10"));
    EXPECT_EQ(rounds[i].at("test_ndcg"), reports[i].at("test").at("ndcg@10"));
    EXPECT_EQ(rounds[i].at("absent"), json({5, 6}));
    EXPECT_GT(rounds[i].at("seconds"), 0.0);
  }
  const Finished ended = site->wait();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_TRUE(tells(log_lines_of(ended.err), "info", "connected to localhost"));
  EXPECT_TRUE(tells(log_lines_of(place_.read("site/log.txt")), "info", "fedhur recommend site"));
}

TEST_F(StructuredLog, StaysSoAtStopsAndFailures) {
  const auto server = start_server(Arguments{"--out", "run"} + kForPrograms);
  const auto site = start_site("site", "0-4", kForPrograms);
  ASSERT_TRUE(server->wait_for_message("connected with clients"));
  for (const auto& [process, hint] : {std::pair(site.get(), "the same command goes on"),
                                      std::pair(server.get(), "fedhur server --resume run")}) {
    process->send(SIGTERM);
    const Finished stopped = process->wait();
    EXPECT_EQ(stopped.exit_code, 130);
    EXPECT_TRUE(tells(log_lines_of(stopped.err), "info", hint)) << stopped.err;
  }
  const Finished failed = place_.fedhur(Arguments{"server", "--resume", "none"} + kForPrograms);
  EXPECT_EQ(failed.exit_code, 2);
  EXPECT_TRUE(tells(log_lines_of(failed.err), "error", "none is not a run folder"));
  const Finished lost = place_.fedhur(
      Arguments{"client", "--data", "none.csv", "--server", "localhost:1"} + kForPrograms);
  EXPECT_EQ(lost.exit_code, 3);
  EXPECT_TRUE(tells(log_lines_of(lost.err), "error", "none.csv"));
}

TEST_F(StructuredLog, OfTrainingHasTheRounds) {
  const Finished trained = place_.train("run", kForPrograms);
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const auto rounds = round_lines_of(log_lines_of(trained.err));
  ASSERT_EQ(rounds.size(), 3U);
  EXPECT_EQ(rounds[2].at("round"), 3);
  EXPECT_EQ(rounds[2].at("absent"), json::array());
  EXPECT_EQ(round_lines_of(log_lines_of(place_.read("run/log.txt"))).size(), 3U);
  const Finished quiet = place_.train("quiet", kForPrograms + Arguments{"--quiet"});
  EXPECT_EQ(quiet.err, "");
}

TEST_F(StructuredLog, HasTwoFormats) {
  for (const char* command : {"server", "client", "train"}) {
    const Finished refused = place_.fedhur({command, "--log-format", "xml"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err,
                StartsWith("fedhur: --log-format: expected text or json, found 'xml'"));
  }
  const Finished plain = place_.train("plain", {"--log-format", "text"});
  EXPECT_THAT(plain.err, HasSubstr("round   3  loss"));
}
}  // namespace
}  // namespace fedhur::tests
