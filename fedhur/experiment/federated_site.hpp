// A site of a real federation: the clients it hosts, made from its own data and the server's
// settings, and what they keep.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fedhur/base/parallel.hpp"
#include "fedhur/data/catalogue.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/experiment/site_state.hpp"

namespace fedhur::experiment {
// What the server says about its run.
struct FederationTerms {
  std::string run_id;
  std::string settings;   // TOML
  std::string catalogue;  // text of it
  Index num_clients = 0;  // of the whole federation
};

// What the site decides for itself.
struct SiteConfig {
  std::filesystem::path folder;   // private: states and the model stay here
  std::vector<ClientId> clients;  // that it hosts, ascending
  ConfigTable own;                // data.*, synthetic.* and, for whole data, clients.*; threads
  // The data are those of all clients, divided as `fedhur train` divides them; the site takes what
  // its clients would have. Otherwise all users of the data are the site's.
  bool has_whole_data = false;
  bool skips_unknown_items = false;  // rows with items outside the catalogue
};

// "client 3" or "clients 0-2,5".
[[nodiscard]] std::string describe_clients(const std::vector<ClientId>& clients);

class FederatedSite {
 public:
  // Goes on with what is in the folder. ConfigError if that is of another run.
  FederatedSite(const SiteConfig& config, const FederationTerms& terms);

  [[nodiscard]] transport::Site& site() { return *site_; }
  [[nodiscard]] std::string describe() const;  // one line, for people
  [[nodiscard]] std::size_t num_replayed() const { return num_replayed_; }
  [[nodiscard]] std::int64_t skipped_rows() const { return dataset_.skipped_rows; }
  // Puts the models that clients have kept into folder/model; false if no client has one.
  [[nodiscard]] bool write_model() const;
  // Those that have missed every "keep" so far.
  [[nodiscard]] std::vector<ClientId> clients_without_model() const;

  // Whether the folder is a site's, and the run that it takes part in.
  [[nodiscard]] static bool is_site(const std::filesystem::path& folder);

 private:
  std::filesystem::path folder_;
  ExperimentConfig config_;
  data::Dataset dataset_;  // users of this site, items of the catalogue
  std::unique_ptr<Executor> executor_;
  std::vector<ClientId> ids_;
  Clients clients_;
  std::unique_ptr<SiteState> state_;
  std::unique_ptr<transport::Site> site_;
  std::size_t num_replayed_ = 0;
};
}  // namespace fedhur::experiment
