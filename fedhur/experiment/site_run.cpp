#include "fedhur/experiment/site_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fedhur/base/file.hpp"
#include "fedhur/experiment/stored_model.hpp"
#include "fedhur/pki/client_ranges.hpp"

namespace fedhur::experiment {
namespace fs = std::filesystem;
namespace {
using Json = nlohmann::ordered_json;

fs::path identity_file(const fs::path& folder) { return folder / "site.json"; }
fs::path state_folder(const fs::path& folder) { return folder / "state"; }

ExperimentConfig read_site_config(const HostingConfig& config, const FederationTerms& terms) {
  ConfigTable table = merge_settings(config, terms.settings, terms.num_clients);
  return read_experiment_config(table);
}

void check_identity(const HostingConfig& config, const FederationTerms& terms) {
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

SiteRun::SiteRun(const HostingConfig& config, const FederationTerms& terms)
    : folder_(config.folder),
      config_(read_site_config(config, terms)),
      executor_(make_executor(config_.threads)) {
  expects(!config.clients.empty() && std::ranges::is_sorted(config.clients),
          "a site hosts clients, in order");
  const data::Catalogue catalogue = data::parse_catalogue(terms.catalogue, "the catalogue");
  make_private_folder(folder_);
  make_private_folder(state_folder(folder_));
  HostedData own = load_hosted_data(config, config_, catalogue, terms.num_clients);
  check_identity(config, terms);  // after the data: a mistake in those leaves nothing behind
  dataset_ = std::move(own.dataset);
  party_ = Party(config_, std::move(own.clients), dataset_.num_items(), executor_, config.clients);
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

bool SiteRun::is_site(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(identity_file(folder), ignored);
}
}  // namespace fedhur::experiment
