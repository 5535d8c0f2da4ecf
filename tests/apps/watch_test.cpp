#include <csignal>

#include "process.hpp"

namespace fedhur::tests {
namespace {
// fedhur watch on a free port.
class Watcher {
 public:
  Watcher(const Workplace& place, const std::string& run)
      : place_(place), process_(place, {"watch", run, "--port", "0"}) {
    EXPECT_TRUE(process_.wait_for_message("Ctrl-C ends it"));
    const std::string out = place.read("out.txt");
    address_ = out.substr(out.find("http://"));
    address_.erase(address_.find_last_not_of('\n') + 1);
  }
  [[nodiscard]] std::string port() const {
    return address_.substr(address_.rfind(':') + 1, address_.size() - address_.rfind(':') - 2);
  }
  // "200 ..." with the body, or the status alone.
  [[nodiscard]] std::string get(const std::string& path, const std::string& host = "") const {
    return place_.get(address_ + path, host);
  }
  [[nodiscard]] json update(const std::string& question) const {
    return json::parse(get("update?" + question).substr(4));
  }
  [[nodiscard]] Finished end(int signal) {
    process_.send(signal);
    return process_.wait();
  }

 private:
  const Workplace& place_;
  Process process_;
  std::string address_;
};

TEST(Watch, ServesThePageAndThenOnlyWhatIsNew) {
  const Workplace place;
  ASSERT_EQ(place.train("run").exit_code, 0);
  std::filesystem::remove(place / "run/result.json");
  const std::string rounds = place.read("run/rounds.jsonl");
  place.write("run/rounds.jsonl", rounds.substr(0, rounds.find('\n') + 1));
  Watcher watcher(place, "run");
  EXPECT_THAT(watcher.get(""), HasSubstr("200 <!doctype html>"));

  json first = watcher.update("sittings=0&rounds=0&inside=");
  EXPECT_EQ(first.at("first"), 0);
  const auto points = [](const json& update) -> const json& {
    return update.at("valid")[0].at("series")[0].at("points");
  };
  EXPECT_EQ(points(first).size(), 1U);
  EXPECT_EQ(first.at("inside").at("activity")[0].at("title"), "Recall@10");
  EXPECT_EQ(first.at("is_open"), true);
  const std::string inside = first.at("live").at("inside");

  place.write("run/rounds.jsonl", rounds);
  const json next = watcher.update("sittings=1&rounds=1&inside=" + inside);
  EXPECT_EQ(next.at("first"), 1);
  EXPECT_EQ(points(next).size(), 2U);
  EXPECT_EQ(points(next)[0][0], 2);
  EXPECT_EQ(next.at("live").at("rounds"), 3);
  EXPECT_FALSE(next.contains("inside")) << "it has not changed";

  // After a crash the run goes on from a checkpoint: rounds are taken back.
  EXPECT_EQ(watcher.update("sittings=1&rounds=7&inside=" + inside).at("first"), 0);
  EXPECT_EQ(watcher.update("sittings=9&rounds=2&inside=" + inside).at("first"), 0);
  EXPECT_EQ(watcher.update("sittings=x&rounds=-1").at("first"), 0);

  EXPECT_THAT(watcher.get("", "evil.example:" + watcher.port()), HasSubstr("403"));
  EXPECT_THAT(watcher.get("", "localhost:" + watcher.port()), HasSubstr("200 <!doctype"));
  EXPECT_THAT(watcher.get("etc/passwd"), HasSubstr("404"));
  EXPECT_THAT(watcher.get("../run/config.toml"), HasSubstr("404"));

  place.write("run/manifest.json", "half of {");
  EXPECT_THAT(watcher.get("update?"), HasSubstr("503 {\"error\":\"run/manifest.json"));
  EXPECT_EQ(watcher.end(SIGINT).exit_code, 0);
}

TEST(Watch, ChangesNothingInTheRunFolder) {
  const Workplace place;
  ASSERT_EQ(place.train("run").exit_code, 0);
  const std::string before = place.shell("find run -printf '%p %T@ %s\\n' | sort").out;
  Watcher watcher(place, "run");
  EXPECT_THAT(watcher.get(""), HasSubstr("200 <!doctype html>"));
  EXPECT_EQ(watcher.update("").at("state"), "finished");
  EXPECT_EQ(watcher.end(SIGTERM).exit_code, 0);
  EXPECT_EQ(place.shell("find run -printf '%p %T@ %s\\n' | sort").out, before);
}

TEST(Watch, SaysWhatIsWrong) {
  const Workplace place;
  EXPECT_EQ(place.fedhur({"watch"}).exit_code, 2);
  const Finished nowhere = place.fedhur({"watch", "nowhere"});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("nowhere is not a run folder"));
  ASSERT_EQ(place.train("run").exit_code, 0);
  EXPECT_EQ(place.fedhur({"watch", "run", "--port", "65536"}).exit_code, 2);
  EXPECT_EQ(place.fedhur({"watch", "run", "--port", "many"}).exit_code, 2);
  Watcher watcher(place, "run");
  const Finished taken = place.fedhur({"watch", "run", "--port", watcher.port()});
  EXPECT_EQ(taken.exit_code, 2);
  EXPECT_THAT(taken.err, HasSubstr("port " + watcher.port()));
  EXPECT_THAT(taken.out, IsEmpty());
}

TEST(Watch, WaitsForARunThatLoadsItsData) {
  const Workplace place;
  std::filesystem::create_directory(place / "run");
  place.write("run/log.txt", "");
  Process waiting(place, {"watch", "run", "--port", "0"});
  ASSERT_TRUE(waiting.wait_for_message("waiting for the run to begin"));
  waiting.send(SIGINT);
  EXPECT_EQ(waiting.wait().exit_code, 0);

  Process failed(place, {"watch", "run", "--port", "0"});
  ASSERT_TRUE(failed.wait_for_message("waiting for the run to begin"));
  std::filesystem::remove(place / "run/log.txt");  // as training does when it cannot begin
  EXPECT_EQ(failed.wait().exit_code, 2);
}
}  // namespace
}  // namespace fedhur::tests
