// The flags of `fedhur pki` and its subcommands.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace fedhur::apps {
struct PkiFlags {
  std::string folder;  // of the CA
  std::string file;    // what else the command is about
  std::optional<std::string> client;
  std::optional<std::string> server;
  std::string name;
  std::string out;
  std::string ca;
  std::optional<std::int64_t> days;
  bool refreshes = false;
  bool is_forced = false;
  bool is_json = false;
};

struct PkiCommand {
  CLI::App* app;  // owned by its parent
  std::shared_ptr<PkiFlags> flags;
};

CLI::App& add_pki_app(CLI::App& parent);
[[nodiscard]] PkiCommand add_pki_init(CLI::App& parent);
[[nodiscard]] PkiCommand add_pki_issue(CLI::App& parent);
[[nodiscard]] PkiCommand add_pki_request(CLI::App& parent);
[[nodiscard]] PkiCommand add_pki_sign(CLI::App& parent);
[[nodiscard]] PkiCommand add_pki_renew(CLI::App& parent);
[[nodiscard]] PkiCommand add_pki_revoke(CLI::App& parent);
[[nodiscard]] PkiCommand add_pki_show(CLI::App& parent);
}  // namespace fedhur::apps
