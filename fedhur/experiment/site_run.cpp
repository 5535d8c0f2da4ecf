#include "fedhur/experiment/site_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fedhur/base/file.hpp"
#include "fedhur/data/catalogue.hpp"
#include "fedhur/experiment/prepare_data.hpp"
#include "fedhur/experiment/stored_model.hpp"
#include "fedhur/pki/client_ranges.hpp"

namespace fedhur::experiment {
namespace fs = std::filesystem;
namespace {
using transport::Welcome;
using Json = nlohmann::ordered_json;

fs::path identity_file(const fs::path& folder) { return folder / "site.json"; }
fs::path items_file(const fs::path& folder) { return folder / "items.tsv"; }
fs::path state_folder(const fs::path& folder) { return folder / "state"; }

ExperimentConfig read_site_config(const SiteConfig& config, const Welcome& welcome) {
  auto resolved = resolve(merge_settings(config, welcome.configuration, welcome.num_clients));
  require_network(resolved.config);
  return std::move(resolved.config);
}

struct SiteData {
  data::Dataset dataset;                  // its users are those of `clients`; no rows
  std::vector<data::ClientData> clients;  // in the order of their ids
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
                    const data::Catalogue& catalogue, const Welcome& welcome) {
  // The server's settings name a split even where it has none in mind; what the file says of its
  // rows yields to the site's own settings alone, as in `fedhur train`.
  DataConfig data = experiment.data;
  data.says_split = config.own.contains("split.kind");
  data.says_partition = config.own.contains("clients.kind");
  PreparedData prepared = prepare_data(std::move(data), experiment.seed);
  if (prepared.dataset.item_names != catalogue.names) {
    throw DataError(fmt::format(
        "{} has other items than the federation's catalogue: 'fedhur data items' makes one of it",
        prepared.dataset.name));
  }
  prepared.dataset.item_titles = catalogue.titles;
  auto all = data::distribute(prepared.dataset, prepared.parts, prepared.user_clients);
  if (static_cast<Index>(all.size()) != welcome.num_clients) {
    throw ConfigError(fmt::format(
        "the data are divided among {} clients, the federation has {}: set clients.count",
        all.size(), welcome.num_clients));
  }
  return select_clients(std::move(prepared.dataset), std::move(all), welcome.clients);
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
                  const data::Catalogue& catalogue, const Welcome& welcome) {
  data::Dataset dataset =
      data::renumber(load_dataset(experiment.data), catalogue, config.skips_unknown_items);
  data::SplitConfig split = experiment.data.split;
  if (!dataset.parts.empty()) split.kind = data::SplitKind::given;
  // Other sites draw from the same seed; the first client makes this draw the site's own.
  const Rng rng = Rng(experiment.seed).stream(Draw::site_split, welcome.clients.front());
  const auto parts = data::split(dataset, split, rng);
  const auto owners = assign_users(dataset, welcome.clients);
  auto all = data::distribute(dataset, parts, owners);
  // Hosted clients without a user are empty.
  all.resize(static_cast<std::size_t>(welcome.num_clients));
  return select_clients(std::move(dataset), std::move(all), welcome.clients);
}

void check_identity(const SiteConfig& config, const Welcome& welcome,
                    const std::string& catalogue) {
  const fs::path path = identity_file(config.folder);
  std::vector<Index> clients;
  for (const ClientId client : welcome.clients) clients.push_back(index_of(client));
  const Json identity = {{"run", welcome.run_id}, {"clients", clients}};
  if (!fs::exists(path)) {
    write_file_atomically(items_file(config.folder), catalogue);
    write_file_atomically(config.folder / "settings.toml", welcome.configuration);
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
  if (known_run != welcome.run_id || known_clients != welcome.clients) {
    throw ConfigError(fmt::format("{} holds {} of run {}, not {} of run {}: choose another --state",
                                  config.folder.string(), describe_clients(known_clients),
                                  known_run, describe_clients(welcome.clients), welcome.run_id));
  }
}
}  // namespace

ConfigTable merge_settings(const SiteConfig& config, const std::string& settings,
                           Index num_clients) {
  ConfigTable table = config.own;
  add_toml_text(table, settings, "the server's settings");
  if (config.has_whole_data && num_clients > 0 && !table.contains("clients.count")) {
    table.set("clients.count", static_cast<std::int64_t>(num_clients), "the server");
  }
  return table;
}

std::string describe_clients(const std::vector<ClientId>& clients) {
  std::vector<pki::ClientRange> ranges;
  for (const ClientId client : clients) ranges.push_back({index_of(client), index_of(client)});
  return fmt::format("client{} {}", clients.size() == 1 ? "" : "s", pki::to_text(ranges));
}

SiteRun::SiteRun(const SiteConfig& config, const Welcome& welcome)
    : folder_(config.folder),
      config_(read_site_config(config, welcome)),
      executor_(make_executor(config_.threads)) {
  expects(!welcome.clients.empty() && std::ranges::is_sorted(welcome.clients),
          "a site hosts clients, in order");
  const std::string text = catalogue_of(welcome, known_items(folder_)).value_or("");
  const data::Catalogue catalogue = data::parse_catalogue(text, "the catalogue");
  make_private_folder(folder_);
  make_private_folder(state_folder(folder_));
  SiteData own = config.has_whole_data ? take_share(config, config_, catalogue, welcome)
                                       : take_own(config, config_, catalogue, welcome);
  check_identity(config, welcome,
                 text);  // after the data: a mistake in those leaves nothing behind
  dataset_ = std::move(own.dataset);
  party_ = Party(config_, std::move(own.clients), dataset_.num_items(), executor_, welcome.clients);
  journal_ = std::make_unique<SiteJournal>(state_folder(folder_), party_);
  std::vector<transport::HostedClient> hosted;
  for (std::size_t i = 0; i < party_.size(); ++i) {
    hosted.push_back({party_.ids()[i], &party_[i], journal_->answered()[i]});
  }
  site_ = std::make_unique<transport::Site>(std::move(hosted), executor_, config_.wire.format,
                                            journal_.get());
  num_replayed_ = journal_->replay(*site_);
}

std::string SiteRun::describe() const {
  Index rows = 0;
  for (std::size_t i = 0; i < party_.size(); ++i) rows += party_[i].data().train.size();
  return fmt::format("{} users, {} training rows of {} items; {} at {} of the clients",
                     dataset_.num_users(), rows, dataset_.num_items(), config_.method,
                     party_.size());
}

bool SiteRun::write_model() const {
  const bool has_model = clients_without_model().size() < party_.size();
  if (has_model) experiment::write_model(folder_ / "model", dataset_, party_);
  return has_model;
}

std::vector<ClientId> SiteRun::clients_without_model() const {
  std::vector<ClientId> clients;
  for (std::size_t i = 0; i < party_.size(); ++i) {
    if (!party_[i].best_model()) clients.push_back(party_.ids()[i]);
  }
  return clients;
}

std::optional<std::string> SiteRun::known_items(const fs::path& folder) {
  if (!fs::exists(items_file(folder))) return std::nullopt;
  return read_text_file(items_file(folder));
}

bool SiteRun::is_site(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(identity_file(folder), ignored);
}
}  // namespace fedhur::experiment
