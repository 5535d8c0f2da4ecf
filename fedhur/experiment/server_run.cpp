#include "fedhur/experiment/server_run.hpp"

#include <fmt/format.h>

#include <chrono>

#include "fedhur/base/file.hpp"
#include "fedhur/base/hash.hpp"
#include "fedhur/experiment/manifest.hpp"

namespace fedhur::experiment {
namespace fs = std::filesystem;
namespace {
std::string sha256_of(const std::string& text) {
  return sha256_hex(std::as_bytes(std::span(text)));
}

// Tells this run from all others, so that no site mixes them up.
std::string make_run_id(const RunFolder& folder, const std::string& settings) {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return sha256_of(fmt::format("{} {} {}", now, fs::absolute(folder.path()).string(), settings))
      .substr(0, 16);
}

const ExperimentConfig& require_server_config(const ExperimentConfig& config,
                                              const RunFolder& folder) {
  if (!config.federation) {
    throw ConfigError(fmt::format(
        "{} is not the run of a server: it has no [federation]; 'fedhur train --resume' goes on "
        "with simulations",
        folder.path().string()));
  }
  require_network(config);
  return config;
}

data::Dataset dataset_of(const data::Catalogue& catalogue, const std::string& items) {
  data::Dataset dataset;
  dataset.name = fs::path(items).stem().string();
  dataset.item_names = catalogue.names;
  dataset.item_titles = catalogue.titles;
  dataset.sha256 = sha256_of(data::to_text(catalogue));
  return dataset;
}
}  // namespace

ServerRun::ServerRun(const ResolvedConfig& resolved, const RunFolder& folder,
                     transport::NetworkLog log, const TrainingHooks& hooks)
    : folder_(folder),
      config_(require_server_config(resolved.config, folder)),
      toml_(to_toml(resolved.settings)),
      executor_(make_executor(config_.threads)) {
  const FederationConfig& federation = *config_.federation;
  const data::Catalogue catalogue = data::load_catalogue(federation.items);
  const std::string text = data::to_text(catalogue);
  dataset_ = dataset_of(catalogue, federation.items);
  train_counts_.resize(dataset_.item_names.size());
  welcome_ = {.run_id = {},
              .configuration = settings_for_sites(resolved.settings),
              .num_clients = federation.clients,
              .catalogue_sha256 = dataset_.sha256,
              .catalogue = transport::copy_of(std::as_bytes(std::span(text)))};
  server_ = make_server(config_, federation.clients, dataset_.num_items(), executor_);
  if (RunFolder::is_run(folder.path())) {
    check_same_data(folder.manifest(), dataset_);
    welcome_.run_id = read_text_file(folder.run_id());
    progress_ = restore_checkpoint(folder.checkpoints(), *server_, party_).value_or(Progress{});
    inform(hooks, fmt::format("going on with round {}", progress_.next_round + 1));
  } else {
    welcome_.run_id = make_run_id(folder, welcome_.configuration);
  }
  journal_ = std::make_unique<transport::ReplyJournal>(folder.replies());
  hub_ = std::make_unique<transport::Hub>(
      transport::HubConfig{.num_clients = federation.clients,
                           .quorum = federation.quorum,
                           .deadline_seconds = federation.deadline_seconds,
                           .format = config_.wire.format},
      std::move(log), journal_.get(), progress_.next_sequence);
}

ServerRun::~ServerRun() = default;

std::size_t ServerRun::largest_reply() const {
  // Every method uploads a few tables of a row per item; none is wider than this.
  constexpr std::size_t kNumbersPerItem = 4096;
  constexpr std::size_t kFixed = std::size_t{16} << 20U;
  return kFixed + dataset_.item_names.size() * kNumbersPerItem * sizeof(Real);
}

void ServerRun::save(const Progress& progress) {
  progress_ = progress;
  progress_.next_sequence = hub_->next_sequence();
  write_checkpoint(folder_.checkpoints(), progress_, *server_, party_);
  journal_->clear();  // all that it knows is in the checkpoint now
}

// With its config.toml a run has begun; until then nothing is left behind by a mistake.
void ServerRun::begin() {
  write_file_atomically(folder_.run_id(), welcome_.run_id);
  begin_sitting(folder_.manifest(),
                {.method = config_.method,
                 .seed = config_.seed,
                 .num_clients = config_.federation->clients,
                 .num_threads = executor_.num_threads(),
                 .first_round = progress_.next_round},
                dataset_);
  write_file_atomically(folder_.config(), toml_);
}

TrainingOutcome ServerRun::run(const TrainingHooks& hooks) {
  const Stopwatch sitting;
  begin();
  inform(hooks, fmt::format("{} items; {} at {} clients, of which {} have to answer; run {}",
                            dataset_.num_items(), config_.method, config_.federation->clients,
                            config_.federation->quorum > 0 ? config_.federation->quorum
                                                           : config_.federation->clients,
                            welcome_.run_id));
  if (!hub_->wait_for_clients(hooks.should_stop)) {
    end_sitting(folder_.manifest(), progress_.next_round);
    return {.was_interrupted = true, .result = {}};
  }
  const RunParts parts{.config = config_,
                       .dataset = dataset_,
                       .train_counts = train_counts_,
                       .server = *server_,
                       .federation = *hub_,
                       .save = [&](const Progress& progress) { save(progress); },
                       .checkpoint_every = 1,  // or the journal would grow
                       .take_absentees = [&] { return hub_->take_absentees(); }};
  return run_rounds(parts, progress_, folder_, hooks, sitting);
}
}  // namespace fedhur::experiment
