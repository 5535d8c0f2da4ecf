// What `fedhur doctor` finds: one line per check, and how to mend what is wrong.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "fedhur/base/error.hpp"

namespace fedhur::apps {
enum class Health : std::uint8_t { ok, warning, problem, skipped };

struct Finding {
  std::string name;  // what was checked
  Health health = Health::ok;
  std::string found;
  std::string mend = {};           // how; empty where nothing is to be done
  ExitCode code = ExitCode::done;  // of a problem: what the command itself would end with
};

// Goes through all checks, whatever the ones before have found.
class Checkup {
 public:
  using Tell = std::function<void(const Finding& finding)>;  // as soon as it is found
  explicit Checkup(Tell tell) : tell_(std::move(tell)) {}

  void ok(const std::string& name, const std::string& found);
  void warn(const std::string& name, const std::string& found, const std::string& mend);
  void fail(ExitCode code, const std::string& name, const std::string& found,
            const std::string& mend);
  // For what makes no sense after an earlier problem, or cannot be known.
  void skip(const std::string& name, const std::string& why);

  // Whether `work` ends without an Error; one is a problem, mended like this.
  template <class Work>
  bool passes(ExitCode code, const std::string& name, const std::string& mend, const Work& work) {
    try {
      work();
      return true;
    } catch (const Error& error) {
      fail(code, name, error.what(), mend);
      return false;
    }
  }

  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
  [[nodiscard]] std::int64_t count(Health health) const;
  // 0 without problems; otherwise 2 before 3 before 4.
  [[nodiscard]] int exit_code() const;

 private:
  void add(Finding finding);
  Tell tell_;
  std::vector<Finding> findings_;
};

[[nodiscard]] std::string format_text(const Finding& finding);
[[nodiscard]] std::string format_summary(const Checkup& checkup);
[[nodiscard]] nlohmann::ordered_json to_json(const Checkup& checkup);
}  // namespace fedhur::apps
