#include "fedhur/report/page.hpp"

#include "fedhur/base/error.hpp"
#include "fedhur/report/json_text.hpp"

// A spread as mean and deviation; null where there is none.
template <>
struct nlohmann::adl_serializer<std::optional<fedhur::report::Spread>> {
  static void to_json(auto& json, const std::optional<fedhur::report::Spread>& spread) {
    if (spread) json = {spread->mean, spread->deviation};
  }
};

namespace fedhur::report {
static void to_json(Json& json, const Point& point) {
  const auto& [round, value] = point;
  json = {round, value.mean};
  if (value.deviation > 0.0) json.push_back(value.deviation);
}

static void to_json(Json& json, const Series& series) {
  json = {{"points", series.points}, {"bests", series.bests}};
}

static void to_json(Json& json, const Curve& curve) {
  json = {{"label", curve.label}, {"note", curve.note}, {"series", curve.series}};
}

static void to_json(Json& json, const Parts& parts) {
  json = {{"names", parts.names},
          {"colors", parts.colors},
          {"groups", parts.groups},
          {"values", parts.values}};
}

static void to_json(Json& json, const Bin& bin) {
  json = {{"label", bin.label}, {"size", bin.size}, {"title", bin.title}, {"few", bin.is_few}};
}

static void to_json(Json& json, const BinChart& chart) {
  json = {{"title", chart.title},
          {"note", chart.note},
          {"bins", chart.bins},
          {"groups", chart.groups},
          {"values", chart.values}};
}

static void to_json(Json& json, const LevelView& level) {
  json = {{"label", level.label},   {"contents", level.contents},
          {"own", level.own},       {"common", level.common ? Json(*level.common) : Json()},
          {"shares", level.shares}, {"weights", level.weights}};
}

static void to_json(Json& json, const RelationView& view) {
  json = {{"group", view.group},
          {"when", view.when},
          {"clients", view.num_clients},
          {"clients_per_block", view.clients_per_block},
          {"has_hierarchy", view.has_hierarchy},
          {"bins_from", view.bins_from},
          {"levels", view.levels}};
}

static void to_json(Json& json, const HierarchyView& view) {
  json = {{"group", view.group}, {"when", view.when}, {"root", view.root}};
}

static void to_json(Json& json, const NeighborsView& view) {
  json = {{"group", view.group}, {"when", view.when}, {"neighbors", view.items}};
}

static void to_json(Json& json, const Column& column) {
  json = {{"label", column.label},
          {"tile", column.tile},
          {"unit", column.unit},
          {"cells", column.cells},
          {"best", column.is_best}};
}

static void to_json(Json& json, const PageState& state) {
  json = {{"sittings", state.sittings}, {"rounds", state.rounds}, {"inside", state.inside}};
}

namespace {
// Nothing before the first checkpoint.
Json describe_inside(const ReportModel& model) {
  if (model.activity.empty()) return {};
  return {{"activity", model.activity},       {"headline", model.activity_headline},
          {"popularity", model.popularity},   {"relations", model.relations},
          {"hierarchies", model.hierarchies}, {"neighbors", model.neighbors}};
}

// Settings that differ between groups which have them.
Json describe_differences(const ReportModel& model) {
  Json json = Json::array();
  for (const DifferingSetting& setting : model.differences) {
    std::vector<std::string> values;
    std::vector<std::string> given;
    for (const RunGroup& group : model.groups) {
      values.push_back(setting.values[group.runs.front()]);
      if (values.back() != "-") given.push_back(values.back());
    }
    const auto is_first = [&](const std::string& value) { return value == given.front(); };
    if (!std::ranges::all_of(given, is_first)) {
      json.push_back({{"key", setting.key}, {"values", values}});
    }
  }
  return json;
}

// All but the inside.
Json describe_model(const ReportModel& model) {
  Json json = {{"title", model.title},
               {"state", model.state},
               {"is_open", model.is_open},
               {"has_curves", model.has_curves},
               {"lead", model.lead},
               {"warnings", model.warnings},
               {"runs", Json::array()},
               {"groups", Json::array()},
               {"rounds", model.runs.front().rounds.size()},
               {"best_round", model.runs.size() > 1 ? 0 : model.runs.front().result.best_round},
               {"headline", model.headline},
               {"valid", model.valid},
               {"test", model.test},
               {"measures", model.measures},
               {"results", model.results},
               {"seconds", model.seconds},
               {"round_seconds", model.round_seconds},
               {"up", model.bytes_up},
               {"down", model.bytes_down},
               {"differences", describe_differences(model)},
               {"environment", model.environment},
               {"facts", model.facts}};
  for (const RunRecord& run : model.runs) json["runs"].push_back(run.name);
  for (const RunGroup& group : model.groups) {
    json["groups"].push_back({{"label", group.label},
                              {"runs", group.runs},
                              {"seeds", group.seeds},
                              {"settings", model.runs[group.runs.front()].settings}});
  }
  return json;
}

PageState state_of(const ReportModel& model) {
  const RunRecord& run = model.runs.front();
  return {
      .sittings = run.origin.num_sittings, .rounds = run.rounds.size(), .inside = run.inside_hash};
}
}  // namespace

std::string make_page(std::string_view json) {
  constexpr std::string_view kMark = "@data@";
  const std::string_view page = page_template();
  const std::size_t at = page.find(kMark);
  expects(at != std::string_view::npos, "the page has a place for its data");
  std::string text(page.substr(0, at));
  text.reserve(page.size() + json.size() + json.size() / 64);
  for (const char c : json) {  // outside of strings JSON has none of these
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text.append(page.substr(at + kMark.size()));
}

std::string page_data(const ReportModel& model) {
  Json json = describe_model(model);
  json["inside"] = describe_inside(model);
  if (model.is_live) json["live"] = state_of(model);
  return to_line(json);
}

std::string update_data(ReportModel model, const PageState& known) {
  const PageState now = state_of(model);
  const bool goes_on = known.sittings == now.sittings && known.rounds <= now.rounds;
  const std::size_t first = goes_on ? known.rounds : 0;
  for (auto* curves : {&model.valid, &model.test, &model.measures}) {
    for (Curve& curve : *curves) {
      std::erase_if(curve.series.front().points, [first](const Point& point) {
        return point.round <= static_cast<Round>(first);
      });
    }
  }
  Json json = describe_model(model);
  json["first"] = first;
  json["live"] = now;
  if (now.inside != known.inside) json["inside"] = describe_inside(model);
  return to_line(json);
}
}  // namespace fedhur::report
