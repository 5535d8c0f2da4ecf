// A table of the paper made anew: means and spreads over seeds, tests, what was published; as
// Markdown, CSV and JSON.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/evaluate/statistics.hpp"
#include "fedhur/study/reproduction.hpp"

namespace fedhur::study {
struct Column {
  std::string name;     // "ndcg@10"
  std::string heading;  // "NDCG@10"
  int digits = 4;
  std::function<double(const report::RunResult&)> value;
};
// What a table shows of each run.
[[nodiscard]] std::vector<Column> columns_of(const PaperTable& table);

struct RowSummary {
  std::size_t row = 0;
  std::vector<std::uint64_t> seeds;                   // whose runs are finished
  std::map<std::string, std::vector<double>> values;  // by column, one per seed
  bool is_best_rival = false;                         // of the rows that are not ours, by mean NDCG
  // Against the best rival, over the seeds that both have; nothing for that row itself.
  std::optional<evaluate::PairedTest> test;
};

// "0.3300 ± 0.0100" over the seeds, of which there is at least one; with one seed the value alone.
[[nodiscard]] std::string format_spread(const RowSummary& row, const Column& column);

// "+0.0100 (t 2.0, p 0.050)"; one pair has a difference and no test.
[[nodiscard]] std::string format_test(const evaluate::PairedTest& test);

struct DataSummary {
  DataSource data;
  std::vector<RowSummary> rows;
  std::vector<std::string> problems;  // "FedNCF, seed 3: ..."
};

struct Summary {
  const PaperTable* table = nullptr;
  std::vector<Column> columns;
  std::vector<DataSummary> data;
};

[[nodiscard]] Summary summarize(const PaperTable& table, const ReproductionConfig& config,
                                const std::vector<Cell>& cells);

// `notes` are sentences on split, seeds and machine for the top of the page.
[[nodiscard]] std::string to_markdown(const Summary& summary,
                                      const std::vector<std::string>& notes);
[[nodiscard]] std::string to_csv(const Summary& summary);
[[nodiscard]] std::string to_json(const Summary& summary, const std::vector<std::string>& notes);
}  // namespace fedhur::study
