// A trained model on disk, and recommendations from it.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fedhur/experiment/party.hpp"

namespace fedhur::experiment {
// Writes the best model of each client, with names, titles and the items users have seen. Of a
// client without one, users and items are all there is.
void write_model(const std::filesystem::path& folder, const data::Dataset& dataset,
                 const Party& party);

struct Recommendation {
  ItemId item{};
  std::string name;   // the source's id
  std::string title;  // empty where unknown
  Real score = 0;
};

class StoredModel {
 public:
  // DataError if the folder does not hold a whole model.
  explicit StoredModel(const std::filesystem::path& folder);
  [[nodiscard]] const std::vector<std::string>& user_names() const { return user_names_; }
  [[nodiscard]] Index num_items() const { return static_cast<Index>(item_names_.size()); }
  // Whether the user's client has a model to recommend with.
  [[nodiscard]] bool has_model(UserId user) const;
  // The k best items that the user has not seen (or, with `include_seen`, of all), best first.
  // DataError if there is no model for the user.
  [[nodiscard]] std::vector<Recommendation> recommend(UserId user, Index k,
                                                      bool include_seen = false) const;
  // The user with this name in the source; ConfigError with the nearest name if there is none.
  [[nodiscard]] UserId find_user(const std::string& name) const;
  // Items the user has seen, as names and titles (score 0), in item order.
  [[nodiscard]] std::vector<Recommendation> seen(UserId user) const;

 private:
  struct Place {
    std::size_t client = 0;
    Index row = 0;
  };
  struct ClientModel {
    std::unique_ptr<model::Recommender> recommender;  // null if the client has kept no model
    data::UserItems seen;
  };
  std::vector<std::string> user_names_;
  std::vector<std::string> item_names_;
  std::vector<std::string> item_titles_;
  std::vector<Place> places_;  // of every user
  std::vector<ClientModel> clients_;
};
}  // namespace fedhur::experiment
