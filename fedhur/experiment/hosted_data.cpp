#include "fedhur/experiment/hosted_data.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fedhur/experiment/prepare_data.hpp"

namespace fedhur::experiment {
namespace {
// Only the users of these clients, numbered anew.
HostedData select_clients(data::Dataset dataset, std::vector<data::ClientData> all,
                          const std::vector<ClientId>& ids) {
  HostedData hosted;
  std::vector<std::string> names;
  std::vector<std::pair<UserId, UserId*>> users;
  for (const ClientId id : ids) {
    hosted.clients.push_back(std::move(all[static_cast<std::size_t>(id)]));
  }
  for (data::ClientData& client : hosted.clients) {
    for (UserId& user : client.users) users.emplace_back(user, &user);
  }
  std::ranges::sort(users, {}, [](const auto& user) { return user.first; });
  for (const auto& [before, user] : users) {
    *user = user_id(static_cast<Index>(names.size()));
    names.push_back(dataset.user_names[static_cast<std::size_t>(before)]);
  }
  dataset.user_names = std::move(names);
  dataset.interactions.clear();  // the clients have them
  dataset.parts.clear();
  dataset.user_clients.clear();
  hosted.dataset = std::move(dataset);
  return hosted;
}

HostedData take_share(const HostingConfig& config, const ExperimentConfig& experiment,
                      const data::Catalogue& catalogue, Index num_clients) {
  // The server's settings name a split even where it has none in mind; what the file says of its
  // rows yields to the site's own settings alone, as in `fedhur train`.
  ConfigTable own = config.own;
  PreparedData prepared = prepare_data(experiment.data, experiment.seed, own);
  if (prepared.dataset.item_names != catalogue.names) {
    throw DataError(fmt::format(
        "{} has other items than the federation's catalogue: 'fedhur data items' makes one of it",
        prepared.dataset.name));
  }
  prepared.dataset.item_titles = catalogue.titles;
  auto all = data::distribute(prepared.dataset, prepared.parts, prepared.user_clients);
  if (static_cast<Index>(all.size()) != num_clients) {
    throw ConfigError(fmt::format(
        "the data are divided among {} clients, the federation has {}: set clients.count",
        all.size(), num_clients));
  }
  return select_clients(std::move(prepared.dataset), std::move(all), config.clients);
}

// Whose users these are: as the file says, or runs of users in their order.
std::vector<ClientId> assign_users(const data::Dataset& dataset, const std::vector<ClientId>& ids) {
  if (!dataset.user_clients.empty()) {
    for (const ClientId client : dataset.user_clients) {
      if (std::ranges::find(ids, client) != ids.end()) continue;
      throw DataError(fmt::format("{} has users of client {}, which this site does not host",
                                  dataset.name, index_of(client)));
    }
    return dataset.user_clients;
  }
  auto owners = data::partition(
      dataset, {.kind = data::PartitionKind::blocks, .num_clients = static_cast<Index>(ids.size())},
      Rng(0));
  for (ClientId& owner : owners) owner = ids[static_cast<std::size_t>(owner)];
  return owners;
}

HostedData take_own(const HostingConfig& config, const ExperimentConfig& experiment,
                    const data::Catalogue& catalogue, Index num_clients) {
  data::Dataset dataset =
      data::renumber(load_dataset(experiment.data), catalogue, config.skips_unknown_items);
  data::SplitConfig split = experiment.data.split;
  if (!dataset.parts.empty()) split.kind = data::SplitKind::given;
  // Other sites draw from the same seed; the first client makes this draw the site's own.
  const Rng rng = Rng(experiment.seed).stream(Draw::site_split, config.clients.front());
  const auto parts = data::split(dataset, split, rng);
  const auto owners = assign_users(dataset, config.clients);
  auto all = data::distribute(dataset, parts, owners);
  all.resize(static_cast<std::size_t>(num_clients));  // hosted clients without a user are empty
  return select_clients(std::move(dataset), std::move(all), config.clients);
}
}  // namespace

ConfigTable merge_settings(const HostingConfig& config, const std::string& settings,
                           Index num_clients) {
  ConfigTable table = config.own;
  add_toml_text(table, settings, "the server's settings");
  if (config.has_whole_data && num_clients > 0 && !table.contains("clients.count")) {
    table.set("clients.count", static_cast<std::int64_t>(num_clients), "the server");
  }
  return table;
}

HostedData load_hosted_data(const HostingConfig& config, const ExperimentConfig& experiment,
                            const data::Catalogue& catalogue, Index num_clients) {
  return config.has_whole_data ? take_share(config, experiment, catalogue, num_clients)
                               : take_own(config, experiment, catalogue, num_clients);
}
}  // namespace fedhur::experiment
