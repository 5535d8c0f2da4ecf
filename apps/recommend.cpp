// fedhur recommend: the best items for a user of a finished run, or for all of them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/common_flags.hpp"
#include "apps/output.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/base/text.hpp"
#include "fedhur/experiment/run_folder.hpp"
#include "fedhur/experiment/site_run.hpp"
#include "fedhur/experiment/stored_model.hpp"

namespace fedhur::apps {
namespace {
using experiment::Recommendation;
using experiment::StoredModel;
using Json = nlohmann::ordered_json;

struct RecommendFlags {
  std::string run;
  std::string user;
  std::int64_t top = 10;
  std::int64_t seen = 0;  // how many of the seen items to show as well
  bool is_for_all = false;
  bool includes_seen = false;
  std::string out;
  bool is_forced = false;
  bool is_json = false;
};

void check(const RecommendFlags& flags) {
  check_given(flags.run, "the run folder", "fedhur recommend runs/fedhur-0001 --user 1");
  const auto refuse = [](const char* problem) { throw ConfigError(problem); };
  if (flags.is_for_all && !flags.user.empty()) refuse("--all and --user exclude each other");
  if (!flags.is_for_all && flags.user.empty())
    refuse("expected --user ID, or --all for every user");
  if (flags.is_for_all && flags.is_json) refuse("--all writes CSV; leave out --json");
  if (flags.is_for_all && flags.seen > 0) refuse("--show-seen is for a single --user");
  if (!flags.is_for_all && !flags.out.empty()) refuse("--out is for --all");
  check_range("--top", flags.top, 1);
  check_range("--show-seen", flags.seen, 0);
}

StoredModel open_model(const std::string& run) {
  if (experiment::SiteRun::is_site(run)) {
    const std::filesystem::path folder = std::filesystem::path(run) / "model";
    if (std::filesystem::exists(folder)) return StoredModel(folder);
    throw ConfigError(fmt::format(
        "{} has no model yet: 'fedhur client' writes it when the run ends or is stopped", run));
  }
  const auto folder = experiment::RunFolder::open(run);
  if (std::filesystem::exists(folder.run_id())) {
    throw ConfigError(fmt::format(
        "{} is the run of a server: the models are at its sites, in their --state", run));
  }
  if (!folder.is_finished()) {
    throw ConfigError(fmt::format(
        "{} is not finished and has no model yet; finish it with 'fedhur train --resume {}'", run,
        shell_quoted(run)));
  }
  return StoredModel(folder.model());
}

// What must not be overwritten.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& run) {
  std::vector<std::filesystem::path> files;
  for (const char* name : {"config.toml", "manifest.json", "rounds.jsonl", "result.json", "log.txt",
                           "site.json", "settings.toml", "items.tsv", "model/model.bin"}) {
    files.push_back(run / name);
  }
  return files;
}

std::string label(const Recommendation& item) {
  return printable(item.title.empty() ? item.name : item.title);
}

Json json_of(const Recommendation& item) { return {{"item", item.name}, {"title", item.title}}; }

// The first `count` of what the user has seen.
std::vector<Recommendation> some_seen(const StoredModel& model, UserId user, std::int64_t count) {
  std::vector<Recommendation> seen = model.seen(user);
  seen.resize(std::min(seen.size(), static_cast<std::size_t>(count)));
  return seen;
}

Json json_of(const RecommendFlags& flags, const std::vector<Recommendation>& items,
             const std::vector<Recommendation>& seen) {
  Json json = {{"run", flags.run}, {"user", flags.user}, {"recommendations", Json::array()}};
  for (std::size_t i = 0; i < items.size(); ++i) {
    Json entry = {{"rank", i + 1}};
    entry.update(json_of(items[i]));
    entry["score"] = items[i].score;
    json["recommendations"].push_back(std::move(entry));
  }
  if (flags.seen > 0) {
    json["seen"] = Json::array();
    for (const Recommendation& item : seen) json["seen"].push_back(json_of(item));
  }
  return json;
}

std::string format_list(const std::vector<Recommendation>& items,
                        const std::vector<Recommendation>& seen) {
  std::string text;
  if (!seen.empty()) {
    text += "seen\n";
    for (const Recommendation& item : seen) text += "  " + label(item) + "\n";
    text += "\n";
  }
  std::vector<std::vector<std::string>> rows = {{"rank", "title", "score"}};
  for (const Recommendation& item : items) {
    rows.push_back(
        {fmt::format("{}", rows.size()), label(item), fmt::format("{:.4f}", item.score)});
  }
  return text + format_table(rows, {Align::right, Align::left, Align::right});
}

int recommend_to_one(const StoredModel& model, const RecommendFlags& flags, Index top) {
  const UserId user = model.find_user(flags.user);
  const auto items = model.recommend(user, top, flags.includes_seen);
  const auto seen = some_seen(model, user, flags.seen);
  flags.is_json ? print_json(json_of(flags, items, seen)) : print(format_list(items, seen));
  if (items.empty()) say(fmt::format("fedhur: user {} has seen every item\n", flags.user));
  return ExitCode::done;
}

int recommend_to_all(const StoredModel& model, const RecommendFlags& flags, Index top) {
  constexpr std::size_t kPiece = std::size_t{1} << 16U;  // bytes; standard output gets it in pieces
  std::string text = "user,rank,item,title,score\n";
  std::size_t num_without_model = 0;
  for (std::size_t u = 0; u < model.user_names().size(); ++u) {
    const auto user = user_id(static_cast<Index>(u));
    if (!model.has_model(user)) {
      ++num_without_model;
      continue;
    }
    const std::string name = csv_field(model.user_names()[u], ',');
    std::size_t rank = 0;
    for (const Recommendation& item : model.recommend(user, top, flags.includes_seen)) {
      text += fmt::format("{},{},{},{},{}\n", name, ++rank, csv_field(item.name, ','),
                          csv_field(item.title, ','), item.score);
    }
    if (flags.out.empty() && text.size() > kPiece) {
      print(text);
      text.clear();
    }
  }
  if (flags.out.empty()) {
    print(text);
  } else {
    write_file_atomically(flags.out, text);
  }
  if (num_without_model > 0) {
    say(fmt::format("fedhur: {} of {} users are left out, since their clients have no model\n",
                    num_without_model, model.user_names().size()));
  }
  return ExitCode::done;
}

int recommend(const RecommendFlags& flags) {
  check(flags);
  const StoredModel model = open_model(flags.run);
  if (!flags.out.empty()) {
    check_output_file(flags.out, flags.is_forced, files_of(flags.run));
  }
  const Index top = std::min<Index>(flags.top, model.num_items());
  return flags.is_for_all ? recommend_to_all(model, flags, top)
                          : recommend_to_one(model, flags, top);
}

}  // namespace

Command add_recommend(CLI::App& parent) {
  auto flags = std::make_shared<RecommendFlags>();
  CLI::App* app = parent.add_subcommand("recommend", "Top items for a user of a finished run");
  add_run_argument(*app, flags->run);
  add_value(*app, "--user", flags->user, "ID", "The user's id in the data");
  add_value(*app, "--top", flags->top, "K", "How many items (10)");
  app->add_flag("--include-seen", flags->includes_seen, "Also items that the user has seen");
  add_value(*app, "--show-seen", flags->seen, "N",
            "Print N of the items that the user has seen, too");
  app->add_flag("--all", flags->is_for_all, "CSV for every user: user,rank,item,title,score");
  add_value(*app, "--out", flags->out, "FILE", "File for --all (default: standard output)");
  app->add_flag("--force", flags->is_forced, "Overwrite an existing --out");
  app->add_flag("--json", flags->is_json, "One JSON object on standard output");
  app->footer(R"(
Examples:
  fedhur recommend runs/fedhur-0001 --user 1 --show-seen 5
  fedhur recommend runs/fedhur-0001 --all --top 20 --out recommendations.csv)");
  return {.app = app, .run = [flags] { return recommend(*flags); }};
}
}  // namespace fedhur::apps
