#include "fedhur/client/pointwise_training.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/error.hpp"
#include "fedhur/base/random_matrix.hpp"

namespace fedhur::client {
using model::LabelledPair;

void declare_optimizer_state(Settings& settings, PointwiseConfig& config) {
  settings.add("train.optimizer_state", config.optimizer_state,
               "whether Adam's moments last over rounds (`persistent`) or begin anew in each");
}

void declare_settings(Settings& settings, PointwiseConfig& config) {
  declare_common_settings(settings, config);
  settings.add("model.private_init", config.private_init,
               "what never leaves (user vectors, heads, networks) starts alike for all users and "
               "clients, or `independent`");
  settings.add("train.negatives", config.negatives, at_least(1),
               "items without an interaction for each with one, drawn anew in every round", "rho");
  settings.add("train.optimizer", config.optimizer,
               "`sgd_original`: plain descent at the published rates");
  declare_optimizer_state(settings, config);
  settings.add(
      "train.stop_tolerance", config.stop_tolerance, at_least(0),
      "a round ends when an epoch changes its mean loss so far by less than this part; 0: never",
      "tol");
}

void declare_head(Settings& settings, model::HeadOwner& owner) {
  settings.add("model.head", owner,
               "whose score function it is; `client`: one for all its users, who then share one "
               "ranking");
  settings.note("train.batch_size",
                "as large a number as 65536 puts all of a client's samples in one "
                "([baselines](results/baselines.md))");
}

namespace {
// As dense layers begin: weights and bias alike.
model::LinearHeads draw_heads(const PointwiseConfig& config, model::HeadOwner owner,
                              const ClientContext& context) {
  model::LinearHeads model;
  model.users = context.train.num_users();
  const Real limit = 1 / std::sqrt(static_cast<Real>(config.embedding_dim));
  model.heads = draw_private_rows(
      config, context, Draw::layer_init, owner == model::HeadOwner::client ? 1 : model.users,
      [&](Index rows, Rng rng) {
        return uniform_matrix(rows, config.embedding_dim + 1, limit, rng);
      });
  model.item_embeddings =
      std::make_shared<const Matrix>(Matrix::Zero(context.num_items, config.embedding_dim));
  return model;
}

double mean_of(const TrainingLoss& loss) { return loss.sum / loss.num_samples; }

// Whether the mean loss changed by less than this part. Never if it is about zero, which losses
// that may be negative can be.
bool has_settled(double before, double after, double tolerance) {
  constexpr double kLeastMean = 1e-12;
  return std::abs(before) >= kLeastMean && std::abs(after - before) < tolerance * std::abs(before);
}
}  // namespace

TrainingLoss train_pointwise(const PointwiseConfig& config, const ClientContext& context,
                             Round round, const PointwiseStep& step) {
  std::vector<LabelledPair> pairs =
      model::draw_labelled_pairs(context.train, context.num_items, config.negatives,
                                 context.rng.stream(Draw::labelled_pairs, context.id, round));
  const auto batch_size = static_cast<std::size_t>(config.batch_size);
  const Real rate = rate_in_round(config, round);
  TrainingLoss total;
  for (Index epoch = 0; epoch < config.local_epochs && !pairs.empty(); ++epoch) {
    if (pairs.size() > batch_size) {  // the order within a single batch does not matter
      context.rng.stream(Draw::batch_order, context.id, round, epoch)
          .shuffle(std::span<LabelledPair>(pairs));
    }
    const TrainingLoss before = total;
    for (std::size_t first = 0; first < pairs.size(); first += batch_size) {
      const std::size_t count = std::min(batch_size, pairs.size() - first);
      total.sum += step(std::span<const LabelledPair>(pairs).subspan(first, count), rate);
    }
    total.num_samples += static_cast<double>(pairs.size());
    require_finite_loss(total);
    const auto tolerance = static_cast<double>(config.stop_tolerance);
    if (epoch > 0 && has_settled(mean_of(before), mean_of(total), tolerance)) break;
  }
  return total;
}

Rng private_stream(const PointwiseConfig& config, const ClientContext& context, Draw purpose) {
  const bool is_own = config.private_init == PrivateInit::independent;
  return context.rng.stream(purpose, is_own ? index_of(context.id) + 1 : 0);
}

Matrix draw_private_rows(const PointwiseConfig& config, const ClientContext& context, Draw purpose,
                         Index num_rows, const std::function<Matrix(Index, Rng)>& draw) {
  const Rng rng = private_stream(config, context, purpose);
  if (config.private_init == PrivateInit::independent) return draw(num_rows, rng);
  return draw(1, rng).replicate(num_rows, 1);
}

double add_anchor_gradient(const Matrix& table, const Matrix& anchor, Real strength,
                           linalg::RowGradient& gradient) {
  expects(table.rows() == anchor.rows() && table.cols() == anchor.cols(),
          "the anchor has the shape of the table");
  if (strength == 0.0F) return 0.0;
  const double scale = static_cast<double>(strength) / static_cast<double>(table.size());
  const Matrix distance = table - anchor;
  gradient.add(static_cast<Real>(2.0 * scale) * distance);
  return scale * distance.cast<double>().squaredNorm();
}

PointwiseOptimizer::PointwiseOptimizer(const PointwiseConfig& config, Index num_rows,
                                       Index num_cols)
    : kind_(config.optimizer),
      state_(config.optimizer_state),
      weight_decay_(config.weight_decay),
      adam_(num_rows, num_cols, {.weight_decay = config.weight_decay}) {}

void PointwiseOptimizer::begin_round() {
  if (state_ == OptimizerState::reset) adam_.reset();
}

void PointwiseOptimizer::step(Matrix& parameters, const linalg::RowGradient& gradient, Real rate) {
  if (kind_ == Optimizer::adam) {
    adam_.step(parameters, gradient, rate);
  } else {
    linalg::descend(parameters, gradient, rate, weight_decay_);
  }
}

void PointwiseOptimizer::save(PrivateState& state, const std::string& name) const {
  if (lasts()) linalg::save_adam(state, name, adam_);
}

void PointwiseOptimizer::restore(const PrivateState& state, const std::string& name) {
  if (lasts()) linalg::restore_adam(state, name, adam_);
}

Heads::Heads(const PointwiseConfig& config, model::HeadOwner owner, const ClientContext& context)
    : model(draw_heads(config, owner, context)),
      optimizer(config, model.heads.rows(), model.heads.cols()) {}

PrivateState Heads::save() const {
  PrivateState state("linear_heads");
  state.set("heads", model.heads);
  optimizer.save(state, "head");
  return state;
}

void Heads::restore(const PrivateState& state) {
  model.heads = state.matrix("heads");
  optimizer.restore(state, "head");
}

void Heads::begin_at(const Matrix& user_vectors) {
  Matrix& heads = model.heads;
  expects(user_vectors.rows() == model.users && user_vectors.cols() == heads.cols() - 1,
          "a vector per user, as wide as the item embeddings");
  heads.setZero();  // no bias
  if (heads.rows() == model.users) {
    heads.leftCols(user_vectors.cols()) = user_vectors;
  } else {
    heads.leftCols(user_vectors.cols()) = user_vectors.colwise().mean();
  }
}
}  // namespace fedhur::client
