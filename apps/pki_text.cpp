#include "apps/pki_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "fedhur/base/text.hpp"

namespace fedhur::apps {
namespace {
using Json = nlohmann::ordered_json;

// Whole days, rounded down: -1 is one that ended within the last day.
std::int64_t days_until(std::int64_t time, std::int64_t now) {
  constexpr std::int64_t kSecondsPerDay = 86400;
  const std::int64_t seconds = time - now;
  return seconds / kSecondsPerDay - (seconds % kSecondsPerDay < 0 ? 1 : 0);
}

std::string format_days(std::int64_t days) {
  return days == 1 ? "1 day" : fmt::format("{} days", days);
}

std::string format_validity(std::int64_t not_before, std::int64_t not_after, std::int64_t now) {
  const std::string dates =
      fmt::format("{} to {}", pki::format_time(not_before), pki::format_time(not_after));
  const std::int64_t days = days_until(not_after, now);
  if (now < not_before) return dates + ", not yet valid";
  if (days < 0) return fmt::format("{}, ended {} ago", dates, format_days(-days));
  return fmt::format("{}, {} left", dates, format_days(days));
}

const char* role_of(const pki::CertificateInfo& info) {
  if (info.is_ca) return "ca";
  if (info.for_server && info.for_client) return "server and client";
  return info.for_server ? "server" : info.for_client ? "client" : "none";
}

// "clients 0-24", "hosts a.org, 10.0.0.5".
std::string format_scope(const std::vector<pki::ClientRange>& clients,
                         const std::vector<std::string>& hosts) {
  std::string scope;
  if (!clients.empty()) scope = "clients " + pki::to_text(clients);
  if (!hosts.empty()) {
    scope += fmt::format("{}hosts {}", scope.empty() ? "" : "; ", fmt::join(hosts, ", "));
  }
  return scope.empty() ? "nobody" : printable(scope);
}

using Lines = std::vector<std::pair<std::string, std::string>>;

std::string format_lines(const std::string& title, const Lines& lines) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : lines) rows.push_back({name, value});
  return title + "\n" + format_table(rows, {Align::left, Align::left}, "  ");
}

const char* status_of(const pki::IssueEntry& entry, std::int64_t now) {
  if (entry.is_revoked) return "revoked";
  if (now > entry.not_after) return "expired";
  return now < entry.not_before ? "not yet valid" : "valid";
}

std::string format_list(const pki::RevocationInfo& info) {
  return fmt::format("number {}, {} revoked", info.number, info.revoked.size());
}
}  // namespace

std::string format_line(const pki::CertificateInfo& info) {
  return fmt::format("{} {} for {}, until {}, serial {}", role_of(info), info.name,
                     format_scope(info.clients, info.hosts), pki::format_time(info.not_after),
                     info.serial);
}

std::string format_text(const pki::CertificateInfo& info, const std::optional<Opinion>& opinion,
                        std::int64_t now) {
  Lines lines;
  if (!info.is_ca) {
    lines.emplace_back(info.for_server ? "answers at" : "speaks for",
                       format_scope(info.clients, info.hosts));
  }
  lines.emplace_back("valid", format_validity(info.not_before, info.not_after, now));
  lines.emplace_back("issued by", info.issuer);
  lines.emplace_back("serial", info.serial);
  lines.emplace_back("sha256", info.sha256);
  lines.emplace_back("key sha256", info.key_sha256);
  if (opinion) {
    lines.emplace_back("trusted", opinion->fault ? "no: " + *opinion->fault : "yes");
    lines.emplace_back("revoked", !opinion->is_revoked   ? "unknown, without a revocation list"
                                  : *opinion->is_revoked ? "yes"
                                                         : "no");
  }
  const std::string title = info.is_ca
                                ? "CA " + info.name
                                : fmt::format("certificate of {}, {}", info.name, role_of(info));
  return format_lines(title, lines);
}

std::string format_text(const pki::RequestInfo& info) {
  return format_lines("certificate request of " + info.name,
                      {{"key", info.key}, {"key sha256", info.key_sha256}});
}

std::string format_text(const pki::RevocationInfo& info, std::int64_t now) {
  std::string text =
      format_lines("revocation list of " + info.issuer,
                   {{"list", format_list(info)},
                    {"valid", format_validity(info.this_update, info.next_update, now)}});
  for (const auto& [serial, time] : info.revoked) {
    text += fmt::format("  {}  revoked {}\n", serial, pki::format_time(time));
  }
  return text;
}

std::string format_text(const pki::AuthorityState& state, std::int64_t now) {
  std::string text = format_lines(
      "CA " + state.ca.name,
      {{"valid", format_validity(state.ca.not_before, state.ca.not_after, now)},
       {"sha256", state.ca.sha256},
       {"revocation list", fmt::format("{}, {}", format_list(state.revocations),
                                       format_validity(state.revocations.this_update,
                                                       state.revocations.next_update, now))}});
  if (state.issued.empty()) return text + "no certificates yet\n";
  std::vector<std::vector<std::string>> rows = {
      {"name", "is a", "for", "until", "days left", "status", "serial"}};
  for (const pki::IssueEntry& entry : state.issued) {
    rows.push_back({printable(entry.identity.name), pki::name_of(entry.identity.purpose),
                    format_scope(entry.identity.clients, entry.identity.hosts),
                    pki::format_time(entry.not_after),
                    fmt::format("{}", days_until(entry.not_after, now)), status_of(entry, now),
                    entry.serial});
  }
  return text + "\n" +
         format_table(rows, {Align::left, Align::left, Align::left, Align::left, Align::right,
                             Align::left, Align::left});
}

Json to_json(const pki::CertificateInfo& info, const std::optional<Opinion>& opinion,
             std::int64_t now) {
  Json json = {{"kind", "certificate"},       {"name", info.name},
               {"for", role_of(info)},        {"clients", pki::to_text(info.clients)},
               {"hosts", info.hosts},         {"issuer", info.issuer},
               {"serial", info.serial},       {"not_before", info.not_before},
               {"not_after", info.not_after}, {"days_left", days_until(info.not_after, now)},
               {"sha256", info.sha256},       {"key_sha256", info.key_sha256}};
  if (opinion) {
    json["fault"] = opinion->fault ? Json(*opinion->fault) : Json();
    json["revoked"] = opinion->is_revoked ? Json(*opinion->is_revoked) : Json();
  }
  return json;
}

Json to_json(const pki::RequestInfo& info) {
  return {
      {"kind", "request"}, {"name", info.name}, {"key", info.key}, {"key_sha256", info.key_sha256}};
}

Json to_json(const pki::RevocationInfo& info, std::int64_t now) {
  Json revoked = Json::array();
  for (const auto& [serial, time] : info.revoked) {
    revoked.push_back({{"serial", serial}, {"time", time}});
  }
  return {{"kind", "revocations"},           {"issuer", info.issuer},
          {"number", info.number},           {"this_update", info.this_update},
          {"next_update", info.next_update}, {"days_left", days_until(info.next_update, now)},
          {"revoked", std::move(revoked)}};
}

Json to_json(const pki::AuthorityState& state, std::int64_t now) {
  Json issued = Json::array();
  for (const pki::IssueEntry& entry : state.issued) {
    issued.push_back({{"name", entry.identity.name},
                      {"for", pki::name_of(entry.identity.purpose)},
                      {"clients", pki::to_text(entry.identity.clients)},
                      {"hosts", entry.identity.hosts},
                      {"serial", entry.serial},
                      {"not_before", entry.not_before},
                      {"not_after", entry.not_after},
                      {"days_left", days_until(entry.not_after, now)},
                      {"status", status_of(entry, now)},
                      {"key_sha256", entry.key_sha256}});
  }
  return {{"kind", "authority"},
          {"ca", to_json(state.ca, {}, now)},
          {"revocations", to_json(state.revocations, now)},
          {"certificates", std::move(issued)}};
}
}  // namespace fedhur::apps
