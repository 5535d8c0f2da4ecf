#include "apps/pki_flags.hpp"

#include "apps/common_flags.hpp"

namespace fedhur::apps {
namespace {
PkiCommand add_command(CLI::App& parent, const std::string& name, const std::string& summary) {
  PkiCommand command{.app = parent.add_subcommand(name, summary),
                     .flags = std::make_shared<PkiFlags>()};
  command.app->add_flag("--json", command.flags->is_json, "One JSON object on standard output");
  return command;
}

void add_folder(const PkiCommand& command) {
  command.app->add_option("ca", command.flags->folder, "Folder of the CA")->type_name("");
}

void add_file(const PkiCommand& command, const char* name, const char* what) {
  command.app->add_option(name, command.flags->file, what)->type_name("");
}

void add_name(const PkiCommand& command, const char* what) {
  command.app->add_option("--name", command.flags->name, what)->type_name("NAME");
}

void add_days(const PkiCommand& command, const char* what) {
  command.app->add_option("--days", command.flags->days, what)
      ->type_name("N")
      ->check(whole_number_problem);
}

void add_out(const PkiCommand& command, const char* type, const char* what) {
  command.app->add_option("--out", command.flags->out, what)->type_name(type);
  command.app->add_flag("--force", command.flags->is_forced, "Overwrite what is there");
}

void add_identity(const PkiCommand& command) {
  command.app
      ->add_option("--client", command.flags->client,
                   "Client ids to speak for, such as 0-24 or 3,5,8-9")
      ->type_name("IDS");
  command.app
      ->add_option("--server", command.flags->server, "DNS names and IP addresses to answer at")
      ->type_name("HOSTS");
}
}  // namespace

CLI::App& add_pki_app(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("pki", "Keys and certificates of a federation");
  app->footer(R"(Examples:
  fedhur pki init ca
  fedhur pki issue ca --server fed.example.org,10.0.0.5 --out server
  fedhur pki issue ca --client 0-24 --name hospital-a
  fedhur pki request --name hospital-b                 at the site, where its key stays
  fedhur pki sign ca hospital-b.csr --client 25-49     at the CA
  fedhur pki revoke ca hospital-a.crt
  fedhur pki show ca)");
  return *app;
}

PkiCommand add_pki_init(CLI::App& parent) {
  PkiCommand command = add_command(parent, "init", "Make a CA in a new folder");
  add_folder(command);
  add_name(command, "What the CA is called (fedhur CA)");
  add_days(command, "Its lifetime (3650)");
  return command;
}

PkiCommand add_pki_issue(CLI::App& parent) {
  PkiCommand command = add_command(parent, "issue", "Make a key and its certificate");
  add_folder(command);
  add_identity(command);
  add_name(command, "Of the site; of a server its first host unless given");
  add_days(command, "Lifetime (365)");
  add_out(command, "PREFIX", "For PREFIX.crt and PREFIX.key (the name)");
  return command;
}

PkiCommand add_pki_request(CLI::App& parent) {
  PkiCommand command =
      add_command(parent, "request", "Make a key that stays here, and a request for the CA");
  add_name(command, "Of the site or server");
  add_out(command, "PREFIX", "For PREFIX.csr and PREFIX.key (the name)");
  return command;
}

PkiCommand add_pki_sign(CLI::App& parent) {
  PkiCommand command = add_command(parent, "sign", "Make a certificate from a request");
  add_folder(command);
  add_file(command, "request", "File of the request, .csr");
  add_identity(command);
  add_days(command, "Lifetime (365)");
  add_out(command, "FILE", "Certificate to write (X.crt for X.csr)");
  return command;
}

PkiCommand add_pki_renew(CLI::App& parent) {
  PkiCommand command = add_command(parent, "renew", "Make the same certificate with new dates");
  add_folder(command);
  add_file(command, "certificate", "File of the certificate");
  add_days(command, "Lifetime (365)");
  add_out(command, "FILE", "Certificate to write (X.renewed.crt for X.crt)");
  return command;
}

PkiCommand add_pki_revoke(CLI::App& parent) {
  PkiCommand command = add_command(parent, "revoke", "Take certificates back before their end");
  add_folder(command);
  add_file(command, "certificate", "File of the certificate, or its serial number");
  command.app->add_flag("--refresh", command.flags->refreshes,
                        "Revoke nothing; sign the list again, with new dates");
  return command;
}

PkiCommand add_pki_show(CLI::App& parent) {
  PkiCommand command = add_command(parent, "show", "What a file or a CA's folder holds");
  add_file(command, "path", "Certificate, request, revocation list, or the folder of a CA");
  command.app
      ->add_option("--ca", command.flags->ca,
                   "Folder with ca.crt: is the certificate trusted, is it revoked?")
      ->type_name("DIR");
  return command;
}
}  // namespace fedhur::apps
