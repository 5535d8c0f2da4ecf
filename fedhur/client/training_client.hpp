// The client half of every method whose model is the local matrix factorisation: what is left to
// the method is answer().
#pragma once
#include <utility>

#include "fedhur/client/local_training.hpp"

namespace fedhur::client {
class TrainingClient : public Client {
 public:
  TrainingClient(const LocalTrainingConfig& config, ClientContext context)
      : training_(config, std::move(context)) {}

  [[nodiscard]] const model::Recommender& recommender() const override {
    return training_.recommender();
  }
  [[nodiscard]] PrivateState model() const override { return training_.model(); }
  [[nodiscard]] PrivateState save() const override { return training_.save(); }
  void restore(const PrivateState& state) override { training_.restore(state); }

 protected:
  [[nodiscard]] LocalTraining& training() { return training_; }

 private:
  LocalTraining training_;
};
}  // namespace fedhur::client
