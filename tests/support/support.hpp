// Small worlds for tests.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/matrix.hpp"
#include "fedhur/base/random.hpp"
#include "fedhur/data/interactions.hpp"
#include "fedhur/experiment/training.hpp"

namespace fedhur::tests {
[[nodiscard]] Matrix random_matrix(Index rows, Index cols, std::uint64_t seed);
[[nodiscard]] data::UserItems user_items(const std::vector<std::vector<int>>& lists);
[[nodiscard]] std::vector<ItemId> items(const std::vector<int>& ids);

// Whether it learns item embeddings, in rounds of local training.
[[nodiscard]] bool learns_embeddings(const std::string& method);
// Settings of a run that takes a fraction of a second: 40 users, 60 items, 7 clients, 3 rounds.
[[nodiscard]] ConfigTable tiny_settings(const std::string& method);
// Trains in a new folder below `parent`.
[[nodiscard]] experiment::TrainingOutcome train_tiny(const std::filesystem::path& folder,
                                                     const ConfigTable& table);
}  // namespace fedhur::tests
