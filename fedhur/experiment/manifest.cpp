#include "fedhur/experiment/manifest.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"

namespace fedhur::experiment {
namespace {
using Json = nlohmann::ordered_json;

std::string now() {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
}

Json read_json(const std::filesystem::path& path) {
  try {
    return Json::parse(read_text_file(path));
  } catch (const nlohmann::json::exception& error) {
    throw DataError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

void write_json(const std::filesystem::path& path, const Json& json) {
  write_file_atomically(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}
}  // namespace

std::string version() { return FEDHUR_VERSION; }

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

void check_same_data(const std::filesystem::path& manifest, const data::Dataset& dataset) {
  if (read_json(manifest).value("data_sha256", "") != dataset.sha256) {
    throw DataError(fmt::format("{} changed since this run began: its SHA-256 is not the one in {}",
                                dataset.name, manifest.string()));
  }
}

void begin_sitting(const std::filesystem::path& manifest, const Sitting& sitting,
                   const data::Dataset& dataset) {
  Json json;
  if (std::filesystem::exists(manifest)) {
    json = read_json(manifest);
  } else {
    json["method"] = sitting.method;
    json["seed"] = sitting.seed;
    json["clients"] = sitting.num_clients;
    json["version"] = version();
    json["compiler"] = FEDHUR_COMPILER;
    json["build"] = FEDHUR_BUILD_TYPE;
    json["cpu"] = cpu_name();
    json["data"] = dataset.name;
    json["data_sha256"] = dataset.sha256;
    json["users"] = dataset.num_users();
    json["items"] = dataset.num_items();
    json["interactions"] = dataset.interactions.size();
    json["skipped_rows"] = dataset.skipped_rows;
    json["start"] = now();
    json["end"] = nullptr;
    json["sittings"] = Json::array();
  }
  json["sittings"].push_back({{"first_round", sitting.first_round + 1},
                              {"threads", sitting.num_threads},
                              {"start", now()},
                              {"end", nullptr}});
  write_json(manifest, json);
}

void end_sitting(const std::filesystem::path& manifest, Round next_round) {
  Json json = read_json(manifest);
  json["end"] = now();
  json["sittings"].back()["end"] = json["end"];
  json["sittings"].back()["last_round"] = next_round;
  write_json(manifest, json);
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;  // Linux counts in KiB
}
}  // namespace fedhur::experiment
