#include "fedhur/pki/issue_record.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "fedhur/base/error.hpp"
#include "fedhur/pki/revocation.hpp"

namespace fedhur::pki {
namespace {
using Json = nlohmann::ordered_json;

constexpr const char* kRevoked = "revoked";

Json to_json(const IssueEntry& entry) {
  Json json = {{"serial", entry.serial},
               {"subject", entry.identity.name},
               {"for", name_of(entry.identity.purpose)}};
  if (entry.identity.purpose == Purpose::server) {
    json["hosts"] = entry.identity.hosts;
  } else {
    json["clients"] = to_text(entry.identity.clients);
  }
  json["key_sha256"] = entry.key_sha256;
  json["not_before"] = entry.not_before;
  json["not_after"] = entry.not_after;
  json["status"] = entry.is_revoked ? kRevoked : "valid";
  return json;
}

std::int64_t read_time(const Json& json) {
  constexpr std::int64_t kEndOfDates = 253402300800;  // of the year 9999, the last that X.509 has
  const std::int64_t time = json.is_number_integer() ? json.get<std::int64_t>() : -1;
  if (time < 0 || time >= kEndOfDates) throw DataError("a date is no time in unix seconds");
  return time;
}

IssueEntry to_entry(const Json& json) {
  IssueEntry entry;
  entry.serial = json.at("serial").get<std::string>();
  if (parse_serial(entry.serial) != entry.serial) throw DataError("the serial is no number");
  entry.identity.name = json.at("subject").get<std::string>();
  const auto purpose = json.at("for").get<std::string>();
  if (purpose == name_of(Purpose::server)) {
    entry.identity.purpose = Purpose::server;
    entry.identity.hosts = json.at("hosts").get<std::vector<std::string>>();
  } else if (purpose == name_of(Purpose::client)) {
    entry.identity.clients = parse_client_ranges(json.at("clients").get<std::string>());
  } else {
    throw DataError("it is for neither server nor client");
  }
  entry.key_sha256 = json.at("key_sha256").get<std::string>();
  entry.not_before = read_time(json.at("not_before"));
  entry.not_after = read_time(json.at("not_after"));
  entry.is_revoked = json.at("status").get<std::string>() == kRevoked;
  return entry;
}
}  // namespace

std::vector<IssueEntry> parse_issue_record(const std::string& text) {
  std::vector<IssueEntry> entries;
  std::istringstream lines(text);
  int line_number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++line_number;
    if (line.empty()) continue;
    const auto reject = [line_number](const char* why) {
      throw DataError(fmt::format("line {} cannot be read: {}", line_number, why));
    };
    try {
      entries.push_back(to_entry(Json::parse(line)));
    } catch (const Json::exception&) {  // whose message would quote what a terminal cannot show
      reject("it is not JSON with all that a certificate's record has");
    } catch (const Error& error) {
      reject(error.what());
    }
  }
  return entries;
}

std::string to_json_lines(const std::vector<IssueEntry>& entries) {
  std::string text;
  for (const IssueEntry& entry : entries) text += to_json(entry).dump() + "\n";
  return text;
}
}  // namespace fedhur::pki
