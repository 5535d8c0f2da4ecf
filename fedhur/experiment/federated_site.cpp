#include "fedhur/experiment/federated_site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fedhur/base/file.hpp"
#include "fedhur/experiment/prepare_data.hpp"
#include "fedhur/experiment/simulation.hpp"
#include "fedhur/experiment/stored_model.hpp"
#include "fedhur/linalg/blas.hpp"
#include "fedhur/pki/client_ranges.hpp"

namespace fedhur::experiment {
namespace fs = std::filesystem;
namespace {
using Json = nlohmann::ordered_json;

fs::path identity_file(const fs::path& folder) { return folder / "site.json"; }
fs::path state_folder(const fs::path& folder) { return folder / "state"; }

struct SiteData {
  data::Dataset dataset;  // its users are those of `clients`, in this order
  std::vector<data::ClientData> clients;
};

// Only the users of these clients, numbered anew.
SiteData select_clients(data::Dataset dataset, std::vector<data::ClientData> all,
                        const std::vector<ClientId>& ids) {
  SiteData site;
  std::vector<std::string> names;
  std::vector<std::pair<UserId, UserId*>> users;
  for (const ClientId id : ids) {
    site.clients.push_back(std::move(all[static_cast<std::size_t>(id)]));
  }
  for (data::ClientData& client : site.clients) {
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
  site.dataset = std::move(dataset);
  return site;
}

SiteData take_share(const SiteConfig& config, const ExperimentConfig& experiment,
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

SiteData take_own(const SiteConfig& config, const ExperimentConfig& experiment,
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

ConfigTable merge(const SiteConfig& config, const FederationTerms& terms) {
  ConfigTable table = config.own;
  add_toml_text(table, terms.settings, "the server's settings");
  if (config.has_whole_data && !table.contains("clients.count")) {
    table.set("clients.count", static_cast<std::int64_t>(terms.num_clients), "the server");
  }
  return table;
}

void check_identity(const SiteConfig& config, const FederationTerms& terms) {
  const fs::path path = identity_file(config.folder);
  std::vector<Index> clients;
  for (const ClientId client : config.clients) clients.push_back(index_of(client));
  const Json identity = {{"run", terms.run_id}, {"clients", clients}};
  if (!fs::exists(path)) {
    write_file_atomically(config.folder / "items.tsv", terms.catalogue);
    write_file_atomically(config.folder / "settings.toml", terms.settings);
    write_file_atomically(path, identity.dump() + "\n");
    return;
  }
  std::vector<ClientId> known_clients;
  std::string known_run;
  try {
    const Json known = Json::parse(read_text_file(path));
    known_run = known.at("run").get<std::string>();
    for (const Index client : known.at("clients").get<std::vector<Index>>()) {
      known_clients.push_back(client_id(client));
    }
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: {}", path.string(), error.what()));
  }
  if (known_run != terms.run_id || known_clients != config.clients) {
    throw ConfigError(fmt::format("{} holds {} of run {}, not {} of run {}: choose another --state",
                                  config.folder.string(), describe_clients(known_clients),
                                  known_run, describe_clients(config.clients), terms.run_id));
  }
}
}  // namespace

std::string describe_clients(const std::vector<ClientId>& clients) {
  std::vector<pki::ClientRange> ranges;
  for (const ClientId client : clients) ranges.push_back({index_of(client), index_of(client)});
  return fmt::format("client{} {}", clients.size() == 1 ? "" : "s", pki::to_text(ranges));
}

FederatedSite::FederatedSite(const SiteConfig& config, const FederationTerms& terms)
    : folder_(config.folder), ids_(config.clients) {
  expects(!ids_.empty() && std::ranges::is_sorted(ids_), "a site hosts clients, in order");
  ConfigTable table = merge(config, terms);
  config_ = read_experiment_config(table);
  executor_ = std::make_unique<Executor>(num_threads(config_.threads));
  const data::Catalogue catalogue = data::parse_catalogue(terms.catalogue, "the catalogue");
  make_private_folder(folder_);
  make_private_folder(state_folder(folder_));
  SiteData own = config.has_whole_data ? take_share(config, config_, catalogue, terms.num_clients)
                                       : take_own(config, config_, catalogue, terms.num_clients);
  check_identity(config, terms);  // after the data: a mistake in those leaves nothing behind
  dataset_ = std::move(own.dataset);
  linalg::prepare_blas(executor_->num_threads());
  const Rng rng(config_.seed);
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    auto inner = config_.configured_method.make_client({.id = ids_[i],
                                                        .train = own.clients[i].train,
                                                        .num_items = dataset_.num_items(),
                                                        .rng = rng});
    clients_.push_back(std::make_unique<evaluate::EvaluatingClient>(
        std::move(inner), std::move(own.clients[i]), config_.evaluation.cutoffs));
  }
  state_ = std::make_unique<SiteState>(state_folder(folder_), ids_, clients_);
  std::vector<transport::HostedClient> hosted;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    hosted.push_back({ids_[i], clients_[i].get(), state_->answered()[i]});
  }
  site_ = std::make_unique<transport::Site>(std::move(hosted), *executor_, config_.wire.format,
                                            state_.get());
  state_->follow(*site_);
  num_replayed_ = state_->replay(*site_);
}

std::string FederatedSite::describe() const {
  Index rows = 0;
  for (const auto& client : clients_) rows += client->data().train.size();
  return fmt::format("{} users, {} training rows of {} items; {} at {} of the clients",
                     dataset_.num_users(), rows, dataset_.num_items(), config_.method, ids_.size());
}

bool FederatedSite::write_model() const {
  const bool has_model = clients_without_model().size() < ids_.size();
  if (has_model) experiment::write_model(folder_ / "model", dataset_, clients_);
  return has_model;
}

std::vector<ClientId> FederatedSite::clients_without_model() const {
  std::vector<ClientId> clients;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (!clients_[i]->kept_model()) clients.push_back(ids_[i]);
  }
  return clients;
}

bool FederatedSite::is_site(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(identity_file(folder), ignored);
}
}  // namespace fedhur::experiment
