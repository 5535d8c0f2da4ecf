// What main knows of a subcommand: its flags, and what to do once they are parsed.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

namespace fedhur::apps {
enum ExitCode : int {  // the contract with scripts
  done = 0,
  unexpected_failure = 1,
  wrong_usage = 2,
  bad_data = 3,
  federation_failure = 4,
  interrupted = 130,
};

struct Command {
  CLI::App* app;             // owned by its parent
  std::function<int()> run;  // returns the exit code
};

[[nodiscard]] Command add_train(CLI::App& parent);
[[nodiscard]] Command add_tune(CLI::App& parent);
[[nodiscard]] Command add_recommend(CLI::App& parent);
[[nodiscard]] Command add_compare(CLI::App& parent);
[[nodiscard]] Command add_report(CLI::App& parent);
[[nodiscard]] Command add_watch(CLI::App& parent);
[[nodiscard]] Command add_reproduce(CLI::App& parent);
[[nodiscard]] Command add_server(CLI::App& parent);
[[nodiscard]] Command add_client(CLI::App& parent);
[[nodiscard]] std::vector<Command> add_data(CLI::App& parent);    // one per subcommand of `data`
[[nodiscard]] std::vector<Command> add_pki(CLI::App& parent);     // likewise
[[nodiscard]] std::vector<Command> add_doctor(CLI::App& parent);  // likewise
}  // namespace fedhur::apps
