// fedhur: arguments in, exit code out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/command.hpp"
#include "apps/log_format.hpp"
#include "apps/output.hpp"
#include "apps/restart.hpp"
#include "fedhur/base/error.hpp"
#include "fedhur/base/nearest_name.hpp"
#include "fedhur/experiment/manifest.hpp"

namespace fedhur::apps {
namespace {
constexpr const char* kFedhurExamples = R"(Examples:
  fedhur train                                     built-in data, default settings
  fedhur train --data ml-100k/u.data --method fedhur
  fedhur tune --data ml-100k/u.data --method fedmf --trials 20
  fedhur recommend runs/fedhur-0001 --user 1
  fedhur compare runs/*
  fedhur report runs/* --out comparison.html       charts of all of them
  fedhur watch runs/fedhur-0001                    the same of a run while it goes on
  fedhur data inspect ratings.csv

'fedhur COMMAND --help' tells more about each.)";

std::vector<Command> add_commands(CLI::App& app) {
  std::vector<Command> commands = {add_train(app),     add_tune(app),   add_recommend(app),
                                   add_compare(app),   add_report(app), add_watch(app),
                                   add_reproduce(app), add_server(app), add_client(app)};
  for (Command& command : add_data(app)) commands.push_back(std::move(command));
  for (Command& command : add_pki(app)) commands.push_back(std::move(command));
  for (Command& command : add_doctor(app)) commands.push_back(std::move(command));
  return commands;
}

void configure(CLI::App& app) {
  app.name("fedhur");
  app.set_version_flag("--version", "fedhur " + experiment::version(),
                       "Print the version and leave");
  app.footer(kFedhurExamples);
}

// What is left over is reported here rather than by the parser, which knows no hints. And one
// subcommand is enough: a run folder may be called "train".
void prepare_parsing(CLI::App& app) {
  app.allow_extras();
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(32);
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.set_help_flag("-h,--help", "Print this help and leave");
  for (CLI::App* command : app.get_subcommands({})) {
    command->group("Commands");
    prepare_parsing(*command);
  }
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

// "fedhur data inspect".
std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : full_name(*app.get_parent()) + " " + app.get_name();
}

[[noreturn]] void reject_argument(const CLI::App& app, const std::string& argument) {
  const std::string name = full_name(app);
  const std::vector<std::string> commands = command_names(app);
  const std::string help = fmt::format("; see '{} --help'", name);
  if (argument.starts_with("-") && argument.size() > 1) {
    const std::string option = argument.substr(0, argument.find('='));
    throw ConfigError(fmt::format("'{}' has no option {}{}", name, option,
                                  hint(option, option_names(app), help)));
  }
  if (!commands.empty()) {
    throw ConfigError(fmt::format(
        "'{}' has no command '{}'{}", name, argument,
        hint(argument, commands, fmt::format("; expected one of {}", fmt::join(commands, ", ")))));
  }
  throw ConfigError(fmt::format("'{}' does not expect the argument '{}'{}", name, argument, help));
}

// The innermost command that was named; ConfigError if it got what it does not know.
const CLI::App& find_command(const CLI::App& app) {
  const auto extras = app.remaining();
  if (!extras.empty()) reject_argument(app, extras.front());
  const auto named = app.get_subcommands();
  if (!named.empty()) return find_command(*named.front());
  const std::vector<std::string> commands = command_names(app);
  if (commands.empty()) return app;
  throw ConfigError(fmt::format("expected a command after '{}': {}; see '{} --help'",
                                full_name(app), fmt::join(commands, ", "), full_name(app)));
}

int run(int argc, const char* const* argv) {
  CLI::App app("Personalised recommendations across clients that keep their data to themselves");
  const std::vector<Command> commands = add_commands(app);
  configure(app);  // after the commands, which would inherit the examples
  prepare_parsing(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    print(fmt::format("{}\n", version.what()));
    return ExitCode::done;
  } catch (const CLI::Success&) {
    print(app.help());
    return ExitCode::done;
  } catch (const CLI::ParseError& error) {
    throw ConfigError(fmt::format("{}; see 'fedhur --help'", error.what()));
  }
  const CLI::App& named = find_command(app);
  for (const Command& command : commands) {
    if (command.app == &named) return command.run();
  }
  throw std::logic_error("a command without an action");
}

int run_and_explain(int argc, const char* const* argv) {
  Failure failure{.what = "something unknown went wrong"};
  try {
    return run(argc, argv);
  } catch (const ReaderLeft&) {
    return ExitCode::done;  // it has read all it wanted
  } catch (const std::exception& error) {
    failure = failure_of(error);
  } catch (...) {  // the words above
  }
  say(fmt::format("fedhur: {}\n", failure.what));
  return failure.code;
}
}  // namespace
}  // namespace fedhur::apps

int main(int argc, char** argv) {
  fedhur::apps::restart_with_better_kernels(argv);
  fedhur::apps::secure_standard_streams();
  return fedhur::apps::run_and_explain(argc, argv);
}
