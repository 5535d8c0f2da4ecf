#include "fedhur/experiment/round_dump.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "fedhur/base/file.hpp"
#include "fedhur/experiment/npy.hpp"
#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::experiment {
namespace fs = std::filesystem;
using methods::FedHurRound;
namespace {
using Json = nlohmann::ordered_json;

void check_method(const std::string& name) {
  if (methods::find_method(name).shows_rounds) return;
  std::vector<std::string> able;
  for (const auto& method : methods::all_methods()) {
    if (method.shows_rounds) able.push_back(method.name);
  }
  throw ConfigError(
      fmt::format("the method {} has nothing to show of a round: --dump-round is for {}", name,
                  fmt::join(able, ", ")));
}

// A dump as it is written: names are relative paths without an ending, such as
// "scopes/3/projection".
class DumpWriter {
 public:
  explicit DumpWriter(fs::path folder) : folder_(std::move(folder)) {}
  void put(const std::string& name, ConstMatrixRef matrix) const {
    write_npy(place_of(name + ".npy"), matrix);
  }
  void put_vector(const std::string& name, const Eigen::VectorXd& vector) const {
    write_npy_vector(place_of(name + ".npy"), vector.cast<Real>());
  }
  void put(const std::string& name, const Json& value) const {
    write_file_atomically(place_of(name + ".json"), value.dump(1) + "\n");
  }

 private:
  [[nodiscard]] fs::path place_of(const std::string& file) const {
    const fs::path path = folder_ / file;
    make_folder(path.parent_path());
    return path;
  }
  fs::path folder_;
};

// Floats with their own digits, not those of the double next to them.
double digits_of(Real value) { return std::stod(fmt::format("{}", value)); }

Json describe_settings(const std::string& method, const FedHurRound& now) {
  const methods::FedHurConfig& config = now.config;
  const client::FineTuningConfig& tuning = config.common.fine_tuning;
  std::vector<double> beta;
  if (config.structure == methods::Structure::single) {
    beta = {digits_of(config.single_weight)};
  } else if (now.groups.hierarchy) {
    for (Index level = 0; level < now.groups.hierarchy->num_levels(); ++level) {
      beta.push_back(digits_of(linalg::level_weight(config.level_weights, level)));
    }
  }
  return {{"method", method},
          {"round", now.trained.round + 1},
          {"laplace_scale", digits_of(config.common.upload.laplace_scale)},
          {"solver", name_of(tuning.solver)},
          {"passes", tuning.passes},
          {"steps", tuning.steps},
          {"learning_rate", digits_of(tuning.learning_rate)},
          {"weight_decay", digits_of(tuning.weight_decay)},
          {"step", digits_of(tuning.step)},
          {"beta", beta},
          {"tau", config.retrieval.temperature},
          {"lambda", digits_of(config.scorer.refinement_weight)},
          {"clip", config.retrieval.clip},
          {"form", name_of(config.query.form)},
          {"filter_scale", config.query.is_spectral ? "spectral" : "none"},
          {"relation", name_of(config.retrieval.relation)},
          {"normalize", name_of(config.retrieval.normalize)},
          {"scale", name_of(config.scale)},
          {"structure", name_of(config.structure)},
          {"coarse", name_of(config.coarse)}};
}

Json describe_hierarchy(const linalg::ItemHierarchy& hierarchy) {
  Json scopes = Json::array();
  for (const linalg::Scope& scope : hierarchy.scopes) {
    Json members = Json::array();
    for (Index b = 0; b < scope.num_members(); ++b) {
      const auto items = scope.member_items(b);
      members.push_back(std::vector<Index>(items.begin(), items.end()));
    }
    scopes.push_back({{"id", scopes.size()},
                      {"level", scope.level},
                      {"parent", scope.parent < 0 ? Json() : Json({scope.parent, scope.member})},
                      {"members", std::move(members)}});
  }
  return scopes;
}

void dump_scopes(const DumpWriter& writer, const FedHurRound& now, const Rng& rng) {
  const bool is_single = now.config.structure == methods::Structure::single;
  const auto& [clients, places, queries] = now.targets;
  Index row = 0;
  Index at = 0;
  for (Index s = 0; s < now.groups.hierarchy->num_scopes(); ++s) {
    const auto scope = static_cast<std::size_t>(s);
    const Index m = now.groups.hierarchy->scopes[scope].num_members();
    const std::string folder = fmt::format("scopes/{}/", s);
    const server::Retrieval& retrieval = now.personal.retrievals[scope];
    writer.put(folder + "global_relation_filter", now.groups.filters[scope].to_dense());
    writer.put(folder + "direct_scores", retrieval.direct_scores.cast<Real>());
    writer.put(folder + "retrieval_scores", retrieval.retrieval_scores.cast<Real>());
    writer.put(folder + "aggregation_weights", retrieval.aggregation_weights.cast<Real>());
    if (now.config.asks_queries()) {
      writer.put(folder + "projection",
                 client::draw_projection(rng, s, m, now.config.query.directions));
      for (std::size_t k = 0; k < queries.size(); ++k) {
        writer.put(fmt::format("{}projected_query/{}", folder, index_of(clients[k])),
                   queries[k]->middleRows(row, m));
      }
    }
    // With a single scope the residual lives in the global basis.
    const Index size = is_single ? now.trained.filter->basis.cols() : m;
    for (std::size_t k = 0; k < clients.size(); ++k) {
      writer.put(fmt::format("{}{}/{}", folder, is_single ? "residual_core" : "residual_filter",
                             index_of(clients[k])),
                 linalg::unpack(now.personal.residuals[k]->data() + at, size));
    }
    row += m;
    at += linalg::packed_size(size);
  }
}

void dump_round(const DumpWriter& writer, const ExperimentConfig& config, Index num_clients,
                const FedHurRound& now) {
  const auto& [round, clients, uploads, filter, factor, notes] = now.trained;
  for (std::size_t k = 0; k < uploads.size(); ++k) {
    writer.put(fmt::format("item_embeddings/{}", index_of(clients[k])), *uploads[k]);
  }
  writer.put("global_item_embeddings", server::average_embeddings(uploads, Executor(1)));
  writer.put("global_filter_basis", filter->basis);
  writer.put_vector("global_filter_values", filter->values);
  Json settings = describe_settings(config.method, now);
  if (std::ssize(clients) < num_clients) {
    for (const ClientId client : clients) settings["participants"].push_back(index_of(client));
  }
  writer.put("config", settings);
  if (now.personal.residuals.empty()) return;
  writer.put("hierarchy", describe_hierarchy(*now.groups.hierarchy));
  dump_scopes(writer, now, Rng(config.seed));
}
}  // namespace

void check_dump(const DumpConfig& dump, const ExperimentConfig& config) {
  if (dump.round < 1 || dump.round > config.stop.max_rounds) {
    throw ConfigError(
        fmt::format("--dump-round {}: expected a round from 1 to {}, which is stop.max_rounds",
                    dump.round, config.stop.max_rounds));
  }
  check_method(config.method);
  std::error_code error;
  if (!fs::exists(dump.folder, error)) return;
  if (!fs::is_directory(dump.folder, error)) {
    throw ConfigError(
        fmt::format("{} is not a folder: choose another --dump-dir", dump.folder.string()));
  }
  if (!fs::is_empty(dump.folder, error)) {
    throw ConfigError(
        fmt::format("{} exists and is not empty: choose another --dump-dir", dump.folder.string()));
  }
}

void create_folder(const DumpConfig& dump) {
  make_folder(dump.folder);
  if (::access(dump.folder.c_str(), W_OK | X_OK) != 0) {
    throw ConfigError(
        fmt::format("cannot write into {}: {}", dump.folder.string(), std::strerror(errno)));
  }
}

methods::RoundWatcher make_watcher(const DumpConfig& dump, const ExperimentConfig& config,
                                   Index num_clients) {
  return {.round = dump.round - 1, .show = [dump, config, num_clients](const FedHurRound& now) {
            dump_round(DumpWriter(dump.folder), config, num_clients, now);
          }};
}

void dump_fine_tuned(const DumpConfig& dump, const Party& party) {
  const DumpWriter writer(dump.folder);
  for (std::size_t client = 0; client < party.size(); ++client) {
    writer.put(fmt::format("fine_tuned/{}", client),
               party[client].half().model().matrix("item_embeddings"));
  }
}
}  // namespace fedhur::experiment
