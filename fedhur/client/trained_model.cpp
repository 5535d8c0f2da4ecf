#include "fedhur/client/trained_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fedhur/model/linear_heads.hpp"
#include "fedhur/model/matrix_factorization.hpp"
#include "fedhur/model/neural_cf.hpp"

namespace fedhur::client {
namespace {
constexpr const char* kMatrixFactorization = "matrix_factorization";
constexpr const char* kLinearHeads = "linear_heads";
constexpr const char* kNeuralCf = "neural_cf";
constexpr const char* kItemScores = "item_scores";

using Made = std::unique_ptr<model::Recommender>;

Made make_matrix_factorization(const PrivateState& state) {
  auto recommender = std::make_unique<model::MatrixFactorization>();
  recommender->user_vectors = state.matrix("user_vectors");
  recommender->item_embeddings = state.shared_matrix("item_embeddings");
  if (recommender->user_vectors.cols() != recommender->item_embeddings->cols()) {
    throw DataError("the model's user vectors and item embeddings differ in width");
  }
  return recommender;
}

Made make_linear_heads(const PrivateState& state) {
  auto recommender = std::make_unique<model::LinearHeads>();
  recommender->users = static_cast<Index>(state.number("num_users"));
  recommender->heads = state.matrix("heads");
  recommender->item_embeddings = state.shared_matrix("item_embeddings");
  if (recommender->heads.cols() != recommender->item_embeddings->cols() + 1) {
    throw DataError("the model's heads do not fit its item embeddings");
  }
  if (recommender->heads.rows() != 1 && recommender->heads.rows() != recommender->users) {
    throw DataError("the model has neither one head nor one per user");
  }
  return recommender;
}

Made make_neural_cf(const PrivateState& state) {
  auto recommender = std::make_unique<model::NeuralCf>();
  const double num_layers = state.number("num_layers");
  constexpr double kMostLayers = 1000;  // of a file that can be trusted
  if (!(num_layers >= 1 && num_layers <= kMostLayers)) {
    throw DataError(fmt::format("the model has {} layers", num_layers));
  }
  recommender->parameters.network.resize(static_cast<std::size_t>(num_layers));
  visit_tables([&](const std::string& name, Matrix& table) { table = state.matrix(name); },
               recommender->parameters);
  if (!is_whole(recommender->parameters)) {
    throw DataError("the tables of the model do not fit together");
  }
  return recommender;
}

Made make_item_scores(const PrivateState& state) {
  return std::make_unique<model::ItemScores>(static_cast<Index>(state.number("num_users")),
                                             Vector(state.matrix("scores").col(0)));
}

struct Kind {
  std::string_view name;
  Made (*make)(const PrivateState& state);
};
constexpr std::array kKinds = {
    Kind{kMatrixFactorization, make_matrix_factorization}, Kind{kLinearHeads, make_linear_heads},
    Kind{kNeuralCf, make_neural_cf}, Kind{kItemScores, make_item_scores}};
}  // namespace

PrivateState to_state(const model::MatrixFactorization& recommender) {
  PrivateState state(kMatrixFactorization);
  state.set("user_vectors", recommender.user_vectors);
  state.set("item_embeddings", Array(recommender.item_embeddings));
  return state;
}

PrivateState to_state(const model::LinearHeads& recommender) {
  PrivateState state(kLinearHeads);
  state.set_number("num_users", static_cast<double>(recommender.users));
  state.set("heads", recommender.heads);
  state.set("item_embeddings", Array(recommender.item_embeddings));
  return state;
}

PrivateState to_state(const model::NeuralCf& recommender) {
  PrivateState state(kNeuralCf);
  state.set_number("num_layers", static_cast<double>(recommender.parameters.network.size()));
  visit_tables([&](const std::string& name, const Matrix& table) { state.set(name, table); },
               recommender.parameters);
  return state;
}

PrivateState to_state(const model::ItemScores& recommender) {
  PrivateState state(kItemScores);
  state.set_number("num_users", static_cast<double>(recommender.num_users()));
  state.set("scores", Matrix(recommender.scores()));
  return state;
}

std::unique_ptr<model::Recommender> make_recommender(const PrivateState& state) {
  const auto* kind = std::ranges::find(kKinds, state.kind(), &Kind::name);
  if (kind != kKinds.end()) return kind->make(state);
  throw DataError(fmt::format("the model is of the unknown kind '{}'", state.kind()));
}
}  // namespace fedhur::client
