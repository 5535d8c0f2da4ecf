#include "fedhur/methods/filter_round.hpp"

#include <fmt/ranges.h>

#include <cmath>

#include "fedhur/message/wire_codec.hpp"

namespace fedhur::methods {
using message::Message;

void read_settings(ConfigTable& table, FilterMethodConfig& config) {
  read_settings(table, config.training);
  read_settings(table, config.global_filter);
  read_settings(table, config.fine_tuning);
  ConfigSection noise(table, "noise");
  noise.read("laplace_scale", config.laplace_scale);
  noise.require(config.laplace_scale >= 0 && std::isfinite(config.laplace_scale), "laplace_scale",
                "a number of 0 or more");
  read_norm_cap(table, config.upload);
  read_settings(table, config.wire);
}

FilterClient::FilterClient(const FilterMethodConfig& config, const client::ClientContext& context)
    : TrainingClient(config.training, context),
      config_(config),
      rng_(context.rng),
      id_(context.id) {}

Message FilterClient::answer(const Message& request) {
  Message reply = reply_to(request);
  if (request.kind == "start") {
    training().set_item_embeddings(request.arrays.finite_matrix(
        "item_embeddings", training().num_items(), config_.training.embedding_dim));
  } else if (request.kind == "train") {
    put_loss(reply, training().train(request.round));
    put_item_embeddings(reply, add_noise(training().item_embeddings(), request.round),
                        config_.wire.rank);
    uploaded_ = reply;
  } else {
    follow(request, reply);
  }
  return reply;
}

void FilterClient::finetune(const linalg::ItemFilter& filter) {
  training().set_item_embeddings(std::make_shared<const Matrix>(
      client::finetune(*training().item_embeddings(), filter, config_.fine_tuning)));
  uploaded_ = {};
}

Shared<Matrix> FilterClient::uploaded_embeddings() {
  if (uploaded_.kind.empty()) throw ProtocolError("'query' came before 'train'");
  return read_item_embeddings(message::transmit(uploaded_, config_.wire.format).arrays,
                              training().num_items(), config_.training.embedding_dim);
}

Shared<Matrix> FilterClient::read_factor(const Message& request) {
  const Index rank = request.arrays.matrix("global_factor").cols();
  return request.arrays.finite_matrix("global_factor", training().num_items(), rank);
}

Shared<Matrix> FilterClient::add_noise(const Shared<Matrix>& embeddings, Round round) const {
  // The published noise lies on the n x n filter; on the embeddings it protects what really leaves.
  return add_laplace_noise(embeddings, config_.laplace_scale, rng_.stream(Draw::noise, id_, round));
}

FilterRounds::FilterRounds(const FilterMethodConfig& config, const ServerContext& context)
    : config_(config), context_(context) {}

Participants FilterRounds::train(Round round, federation::Federation& federation,
                                 federation::RoundNotes& notes) const {
  const Index dim = config_.training.embedding_dim;
  if (round == 0) send_start(context_, dim, config_.training.init_std, federation);
  const auto answers =
      ask_to_train(federation, {.kind = "train", .round = round, .arrays = {}},
                   [num_items = context_.num_items, dim](const NamedArrays& upload) {
                     check_item_embeddings(upload, num_items, dim);
                   });
  notes.loss = mean_loss(answers);
  const UploadReader reader(answers, config_.upload, *context_.executor, notes);
  Participants participants{.clients = clients_of(answers),
                            .uploads = reader.item_embeddings(context_.num_items, dim)};
  return participants;
}

const server::GlobalFilter& FilterRounds::update_filter(const server::Uploads& uploads) {
  filter_ = server::compute_global_filter(uploads, config_.global_filter, filter_.basis,
                                          context_.rng.stream(Draw::subspace), *context_.executor);
  return filter_;
}

const RoundWatcher* FilterRounds::watcher(Round round) const {
  const RoundWatcher* watcher = context_.watcher;
  return watcher != nullptr && watcher->round == round ? watcher : nullptr;
}

void FilterRounds::show(const RoundWatcher& watcher, const Participants& participants) const {
  const auto& [clients, uploads] = participants;
  for (std::size_t k = 0; k < uploads.size(); ++k) {
    watcher.show_matrix(fmt::format("item_embeddings/{}", index_of(clients[k])), *uploads[k]);
  }
  watcher.show_matrix("global_item_embeddings",
                      server::average_embeddings(uploads, *context_.executor));
  watcher.show_matrix("global_filter_basis", filter_.basis);
  watcher.show_vector("global_filter_values", filter_.values.cast<Real>());
}

std::string FilterRounds::describe(const std::string& method, Round round,
                                   const Participants& participants) const {
  const client::FineTuningConfig& tuning = config_.fine_tuning;
  std::string members = fmt::format(
      "\"method\": \"{}\", \"round\": {}, \"laplace_scale\": {}, \"solver\": \"{}\", \"passes\": "
      "{}, "
      "\"steps\": {}, \"learning_rate\": {}, \"weight_decay\": {}, \"step\": {}",
      method, round + 1, config_.laplace_scale, name_of(tuning.solver), tuning.passes, tuning.steps,
      tuning.learning_rate, tuning.weight_decay, tuning.step);
  if (std::ssize(participants.clients) < context_.num_clients) {
    std::vector<Index> numbers;
    for (const ClientId client : participants.clients) numbers.push_back(index_of(client));
    members += fmt::format(", \"participants\": [{}]", fmt::join(numbers, ", "));
  }
  return members;
}

void FilterRounds::save(NamedArrays& state) const { state.set("global_basis", filter_.basis); }

void FilterRounds::restore(const NamedArrays& state) {
  filter_.basis = state.matrix("global_basis");
}
}  // namespace fedhur::methods
