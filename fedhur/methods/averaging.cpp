#include "fedhur/methods/averaging.hpp"

#include "fedhur/server/global_information.hpp"

namespace fedhur::methods {
using message::Message;

Matrix train_and_average(const AveragingConfig& config, const ServerContext& context,
                         Message request, federation::Federation& federation,
                         federation::RoundNotes& notes) {
  const bool is_weighed = config.weights == AverageWeights::data;
  const auto answers = ask_to_train(federation, std::move(request),
                                    [is_weighed, num_items = context.num_items,
                                     dim = config.embedding_dim](const NamedArrays& upload) {
                                      check_item_embeddings(upload, num_items, dim);
                                      if (is_weighed) check_data_size(upload);
                                    });
  notes.loss = mean_loss(answers);
  const UploadReader reader(answers, config.limits, *context.executor, notes);
  const server::Uploads uploads = reader.item_embeddings(context.num_items, config.embedding_dim);
  return is_weighed ? server::average_embeddings(uploads, reader.data_weights(), *context.executor)
                    : server::average_embeddings(uploads, *context.executor);
}

AveragingServer::AveragingServer(const AveragingConfig& config, const ServerContext& context)
    : config_(config),
      context_(context),
      step_(config.step),
      item_embeddings_(draw_item_embeddings(context, config.embedding_dim, config.init_std)) {}

federation::RoundNotes AveragingServer::run_round(Round round, federation::Federation& federation) {
  federation::RoundNotes notes;
  if (round == 0 && config_.start.fills_round()) {
    item_embeddings_ =
        *send_start(config_.start, context_, config_.embedding_dim, config_.init_std, federation);
    return notes;
  }
  if (round == 0) send_embeddings(round, federation);  // the shared start
  step_.take(item_embeddings_,
             train_and_average(config_, context_, {.kind = "train", .round = round, .arrays = {}},
                               federation, notes));
  send_embeddings(round, federation);
  return notes;
}

NamedArrays AveragingServer::save() const {
  NamedArrays state;
  step_.save(state, "item_embeddings", item_embeddings_);
  return state;
}

void AveragingServer::restore(const NamedArrays& state) {
  step_.restore(state, "item_embeddings", item_embeddings_);
}

void AveragingServer::send_embeddings(Round round, federation::Federation& federation) const {
  Message update{.kind = "update", .round = round, .arrays = {}};
  update.arrays.set("item_embeddings", item_embeddings_);
  tell_all(federation, std::move(update));
}
}  // namespace fedhur::methods
