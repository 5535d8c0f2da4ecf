// What `fedhur doctor` finds: one line per check, and how to mend what is wrong.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "fedhur/base/error.hpp"

namespace fedhur::apps {
enum class Health : std::uint8_t { ok, warning, problem, skipped };

struct Finding {
  Health health = Health::ok;
  std::string found;
  std::string mend = {};           // how; empty where nothing is to be done
  ExitCode code = ExitCode::done;  // of a problem: what the command itself would end with
  std::string name = {};           // what was checked
};
[[nodiscard]] Finding pass(const std::string& found);
[[nodiscard]] Finding warn(const std::string& found, const std::string& mend);
[[nodiscard]] Finding fail(const std::string& found, const std::string& mend,
                           ExitCode code = ExitCode::wrong_usage);
// For what makes no sense after an earlier problem, or cannot be known.
[[nodiscard]] Finding skip(const std::string& why);

// The findings of all checks, whatever the ones before have found.
class Checkup {
 public:
  using Tell = std::function<void(const Finding& finding)>;  // as soon as it is found
  explicit Checkup(Tell tell) : tell_(std::move(tell)) {}

  // Whether the checks that build on this one make sense: it is ok, a warning or nothing.
  bool add(const std::string& name, std::optional<Finding> finding);
  // What `check` returns; an Error is a problem, mended like this.
  template <class Check>
  bool run(const std::string& name, const std::string& mend, const Check& check,
           ExitCode code = ExitCode::wrong_usage) {
    try {
      return add(name, check());
    } catch (const Error& error) {
      return add(name, fail(error.what(), mend, code));
    }
  }

  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
  [[nodiscard]] std::int64_t count(Health health) const;
  // 0 without problems; otherwise 2 before 3 before 4.
  [[nodiscard]] int exit_code() const;

 private:
  Tell tell_;
  std::vector<Finding> findings_;
};

[[nodiscard]] std::string format_text(const Finding& finding);
[[nodiscard]] std::string format_summary(const Checkup& checkup);
[[nodiscard]] nlohmann::ordered_json to_json(const Checkup& checkup);
}  // namespace fedhur::apps
