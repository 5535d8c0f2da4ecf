// One run, or several, as values that are ready to draw. Groups, labels, means and orders are made
// here; page, figures and tables only draw.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/evaluate/statistics.hpp"
#include "fedhur/report/run_record.hpp"

namespace fedhur::report {
using evaluate::Spread;

// A number by round. Where there are several runs, over the runs of a group.
struct Point {
  Round round = 0;  // 1-based
  Spread value;
};
struct Series {               // of one group
  std::vector<Point> points;  // of the rounds that all its runs have reached
  std::vector<Point> bests;   // single runs at their best rounds
};
struct Curve {
  std::string label;
  std::string note;  // what it is
  std::vector<Series> series;
};

// A column of the table of results.
struct Column {
  std::string label;
  std::string tile;                          // the label where a run is alone; empty: not for there
  std::string unit;                          // metric, number, seconds or bytes
  std::vector<std::optional<Spread>> cells;  // one per group
  std::vector<bool> is_best;
};

// What something consists of, by groups that have begun.
struct Parts {
  std::vector<std::string> names;
  std::vector<std::size_t> colors;  // of the names, the same in every chart
  std::vector<std::size_t> groups;
  std::vector<std::vector<double>> values;  // by group and name, means over runs
};

struct Bin {
  std::string label;
  std::string size;  // "12 users"
  std::string title;
  bool is_few = false;
};
struct BinChart {
  std::string title;
  std::string note;
  std::vector<Bin> bins;
  std::vector<std::size_t> groups;
  std::vector<std::vector<std::optional<Spread>>> values;  // by group and bin
};

// Who helps whom in a run of the group.
struct LevelView {
  std::string label;     // "Level 1: 8 groups"
  std::string contents;  // "8 groups"
  double own = 0.0;
  std::optional<double> common;  // to all targets: share of the variance of the weights
  std::vector<double> shares;    // of the weights given to others, by size
  std::vector<std::vector<double>> weights;
};
struct RelationView {
  std::size_t group = 0;
  std::string when = {};  // a sentence on round and run
  Index num_clients = 0;
  Index clients_per_block = 1;
  bool has_hierarchy = false;
  std::vector<double> bins_from = {};
  std::vector<LevelView> levels = {};
};
struct HierarchyView {
  std::size_t group = 0;
  std::string when;
  ItemGroup root;
};

struct NeighborsView {
  std::size_t group = 0;
  std::string when;
  std::vector<ItemNeighbors> items;  // the most popular first
};

using Facts = std::vector<std::pair<std::string, std::string>>;  // name, value

struct ReportModel {
  std::string title;
  std::string state;        // "finished"
  bool is_open = false;     // not all are finished
  bool is_live = false;     // looked at while it goes on
  bool has_curves = false;  // some run has, or may get, more rounds than one
  std::string lead;
  std::vector<std::string> warnings;  // why numbers cannot be held against each other
  std::vector<RunRecord> runs;
  std::vector<RunGroup> groups;
  std::vector<DifferingSetting> differences;

  std::size_t headline = 0;  // which of the metrics is shown first
  std::vector<Curve> valid;  // a curve per metric
  std::vector<Curve> test;
  std::vector<Curve> measures;  // whatever else was noted in every round
  std::vector<Column> results;
  Parts seconds;  // by phase, of whole runs
  Parts round_seconds;
  Parts bytes_up;  // by kind of message, per client and round
  Parts bytes_down;
  std::vector<BinChart> activity;  // a chart per metric
  std::size_t activity_headline = 0;
  std::vector<BinChart> popularity;
  std::vector<RelationView> relations;
  std::vector<HierarchyView> hierarchies;
  std::vector<NeighborsView> neighbors;
  Facts environment;         // what is the same for all runs
  std::vector<Facts> facts;  // by run, what is not
};

[[nodiscard]] ReportModel make_report(std::vector<RunRecord> runs, bool is_live = false);

// Of pick(run) over the runs of a group for which it is a number.
[[nodiscard]] std::optional<Spread> summarize(const ReportModel& model, const RunGroup& group,
                                              const std::function<double(const RunRecord&)>& pick);
// Which of the values are best, of several; NaN stands for none.
[[nodiscard]] std::vector<bool> find_best(const std::string& metric,
                                          const std::vector<double>& values);
[[nodiscard]] double value_or_nan(const Metrics& metrics, const std::string& name);
[[nodiscard]] std::string words(std::string key);  // "local_training" as "local training"
}  // namespace fedhur::report
