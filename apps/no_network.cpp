// fedhur server, client and doctor in a build without gRPC: they say so.
#include "apps/command.hpp"
#include "fedhur/base/error.hpp"

namespace fedhur::apps {
namespace {
Command add_missing(CLI::App& parent, const char* name, const char* summary) {
  CLI::App* app = parent.add_subcommand(name, summary);
  return {.app = app, .run = []() -> int {
            throw ConfigError(
                "this fedhur was built without gRPC (FEDHUR_GRPC=OFF): it has no server and no "
                "client");
          }};
}
}  // namespace

Command add_server(CLI::App& parent) {
  return add_missing(parent, "server", "Train with clients that are elsewhere");
}

Command add_client(CLI::App& parent) {
  return add_missing(parent, "client", "Take part in a federation, next to the data");
}

std::vector<Command> add_doctor(CLI::App& parent) {
  return {add_missing(parent, "doctor", "Check a server or client before it starts")};
}
}  // namespace fedhur::apps
