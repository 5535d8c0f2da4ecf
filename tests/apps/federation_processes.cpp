#include "federation_processes.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace fedhur::tests {
namespace {
bool is_free_port(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int error = ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  ::close(socket);
  return error == 0;
}

// The number after "listening on port ".
std::string listening_port_in(const std::string& messages) {
  const std::string before = "listening on port ";
  const auto first = messages.rfind(before);
  if (first == std::string::npos) throw std::runtime_error("no port in: " + messages);
  const auto digits = messages.substr(first + before.size(), 5);
  return digits.substr(0, digits.find_first_not_of("0123456789"));
}
}  // namespace

Arguments run_settings(const std::string& method, int max_rounds) {
  const std::string rounds = std::to_string(max_rounds);
  return {"--method",  method,
          "--set",     "model.embedding_dim=8",
          "--set",     "train.local_epochs=2",
          "--set",     "stop.max_rounds=" + rounds,
          "--set",     "stop.patience=" + rounds,
          "--threads", "1"};
}

Arguments whole_data() {
  return {"--data", "synthetic",
          "--set",  "synthetic.num_users=60",
          "--set",  "synthetic.num_items=90",
          "--set",  "synthetic.num_interactions=1500",
          "--set",  "clients.count=7"};
}

void FederationProcesses::SetUp() {
  const Finished made = place_.fedhur(
      {"data", "items", "synthetic", "--set", "synthetic.num_users=60", "--set",
       "synthetic.num_items=90", "--set", "synthetic.num_interactions=1500", "--out", "items.tsv"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
}

void FederationProcesses::certify(
    const std::vector<std::pair<std::string, std::string>>& clients_by_site) {
  is_secure_ = true;
  std::string commands =
      "set -e; $FEDHUR pki init ca; $FEDHUR pki issue ca --server localhost --out server";
  for (const auto& [site, clients] : clients_by_site) {
    commands += "; $FEDHUR pki issue ca --client " + clients + " --name " + site;
  }
  const Finished made = place_.shell(commands);
  ASSERT_EQ(made.exit_code, 0) << made.err;
}

Arguments FederationProcesses::identity_of(const std::string& name) const {
  if (!is_secure_) return {"--insecure"};
  Arguments arguments = {"--ca", "ca/ca.crt", "--cert", name + ".crt", "--key", name + ".key"};
  if (name == "server") arguments = arguments + Arguments{"--revoked", "ca/revoked.crl"};
  return arguments;
}

std::unique_ptr<Process> FederationProcesses::await_server(const Arguments& arguments) {
  auto server = std::make_unique<Process>(
      place_, Arguments{"server"} + arguments + identity_of("server"), "server-");
  EXPECT_TRUE(server->wait_for_message("listening on port ")) << server->errors();
  port_ = listening_port_in(server->errors());
  return server;
}

std::unique_ptr<Process> FederationProcesses::start_server(const Arguments& more) {
  Arguments arguments;
  for (const auto& [flag, usual] :
       {std::pair("--clients", "7"), {"--items", "items.tsv"}, {"--listen", "localhost:0"}}) {
    const bool is_given = std::ranges::find(more, flag) != more.end();
    if (!is_given) arguments = arguments + Arguments{flag, usual};
  }
  return await_server(arguments + more);
}

std::unique_ptr<Process> FederationProcesses::resume_server(const std::string& run,
                                                            const Arguments& more) {
  return await_server(Arguments{"--resume", run, "--listen", "localhost:" + port_} + more);
}

Arguments FederationProcesses::site_arguments(const std::string& name,
                                              const std::string& clients) const {
  return Arguments{"client", "--server", "localhost:" + port_, "--state", name, "--clients",
                   clients,  "--whole",  "--threads",          "1"} +
         whole_data() + identity_of(name);
}

std::unique_ptr<Process> FederationProcesses::start_site(const std::string& name,
                                                         const std::string& clients,
                                                         const Arguments& more) const {
  return std::make_unique<Process>(place_, site_arguments(name, clients) + more, name + "-");
}

Finished FederationProcesses::run_fedhur(const Arguments& arguments) const {
  return Process(place_, arguments, "command-").wait();
}

void FederationProcesses::simulate(const std::string& run, const Arguments& settings) const {
  const Finished trained =
      place_.fedhur(Arguments{"train", "--out", run, "--quiet"} + settings + whole_data());
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
}

std::vector<json> FederationProcesses::rounds_of(const std::string& run) const {
  std::vector<json> rounds;
  for (const std::string& line : text_lines_of(place_.read(run + "/rounds.jsonl"))) {
    rounds.push_back(json::parse(line));
    rounds.back().erase("seconds");
  }
  return rounds;
}

json FederationProcesses::metrics_of(const std::string& run) const {
  const json result = json::parse(place_.read(run + "/result.json"));
  json metrics;
  for (const char* key : {"method", "seed", "clients", "items", "rounds", "best_round", "valid",
                          "test", "bytes_per_client_round"}) {
    metrics[key] = result.at(key);
  }
  return metrics;
}

std::vector<std::string> FederationProcesses::scores_of(const std::string& run_or_site) const {
  const Finished made =
      place_.fedhur({"recommend", run_or_site, "--all", "--include-seen", "--top", "1000"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  std::vector<std::string> lines = text_lines_of(made.out);
  if (!lines.empty()) lines.erase(lines.begin());  // names of the columns
  std::ranges::sort(lines);
  return lines;
}

void FederationProcesses::expect_same_run(const std::string& one, const std::string& other) const {
  const auto rounds = rounds_of(one);
  EXPECT_FALSE(rounds.empty());
  EXPECT_EQ(rounds, rounds_of(other));
  EXPECT_EQ(metrics_of(one), metrics_of(other));
}

void expect_success(Process& process, const std::string& name) {
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 0) << name << ": " << finished.err;
}

std::string find_quiet_port() {
  constexpr int kFirst = 10000;  // up to 30000; connections get ports from 32768 on
  constexpr int kCount = 20000;
  for (int i = 0; i < kCount; ++i) {
    const int port = kFirst + (::getpid() * 37 + i) % kCount;
    if (is_free_port(static_cast<std::uint16_t>(port))) return std::to_string(port);
  }
  throw std::runtime_error("no port is free");
}

bool wait_until(const std::function<bool()>& is_true) {
  using namespace std::chrono_literals;
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (!is_true()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}
}  // namespace fedhur::tests
