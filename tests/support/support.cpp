#include "tests/support/support.hpp"

#include "fedhur/base/random_matrix.hpp"

namespace fedhur::tests {
Matrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
  return normal_matrix(rows, cols, 1.0F, Rng(seed));
}

std::vector<ItemId> items(const std::vector<int>& ids) {
  std::vector<ItemId> result;
  for (const int id : ids) result.push_back(item_id(id));
  return result;
}

data::UserItems user_items(const std::vector<std::vector<int>>& lists) {
  std::vector<std::vector<ItemId>> typed;
  for (const auto& list : lists) typed.push_back(items(list));
  return data::UserItems(typed);
}

bool learns_embeddings(const std::string& method) {
  return method != "popularity" && method != "fedslim";
}

ConfigTable tiny_settings(const std::string& method) {
  ConfigTable table;
  for (const std::string& assignment :
       {"method=" + method, std::string("synthetic.num_users=40"),
        std::string("synthetic.num_items=60"), std::string("synthetic.num_interactions=800"),
        std::string("synthetic.num_groups=4"), std::string("clients.count=7"),
        std::string("stop.max_rounds=3")}) {
    experiment::add_assignment(table, assignment);
  }
  if (learns_embeddings(method)) {
    experiment::add_assignment(table, "model.embedding_dim=6");
    experiment::add_assignment(table, "train.local_epochs=2");
    experiment::add_assignment(table, "train.batch_size=50");
  }
  return table;
}

experiment::TrainingOutcome train_tiny(const std::filesystem::path& folder,
                                       const ConfigTable& table) {
  return experiment::train(experiment::resolve(table), experiment::RunFolder::create(folder), {});
}
}  // namespace fedhur::tests
