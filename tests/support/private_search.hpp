// Looks for what must not leave a site: bytes of its users' names, vectors and interactions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fedhur/client/private_state.hpp"

namespace fedhur::tests {
// Whether the bytes hold these, anywhere.
[[nodiscard]] bool holds(std::span<const std::byte> bytes, const void* pattern, std::size_t size);

// A model file as it is: names, and what each client has kept, with its users and their items.
struct ModelContent {
  std::vector<std::string> user_names;
  std::vector<std::string> item_names;
  std::vector<client::PrivateState> clients;
};
[[nodiscard]] ModelContent read_model_content(const std::filesystem::path& model_folder);
// The tables that have rows of users.
[[nodiscard]] std::vector<Matrix> user_tables(const client::PrivateState& client);

// Many patterns, searched for at once.
class PrivatePatterns {
 public:
  // Everything private that a model tells:
  //   user id          as text
  //   vector           four neighbouring numbers of a user, as they are
  //   packed vector    the same as the wire codec packs them, wherever in a table they are
  //   interaction      the numbers of a user and of an item beside each other, in any type; only of
  //                    users whose number no item has, lest two items be taken for one
  //   list of items    four items of a user beside each other, as numbers and as text
  void add_model(const ModelContent& model);
  // What was found, and an example of each.
  [[nodiscard]] std::map<std::string, std::string> find_in(std::span<const std::byte> bytes) const;
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Pattern {
    std::string bytes;
    const char* kind;
    std::string user;
  };
  void add(std::string bytes, const char* kind, const std::string& user);
  void add_vector(std::span<const Real> vector, const std::string& user);
  void add_interaction(std::int64_t user_number, std::int64_t item, const std::string& user);
  void add_items(std::span<const std::int32_t> items, const ModelContent& model,
                 const std::string& user);
  std::unordered_map<std::uint64_t, std::vector<Pattern>> by_beginning_;  // their first eight bytes
  std::size_t size_ = 0;
};

// All files below a folder, by their path in it.
[[nodiscard]] std::map<std::string, std::vector<std::byte>> files_below(
    const std::filesystem::path& folder);

// Rows for `fedhur data`: 500 people with names that nothing else has, 12 of 300 things each.
[[nodiscard]] std::string telling_rows();
}  // namespace fedhur::tests
