// Local training on labelled pairs: what methods with a pointwise loss share, whatever the model.
#pragma once
#include <functional>
#include <span>
#include <string>

#include "fedhur/client/client.hpp"
#include "fedhur/client/training.hpp"
#include "fedhur/linalg/adam.hpp"
#include "fedhur/model/linear_heads.hpp"
#include "fedhur/model/training_samples.hpp"

namespace fedhur::client {
enum class Optimizer : std::uint8_t {
  adam,
  sgd_original,  // plain gradient descent with the rates that the method was published with
};
constexpr auto names_of(Optimizer) { return std::array{"adam", "sgd_original"}; }
enum class OptimizerState : std::uint8_t { reset, persistent };  // from round to round
constexpr auto names_of(OptimizerState) { return std::array{"reset", "persistent"}; }
enum class PrivateInit : std::uint8_t { identical, independent };  // over users and clients
constexpr auto names_of(PrivateInit) { return std::array{"identical", "independent"}; }

struct PointwiseConfig {
  Index embedding_dim = 32;  // d
  Real init_std = 0.1F;
  Real learning_rate = 0.01F;
  Real learning_rate_decay = 1.0F;
  Real weight_decay = 0.0F;
  Index batch_size = 256;
  Index local_epochs = 1;
  Index negatives = 4;  // rho
  Optimizer optimizer = Optimizer::adam;
  OptimizerState optimizer_state = OptimizerState::reset;
  PrivateInit private_init = PrivateInit::identical;
  Real stop_tolerance = 0.0F;  // tol
};
void declare_settings(Settings& settings, PointwiseConfig& config);
void declare_optimizer_state(Settings& settings, PointwiseConfig& config);

// Takes one step on a batch at this learning rate; returns the sum of the batch's losses.
using PointwiseStep = std::function<double(std::span<const model::LabelledPair> batch, Real rate)>;

// A round of local training: pairs are drawn once and shuffled every epoch. It ends early when an
// epoch changes the mean over all epochs of the round so far by less than the tolerance.
TrainingLoss train_pointwise(const PointwiseConfig& config, const ClientContext& context,
                             Round round, const PointwiseStep& step);

// The random stream that private parameters start from: one for all clients, or each its own.
[[nodiscard]] Rng private_stream(const PointwiseConfig& config, const ClientContext& context,
                                 Draw purpose);
// Private rows, drawn by draw(num_rows, rng): one draw for every row of every client, or each row
// its own.
[[nodiscard]] Matrix draw_private_rows(const PointwiseConfig& config, const ClientContext& context,
                                       Draw purpose, Index num_rows,
                                       const std::function<Matrix(Index, Rng)>& draw);

void declare_head(Settings& settings, model::HeadOwner& owner);
// A pull towards a table that the server made: strength * mean of (table - anchor)^2 over all
// entries. Returns it and adds its gradient, which reaches every row.
double add_anchor_gradient(const Matrix& table, const Matrix& anchor, Real strength,
                           linalg::RowGradient& gradient);

// Of one table of parameters.
class PointwiseOptimizer {
 public:
  PointwiseOptimizer(const PointwiseConfig& config, Index num_rows, Index num_cols);
  void begin_round();
  void step(Matrix& parameters, const linalg::RowGradient& gradient, Real rate);
  // What lasts over rounds, under names that begin with `name`.
  void save(PrivateState& state, const std::string& name) const;
  void restore(const PrivateState& state, const std::string& name);

 private:
  [[nodiscard]] bool lasts() const {
    return kind_ == Optimizer::adam && state_ == OptimizerState::persistent;
  }
  Optimizer kind_;
  OptimizerState state_;
  Real weight_decay_;
  linalg::Adam adam_;
};

// Heads of a client's users, and their optimiser. The item embeddings are the method's: zeros at
// first.
struct Heads {
  Heads(const PointwiseConfig& config, model::HeadOwner owner, const ClientContext& context);
  [[nodiscard]] linalg::RowGradient make_gradient() const {
    return {model.heads.rows(), model.heads.cols()};
  }
  // Without the item embeddings.
  [[nodiscard]] PrivateState save() const;
  void restore(const PrivateState& state);
  // Heads that score as these user vectors do: a single head is their mean.
  void begin_at(const Matrix& user_vectors);

  model::LinearHeads model;
  PointwiseOptimizer optimizer;
};
}  // namespace fedhur::client
