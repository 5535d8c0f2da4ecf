// fedhur data: looks at a data set and writes it in other forms.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "apps/command.hpp"
#include "apps/common_flags.hpp"
#include "apps/data_statistics.hpp"
#include "apps/output.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/base/text.hpp"
#include "fedhur/data/catalogue.hpp"
#include "fedhur/data/id_table.hpp"

namespace fedhur::apps {
namespace {
using Json = nlohmann::ordered_json;

struct DataFlags {
  SettingFlags settings;
  std::string out;
  bool is_forced = false;
  bool is_json = false;
};

// Of which only data and seed matter here.
experiment::ExperimentConfig read_config(const DataFlags& flags) {
  check_given(flags.settings.data, "the data file", "fedhur data inspect ratings.csv");
  return experiment::resolve(flags.settings.to_table()).config;
}

void write_output(const DataFlags& flags, const std::string& text, std::size_t num_rows) {
  write_file_atomically(flags.out, text);
  if (flags.is_json) {
    print_json({{"out", flags.out}, {"rows", num_rows}});
  } else {
    print(
        fmt::format("{}: {} rows\n", flags.out, format_count(static_cast<std::int64_t>(num_rows))));
  }
}

void check_output(const DataFlags& flags, const experiment::ExperimentConfig& config) {
  check_given(flags.out, "--out FILE", "fedhur data convert ratings.dat --out ratings.csv");
  std::vector<std::filesystem::path> inputs;
  for (const std::string& input :
       {config.data.path, config.data.split_file, config.data.load.titles, flags.settings.config}) {
    if (!input.empty()) inputs.emplace_back(input);
  }
  check_output_file(flags.out, flags.is_forced, inputs);
}

int show(const DataFlags& flags, const auto& statistics) {
  if (flags.is_json) {
    print_json(to_json(statistics));
  } else {
    print(format_text(statistics));
  }
  return ExitCode::done;
}

int inspect_data(const DataFlags& flags) {
  return show(flags, inspect(experiment::load_dataset(read_config(flags).data)));
}

char delimiter_of(const std::string& file) {
  if (file.ends_with(".csv")) return ',';
  if (file.ends_with(".tsv")) return '\t';
  throw ConfigError(fmt::format("--out {}: expected a name that ends in .csv or .tsv", file));
}

int convert(const DataFlags& flags) {
  const experiment::ExperimentConfig config = read_config(flags);
  check_output(flags, config);
  const char delimiter = delimiter_of(flags.out);
  const data::Dataset dataset = experiment::load_dataset(config.data);
  std::string text = fmt::format("user{}item", delimiter);
  if (dataset.has_ratings) text += fmt::format("{}rating", delimiter);
  if (dataset.has_timestamps) text += fmt::format("{}timestamp", delimiter);
  text += '\n';
  for (const data::Interaction& row : dataset.interactions) {
    text += csv_field(dataset.user_names[static_cast<std::size_t>(row.user)], delimiter);
    text += delimiter;
    text += csv_field(dataset.item_names[static_cast<std::size_t>(row.item)], delimiter);
    if (dataset.has_ratings) text += fmt::format("{}{}", delimiter, row.rating);
    if (dataset.has_timestamps) text += fmt::format("{}{}", delimiter, row.timestamp);
    text += '\n';
  }
  write_output(flags, text, dataset.interactions.size());
  return ExitCode::done;
}

bool is_number(const std::string& text) {
  const auto number = data::parse_plain_number(text);
  return number && *number <= UINT32_MAX;
}

// The format `split` holds numbers only: the source's own ids where they are numbers, else
// positions among all ids of the source, which --split-file understands, and then among those that
// only conflicting clients have.
std::vector<std::string> numbers_for(const std::vector<std::string>& names,
                                     const std::vector<std::string>& all_names) {
  if (std::ranges::all_of(all_names, is_number) && std::ranges::all_of(names, is_number)) {
    return names;
  }
  std::unordered_map<std::string_view, std::size_t> positions;
  for (const std::string& name : all_names) positions.emplace(name, positions.size());
  for (const std::string& name : names) positions.emplace(name, positions.size());
  std::vector<std::string> numbers;
  numbers.reserve(names.size());
  for (const std::string& name : names) numbers.push_back(fmt::format("{}", positions.at(name)));
  return numbers;
}

// What all clients of a federation have to agree on, and all that its server is told of the data.
int write_items(const DataFlags& flags) {
  const experiment::ExperimentConfig config = read_config(flags);
  check_output(flags, config);
  const data::Catalogue catalogue = data::catalogue_of(experiment::load_dataset(config.data));
  write_output(flags, data::to_text(catalogue), catalogue.names.size());
  return ExitCode::done;
}

data::Dataset load_unfiltered(experiment::DataConfig config) {
  config.filter = {};
  config.split_file.clear();
  return experiment::load_dataset(config);
}

// In the format `split`.
std::string parts_and_clients(const experiment::PreparedData& prepared,
                              const data::Dataset& unfiltered) {
  const data::Dataset& dataset = prepared.dataset;
  const auto users = numbers_for(dataset.user_names, unfiltered.user_names);
  const auto items = numbers_for(dataset.item_names, unfiltered.item_names);
  constexpr std::array kParts = {"train", "valid", "test"};
  std::string text = "client\tuser\titem\tsplit\n";
  for (std::size_t i = 0; i < dataset.interactions.size(); ++i) {
    const auto user = static_cast<std::size_t>(dataset.interactions[i].user);
    const auto item = static_cast<std::size_t>(dataset.interactions[i].item);
    text += fmt::format("{}\t{}\t{}\t{}\n", index_of(prepared.user_clients[user]), users[user],
                        items[item], kParts.at(static_cast<std::size_t>(prepared.parts[i])));
  }
  return text;
}

int split(const DataFlags& flags) {
  const experiment::ExperimentConfig config = read_config(flags);
  check_output(flags, config);
  const auto prepared = experiment::prepare_data(config.data, config.seed);
  write_output(flags, parts_and_clients(prepared, load_unfiltered(config.data)),
               prepared.dataset.interactions.size());
  return ExitCode::done;
}

// Writes the same file only where it is asked to.
int inspect_partition(const DataFlags& flags) {
  const experiment::ExperimentConfig config = read_config(flags);
  if (!flags.out.empty()) check_output(flags, config);
  const auto prepared = experiment::prepare_data(config.data, config.seed);
  if (!flags.out.empty()) {
    write_file_atomically(flags.out, parts_and_clients(prepared, load_unfiltered(config.data)));
  }
  return show(flags, inspect(prepared));
}

Command add_data_command(CLI::App& parent, const std::string& name, const std::string& summary,
                         int (*run)(const DataFlags&), bool writes) {
  auto flags = std::make_shared<DataFlags>();
  CLI::App* app = parent.add_subcommand(name, summary);
  flags->settings.data_origin = "the argument";
  add_value(*app, "path", flags->settings.data, "", "File with interactions, or 'synthetic'");
  if (writes) {
    add_value(*app, "--out", flags->out, "FILE", "File to write");
    app->add_flag("--force", flags->is_forced, "Overwrite an existing --out");
  }
  add_setting_flags(*app, flags->settings);
  app->add_flag("--json", flags->is_json, "One JSON object on standard output");
  return {.app = app, .run = [flags, run] { return run(*flags); }};
}
}  // namespace

std::vector<Command> add_data(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("data", "Inspect, convert, split, partition a data set");
  std::vector<Command> commands = {
      add_data_command(*app, "inspect", "What is in a data set", inspect_data, false),
      add_data_command(*app, "convert", "Write it as .csv or .tsv with a header", convert, true),
      add_data_command(*app, "split", "Write parts and clients, in the format `split`", split,
                       true),
      add_data_command(*app, "partition",
                       "How it spreads over clients; with --out, as 'split' writes it",
                       inspect_partition, true),
      add_data_command(*app, "items", "Write its items, as 'fedhur server --items' takes them",
                       write_items, true)};
  app->footer(R"(Examples:
  fedhur data inspect ml-100k/u.data
  fedhur data convert ratings.dat --out ratings.csv
  fedhur data split ratings.csv --out split.tsv --set split.kind=leave-one-out
  fedhur data partition ratings.csv --set clients.kind=dirichlet --set clients.count=20
  fedhur data partition ratings.csv --set conflict.clients=0.5 --out conflicts.tsv
  fedhur data items ratings.csv --out items.tsv)");
  return commands;
}
}  // namespace fedhur::apps
