#include "fedhur/methods/averaging.hpp"

#include "fedhur/base/stopwatch.hpp"
#include "fedhur/server/global_information.hpp"

namespace fedhur::methods {
using federation::Answer;
using message::Message;

Matrix average_uploads(const std::vector<Answer>& answers, Index num_items, Index embedding_dim,
                       AverageWeights weights, const Executor& executor) {
  const server::Uploads uploads = read_uploads(answers, num_items, embedding_dim, executor);
  return weights == AverageWeights::data
             ? server::average_embeddings(uploads, data_weights(answers), executor)
             : server::average_embeddings(uploads, executor);
}

AveragingServer::AveragingServer(const AveragingConfig& config, const ServerContext& context)
    : config_(config),
      context_(context),
      item_embeddings_(draw_item_embeddings(context, config.embedding_dim, config.init_std)) {}

federation::RoundNotes AveragingServer::run_round(Round round, federation::Federation& federation) {
  federation::RoundNotes notes;
  if (round == 0) send_embeddings(round, federation);  // the shared start

  const Stopwatch training;
  const auto answers = ask_all(federation, {.kind = "train", .round = round, .arrays = {}});
  notes.loss = mean_loss(answers);
  notes.seconds["local_training"] = training.seconds();

  const Stopwatch server;
  item_embeddings_ = average_uploads(answers, context_.num_items, config_.embedding_dim,
                                     config_.weights, *context_.executor);
  send_embeddings(round, federation);
  notes.seconds["server"] = server.seconds();
  return notes;
}

void AveragingServer::send_embeddings(Round round, federation::Federation& federation) const {
  Message update{.kind = "update", .round = round, .arrays = {}};
  update.arrays.set("item_embeddings", item_embeddings_);
  (void)ask_all(federation, std::move(update));
}
}  // namespace fedhur::methods
