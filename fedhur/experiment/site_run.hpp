// A site of a real federation: the clients it hosts, made from its own data and the server's
// settings, and what they keep.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/base/parallel.hpp"
#include "fedhur/experiment/site_journal.hpp"

namespace fedhur::experiment {
// What a site decides for itself.
struct SiteConfig {
  std::filesystem::path folder;  // private: states and the model stay here
  ConfigTable own;               // data.*, synthetic.* and, for whole data, clients.*; threads
  // The data are those of all clients, divided as `fedhur train` divides them; the site takes what
  // its clients would have. Otherwise all users of the data are the site's.
  bool has_whole_data = false;
  bool skips_unknown_items = false;  // rows with items outside the catalogue
};

// The site's own settings with the server's (TOML) on top. `num_clients` of the federation is the
// default of clients.count where the data are whole; 0 if it is not known.
[[nodiscard]] ConfigTable merge_settings(const SiteConfig& config, const std::string& settings,
                                         Index num_clients);

// "client 3" or "clients 0-2,5".
[[nodiscard]] std::string describe_clients(const std::vector<ClientId>& clients);

class SiteRun {
 public:
  // Hosts the clients of the server's welcome, and goes on with what is in the folder. ConfigError
  // if that is of another run, DataError if the data do not fit the catalogue or the clients.
  SiteRun(const SiteConfig& config, const transport::Welcome& welcome);

  [[nodiscard]] transport::Site& site() { return *site_; }
  [[nodiscard]] std::string describe() const;  // one line, for people
  [[nodiscard]] std::size_t num_replayed() const { return num_replayed_; }
  [[nodiscard]] std::int64_t skipped_rows() const { return dataset_.skipped_rows; }
  // Puts the clients' best models into folder/model; false if no client has one.
  [[nodiscard]] bool write_model() const;
  // Those that have missed every "keep" so far.
  [[nodiscard]] std::vector<ClientId> clients_without_model() const;

  // The catalogue that a site's folder has from an earlier connection, if any.
  [[nodiscard]] static std::optional<std::string> known_items(const std::filesystem::path& folder);
  // Whether the folder is a site's.
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
