#include "fedhur/client/private_state.hpp"

#include <fmt/format.h>

#include "fedhur/model/linear_heads.hpp"
#include "fedhur/model/matrix_factorization.hpp"
#include "fedhur/model/neural_cf.hpp"

namespace fedhur::client {
void PrivateState::write(ByteSink& sink, const PrivateState* previous) const {
  sink.put_name(kind_);
  encode(arrays_, sink, previous == nullptr ? nullptr : &previous->arrays_);
}

PrivateState PrivateState::read(ByteReader& reader, const PrivateState* previous) {
  PrivateState state(reader.get_name());
  state.arrays_ = decode_arrays(reader, previous == nullptr ? nullptr : &previous->arrays_);
  return state;
}

std::unique_ptr<model::Recommender> make_recommender(const PrivateState& model) {
  if (model.kind() == "matrix_factorization") {
    auto recommender = std::make_unique<model::MatrixFactorization>();
    recommender->user_vectors = model.matrix("user_vectors");
    recommender->item_embeddings = model.shared_matrix("item_embeddings");
    if (recommender->user_vectors.cols() != recommender->item_embeddings->cols()) {
      throw DataError("the model's user vectors and item embeddings differ in width");
    }
    return recommender;
  }
  if (model.kind() == "linear_heads") {
    auto recommender = std::make_unique<model::LinearHeads>();
    recommender->users = static_cast<Index>(model.number("num_users"));
    recommender->heads = model.matrix("heads");
    recommender->item_embeddings = model.shared_matrix("item_embeddings");
    if (recommender->heads.cols() != recommender->item_embeddings->cols() + 1) {
      throw DataError("the model's heads do not fit its item embeddings");
    }
    if (recommender->heads.rows() != 1 && recommender->heads.rows() != recommender->users) {
      throw DataError("the model has neither one head nor one per user");
    }
    return recommender;
  }
  if (model.kind() == "neural_cf") {
    auto recommender = std::make_unique<model::NeuralCf>();
    const double num_layers = model.number("num_layers");
    constexpr double kMostLayers = 1000;  // of a file that can be trusted
    if (!(num_layers >= 1 && num_layers <= kMostLayers)) {
      throw DataError(fmt::format("the model has {} layers", num_layers));
    }
    recommender->parameters.network.resize(static_cast<std::size_t>(num_layers));
    visit_tables([&](const std::string& name, Matrix& table) { table = model.matrix(name); },
                 recommender->parameters);
    if (!is_whole(recommender->parameters)) {
      throw DataError("the tables of the model do not fit together");
    }
    return recommender;
  }
  if (model.kind() == "item_scores") {
    return std::make_unique<model::ItemScores>(static_cast<Index>(model.number("num_users")),
                                               Vector(model.matrix("scores").col(0)));
  }
  throw DataError(fmt::format("the model is of the unknown kind '{}'", model.kind()));
}
}  // namespace fedhur::client
