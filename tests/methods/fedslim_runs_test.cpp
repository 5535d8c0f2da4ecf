// The filter is a function of the rows, not of who holds them or how many threads there are.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/method_run.hpp"
#include "tests/support/unreliable_federation.hpp"

namespace fedhur::methods::fedslim_runs_test {
namespace {
ConfigTable settings(const std::vector<std::string>& assignments) {
  ConfigTable table = tests::tiny_settings("fedslim");
  experiment::add_assignment(table, "filter.neighbors=15");
  for (const auto& assignment : assignments) experiment::add_assignment(table, assignment);
  return table;
}

// Answers come as they come.
class Reversed : public federation::Federation {
 public:
  explicit Reversed(tests::UnreliableFederation& inner) : inner_(&inner) {}
  [[nodiscard]] Index num_clients() const override { return inner_->num_clients(); }
  std::vector<federation::Answer> exchange(std::span<const federation::Request> requests) override {
    auto answers = inner_->exchange(requests);
    std::ranges::reverse(answers);
    return answers;
  }

 private:
  tests::UnreliableFederation* inner_;
};

struct Outcome {
  Shared<SparseMatrix<Real>> filter;  // the same at all clients
  std::size_t num_clients = 0;
};
Outcome run(const std::vector<std::string>& assignments, Index num_threads = 2,
            bool is_reversed = false) {
  tests::MethodRun run(settings(assignments), num_threads);
  tests::UnreliableFederation federation(run.client_methods());
  Reversed reversed(federation);
  if (is_reversed) {
    (void)run.server->run_round(0, reversed);
  } else {
    (void)run.server->run_round(0, federation);
  }
  const auto filter = run.clients[0].half().save().shared_sparse("filter");
  for (std::size_t k = 1; k < run.clients.size(); ++k) {
    EXPECT_EQ(run.clients[k].half().save().shared_sparse("filter"), filter);
  }
  return {filter, run.clients.size()};
}

TEST(FedSlimRuns, MakeTheSameFilterOfAnyClientsThreadsAndOrder) {
  const auto expected = run({"clients.kind=blocks"}).filter;
  EXPECT_GT(expected->num_entries(), 500U);
  for (const Index num_threads : {1, 2, 3}) {
    for (const std::string kind : {"blocks", "random", "dirichlet", "user"}) {
      const Outcome other = run({"clients.kind=" + kind}, num_threads);
      EXPECT_EQ(other.num_clients, kind == "user" ? 40U : 7U);
      EXPECT_TRUE(other.filter->is_same(*expected)) << kind << ", " << num_threads << " threads";
    }
  }
  EXPECT_TRUE(run({"clients.count=1"}).filter->is_same(*expected));
  EXPECT_TRUE(run({"clients.kind=random"}, 2, true).filter->is_same(*expected));
}
}  // namespace
}  // namespace fedhur::methods::fedslim_runs_test
