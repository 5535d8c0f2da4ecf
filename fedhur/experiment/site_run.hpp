// A site of a real federation: the clients it hosts, made from its own data and the server's
// settings, and what they keep.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fedhur/base/parallel.hpp"
#include "fedhur/experiment/hosted_data.hpp"
#include "fedhur/experiment/site_journal.hpp"

namespace fedhur::experiment {
// What the server says about its run.
struct FederationTerms {
  std::string run_id;
  std::string settings;   // TOML
  std::string catalogue;  // text of it
  Index num_clients = 0;  // of the whole federation
};

// "client 3" or "clients 0-2,5".
[[nodiscard]] std::string describe_clients(const std::vector<ClientId>& clients);

class SiteRun {
 public:
  // Goes on with what is in the folder. ConfigError if that is of another run.
  SiteRun(const HostingConfig& config, const FederationTerms& terms);

  [[nodiscard]] transport::Site& site() { return *site_; }
  [[nodiscard]] std::string describe() const;  // one line, for people
  [[nodiscard]] std::size_t num_replayed() const { return num_replayed_; }
  [[nodiscard]] std::int64_t skipped_rows() const { return dataset_.skipped_rows; }
  // Puts the clients' best models into folder/model; false if no client has one.
  [[nodiscard]] bool write_model() const;
  // Those that have missed every "keep" so far.
  [[nodiscard]] std::vector<ClientId> clients_without_model() const;

  // Whether the folder is a site's, and the run that it takes part in.
  [[nodiscard]] static bool is_site(const std::filesystem::path& folder);

 private:
  std::filesystem::path folder_;
  ExperimentConfig config_;
  data::Dataset dataset_;  // users of this site, items of the catalogue
  Executor executor_;
  Party party_;
  std::unique_ptr<SiteJournal> journal_;
  std::unique_ptr<transport::Site> site_;
  std::size_t num_replayed_ = 0;
};
}  // namespace fedhur::experiment
