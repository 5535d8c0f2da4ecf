// A server and its sites in one process, over real sockets.
#pragma once
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <mutex>
#include <thread>

#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/base/hash.hpp"
#include "fedhur/pki/authority.hpp"
#include "fedhur/transport/grpc/grpc_process.hpp"
#include "fedhur/transport/grpc/grpc_server.hpp"
#include "fedhur/transport/grpc/hub_connection.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::transport {
using namespace std::chrono_literals;
using federation::Answer;
using fedhur::tests::TempFolder;
using message::Message;

constexpr auto kLong = 30s;  // never waited for in a test that passes

inline Message make_message(const std::string& kind, double value, Index num_floats = 0,
                            Round round = 0) {
  Message message{.kind = kind, .round = round, .arrays = {}};
  message.arrays.set_number("value", value);
  // Numbers that do not pack, so that the message is as large as it looks.
  if (num_floats > 0) {
    Matrix matrix(1, num_floats);
    std::uint32_t state = 1;
    for (Index i = 0; i < num_floats; ++i) {
      state = state * 1664525U + 1013904223U;
      matrix(0, i) = static_cast<float>(state) * 1e-3F;
    }
    message.arrays.set("payload", std::move(matrix));
  }
  return message;
}

inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
}

// Until it is so; false if it does not come to that.
template <class Condition>
[[nodiscard]] bool eventually(const Condition& condition,
                              std::chrono::steady_clock::duration patience = kLong) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

// Lines from any thread.
class Lines {
 public:
  void add(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
  }
  [[nodiscard]] bool have(const std::string& part) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(
        lines_, [&](const std::string& line) { return line.find(part) != std::string::npos; });
  }
  [[nodiscard]] std::string text() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }
  [[nodiscard]] NetworkLog log() {
    return [this](Severity, const std::string& line) { add(line); };
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// Answers with ten times the value, plus its own number, and sends the payload of "work" back.
class TenfoldClient : public federation::ClientMethod {
 public:
  explicit TenfoldClient(int id) : id_(id) {}
  [[nodiscard]] Message answer(const Message& request) override {
    ++num_asked;
    if (while_working) while_working();
    if (request.kind == "nonsense") throw ProtocolError("what is 'nonsense'?");
    if (request.kind == "bug") throw std::runtime_error("a bug in the client");
    Message reply{.kind = request.kind, .round = request.round, .arrays = {}};
    reply.arrays.set_number("value", 10 * request.arrays.number("value") + id_);
    const Array* payload = request.arrays.find("payload");
    if (payload != nullptr && request.kind == "work") {
      reply.arrays.set("payload", *payload);
    }
    return reply;
  }
  std::function<void()> while_working;
  std::atomic<int> num_asked = 0;

 private:
  int id_;
};

// The clients of a site; they outlive its connections, as files would.
class Household {
 public:
  explicit Household(const std::vector<int>& ids, Index num_threads = 1) : executor_(num_threads) {
    std::vector<HostedClient> hosted;
    for (const int id : ids) {
      clients_.push_back(std::make_unique<TenfoldClient>(id));
      hosted.push_back({client_id(id), clients_.back().get(), 0});
      ids_.push_back(client_id(id));
    }
    site_ = std::make_unique<Site>(hosted, executor_, message::WireFormat{});
  }
  [[nodiscard]] Site& site() { return *site_; }
  [[nodiscard]] TenfoldClient& client(std::size_t i) { return *clients_[i]; }
  [[nodiscard]] const std::vector<ClientId>& ids() const { return ids_; }

 private:
  Executor executor_;
  std::vector<std::unique_ptr<TenfoldClient>> clients_;
  std::vector<ClientId> ids_;
  std::unique_ptr<Site> site_;
};

// A site in a thread of its own.
class RunningSite {
 public:
  RunningSite(Household& household, HubConnectionConfig config)
      : outcome_(std::async(std::launch::async, [this, &household, config] {
          const auto should_stop = [this] { return is_stopping_.load(); };
          HubConnection site(config, lines.log());
          const auto welcome = site.connect(should_stop);
          if (!welcome) return std::optional<Farewell>();
          return site.serve(household.site(), should_stop);
        })) {}
  ~RunningSite() { is_stopping_ = true; }
  RunningSite(const RunningSite&) = delete;
  RunningSite& operator=(const RunningSite&) = delete;
  [[nodiscard]] std::optional<Farewell> stop() {
    is_stopping_ = true;
    return wait();
  }
  [[nodiscard]] std::optional<Farewell> wait() { return outcome_.get(); }
  [[nodiscard]] bool is_over() const { return outcome_.wait_for(0s) == std::future_status::ready; }
  // What it ended with: "finished: why", "ended: why", "stopped", or its error.
  [[nodiscard]] std::string outcome() {
    try {
      const auto farewell = wait();
      if (!farewell) return "stopped";
      return (farewell->is_finished ? "finished: " : "ended: ") + farewell->reason;
    } catch (const std::exception& error) {
      return error.what();
    }
  }
  Lines lines;

 private:
  std::atomic<bool> is_stopping_ = false;
  std::future<std::optional<Farewell>> outcome_;
};

class GrpcTest : public testing::Test {
 protected:
  GrpcTest() {
    setenv(kTls13Only.first, kTls13Only.second, 1);
    forward_grpc_log([this](Severity, const std::string& line) { lines_.add(line); });
  }
  ~GrpcTest() override { forward_grpc_log({}); }
  void TearDown() override {
    if (hub_) hub_->close("the test is over");
    server_.reset();
    if (HasFailure()) ADD_FAILURE() << "the server's log:\n" << lines_.text();
  }

  Hub& start_hub(Index num_clients, ReplyJournal* journal = nullptr, Sequence first_sequence = 1) {
    server_.reset();
    hub_ = std::make_unique<Hub>(HubConfig{.num_clients = num_clients,
                                           .quorum = quorum_,
                                           .deadline_seconds = deadline_seconds_,
                                           .format = {}},
                                 lines_.log(), journal, first_sequence);
    return *hub_;
  }
  void start(Index num_clients, ReplyJournal* journal = nullptr, Sequence first_sequence = 1) {
    start_hub(num_clients, journal, first_sequence);
    start_server();
  }
  // On the port of the server before, if there was one.
  GrpcServer& start_server() {
    GrpcServerConfig config = server_config_;
    config.listen = fmt::format("127.0.0.1:{}", port_);
    config.welcome.num_clients = hub_->num_clients();
    server_ = std::make_unique<GrpcServer>(config, *hub_, lines_.log());
    port_ = server_->port();
    return *server_;
  }
  void stop_server() { server_.reset(); }
  [[nodiscard]] HubConnectionConfig site_config(const std::vector<ClientId>& clients) const {
    HubConnectionConfig config;
    config.server = fmt::format("127.0.0.1:{}", port_);
    config.clients = clients;
    config.software = "test";
    config.beat = 100ms;
    return config;
  }
  [[nodiscard]] std::unique_ptr<RunningSite> run(Household& household) const {
    return std::make_unique<RunningSite>(household, site_config(household.ids()));
  }
  [[nodiscard]] std::unique_ptr<RunningSite> run(Household& household,
                                                 const HubConnectionConfig& config) const {
    return std::make_unique<RunningSite>(household, config);
  }

  [[nodiscard]] Hub& hub() { return *hub_; }
  [[nodiscard]] GrpcServer& server() { return *server_; }
  [[nodiscard]] const Lines& lines() const { return lines_; }
  [[nodiscard]] bool all_connect() {
    return hub_->wait_for_clients([end = std::chrono::steady_clock::now() + kLong] {
      return std::chrono::steady_clock::now() > end;
    });
  }
  // Asks all clients, who have to answer.
  void expect_exchange(Index num_floats = 0) {
    ++num_exchanges_;
    const auto answers =
        federation::ask_all(*hub_, make_message("work", num_exchanges_, num_floats));
    ASSERT_EQ(static_cast<Index>(answers.size()), hub_->num_clients());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      EXPECT_EQ(answers[i].client, client_id(static_cast<Index>(i)));
      EXPECT_EQ(answers[i].message.arrays.number("value"),
                10 * num_exchanges_ + static_cast<double>(i));
      if (num_floats > 0) {
        EXPECT_EQ(answers[i].message.arrays.matrix("payload"),
                  make_message("", 0, num_floats).arrays.matrix("payload"));
      }
    }
  }

  GrpcServerConfig server_config_ = [] {
    GrpcServerConfig config;
    config.welcome.run_id = "run-1";
    config.welcome.configuration = "method = \"fedmf\"\n";
    return config;
  }();
  double deadline_seconds_ = 60;
  Index quorum_ = 0;
  int port_ = 0;
  double num_exchanges_ = 0;

 private:
  Lines lines_;
  std::unique_ptr<Hub> hub_;
  std::unique_ptr<GrpcServer> server_;
};
}  // namespace fedhur::transport
