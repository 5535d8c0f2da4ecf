#include "fedhur/data/client_data.hpp"

#include <algorithm>

#include "fedhur/base/error.hpp"

namespace fedhur::data {
namespace {
using Lists = std::vector<std::vector<ItemId>>;

// Item lists of all users in one part of the data.
Lists lists_of(const Dataset& dataset, const std::vector<Part>& parts, Part part) {
  Lists lists(dataset.user_names.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Interaction& row = dataset.interactions[i];
    if (parts[i] == part) lists[slot(row.user)].push_back(row.item);
  }
  return lists;
}

UserItems select(const Lists& lists, const std::vector<UserId>& users) {
  Lists selected;
  selected.reserve(users.size());
  for (const UserId user : users) selected.push_back(lists[slot(user)]);
  return UserItems(selected);
}
}  // namespace

std::vector<ClientData> distribute(const Dataset& dataset, const std::vector<Part>& parts,
                                   const std::vector<ClientId>& user_clients) {
  expects(parts.size() == dataset.interactions.size(), "every interaction has a part");
  expects(user_clients.size() == dataset.user_names.size(), "every user has a client");
  if (user_clients.empty()) return {};
  std::vector<ClientData> clients(slot(std::ranges::max(user_clients)) + 1);
  for (std::size_t user = 0; user < user_clients.size(); ++user) {
    clients[slot(user_clients[user])].users.push_back(static_cast<UserId>(user));
  }
  const Lists train = lists_of(dataset, parts, Part::train);
  const Lists valid = lists_of(dataset, parts, Part::valid);
  const Lists test = lists_of(dataset, parts, Part::test);
  for (ClientData& client : clients) {
    client.train = select(train, client.users);
    client.valid = select(valid, client.users);
    client.test = select(test, client.users);
  }
  return clients;
}
}  // namespace fedhur::data
