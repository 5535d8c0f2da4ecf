// The example of docs/adding_a_method.md: what the page shows is what is compiled here, and it
// works.
#include <gtest/gtest.h>

#include "fedhur/base/file.hpp"
#include "fedhur/base/random_matrix.hpp"
#include "fedhur/data/client_partition.hpp"
#include "fedhur/data/split.hpp"
#include "fedhur/data/synthetic.hpp"
#include "fedhur/experiment/party.hpp"
#include "fedhur/linalg/blas.hpp"
#include "fedhur/methods/method.hpp"
#include "fedhur/transport/in_process/in_process_federation.hpp"
#include "tests/support/support.hpp"

namespace fedhur::methods {
Method make_trimmed_mf();

namespace {
using message::Message;

constexpr Index kNumItems = 80;
constexpr Index kNumClients = 10;

// A client whose uploads are noise of this size.
class Liar : public federation::ClientMethod {
 public:
  Liar(federation::ClientMethod& honest, Real size) : honest_(&honest), size_(size) {}
  Message answer(const Message& request) override {
    Message reply = honest_->answer(request);
    if (request.kind == "train") {
      const Matrix& table = reply.arrays.matrix("item_embeddings");
      reply.arrays.set("item_embeddings", normal_matrix(table.rows(), table.cols(), size_, Rng(9)));
    }
    return reply;
  }

 private:
  federation::ClientMethod* honest_;
  Real size_;
};

struct Outcome {
  double recall;
  std::vector<Matrix> tables;  // of every client, at the end
};

Outcome run(const std::string& trim, bool has_liar, Index num_threads = 2) {
  linalg::prepare_blas(num_threads);
  ConfigTable table;
  for (const std::string& assignment :
       {std::string("model.embedding_dim=8"), std::string("train.local_epochs=5"),
        "robust.trim=" + trim}) {
    experiment::add_assignment(table, assignment);
  }
  experiment::ExperimentConfig config;
  config.seed = 3;
  Settings settings(table);
  config.configured_method = make_trimmed_mf().configure(settings);
  settings.reject_unknown();
  const Rng rng(config.seed);
  const auto dataset = data::make_synthetic(
      {.num_users = 120, .num_items = kNumItems, .num_interactions = 2400, .num_groups = 4}, rng);
  const Executor executor(num_threads);
  const experiment::Party party(
      config,
      data::distribute(dataset, data::split(dataset, {}, rng),
                       data::partition(dataset, {.num_clients = kNumClients}, rng)),
      kNumItems, executor);
  Liar liar(party[4], 100.0F);
  std::vector<federation::ClientMethod*> members = party.methods();
  if (has_liar) members[4] = &liar;
  transport::InProcessFederation federation(members, executor);
  const auto server = experiment::make_server(config, kNumClients, kNumItems, executor);
  constexpr Round kRounds = 12;
  for (Round round = 0; round < kRounds; ++round) (void)server->run_round(round, federation);
  Outcome outcome{
      .recall = evaluate::evaluate_clients(federation, kRounds, {10}).test.means().at("recall@10"),
      .tables = {}};
  for (std::size_t k = 0; k < party.size(); ++k) {
    outcome.tables.push_back(party[k].half().model().matrix("item_embeddings"));
  }
  return outcome;
}

// Of ten items at random among those that a user has no training row of.
constexpr double kChance = 10.0 / 66.0;

TEST(TrimmedMf, BeatsChance) {
  const Outcome outcome = run("0.1", false);
  EXPECT_GT(outcome.recall, 2.0 * kChance);
  for (const Matrix& table : outcome.tables) EXPECT_EQ(table, outcome.tables[0]);
}

TEST(TrimmedMf, StandsALiarWhomAPlainMeanDoesNotStand) {
  EXPECT_GT(run("0.1", true).recall, 2.0 * kChance);
  EXPECT_LT(run("0", true).recall, 1.5 * kChance);
}

TEST(TrimmedMf, GivesTheSameBitsForAnyNumberOfThreads) {
  EXPECT_EQ(run("0.1", false, 1).tables[0], run("0.1", false, 3).tables[0]);
}

TEST(TrimmedMf, NamesASettingThatIsNotAllowed) {
  for (const std::string value : {"-0.1", "0.5", "nan"}) {
    ConfigTable table;
    experiment::add_assignment(table, "robust.trim=" + value);
    Settings settings(table);
    EXPECT_THROW((void)make_trimmed_mf().configure(settings), ConfigError) << value;
  }
}

TEST(AddingAMethod, ShowsTheCodeThatIsCompiled) {
  const std::filesystem::path root = FEDHUR_SOURCE_DIR;
  const std::string page = read_text_file(root / "docs" / "adding_a_method.md");
  const std::string code = read_text_file(root / "tests" / "example" / "trimmed_mf.cpp");
  ASSERT_FALSE(code.empty());
  EXPECT_NE(page.find("\n```cpp\n" + code + "```\n"), std::string::npos)
      << "the code block of the page and tests/example/trimmed_mf.cpp differ";
}
}  // namespace
}  // namespace fedhur::methods
