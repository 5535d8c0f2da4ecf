// A federation of processes on this machine, and what it left behind.
#pragma once
#include <functional>
#include <memory>

#include "process.hpp"

namespace fedhur::tests {
// What a run is, apart from its data: the same for `train` and `server`.
[[nodiscard]] Arguments run_settings(const std::string& method, int max_rounds);
// The data of seven clients: the same for `train` and, with --whole, for every site.
[[nodiscard]] Arguments whole_data();

class FederationProcesses : public testing::Test {
 protected:
  void SetUp() override;  // writes items.tsv

  // Certificates of a server and of sites; from here on connections are encrypted.
  void certify(const std::vector<std::pair<std::string, std::string>>& clients_by_site);
  [[nodiscard]] Arguments identity_of(const std::string& name) const;

  // A server that listens when this returns: of seven clients and items.tsv, on any free port,
  // unless `more` says otherwise. And one that goes on with a run, where its sites look for it.
  [[nodiscard]] std::unique_ptr<Process> start_server(const Arguments& more);
  [[nodiscard]] std::unique_ptr<Process> resume_server(const std::string& run,
                                                       const Arguments& more = {});
  // A site of that server with its share of the whole data; its state is in the folder `name`.
  [[nodiscard]] std::unique_ptr<Process> start_site(const std::string& name,
                                                    const std::string& clients,
                                                    const Arguments& more = {}) const;
  [[nodiscard]] Arguments site_arguments(const std::string& name, const std::string& clients) const;
  // Runs to its end; killed if it has none.
  [[nodiscard]] Finished run_fedhur(const Arguments& arguments) const;

  // fedhur train of the same configuration.
  void simulate(const std::string& run, const Arguments& settings) const;
  // Every round, but for the clock; a line each.
  [[nodiscard]] std::vector<json> rounds_of(const std::string& run) const;
  // What a result says about quality and traffic.
  [[nodiscard]] json metrics_of(const std::string& run) const;
  // The scores of all items for all users, exactly; sorted lines.
  [[nodiscard]] std::vector<std::string> scores_of(const std::string& run_or_site) const;
  void expect_same_run(const std::string& one, const std::string& other) const;

  Workplace place_;
  std::string port_;

 private:
  [[nodiscard]] std::unique_ptr<Process> await_server(const Arguments& arguments);
  bool is_secure_ = false;
};

void expect_success(Process& process, const std::string& name);
// One that stays free while a server is away: connections of other programs are not given it.
[[nodiscard]] std::string find_quiet_port();
// Until it is true; false after a minute.
[[nodiscard]] bool wait_until(const std::function<bool()>& is_true);
}  // namespace fedhur::tests
