#include "fedhur/client/trained_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fedhur/model/linear_heads.hpp"
#include "fedhur/model/matrix_factorization.hpp"
#include "fedhur/model/neural_cf.hpp"
#include "fedhur/model/sparse_linear.hpp"

namespace fedhur::client {
namespace {
constexpr const char* kMatrixFactorization = "matrix_factorization";
constexpr const char* kLinearHeads = "linear_heads";
constexpr const char* kNeuralCf = "neural_cf";
constexpr const char* kItemScores = "item_scores";
constexpr const char* kSparseLinear = "sparse_linear";

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

Made make_sparse_linear(const PrivateState& state) {
  auto recommender = std::make_unique<model::SparseLinear>();
  recommender->filter = state.shared_sparse("filter");
  const Index num_items = recommender->filter->rows();
  const auto& users = state.integers("history_users");
  const auto& items = state.integers("history_items");
  std::vector<std::vector<ItemId>> lists(static_cast<std::size_t>(state.number("num_users")));
  for (Index i = 0; i < items.size(); ++i) {
    const bool fits = recommender->filter->cols() == num_items && users.size() == items.size() &&
                      users(i) >= 0 && users(i) < std::ssize(lists) && items(i) >= 0 &&
                      items(i) < num_items;
    if (!fits) throw DataError("the model's histories do not fit its filter");
    lists[static_cast<std::size_t>(users(i))].push_back(item_id(items(i)));
  }
  recommender->histories = data::UserItems(lists);
  return recommender;
}

struct Kind {
  std::string_view name;
  Made (*make)(const PrivateState& state);
};
constexpr std::array kKinds = {Kind{kMatrixFactorization, make_matrix_factorization},
                               Kind{kLinearHeads, make_linear_heads},
                               Kind{kNeuralCf, make_neural_cf}, Kind{kItemScores, make_item_scores},
                               Kind{kSparseLinear, make_sparse_linear}};
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

PrivateState to_state(const model::SparseLinear& recommender) {
  const data::UserItems& histories = recommender.histories;
  using Integers = MatrixOf<std::int32_t>;
  Integers users(histories.size(), 1);
  Integers items(histories.size(), 1);
  Index next = 0;
  for (Index user = 0; user < histories.num_users(); ++user) {
    for (const ItemId item : histories.of(user)) {
      users(next) = static_cast<std::int32_t>(user);
      items(next++) = static_cast<std::int32_t>(item);
    }
  }
  PrivateState state(kSparseLinear);
  state.set_number("num_users", static_cast<double>(histories.num_users()));
  state.set("history_users", std::move(users));
  state.set("history_items", std::move(items));
  state.set("filter", Array(recommender.filter));
  return state;
}

std::unique_ptr<model::Recommender> make_recommender(const PrivateState& state) {
  const auto* kind = std::ranges::find(kKinds, state.kind(), &Kind::name);
  if (kind != kKinds.end()) return kind->make(state);
  throw DataError(fmt::format("the model is of the unknown kind '{}'", state.kind()));
}
}  // namespace fedhur::client
