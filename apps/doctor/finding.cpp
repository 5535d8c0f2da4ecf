#include "apps/doctor/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "fedhur/base/text.hpp"

namespace fedhur::apps {
namespace {
constexpr std::array kHealthNames = {"ok", "warning", "problem", "skipped"};

const char* name_of_health(const Finding& finding) {
  return kHealthNames.at(static_cast<std::size_t>(finding.health));
}

std::string format_number_of(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}
}  // namespace

Finding pass(const std::string& found) { return {.health = Health::ok, .found = found}; }
Finding warn(const std::string& found, const std::string& mend) {
  return {.health = Health::warning, .found = found, .mend = mend};
}
Finding fail(const std::string& found, const std::string& mend, ExitCode code) {
  return {.health = Health::problem, .found = found, .mend = mend, .code = code};
}
Finding skip(const std::string& why) { return {.health = Health::skipped, .found = why}; }

bool Checkup::add(const std::string& name, std::optional<Finding> finding) {
  if (!finding) return true;
  finding->name = name;
  findings_.push_back(*std::move(finding));
  if (tell_) tell_(findings_.back());
  const Health health = findings_.back().health;
  return health == Health::ok || health == Health::warning;
}

std::int64_t Checkup::count(Health health) const {
  return std::ranges::count(findings_, health, &Finding::health);
}

int Checkup::exit_code() const {
  int code = ExitCode::done;
  for (const Finding& finding : findings_) {
    if (finding.health != Health::problem) continue;
    code = code == ExitCode::done ? finding.code : std::min<int>(code, finding.code);
  }
  return code;
}

std::string format_text(const Finding& finding) {
  constexpr std::size_t kNameWidth = 15;
  const auto line = [](std::string_view state, std::string_view name, const std::string& text) {
    return fmt::format("{:<8} {}  {}\n", state, padded(name, kNameWidth, Align::left),
                       printable(text));
  };
  std::string text = line(name_of_health(finding), finding.name, finding.found);
  if (!finding.mend.empty()) text += line("", "  to mend it:", finding.mend);
  return text;
}

std::string format_summary(const Checkup& checkup) {
  const std::int64_t problems = checkup.count(Health::problem);
  const std::int64_t warnings = checkup.count(Health::warning);
  std::string text = problems > 0 ? format_number_of(problems, "problem") : "no problem";
  if (warnings > 0) text += ", " + format_number_of(warnings, "warning");
  return text + "\n";
}

nlohmann::ordered_json to_json(const Checkup& checkup) {
  using Json = nlohmann::ordered_json;
  Json checks = Json::array();
  for (const Finding& finding : checkup.findings()) {
    checks.push_back({{"name", finding.name},
                      {"state", name_of_health(finding)},
                      {"found", finding.found},
                      {"mend", finding.mend.empty() ? Json() : Json(finding.mend)}});
  }
  return {{"checks", std::move(checks)}, {"ok", checkup.count(Health::problem) == 0}};
}
}  // namespace fedhur::apps
