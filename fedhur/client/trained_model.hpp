// A trained model as a value, and back: one kind for each recommender that clients train.
#pragma once
#include <memory>

#include "fedhur/client/private_state.hpp"
#include "fedhur/model/recommender.hpp"

namespace fedhur::model {
struct MatrixFactorization;
struct LinearHeads;
struct NeuralCf;
struct SparseLinear;
}  // namespace fedhur::model

namespace fedhur::client {
[[nodiscard]] PrivateState to_state(const model::MatrixFactorization& recommender);
[[nodiscard]] PrivateState to_state(const model::LinearHeads& recommender);
[[nodiscard]] PrivateState to_state(const model::NeuralCf& recommender);
[[nodiscard]] PrivateState to_state(const model::ItemScores& recommender);
[[nodiscard]] PrivateState to_state(const model::SparseLinear& recommender);
// DataError for another kind, and where the parts do not fit together.
[[nodiscard]] std::unique_ptr<model::Recommender> make_recommender(const PrivateState& state);
}  // namespace fedhur::client
