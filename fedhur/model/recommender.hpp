// Whatever can score all items for a user; evaluation and `recommend` know no more of a model.
#pragma once
#include "fedhur/base/matrix.hpp"

namespace fedhur::model {
class Recommender {
 public:
  virtual ~Recommender() = default;
  [[nodiscard]] virtual Index num_users() const = 0;
  [[nodiscard]] virtual Index num_items() const = 0;
  // Raw scores (never squashed) of the users first_user, first_user + 1, ...: one per row of
  // `scores`, whose columns are the items.
  virtual void score(Index first_user, MatrixRef scores) const = 0;
};

// The same scores for every user.
class ItemScores final : public Recommender {
 public:
  ItemScores(Index num_users, Vector scores) : num_users_(num_users), scores_(std::move(scores)) {}
  [[nodiscard]] Index num_users() const override { return num_users_; }
  [[nodiscard]] Index num_items() const override { return scores_.size(); }
  [[nodiscard]] const Vector& scores() const { return scores_; }
  void score(Index /*first_user*/, MatrixRef scores) const override {
    scores.rowwise() = scores_.transpose();
  }

 private:
  Index num_users_;
  Vector scores_;
};
}  // namespace fedhur::model
