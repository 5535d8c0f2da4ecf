#include "fedhur/report/page.hpp"

#include "fedhur/base/error.hpp"
#include "fedhur/report/json_text.hpp"

namespace fedhur::report {
namespace {
template <class T>
Json list(const std::vector<T>& values, const auto& describe_one) {
  Json json = Json::array();
  for (const T& value : values) json.push_back(describe_one(value));
  return json;
}

Json describe(const std::optional<Spread>& value) {
  return value ? Json::array({value->mean, value->deviation}) : Json();
}

// Points of the rounds after `known`.
Json describe(const std::vector<Curve>& curves, std::size_t known) {
  const auto points = [known](const std::vector<Point>& all) {
    Json json = Json::array();
    for (const auto& [round, value] : all) {
      if (round <= static_cast<Round>(known)) continue;
      json.push_back(value.deviation > 0.0 ? Json::array({round, value.mean, value.deviation})
                                           : Json::array({round, value.mean}));
    }
    return json;
  };
  return list(curves, [&](const Curve& curve) -> Json {
    return {{"label", curve.label},
            {"note", curve.note},
            {"series", list(curve.series, [&](const Series& series) -> Json {
               return {{"points", points(series.points)}, {"bests", points(series.bests)}};
             })}};
  });
}

Json describe(const Parts& parts) {
  return {{"names", list(parts.names, words)},
          {"colors", parts.colors},
          {"groups", parts.groups},
          {"values", parts.values}};
}

Json describe(const BinChart& chart) {
  return {{"title", chart.title},
          {"note", chart.note},
          {"bins", list(chart.bins,
                        [](const Bin& bin) -> Json {
                          return {{"label", bin.label},
                                  {"size", bin.size},
                                  {"title", bin.title},
                                  {"few", bin.is_few}};
                        })},
          {"groups", chart.groups},
          {"values", list(chart.values, [](const auto& row) {
             return list(row, [](const auto& value) { return describe(value); });
           })}};
}

Json describe(const RelationView& view) {
  return {{"group", view.group},
          {"when", view.when},
          {"clients", view.num_clients},
          {"clients_per_block", view.clients_per_block},
          {"has_hierarchy", view.has_hierarchy},
          {"bins_from", view.bins_from},
          {"levels", list(view.levels, [](const LevelView& level) -> Json {
             return {{"label", level.label},
                     {"contents", level.contents},
                     {"own", level.own},
                     {"shares", level.shares},
                     {"weights", level.weights}};
           })}};
}

// Nothing before the first checkpoint.
Json describe_inside(const ReportModel& model) {
  if (model.activity.empty()) return {};
  const auto chart = [](const BinChart& shown) { return describe(shown); };
  return {{"activity", list(model.activity, chart)},
          {"headline", model.activity_headline},
          {"popularity", list(model.popularity, chart)},
          {"relations", list(model.relations, [](const auto& view) { return describe(view); })},
          {"hierarchies", list(model.hierarchies, [](const HierarchyView& view) -> Json {
             return {{"group", view.group}, {"when", view.when}, {"root", describe(view.root)}};
           })}};
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

Json describe_model(const ReportModel& model, std::size_t known_rounds) {
  const auto fact = [](const auto& pair) { return Json::array({pair.first, pair.second}); };
  Json json = {{"title", model.title},
               {"state", model.state},
               {"is_open", model.is_open},
               {"lead", model.lead},
               {"warnings", model.warnings}};
  json["runs"] = list(model.runs, [](const RunRecord& run) { return Json(run.name); });
  json["groups"] = list(model.groups, [&](const RunGroup& group) -> Json {
    return {{"label", group.label},
            {"runs", group.runs},
            {"seeds", group.seeds},
            {"settings", model.runs[group.runs.front()].settings}};
  });
  json["rounds"] = model.runs.front().rounds.size();
  json["best_round"] = model.runs.size() > 1 ? 0 : model.runs.front().result.best_round;
  json["headline"] = model.headline;
  json["valid"] = describe(model.valid, known_rounds);
  json["test"] = describe(model.test, known_rounds);
  json["measures"] = describe(model.measures, known_rounds);
  json["results"] = list(model.results, [](const Column& column) -> Json {
    return {{"label", column.label},
            {"tile", column.tile},
            {"unit", column.unit},
            {"cells", list(column.cells, [](const auto& cell) { return describe(cell); })},
            {"best", list(column.is_best, [](bool is_best) { return Json(is_best); })}};
  });
  json["seconds"] = describe(model.seconds);
  json["round_seconds"] = describe(model.round_seconds);
  json["up"] = describe(model.bytes_up);
  json["down"] = describe(model.bytes_down);
  json["differences"] = describe_differences(model);
  json["environment"] = list(model.environment, fact);
  json["facts"] = list(model.facts, [&](const Facts& own) { return list(own, fact); });
  return json;
}

PageState state_of(const ReportModel& model) {
  const RunRecord& run = model.runs.front();
  return {
      .sittings = run.origin.num_sittings, .rounds = run.rounds.size(), .inside = run.inside_hash};
}

Json describe(const PageState& state) {
  return {{"sittings", state.sittings}, {"rounds", state.rounds}, {"inside", state.inside}};
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
  Json json = describe_model(model, 0);
  json["inside"] = describe_inside(model);
  return to_line(json);
}

std::string live_data(const ReportModel& model) {
  Json json = describe_model(model, 0);
  json["inside"] = describe_inside(model);
  json["live"] = describe(state_of(model));
  return to_line(json);
}

std::string update_data(const ReportModel& model, const PageState& known) {
  const PageState now = state_of(model);
  const bool goes_on = known.sittings == now.sittings && known.rounds <= now.rounds;
  const std::size_t first = goes_on ? known.rounds : 0;
  Json json = describe_model(model, first);
  json["first"] = first;
  json["live"] = describe(now);
  if (now.inside != known.inside) json["inside"] = describe_inside(model);
  return to_line(json);
}
}  // namespace fedhur::report
