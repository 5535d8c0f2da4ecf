#include "fedhur/methods/filter_round.hpp"

#include "fedhur/base/settings.hpp"
#include "fedhur/server/server_step.hpp"

namespace fedhur::methods {
using message::Message;

void declare_settings(Settings& settings, FilterMethodConfig& config) {
  declare_settings(settings, config.training);
  declare_settings(settings, config.start);
  declare_settings(settings, config.global_filter);
  server::declare_rate(settings, config.server_rate);
  settings.note("server.rate", "of filters");
  declare_settings(settings, config.fine_tuning);
  declare_noise(settings, config.upload);
  declare_norm_cap(settings, config.limits);
  declare_settings(settings, config.upload);
  settings.require(config.start.kind == Start::random || config.upload.laplace_scale == 0.0F,
                   "noise.laplace_scale",
                   "0 with model.start = spectral, whose sums leave without noise");
}

FilterTraining::FilterTraining(const FilterMethodConfig& config,
                               const client::ClientContext& context)
    : config_(config), training_(config.training, context), upload_(config.upload, context) {}

bool FilterTraining::answer(const Message& request, Message& reply) {
  if (request.kind != "train") return training_.answer_start(request, reply);
  put_loss(reply, training_.train(request.round));
  uploaded_ = upload_.prepare(training_.item_embeddings(), request.round);
  uploaded_->put(reply);
  return true;
}

Shared<Matrix> FilterTraining::read_factor(const Message& request) const {
  const Index rank = request.arrays.matrix("global_factor").cols();
  return request.arrays.finite_matrix("global_factor", training_.num_items(), rank);
}

Shared<Matrix> FilterTraining::uploaded_embeddings() const {
  if (!uploaded_) throw ProtocolError("'query' came before 'train'");
  return uploaded_->matrix();
}

void FilterTraining::finetune(const linalg::ItemFilter& filter) {
  training_.set_item_embeddings(std::make_shared<const Matrix>(
      client::finetune(*training_.item_embeddings(), filter, config_.fine_tuning)));
  uploaded_.reset();
}

bool FilterRounds::begin(Round round, federation::Federation& federation) {
  if (round > 0) return false;
  Shared<Matrix> start = send_start(config_.start, context_, config_.training.embedding_dim,
                                    config_.training.init_std, federation);
  if (is_stepping()) last_factor_ = std::move(start);
  return config_.start.fills_round();
}

FilterRound FilterRounds::run(Round round, federation::Federation& federation) {
  FilterRound now{.round = round};
  const Index dim = config_.training.embedding_dim;
  {
    const auto answers =
        ask_to_train(federation, {.kind = "train", .round = round, .arrays = {}},
                     [num_items = context_.num_items, dim](const NamedArrays& upload) {
                       check_item_embeddings(upload, num_items, dim);
                     });
    now.notes.loss = mean_loss(answers);
    now.clients = clients_of(answers);
    now.uploads = UploadReader(answers, config_.limits, *context_.executor, now.notes)
                      .item_embeddings(context_.num_items, dim);
  }
  filter_ = std::make_shared<const server::GlobalFilter>(
      is_stepping()
          ? server::step_global_filter(now.uploads, config_.global_filter, *last_factor_,
                                       config_.server_rate, *context_.executor)
          : server::compute_global_filter(now.uploads, config_.global_filter, filter_->basis,
                                          context_.rng.stream(Draw::subspace), *context_.executor));
  now.filter = filter_;
  now.global_factor = std::make_shared<const Matrix>(filter_->factor());
  if (is_stepping()) last_factor_ = now.global_factor;
  now.notes.numbers["trace_kept"] = filter_->trace_kept;
  return now;
}

void FilterRounds::save(NamedArrays& state) const {
  state.set("global_basis", filter_->basis);
  if (is_stepping()) state.set("last_factor", Array(last_factor_));
}

void FilterRounds::restore(const NamedArrays& state) {
  server::GlobalFilter filter;
  filter.basis = state.matrix("global_basis");
  if (is_stepping()) last_factor_ = state.shared_matrix("last_factor");
  filter_ = std::make_shared<const server::GlobalFilter>(std::move(filter));
}
}  // namespace fedhur::methods
