// Averages of uploaded tables. A round takes two steps: a client that has trained says how large
// its tables are; the server then knows what each of them may count for, asks for the tables and
// adds them up as they arrive.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "fedhur/methods/common.hpp"
#include "fedhur/methods/method.hpp"
#include "fedhur/methods/model_start.hpp"
#include "fedhur/methods/uploads.hpp"
#include "fedhur/server/server_step.hpp"

namespace fedhur::methods {
// ---- The client's side: what it has trained waits until the server asks for it.
class WaitingUpload {
 public:
  WaitingUpload(const client::UploadConfig& config, const client::ClientContext& context)
      : stage_(config, context) {}
  // Part of the answer to "train": how large the table is. Item tables leave through the upload
  // stage, others as they are.
  void offer_items(const Shared<Matrix>& table, message::Message& reply,
                   const std::string& stem = "item");
  void offer(const std::string& name, Shared<Matrix> table, message::Message& reply);
  // Which items the training has touched: 1 or 0, n x 1.
  void offer_touched(Matrix touched, Round round);
  // Answers "upload"; false for any other kind.
  [[nodiscard]] bool answer(const message::Message& request, message::Message& reply);

 private:
  [[nodiscard]] message::Message& waiting_in(Round round);
  client::UploadStage stage_;
  std::optional<message::Message> waiting_;
};

// ---- The server's side.
enum class AverageWeights : std::uint8_t {
  uniform,
  data,  // by numbers of interactions
};
constexpr auto names_of(AverageWeights) { return std::array{"uniform", "data"}; }

enum class ItemRows : std::uint8_t {
  all,      // an item's row is averaged over all clients
  touched,  // over those whose training has touched the item in this round
};
constexpr auto names_of(ItemRows) { return std::array{"all", "touched"}; }
void declare_item_rows(Settings& settings, ItemRows& item_rows);

struct AveragingRules {
  AverageWeights weights = AverageWeights::uniform;
  ItemRows item_rows = ItemRows::all;
  UploadLimits limits{};
};

// What clients upload of a table that the server has in this shape. Item tables are named by their
// stem, as in the upload stage.
struct AveragedTable {
  std::string name;
  const Matrix* present = nullptr;  // rows that no client has touched stay as they are here
  bool is_of_items = true;
};

// Asks all clients to train, and then for their tables: the average of each, the same bits in
// whatever order they arrive. Notes the loss, and who claimed to count for too much.
[[nodiscard]] std::vector<Matrix> train_and_average(const AveragingRules& rules,
                                                    const ServerContext& context,
                                                    message::Message request,
                                                    const std::vector<AveragedTable>& tables,
                                                    federation::Federation& federation,
                                                    federation::RoundNotes& notes);

struct AveragingConfig {
  Index embedding_dim = 0;
  Real init_std = 0;
  AveragingRules rules{};
  StartConfig start{};
  server::ServerStepConfig step;
};

// The server half of methods that do nothing else. A round is "train" and "upload", and "update"
// with what the server makes of the average, from which all recommend and train on. The clients
// hold it, so there is nothing to save unless the next step or rows nobody touched begin at it.
class AveragingServer : public federation::ServerMethod {
 public:
  AveragingServer(const AveragingConfig& config, const ServerContext& context);
  federation::RoundNotes run_round(Round round, federation::Federation& federation) override;
  [[nodiscard]] NamedArrays save() const override;
  void restore(const NamedArrays& state) override;

 private:
  void send_embeddings(Round round, federation::Federation& federation) const;
  AveragingConfig config_;
  ServerContext context_;
  server::ServerStep step_;
  Matrix item_embeddings_;
};
}  // namespace fedhur::methods
