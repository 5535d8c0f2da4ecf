#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "apps/doctor/checks.hpp"
#include "fedhur/base/text.hpp"
#include "fedhur/data/catalogue.hpp"
#include "fedhur/data/load.hpp"
#include "fedhur/data/stored_file.hpp"
#include "fedhur/experiment/prepare_data.hpp"

namespace fedhur::apps {
namespace {
using experiment::DataConfig;

// As the site would have them; without the server's, only those about data can be told right from
// wrong.
experiment::ResolvedConfig read_site_settings(const ClientFlags& flags, const KnownTerms& terms) {
  const experiment::SiteConfig site = site_config(flags);
  if (terms.settings) {
    return experiment::resolve(
        experiment::merge_settings(site, *terms.settings, terms.num_clients));
  }
  experiment::ResolvedConfig resolved;
  resolved.config.data = experiment::read_data_config(site.own);
  return resolved;
}

// "csv" for a file whose format is found out.
std::string format_of(const DataConfig& config) {
  if (config.path == experiment::kSynthetic) return "built-in";
  data::Format format = config.load.format;
  if (format == data::Format::automatic) {
    const std::string text = data::text_of(data::read_stored_file(config.path), config.path);
    format = data::detect_format(config.path, text, config.load);
  }
  return fedhur::name_of(format);
}

// How many rows are bad, if the others are good.
std::optional<std::int64_t> count_bad_rows(DataConfig config) {
  if (config.load.skip_bad_rows) return std::nullopt;
  config.load.skip_bad_rows = true;
  try {
    return experiment::load_dataset(config).skipped_rows;
  } catch (const Error&) {
    return std::nullopt;
  }
}

Finding describe_data(const DataConfig& config, const std::string& format,
                      const data::Dataset& dataset) {
  const std::string found =
      fmt::format("{}: {}, {} rows of {} users and {} items", config.path, format,
                  format_count(static_cast<std::int64_t>(dataset.interactions.size())),
                  format_count(dataset.num_users()), format_count(dataset.num_items()));
  if (dataset.skipped_rows == 0) return pass(found);
  return warn(
      fmt::format("{}; {} bad rows are left out", found, format_count(dataset.skipped_rows)),
      "'fedhur data inspect' without --skip-bad-rows names the first of them");
}

std::optional<data::Dataset> load_for_check(const DataConfig& config, Checkup& checkup) {
  std::optional<data::Dataset> dataset;
  const auto load = [&] {
    try {
      const std::string format = format_of(config);
      dataset = experiment::load_dataset(config);
      return describe_data(config, format, *dataset);
    } catch (const Error& error) {
      if (const auto bad_rows = count_bad_rows(config)) {
        return fail(fmt::format("{}; {} bad rows in all", error.what(), format_count(*bad_rows)),
                    "correct these rows, or leave them out with --skip-bad-rows",
                    ExitCode::bad_data);
      }
      return fail(error.what(),
                  "correct --data or the file; --format NAME says what it is, and 'fedhur data "
                  "inspect FILE' looks into it",
                  ExitCode::bad_data);
    }
  };
  checkup.add("data", load());
  return dataset;
}

struct UnknownItems {
  std::int64_t items = 0;
  std::int64_t rows = 0;
  std::string first;
};

UnknownItems find_unknown(const data::Dataset& dataset, const data::Catalogue& catalogue) {
  const std::unordered_set<std::string_view> known(catalogue.names.begin(), catalogue.names.end());
  UnknownItems unknown;
  std::vector<bool> is_unknown;
  for (const std::string& name : dataset.item_names) {
    is_unknown.push_back(!known.contains(name));
    if (!is_unknown.back()) continue;
    if (unknown.items == 0) unknown.first = name;
    ++unknown.items;
  }
  for (const data::Interaction& row : dataset.interactions) {
    if (is_unknown[static_cast<std::size_t>(row.item)]) ++unknown.rows;
  }
  return unknown;
}

Finding check_whole_items(const data::Dataset& dataset, const data::Catalogue& catalogue,
                          const std::string& source) {
  if (dataset.item_names == catalogue.names) {
    return pass(fmt::format("those of the catalogue, in its order ({})", source));
  }
  return fail(
      fmt::format("the data have other items than the catalogue, or in another order ({})", source),
      "with --whole all sites and the catalogue are made from the same file: 'fedhur data "
      "items' for the server, or leave --whole out",
      ExitCode::bad_data);
}

Finding check_own_items(const data::Dataset& dataset, const data::Catalogue& catalogue,
                        const std::string& source, bool skips_unknown) {
  const UnknownItems unknown = find_unknown(dataset, catalogue);
  const std::string num_known = format_count(static_cast<std::int64_t>(catalogue.names.size()));
  if (unknown.items == 0) {
    return pass(fmt::format("all {} are among the catalogue's {} ({})",
                            format_count(dataset.num_items()), num_known, source));
  }
  const std::string found = fmt::format(
      "{} items, such as '{}', with {} rows are not in the catalogue of {} ({})",
      format_count(unknown.items), unknown.first, format_count(unknown.rows), num_known, source);
  const bool is_all = unknown.rows == static_cast<std::int64_t>(dataset.interactions.size());
  if (skips_unknown && !is_all) {
    return warn(found + ": these rows are left out",
                "if they matter, have the server's operator add the items for the next run");
  }
  return fail(found,
              is_all ? "look whether --data is the right file, and names items as the catalogue "
                       "does"
                     : "leave these rows out with --skip-unknown-items, or have the server's "
                       "operator add the items and begin a new run",
              ExitCode::bad_data);
}

void check_items(const ClientFlags& flags, const data::Dataset& dataset, const KnownTerms& terms,
                 Index& num_items, Checkup& checkup) {
  const auto check = [&] {
    if (!terms.catalogue) {
      return skip(fmt::format("neither the server nor {} has told the catalogue yet", flags.state));
    }
    const data::Catalogue catalogue = data::parse_catalogue(*terms.catalogue, terms.source);
    num_items = static_cast<Index>(catalogue.names.size());
    return flags.has_whole_data
               ? check_whole_items(dataset, catalogue, terms.source)
               : check_own_items(dataset, catalogue, terms.source, flags.skips_unknown_items);
  };
  (void)checkup.run("items", "make the catalogue anew at the server", check, ExitCode::bad_data);
}

// Whether the users can be divided among the clients of this site.
Finding check_users(const data::Dataset& dataset, const std::vector<ClientId>& clients) {
  const auto num_clients = static_cast<Index>(clients.size());
  const auto stranger = std::ranges::find_if(dataset.user_clients, [&](ClientId client) {
    return std::ranges::find(clients, client) == clients.end();
  });
  if (stranger != dataset.user_clients.end()) {
    return fail(fmt::format("the file has users of client {}, which this site does not host",
                            index_of(*stranger)),
                "leave these users out of the file, or host that client with --clients",
                ExitCode::bad_data);
  }
  if (!dataset.user_clients.empty()) {
    return pass(fmt::format("{}, divided among clients as the file says",
                            format_count(dataset.num_users())));
  }
  if (dataset.num_users() < num_clients) {
    return fail(
        fmt::format("{} users are too few for {} clients", dataset.num_users(), num_clients),
        "host fewer clients with --clients: each needs a user");
  }
  return pass(fmt::format("{} for {} clients", format_count(dataset.num_users()),
                          format_count(num_clients)));
}
}  // namespace

CheckedData check_data(const ClientFlags& flags, const KnownTerms& terms, Checkup& checkup) {
  CheckedData checked;
  if (flags.settings.data.empty()) {
    checkup.add("data", fail("--data is missing",
                             "add --data PATH, the file with this site's interactions"));
    return checked;
  }
  DataConfig config;
  const bool is_readable = checkup.run(
      "settings", "'fedhur client --help' explains the flags, docs/settings.md the settings", [&] {
        auto [site, settings] = read_site_settings(flags, terms);
        config = std::move(site.data);
        checked.settings = std::move(settings);
        return std::nullopt;
      });
  if (!is_readable) return checked;
  const auto dataset = load_for_check(config, checkup);
  if (!dataset) return checked;
  checked.num_items = dataset->num_items();
  check_items(flags, *dataset, terms, checked.num_items, checkup);
  if (!flags.has_whole_data && !terms.clients.empty()) {
    checkup.add("users", check_users(*dataset, terms.clients));
  }
  return checked;
}
}  // namespace fedhur::apps
