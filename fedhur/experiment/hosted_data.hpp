// What a site hosts: the users of its clients with their rows, from its own file.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "fedhur/data/catalogue.hpp"
#include "fedhur/data/client_data.hpp"
#include "fedhur/experiment/experiment_config.hpp"

namespace fedhur::experiment {
// What the site decides for itself.
struct HostingConfig {
  std::filesystem::path folder;   // private: states and the model stay here
  std::vector<ClientId> clients;  // that it hosts, ascending
  ConfigTable own;                // data.*, synthetic.* and, for whole data, clients.*; threads
  // The data are those of all clients, divided as `fedhur train` divides them; the site takes what
  // its clients would have. Otherwise all users of the data are the site's.
  bool has_whole_data = false;
  bool skips_unknown_items = false;  // rows with items outside the catalogue
};

struct HostedData {
  data::Dataset dataset;                  // its users are those of `clients`; no rows
  std::vector<data::ClientData> clients;  // in the order of HostingConfig::clients
};

// The site's own settings with the server's (TOML) on top. `num_clients` of the federation is the
// default of clients.count where the data are whole; 0 if it is not known.
[[nodiscard]] ConfigTable merge_settings(const HostingConfig& config, const std::string& settings,
                                         Index num_clients);
// DataError if the file does not fit the catalogue or the clients.
[[nodiscard]] HostedData load_hosted_data(const HostingConfig& config,
                                          const ExperimentConfig& experiment,
                                          const data::Catalogue& catalogue, Index num_clients);
}  // namespace fedhur::experiment
