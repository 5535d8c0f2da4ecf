// fedhur pki: who may speak for whom in a federation over the network.
#include <fmt/format.h>

#include <ctime>
#include <memory>

#include "apps/command.hpp"
#include "apps/common_flags.hpp"
#include "apps/output.hpp"
#include "apps/pki_text.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/base/text.hpp"
#include "fedhur/pki/pem_kind.hpp"

namespace fedhur::apps {
namespace {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

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

std::int64_t now() { return std::time(nullptr); }

// One object for scripts or some lines for people.
void tell(const PkiFlags& flags, const Json& json, const std::string& text) {
  flags.is_json ? print_json(json) : print(text);
}

// A name as part of a path: "Klinik/Köln 1" becomes "Klinik-K-ln-1".
std::string file_name_of(const std::string& name) {
  std::string result;
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '_' || (c == '.' && !result.empty());
    if (is_plain) {
      result += c;
    } else if (const bool begins_letter = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
               begins_letter && !result.empty()) {
      result += '-';
    }
  }
  return result.empty() ? "certificate" : result;
}

// Where the two files of a key pair go, without their endings.
std::string prefix_of(const PkiFlags& flags, const std::string& name) {
  std::string prefix = flags.out.empty() ? file_name_of(name) : flags.out;
  for (const char* ending : {".crt", ".csr", ".key"}) {
    if (prefix.ends_with(ending)) prefix.resize(prefix.size() - std::string_view(ending).size());
  }
  return prefix;
}

// Before anything is made. Not even --force replaces what belongs to the CA.
void check_outputs(const PkiFlags& flags, const std::vector<std::string>& outputs,
                   std::vector<fs::path> inputs = {}) {
  if (!flags.folder.empty()) {
    for (const char* file : {pki::kCaCertificate, pki::kCaKey, pki::kRevocations, pki::kIssued}) {
      inputs.push_back(fs::path(flags.folder) / file);
    }
  }
  for (const std::string& output : outputs) check_output_file(output, flags.is_forced, inputs);
}

pki::Identity read_identity(const PkiFlags& flags) {
  if (flags.client.has_value() == flags.server.has_value()) {
    throw ConfigError(
        "expected either --client IDS, such as --client 0-24, or --server HOSTS, such as --server "
        "fed.example.org,10.0.0.5");
  }
  pki::Identity identity;
  identity.name = flags.name;
  if (flags.client) {
    identity.clients = pki::parse_client_ranges(*flags.client);
  } else {
    identity.purpose = pki::Purpose::server;
    identity.hosts = pki::parse_hosts(*flags.server);
    if (identity.name.empty()) identity.name = identity.hosts.front();
  }
  return identity;
}

int init(const PkiFlags& flags) {
  check_given(flags.folder, "the folder", "fedhur pki init ca");
  const auto info =
      pki::create_authority(flags.folder, flags.name.empty() ? "fedhur CA" : flags.name,
                            flags.days.value_or(pki::kCaDays), now());
  Json json = to_json(info, {}, now());
  json["out"] = flags.folder;
  const std::string folder = fs::path(flags.folder).lexically_normal().string();
  tell(flags, json,
       fmt::format("{}: CA {}, until {}\n"
                   "{}/{} can sign any certificate: keep the folder offline, with a backup\n",
                   folder, info.name, pki::format_time(info.not_after), folder, pki::kCaKey));
  return ExitCode::done;
}

// Writes a certificate, whose key is in that file or, without one, elsewhere.
int hand_out(const PkiFlags& flags, const std::string& file, const std::string& pem,
             const std::string& key_file = "") {
  write_file_atomically(file, pem);
  const auto info = pki::read_certificate(pem);
  Json json = to_json(info, {}, now());
  json["out"] = file;
  if (!key_file.empty()) json["key_file"] = key_file;
  tell(flags, json,
       fmt::format("{}: {}\n{}\n", file, format_line(info),
                   key_file.empty() ? "key sha256 " + info.key_sha256
                                    : key_file + ": its private key; keep it secret"));
  return ExitCode::done;
}

int issue(const PkiFlags& flags) {
  check_given(flags.folder, "the CA's folder", "fedhur pki issue ca --client 0-24 --name site");
  const pki::Identity identity = read_identity(flags);
  check_given(identity.name, "--name SITE", "fedhur pki issue ca --client 0-24 --name site");
  const std::string prefix = prefix_of(flags, identity.name);
  const std::string key = prefix + ".key";
  check_outputs(flags, {prefix + ".crt", key});
  const pki::IssuedKeyPair pair = pki::issue_certificate(
      flags.folder, identity, flags.days.value_or(pki::kCertificateDays), now());
  write_private_file(key, pair.key);
  return hand_out(flags, prefix + ".crt", pair.certificate, key);
}

int request(const PkiFlags& flags) {
  check_given(flags.name, "--name SITE", "fedhur pki request --name hospital-a");
  const std::string prefix = prefix_of(flags, flags.name);
  const std::string file = prefix + ".csr";
  const std::string key = prefix + ".key";
  check_outputs(flags, {file, key});
  const pki::RequestKeyPair made = pki::make_request(flags.name);
  write_private_file(key, made.key);
  write_file_atomically(file, made.request);
  const pki::RequestInfo info = pki::read_request(made.request);
  Json json = to_json(info);
  json["out"] = file;
  json["key_file"] = key;
  tell(flags, json,
       fmt::format("{}: request of {} for the CA, key sha256 {}\n{}: its private key, which stays "
                   "here\n",
                   file, info.name, info.key_sha256, key));
  return ExitCode::done;
}

int sign(const PkiFlags& flags) {
  constexpr const char* kExample = "fedhur pki sign ca hospital-a.csr --client 0-24";
  check_given(flags.folder, "the CA's folder", kExample);
  check_given(flags.file, "the request", kExample);
  const pki::Identity identity = read_identity(flags);
  const std::string out =
      flags.out.empty() ? fs::path(flags.file).replace_extension(".crt").string() : flags.out;
  check_outputs(flags, {out}, {flags.file});
  const std::string text = pki::parse_pem_file(flags.file, [](const std::string& pem) {
    (void)pki::read_request(pem);
    return pem;
  });
  return hand_out(flags, out,
                  pki::sign_request(flags.folder, text, identity,
                                    flags.days.value_or(pki::kCertificateDays), now()));
}

// The text of a certificate that can be read.
std::string read_certificate_file(const std::string& path) {
  return pki::parse_pem_file(path, [](const std::string& pem) {
    (void)pki::read_certificate(pem);
    return pem;
  });
}

int renew(const PkiFlags& flags) {
  constexpr const char* kExample = "fedhur pki renew ca hospital-a.crt";
  check_given(flags.folder, "the CA's folder", kExample);
  check_given(flags.file, "the certificate", kExample);
  const std::string out = flags.out.empty()
                              ? fs::path(flags.file).replace_extension(".renewed.crt").string()
                              : flags.out;
  check_outputs(flags, {out});
  return hand_out(flags, out,
                  pki::renew_certificate(flags.folder, read_certificate_file(flags.file),
                                         flags.days.value_or(pki::kCertificateDays), now()));
}

int refresh(const PkiFlags& flags) {
  const pki::RevocationInfo info = pki::refresh_revocations(flags.folder, now());
  tell(flags, to_json(info, now()),
       fmt::format("{}: number {}, until {}; servers need it\n",
                   (fs::path(flags.folder) / pki::kRevocations).string(), info.number,
                   pki::format_time(info.next_update)));
  return ExitCode::done;
}

int revoke(const PkiFlags& flags) {
  constexpr const char* kExample = "fedhur pki revoke ca hospital-a.crt";
  check_given(flags.folder, "the CA's folder", kExample);
  if (flags.refreshes) {
    if (flags.file.empty()) return refresh(flags);
    throw ConfigError("--refresh revokes nothing; leave it or the certificate out");
  }
  check_given(flags.file, "the certificate or its serial number", kExample);
  std::error_code ignored;
  const bool is_serial = !fs::exists(flags.file, ignored) && pki::parse_serial(flags.file);
  const pki::Revocation revocation =
      is_serial ? pki::revoke_serial(flags.folder, flags.file, now())
                : pki::revoke_certificate(flags.folder, read_certificate_file(flags.file), now());
  const std::string list = (fs::path(flags.folder) / pki::kRevocations).string();
  std::string text =
      revocation.was_revoked
          ? fmt::format("{} ({}) was revoked already\n", revocation.serial,
                        printable(revocation.name))
          : fmt::format("{} ({}) is revoked\n", revocation.serial, printable(revocation.name));
  for (const std::string& serial : revocation.renewals) {
    text += fmt::format("{} is revoked with it, since it has the same key\n", serial);
  }
  if (!revocation.was_revoked || !revocation.renewals.empty()) {
    text += fmt::format("servers learn it from {}\n", list);
  }
  tell(flags,
       {{"serial", revocation.serial},
        {"name", revocation.name},
        {"was_revoked", revocation.was_revoked},
        {"renewals", revocation.renewals},
        {"list", list}},
       text);
  return ExitCode::done;
}

Opinion ask_authority(const std::string& folder, const std::string& certificate,
                      const pki::CertificateInfo& info) {
  const std::string ca = (fs::path(folder) / pki::kCaCertificate).string();
  const std::string list = (fs::path(folder) / pki::kRevocations).string();
  Opinion opinion;
  std::string ca_pem;
  opinion.fault = pki::parse_pem_file(ca, [&](const std::string& text) {
    ca_pem = text;
    return pki::find_fault(certificate, text,
                           info.for_server ? pki::Purpose::server : pki::Purpose::client, now());
  });
  std::error_code ignored;
  if (fs::exists(list, ignored)) {
    opinion.is_revoked = pki::parse_pem_file(list, [&](const std::string& text) {
      return pki::RevocationList::read(text, ca_pem).contains(info.serial);
    });
  }
  if (opinion.is_revoked.value_or(false) && !opinion.fault) opinion.fault = "it was revoked";
  return opinion;
}

void show_certificate(const PkiFlags& flags, const std::string& pem) {
  const auto info = pki::read_certificate(pem);
  std::optional<Opinion> opinion;
  if (!flags.ca.empty()) opinion = ask_authority(flags.ca, pem, info);
  tell(flags, to_json(info, opinion, now()), format_text(info, opinion, now()));
}

int show(const PkiFlags& flags) {
  check_given(flags.file, "a file or the CA's folder", "fedhur pki show hospital-a.crt");
  std::error_code ignored;
  if (fs::is_directory(flags.file, ignored)) {
    const pki::AuthorityState state = pki::read_authority(flags.file);
    tell(flags, to_json(state, now()), format_text(state, now()));
    return ExitCode::done;
  }
  pki::parse_pem_file(flags.file, [&](const std::string& pem) {
    switch (pki::kind_of(pem)) {
      case pki::PemKind::certificate:
        return show_certificate(flags, pem);
      case pki::PemKind::request: {
        const auto info = pki::read_request(pem);
        return tell(flags, to_json(info), format_text(info));
      }
      case pki::PemKind::revocations: {
        const auto info = pki::read_revocations(pem);
        return tell(flags, to_json(info, now()), format_text(info, now()));
      }
      case pki::PemKind::key:
        return tell(flags, {{"kind", "key"}}, "private key; keep it secret\n");
      case pki::PemKind::unknown:
        break;
    }
    throw DataError("expected a certificate, request, revocation list or key in PEM");
  });
  return ExitCode::done;
}

// A subcommand and the flags that it adds to itself.
class PkiCommand {
 public:
  PkiCommand(CLI::App& parent, const char* name, const char* summary)
      : app_(parent.add_subcommand(name, summary)), flags_(std::make_shared<PkiFlags>()) {
    app_->add_flag("--json", flags_->is_json, "One JSON object on standard output");
  }
  PkiCommand& folder() { return value("ca", flags_->folder, "", "Folder of the CA"); }
  PkiCommand& file(const char* name, const char* what) {
    return value(name, flags_->file, "", what);
  }
  PkiCommand& name(const char* what) { return value("--name", flags_->name, "NAME", what); }
  PkiCommand& days(const char* what = "Lifetime (365)") {
    return value("--days", flags_->days, "N", what);
  }
  PkiCommand& out(const char* kind, const char* what) {
    return value("--out", flags_->out, kind, what)
        .flag("--force", flags_->is_forced, "Overwrite what is there");
  }
  PkiCommand& identity() {
    return value("--client", flags_->client, "IDS",
                 "Client ids to speak for, such as 0-24 or 3,5,8-9")
        .value("--server", flags_->server, "HOSTS", "DNS names and IP addresses to answer at");
  }
  PkiCommand& refresh(const char* what) { return flag("--refresh", flags_->refreshes, what); }
  PkiCommand& authority(const char* what) { return value("--ca", flags_->ca, "DIR", what); }
  [[nodiscard]] Command runs(int (*run)(const PkiFlags&)) const {
    return {.app = app_, .run = [flags = flags_, run] { return run(*flags); }};
  }

 private:
  template <class Value>
  PkiCommand& value(const char* name, Value& value, const char* kind, const char* what) {
    add_value(*app_, name, value, kind, what);
    return *this;
  }
  PkiCommand& flag(const char* name, bool& value, const char* what) {
    app_->add_flag(name, value, what);
    return *this;
  }
  CLI::App* app_;  // owned by its parent
  std::shared_ptr<PkiFlags> flags_;
};
}  // namespace

std::vector<Command> add_pki(CLI::App& parent) {
  CLI::App& app = *parent.add_subcommand("pki", "Keys and certificates of a federation");
  app.footer(R"(Examples:
  fedhur pki init ca
  fedhur pki issue ca --server fed.example.org,10.0.0.5 --out server
  fedhur pki issue ca --client 0-24 --name hospital-a
  fedhur pki request --name hospital-b                 at the site, where its key stays
  fedhur pki sign ca hospital-b.csr --client 25-49     at the CA
  fedhur pki revoke ca hospital-a.crt
  fedhur pki show ca)");
  return {PkiCommand(app, "init", "Make a CA in a new folder")
              .folder()
              .name("What the CA is called (fedhur CA)")
              .days("Its lifetime (3650)")
              .runs(init),
          PkiCommand(app, "issue", "Make a key and its certificate")
              .folder()
              .identity()
              .name("Of the site; of a server its first host unless given")
              .days()
              .out("PREFIX", "For PREFIX.crt and PREFIX.key (the name)")
              .runs(issue),
          PkiCommand(app, "request", "Make a key that stays here, and a request for the CA")
              .name("Of the site or server")
              .out("PREFIX", "For PREFIX.csr and PREFIX.key (the name)")
              .runs(request),
          PkiCommand(app, "sign", "Make a certificate from a request")
              .folder()
              .file("request", "File of the request, .csr")
              .identity()
              .days()
              .out("FILE", "Certificate to write (X.crt for X.csr)")
              .runs(sign),
          PkiCommand(app, "renew", "Make the same certificate with new dates")
              .folder()
              .file("certificate", "File of the certificate")
              .days()
              .out("FILE", "Certificate to write (X.renewed.crt for X.crt)")
              .runs(renew),
          PkiCommand(app, "revoke", "Take certificates back before their end")
              .folder()
              .file("certificate", "File of the certificate, or its serial number")
              .refresh("Revoke nothing; sign the list again, with new dates")
              .runs(revoke),
          PkiCommand(app, "show", "What a file or a CA's folder holds")
              .file("path", "Certificate, request, revocation list, or the folder of a CA")
              .authority("Folder with ca.crt: is the certificate trusted, is it revoked?")
              .runs(show)};
}
}  // namespace fedhur::apps
