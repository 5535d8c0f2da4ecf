// A run whose messages really become bytes gives the same bits as one that shares them in a
// process, for every method and format.
#include <gtest/gtest.h>

#include "fedhur/federation/traffic.hpp"
#include "fedhur/message/wire_codec.hpp"
#include "fedhur/transport/in_process/in_process_federation.hpp"
#include "tests/support/method_run.hpp"

namespace fedhur::experiment {
namespace {
using federation::Answer;
using federation::Request;
using federation::TrafficByKind;
using message::Message;
using message::Precision;

// Every message is encoded by its sender and decoded by its receiver, and the bytes are counted.
class BytesFederation : public federation::Federation {
 public:
  BytesFederation(std::vector<federation::ClientMethod*> clients, const Executor& executor,
                  message::WireFormat format)
      : clients_(std::move(clients)), executor_(&executor), format_(format) {}
  [[nodiscard]] Index num_clients() const override { return static_cast<Index>(clients_.size()); }
  [[nodiscard]] std::vector<Answer> exchange(std::span<const Request> requests) override {
    return carry(requests, true);
  }
  void tell(std::span<const Request> requests) override { (void)carry(requests, false); }
  [[nodiscard]] TrafficByKind take() { return std::exchange(counted_, {}); }

 private:
  std::vector<Answer> carry(std::span<const Request> requests, bool brings_answers) {
    std::vector<Answer> answers(requests.size());
    std::vector<std::size_t> up(requests.size());
    std::vector<std::size_t> down(requests.size());
    executor_->for_each(static_cast<Index>(requests.size()), [&](Index i) {
      const auto k = static_cast<std::size_t>(i);
      const auto asked = message::encode(*requests[k].message, format_);
      const auto client = static_cast<std::size_t>(requests[k].client);
      const auto replied =
          message::encode(clients_[client]->answer(message::decode(asked)), format_);
      answers[k] = {requests[k].client, message::decode(replied)};
      federation::check_answer(answers[k], requests[k]);
      federation::take_out(answers[k], requests[k], format_);
      down[k] = asked.size();
      up[k] = replied.size();
    });
    for (std::size_t k = 0; k < requests.size(); ++k) {
      counted_[requests[k].message->kind].down += down[k];
      if (brings_answers) counted_[requests[k].message->kind].up += up[k];
    }
    return answers;
  }

  std::vector<federation::ClientMethod*> clients_;
  const Executor* executor_;
  message::WireFormat format_;
  TrafficByKind counted_;
};

// Everything that a run leaves behind.
struct Outcome {
  std::vector<double> losses;
  std::map<std::string, double> quality;
  std::vector<std::vector<std::byte>> client_states;
  std::vector<std::byte> server_state;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> traffic;  // down and up
};

template <class MakeFederation>
Outcome run(ConfigTable table, Index num_threads, const MakeFederation& make_federation) {
  tests::MethodRun method(std::move(table), num_threads);
  const ExperimentConfig& config = method.config;
  Outcome outcome;
  const auto play = [&](auto& federation) {
    for (Round round = 0; round < 2; ++round) {
      outcome.losses.push_back(method.server->run_round(round, federation).loss);
    }
    outcome.quality =
        evaluate::evaluate_clients(federation, 2, config.evaluation.cutoffs).test.means();
    for (const auto& [kind, bytes] : federation.take()) {
      outcome.traffic[kind] = {bytes.down, bytes.up};
    }
  };
  make_federation(method.client_methods(), method.executor, config.wire.format, play);
  for (std::size_t k = 0; k < method.clients.size(); ++k) {
    outcome.client_states.push_back(method.client_state(k));
  }
  outcome.server_state = method.server_state();
  return outcome;
}

Outcome run_in_process(const ConfigTable& table, Index num_threads) {
  return run(table, num_threads,
             [](const auto& clients, const auto& executor, const auto& format, const auto& play) {
               transport::InProcessFederation inner(clients, executor, format);
               federation::CountingFederation counting(inner, format);
               play(counting);
             });
}

Outcome run_over_bytes(const ConfigTable& table, Index num_threads) {
  return run(table, num_threads,
             [](const auto& clients, const auto& executor, const auto& format, const auto& play) {
               BytesFederation bytes(clients, executor, format);
               play(bytes);
             });
}

ConfigTable settings(const std::string& method, Precision precision, Index rank) {
  ConfigTable table = tests::tiny_settings(method);
  add_assignment(table, "wire.precision=" + name_of(precision));
  add_assignment(table, fmt::format("wire.rank={}", rank));
  return table;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& method : methods::all_methods()) names.push_back(method.name);
  return names;
}

class Wire : public testing::TestWithParam<std::tuple<std::string, Precision, Index>> {};
INSTANTIATE_TEST_SUITE_P(All, Wire,
                         testing::Combine(testing::ValuesIn(method_names()),
                                          testing::Values(Precision::float32, Precision::float16,
                                                          Precision::int8),
                                          testing::Values(0, 3)),
                         [](const auto& given) {
                           return fmt::format("{}_{}_rank_{}", std::get<0>(given.param),
                                              name_of(std::get<1>(given.param)),
                                              std::get<2>(given.param));
                         });

TEST_P(Wire, BringsTheSameBitsAsBytesAndWithoutThem) {
  const auto& [method, precision, rank] = GetParam();
  const ConfigTable table = settings(method, precision, rank);
  const Outcome shared = run_in_process(table, 3);
  const Outcome bytes = run_over_bytes(table, 2);
  EXPECT_EQ(shared.losses, bytes.losses);
  EXPECT_EQ(shared.quality, bytes.quality);
  EXPECT_TRUE(shared.client_states == bytes.client_states);
  EXPECT_TRUE(shared.server_state == bytes.server_state);
  EXPECT_EQ(shared.traffic, bytes.traffic) << "the bytes counted are the bytes sent";
}

std::uint64_t bytes_up(const Outcome& outcome) {
  std::uint64_t bytes = 0;
  for (const char* kind : {"train", "upload"}) {
    const auto found = outcome.traffic.find(kind);
    if (found != outcome.traffic.end()) bytes += found->second.second;
  }
  return bytes;
}

TEST(Wire, BringsTheSameBitsOfASpectralStart) {
  for (const char* method : {"fedmf", "fedncf", "pfedrec", "fedcia"}) {
    for (const Precision precision : {Precision::float32, Precision::int8}) {
      ConfigTable table = settings(method, precision, 0);
      add_assignment(table, "model.start=spectral");
      const Outcome shared = run_in_process(table, 3);
      const Outcome bytes = run_over_bytes(table, 2);
      EXPECT_EQ(shared.quality, bytes.quality);
      EXPECT_TRUE(shared.client_states == bytes.client_states);
      EXPECT_EQ(shared.traffic, bytes.traffic) << "the bytes counted are the bytes sent";
    }
  }
}

TEST(Wire, SendsLessInEveryCoarserFormat) {
  for (const char* method :
       {"fedmf", "fedncf", "pfedrec", "gpfedrec", "fedrap", "fedcia", "fedhur"}) {
    const Outcome exact = run_in_process(settings(method, Precision::float32, 0), 2);
    const Outcome halves = run_in_process(settings(method, Precision::float16, 0), 2);
    const Outcome blocks = run_in_process(settings(method, Precision::int8, 0), 2);
    const Outcome low = run_in_process(settings(method, Precision::float32, 3), 2);
    EXPECT_LT(bytes_up(halves), bytes_up(exact)) << method;
    EXPECT_LT(bytes_up(blocks), bytes_up(halves)) << method;
    EXPECT_LT(bytes_up(low), bytes_up(exact)) << method;
    for (const Outcome* lossy : {&halves, &blocks, &low}) {
      EXPECT_FALSE(lossy->client_states == exact.client_states) << "nothing was lost";
      EXPECT_NEAR(lossy->losses.back(), exact.losses.back(), 0.05) << method;
    }
    const Outcome whole = run_in_process(settings(method, Precision::float32, 6), 2);
    EXPECT_EQ(bytes_up(whole), bytes_up(exact)) << "a rank of d or more changes nothing";
    EXPECT_TRUE(whole.client_states == exact.client_states) << method;
  }
}
}  // namespace
}  // namespace fedhur::experiment
