// A hub whose sites are played by the test, one call at a time; and its rules alone, without
// threads, as a list of events.
#pragma once
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <thread>

#include "fedhur/base/error.hpp"
#include "fedhur/message/wire_codec.hpp"
#include "fedhur/transport/network/hub.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::transport {
using namespace std::chrono_literals;
using federation::Answer;
using federation::Request;
using fedhur::tests::TempFolder;
using message::Message;

constexpr auto kLong = std::chrono::seconds(30);  // never waited for in a test that passes
constexpr double kNever = 3600;                   // a deadline; the same
constexpr auto kForever = std::chrono::hours(1);  // for what has to end at once
constexpr double kSoon = 0.03;

inline Message make_message(const std::string& kind, double value, Round round = 0) {
  Message message{.kind = kind, .round = round, .arrays = {}};
  message.arrays.set_number("value", value);
  return message;
}

inline Bytes bytes_of(const Message& message) {
  return std::make_shared<const std::vector<std::byte>>(message::encode(message));
}

// What a test looks at: who answered what.
using Values = std::map<int, double>;
inline Values values_of(const std::vector<Answer>& answers) {
  Values values;
  for (const Answer& answer : answers) {
    values[static_cast<int>(answer.client)] = answer.message.arrays.number("value");
  }
  return values;
}

inline std::vector<int> ids_of(const std::vector<ClientId>& clients) {
  std::vector<int> ids;
  for (const ClientId client : clients) ids.push_back(static_cast<int>(client));
  return ids;
}

// Until it is so; a test that would wait longer has failed.
template <class Condition>
void eventually(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "it did not happen";
    std::this_thread::sleep_for(1ms);
  }
}

// An exchange in a thread of its own. A test that fails closes the hub, rather than wait.
class Asked {
 public:
  Asked(Hub& hub, std::vector<Request> requests)
      : hub_(&hub), answers_(std::async(std::launch::async, [&hub, asked = std::move(requests)] {
          return hub.exchange(asked);
        })) {}
  Asked(Asked&&) = default;
  ~Asked() {
    if (answers_.valid()) hub_->close("the test is over");
  }
  [[nodiscard]] Values get() { return values_of(answers_.get()); }
  [[nodiscard]] std::string transport_error() {
    try {
      (void)answers_.get();
    } catch (const TransportError& error) {
      return error.what();
    }
    return "no error";
  }
  [[nodiscard]] bool is_over() const { return answers_.wait_for(0s) == std::future_status::ready; }

 private:
  Hub* hub_;
  std::future<std::vector<Answer>> answers_;
};

class ExchangesTest : public testing::Test {
 protected:
  using Session = Exchanges::Session;

  void start(Index num_clients, Index quorum = 0, double deadline_seconds = kNever) {
    log.clear();
    exchanges.emplace(HubConfig{.num_clients = num_clients,
                                .quorum = quorum,
                                .deadline_seconds = deadline_seconds,
                                .format = {}},
                      [this](Severity, const std::string& line) { log.push_back(line); });
    num_clients_ = static_cast<int>(num_clients);
  }

  // A site that has answered everything up to `answered`.
  Session connect(const std::vector<int>& clients, Sequence answered = 0) {
    std::vector<ClientProgress> progress;
    for (const int client : clients) progress.push_back({client_id(client), answered, answered});
    return exchanges->connect("a site", progress);
  }
  void report(Session session, int client, Sequence received, Sequence answered) {
    exchanges->note_progress(session, {{client_id(client), received, answered}});
  }
  void reply(Session session, int client, Sequence sequence, double value) {
    const Reply reply{.sequence = sequence, .client = client_id(client)};
    if (!exchanges->receive(session, reply)) return;
    exchanges->accept(answer(client, value));
  }
  // To the exchange that is under way.
  void reply(Session session, int client, double value) {
    reply(session, client, exchanges->status().sequence, value);
  }
  void fail(Session session, int client, Sequence sequence, const std::string& problem) {
    const Reply reply{.sequence = sequence, .client = client_id(client), .problem = problem};
    if (exchanges->receive(session, reply)) exchanges->refuse(client_id(client), problem);
  }

  // These clients, or all.
  void ask(const std::string& kind, Round round = 0, const std::vector<int>& clients = {}) {
    exchanges->begin(requests(kind, round, clients), now, {});
  }
  void tell(const std::string& kind, Round round = 0, const std::vector<int>& clients = {}) {
    exchanges->tell(requests(kind, round, clients));
  }
  // An exchange that these clients answered before the server was restarted.
  void ask_again(const std::string& kind, const Values& heard, bool is_ended) {
    Exchanges::Recalled recalled{.answers = {}, .is_ended = is_ended};
    for (const auto& [client, value] : heard) recalled.answers.push_back(answer(client, value));
    exchanges->begin(requests(kind, 0, {}), now, std::move(recalled));
  }
  void pass_deadline() { now = exchanges->deadline(); }
  [[nodiscard]] bool is_over() { return exchanges->is_over(now); }
  [[nodiscard]] Values end() {
    EXPECT_TRUE(is_over());
    return values_of(exchanges->end());
  }
  [[nodiscard]] Values end_at_deadline() {
    EXPECT_FALSE(is_over());
    pass_deadline();
    return end();
  }
  [[nodiscard]] std::string error_at_end() {
    try {
      (void)end();
    } catch (const TransportError& error) {
      return error.what();
    }
    return "no error";
  }

  // What the next task is: "3 train for 0 1"; "nothing" if there is none.
  std::string take(Session session) {
    const auto task = exchanges->next_task(session);
    return task ? text_of(*task) : "nothing";
  }
  static std::string text_of(const Exchanges::Handout& next) {
    std::string text =
        fmt::format("{} {} for", next.task.sequence, next.task.message->message().kind);
    for (const ClientId client : next.clients) text += fmt::format(" {}", index_of(client));
    return text;
  }

  std::optional<Exchanges> exchanges;
  std::vector<std::string> log;
  double now = 0;

 private:
  static Answer answer(int client, double value) {
    return {.client = client_id(client), .message = make_message("", value)};
  }
  [[nodiscard]] std::vector<Request> requests(const std::string& kind, Round round,
                                              const std::vector<int>& clients) const {
    const auto message = std::make_shared<const Message>(make_message(kind, 0, round));
    std::vector<Request> requests;
    for (const int client : clients) requests.push_back({client_id(client), message});
    for (int client = 0; clients.empty() && client < num_clients_; ++client) {
      requests.push_back({client_id(client), message});
    }
    return requests;
  }
  int num_clients_ = 0;
};

class HubTest : public testing::Test {
 protected:
  using Session = Hub::Session;

  Hub& start(HubConfig config, ReplyJournal* journal = nullptr, Sequence first_sequence = 1) {
    hub_ = std::make_unique<Hub>(
        config,
        [this](Severity, const std::string& line) {
          const std::lock_guard lock(log_mutex_);
          log_.push_back(line);
        },
        journal, first_sequence);
    return *hub_;
  }
  Hub& start(Index num_clients, double deadline_seconds = kNever, Index quorum = 0) {
    return start({.num_clients = num_clients,
                  .quorum = quorum,
                  .deadline_seconds = deadline_seconds,
                  .format = {}});
  }
  // In the middle of an exchange.
  void kill(Asked exchange) {
    hub().close("killed");
    EXPECT_EQ(exchange.transport_error(), "killed");
    hub_.reset();
  }
  void kill() { hub_.reset(); }
  [[nodiscard]] Hub& hub() { return *hub_; }
  [[nodiscard]] std::vector<std::string> log() {
    const std::lock_guard lock(log_mutex_);
    return log_;
  }

  // A site that has answered everything up to `answered`.
  Session connect(const std::vector<int>& clients, Sequence answered = 0) {
    std::vector<ClientProgress> progress;
    for (const int client : clients) progress.push_back({client_id(client), answered, answered});
    return hub().connect("a site", progress);
  }
  void report(Session session, int client, Sequence received, Sequence answered) {
    hub().note_progress(session, {{client_id(client), received, answered}});
  }
  void reply(Session session, int client, Sequence sequence, const Message& message) {
    hub().accept(session,
                 {.sequence = sequence, .client = client_id(client), .message = bytes_of(message)});
  }
  // To the exchange that is under way.
  void reply(Session session, int client, double value) {
    const HubStatus status = hub().status();
    reply(session, client, status.sequence, make_message(status.kind, value, status.round));
  }

  // Asks these clients, or all, in a thread of its own; returns when they have been asked.
  Asked ask(const std::string& kind, Round round = 0, const std::vector<int>& clients = {},
            const federation::AnswerCheck& check = {}) {
    const Sequence sequence = hub().next_sequence();
    const auto message = std::make_shared<const Message>(make_message(kind, 0, round));
    std::vector<Request> requests;
    const auto add = [&](int client) {
      requests.push_back(
          {client_id(client), message,
           check ? std::make_shared<const federation::AnswerCheck>(check) : nullptr});
    };
    for (const int client : clients) add(client);
    for (int client = 0; clients.empty() && client < hub().num_clients(); ++client) add(client);
    Asked exchange(hub(), std::move(requests));
    eventually([&] { return hub().next_sequence() > sequence; });
    return exchange;
  }

  // What the next task is: "3 train for 0 1"; "nothing" if there is none.
  std::string take(Session session) {
    const auto task = hub().next_task(session, 0ms);
    if (!task) return "nothing";
    std::string text =
        fmt::format("{} {} for", task->sequence, message::decode(*task->message).kind);
    for (const ClientId client : task->clients) text += fmt::format(" {}", index_of(client));
    return text;
  }

 private:
  std::unique_ptr<Hub> hub_;
  std::mutex log_mutex_;
  std::vector<std::string> log_;
};
}  // namespace fedhur::transport
