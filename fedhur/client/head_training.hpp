// The client half of every method whose users are linear heads: what is left to the method is
// answer(), and the item embeddings.
#pragma once
#include "fedhur/client/pointwise_training.hpp"
#include "fedhur/model/linear_heads.hpp"

namespace fedhur::client {
class HeadClient : public Client {
 public:
  HeadClient(const PointwiseConfig& config, model::HeadOwner owner, ClientContext context);

  [[nodiscard]] const model::Recommender& recommender() const override { return model_; }
  [[nodiscard]] PrivateState model() const override;
  // The heads and their optimiser; items are the method's.
  [[nodiscard]] PrivateState save() const override;
  void restore(const PrivateState& state) override;

 protected:
  [[nodiscard]] const PointwiseConfig& config() const { return config_; }
  [[nodiscard]] const ClientContext& context() const { return context_; }
  [[nodiscard]] Matrix& heads() { return model_.heads; }
  [[nodiscard]] PointwiseOptimizer& head_optimizer() { return head_optimizer_; }
  // What it recommends with.
  [[nodiscard]] const Shared<Matrix>& item_embeddings() const { return model_.item_embeddings; }
  void set_item_embeddings(Shared<Matrix> embeddings);
  [[nodiscard]] linalg::RowGradient head_gradient() const {
    return {model_.heads.rows(), model_.heads.cols()};
  }
  [[nodiscard]] linalg::RowGradient item_gradient() const {
    return {context_.num_items, config_.embedding_dim};
  }

 private:
  PointwiseConfig config_;
  ClientContext context_;
  model::LinearHeads model_;
  PointwiseOptimizer head_optimizer_;
};
}  // namespace fedhur::client
