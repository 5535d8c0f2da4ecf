// MovieLens 100K over processes, where a copy lies beside the source tree.
#include <algorithm>
#include <cstdlib>

#include "federation_processes.hpp"

namespace fedhur::tests {
namespace {
class FederationOfMovies : public FederationProcesses {
 protected:
  void SetUp() override {
    const char* const given = std::getenv("FEDHUR_SHARED_DATA");
    const std::filesystem::path folder =
        given != nullptr ? std::filesystem::path(given)
                         : std::filesystem::path(FEDHUR_SOURCE_DIR) / ".." / "shared" / "data";
    data_ = (folder / "ml-100k" / "u.data.gz").string();
    if (!std::filesystem::exists(data_)) {
      GTEST_SKIP() << "MovieLens 100K is not in " << folder
                   << "; FEDHUR_SHARED_DATA can name another folder";
    }
  }
  std::string data_;
};

TEST_F(FederationOfMovies, FourSitesWithAHundredClientsEndAsTheSimulation) {
  const Arguments settings = {"--method", "fedhur", "--set", "stop.max_rounds=2"};
  const auto expect_done = [](const Finished& finished) {
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
  };
  expect_done(place_.fedhur({"data", "items", data_, "--out", "movies.tsv"}));
  expect_done(place_.fedhur(Arguments{"train", "--data", data_, "--out", "simulation", "--quiet",
                                      "--set", "clients.count=100"} +
                            settings));
  const std::vector<std::pair<std::string, std::string>> shares = {
      {"a", "0-9"}, {"b", "10-49"}, {"c", "50-80"}, {"d", "81-99"}};
  certify(shares);
  const auto server = start_server(
      settings + Arguments{"--items", "movies.tsv", "--clients", "100", "--out", "run"});
  std::vector<std::unique_ptr<Process>> sites;
  for (const auto& [name, clients] : shares) {
    sites.push_back(
        std::make_unique<Process>(place_,
                                  Arguments{"client", "--server", "localhost:" + port_, "--data",
                                            data_, "--whole", "--threads", "1", "--state", name} +
                                      identity_of(name),  // which names the clients
                                  name + "-"));
  }
  expect_success(*server, "server");
  for (std::size_t i = 0; i < sites.size(); ++i) expect_success(*sites[i], shares[i].first);
  expect_same_run("simulation", "run");

  const auto lists_of = [&](const std::string& run) {
    const Finished made = place_.fedhur({"recommend", run, "--all", "--top", "20"});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    return text_lines_of(made.out);
  };
  std::vector<std::string> lists;
  for (const auto& [name, clients] : shares) {
    const auto own = lists_of(name);
    lists.insert(lists.end(), own.begin() + 1, own.end());
  }
  auto expected = lists_of("simulation");
  expected.erase(expected.begin());  // names of the columns
  EXPECT_EQ(expected.size(), 943U * 20U);
  std::ranges::sort(lists);
  std::ranges::sort(expected);
  EXPECT_TRUE(lists == expected) << "lists and scores of all users, to the last digit";
}
}  // namespace
}  // namespace fedhur::tests
