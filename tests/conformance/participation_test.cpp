// What every method makes of clients that are missing or refused: a round is one of those who took
// part in it, and all others go on.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "tests/support/method_run.hpp"
#include "tests/support/unreliable_federation.hpp"

namespace fedhur::experiment {
namespace {
using message::Message;
using tests::MethodRun;
using tests::UnreliableFederation;

constexpr Index kMissing = 3;  // in the middle, so that places are not numbers
constexpr Index kClients = 7;

struct Case {
  std::string name;
  std::string method;
  std::vector<std::string> assignments;
  bool draws_participants = false;  // so that the number of clients matters
};

void PrintTo(const Case& given, std::ostream* out) { *out << given.name; }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& method : methods::all_methods()) all.push_back({method.name, method.name, {}});
  for (const char* method : {"fedmf", "fedncf", "pfedrec", "fedcia", "fedhur"}) {
    all.push_back(
        {fmt::format("{}_spectral", method), method, {"model.start=spectral", "server.rate=2"}});
  }
  all.push_back({"fedca_spectral", "fedca", {"model.start=spectral"}});
  all.push_back({"fedcia_rank", "fedcia", {"wire.rank=3"}});
  all.push_back({"fedncf_rank", "fedncf", {"wire.rank=2"}});
  all.push_back({"fedncf_touched", "fedncf", {"average.item_rows=touched"}});
  all.push_back({"pfedrec_data", "pfedrec", {"average.weights=data"}});
  all.push_back({"fedca_drawn", "fedca", {"aggregation.participation=0.6"}, true});
  all.push_back({"fedhur_none", "fedhur", {"relation.kind=none"}});
  all.push_back({"fedhur_own", "fedhur", {"relation.kind=own"}});
  all.push_back({"fedhur_both", "fedhur", {"relation.kind=both"}});
  all.push_back({"fedhur_single", "fedhur", {"relation.structure=single"}});
  all.push_back({"fedhur_parameters", "fedhur", {"hierarchy.coarse=parameters"}});
  all.push_back({"fedhur_scorer", "fedhur", {"scorer.refinement_weight=0.5"}});
  return all;
}

ConfigTable settings(const Case& given, const std::vector<std::string>& more = {}) {
  ConfigTable table = tests::tiny_settings(given.method);
  for (const auto& assignment : given.assignments) add_assignment(table, assignment);
  for (const auto& assignment : more) add_assignment(table, assignment);
  return table;
}

std::vector<Index> all_but(const std::vector<Index>& missing) {
  std::vector<Index> others;
  for (Index client = 0; client < kClients; ++client) {
    if (std::ranges::find(missing, client) == missing.end()) others.push_back(client);
  }
  return others;
}

struct Played {
  federation::RoundNotes notes;
  std::map<std::string, double> quality;
};

Played play(Round round, MethodRun& run, UnreliableFederation& federation) {
  Played played;
  played.notes = run.server->run_round(round, federation);
  const auto quality = evaluate::evaluate_clients(federation, round, run.config.evaluation.cutoffs);
  played.quality = quality.test.means();
  played.quality["users"] = quality.test.num_users();
  return played;
}

void expect_finite(const Played& played, const MethodRun& run) {
  EXPECT_TRUE(std::isfinite(played.notes.loss));
  for (const auto& [name, value] : played.notes.numbers) EXPECT_TRUE(std::isfinite(value)) << name;
  for (const auto& [name, value] : played.quality) EXPECT_TRUE(std::isfinite(value)) << name;
  for (std::size_t k = 0; k < run.clients.size(); ++k) {
    EXPECT_TRUE(run.scores(k).allFinite()) << "client " << k;
  }
}

// Of clients in two runs, in the order of both lists.
void expect_same_states(const MethodRun& actual, const std::vector<Index>& clients,
                        const MethodRun& expected, const std::vector<Index>& others) {
  ASSERT_EQ(clients.size(), others.size());
  for (std::size_t k = 0; k < clients.size(); ++k) {
    EXPECT_TRUE(actual.client_state(static_cast<std::size_t>(clients[k])) ==
                expected.client_state(static_cast<std::size_t>(others[k])))
        << "client " << clients[k];
  }
}

std::vector<Index> first(std::size_t count) {
  std::vector<Index> places(count);
  std::iota(places.begin(), places.end(), Index{0});
  return places;
}

class Participation : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, Participation, testing::ValuesIn(cases()),
                         [](const auto& given) { return given.param.name; });

TEST_P(Participation, WithoutSomeIsAFederationOfTheOthers) {
  if (GetParam().draws_participants) GTEST_SKIP() << "draws others among fewer";
  for (const std::vector<Index>& missing :
       std::vector<std::vector<Index>>{{kMissing}, {0}, {0, 1, 3, 4, 6}, {0, 1, 2, 3, 4, 6}}) {
    const std::vector<Index> others = all_but(missing);
    MethodRun all(settings(GetParam()));
    UnreliableFederation unreliable(all.client_methods());
    unreliable.is_absent = [&](Index client, const Message&) {
      return std::ranges::find(missing, client) != missing.end();
    };
    MethodRun few(settings(GetParam()), 2, others);
    UnreliableFederation reliable(few.client_methods());
    for (Round round = 0; round < 3; ++round) {
      const Played with = play(round, all, unreliable);
      const Played without = play(round, few, reliable);
      expect_finite(with, all);
      EXPECT_EQ(with.notes.loss, without.notes.loss);
      EXPECT_EQ(with.notes.numbers, without.notes.numbers);
      EXPECT_EQ(with.quality, without.quality);
      expect_same_states(all, others, few, first(others.size()));
      EXPECT_TRUE(all.server_state() == few.server_state());
      EXPECT_FALSE(with.notes.inside.contains("weight_blocks")) << "not of the whole federation";
    }
    EXPECT_TRUE(unreliable.refusals.empty()) << unreliable.refusals.front();
    EXPECT_EQ(all.server->is_finished(), false) << "a reply is missing";
  }
}

TEST_P(Participation, OfARoundIsThatOfThoseWhoTrained) {
  if (GetParam().draws_participants) GTEST_SKIP() << "draws others among fewer";
  const std::vector<Index> others = all_but({kMissing});
  MethodRun all(settings(GetParam()));
  UnreliableFederation unreliable(all.client_methods());
  (void)play(0, all, unreliable);
  // What takes part in the round; FedSLIM says how many users there are before.
  const std::string training = unreliable.clients_asked("count", 0).empty() ? "train" : "count";

  MethodRun few(settings(GetParam()), 2, others);
  few.server->restore(all.server->save());
  for (std::size_t k = 0; k < others.size(); ++k) {
    few.clients[k].half().restore(all.clients[static_cast<std::size_t>(others[k])].half().save());
  }
  UnreliableFederation reliable(few.client_methods());
  unreliable.is_absent = [&](Index client, const Message& request) {
    return client == kMissing && request.kind == training && request.round == 1;
  };
  const Played with = play(1, all, unreliable);
  const Played without = play(1, few, reliable);
  expect_finite(with, all);
  EXPECT_EQ(with.notes.loss, without.notes.loss);
  EXPECT_EQ(with.notes.numbers, without.notes.numbers);
  expect_same_states(all, others, few, first(others.size()));
  EXPECT_TRUE(all.server_state() == few.server_state());

  // It is back, and all clients take part again.
  expect_finite(play(2, all, unreliable), all);
  EXPECT_EQ(unreliable.clients_asked(training, 2).size(), static_cast<std::size_t>(kClients));
  EXPECT_TRUE(unreliable.refusals.empty()) << unreliable.refusals.front();
}

// What the method asks for in a round, beginning with the training.
std::vector<std::string> kinds_of(const UnreliableFederation& federation, Round round) {
  std::vector<std::string> kinds;
  for (const auto& exchange : federation.asked) {
    if (exchange.round == round && exchange.kind != "evaluate") kinds.push_back(exchange.kind);
  }
  return kinds;
}

TEST_P(Participation, EndsForOneInTheMiddleOfARoundAndForNobodyElse) {
  MethodRun whole(settings(GetParam()));
  UnreliableFederation reliable(whole.client_methods());
  for (Round round = 0; round < 2; ++round) (void)play(round, whole, reliable);
  const std::vector<std::string> kinds = kinds_of(reliable, 1);
  for (std::size_t phase = 1; phase < kinds.size(); ++phase) {
    SCOPED_TRACE(kinds[phase]);
    MethodRun run(settings(GetParam()));
    UnreliableFederation federation(run.client_methods());
    federation.is_absent = [&](Index client, const Message& request) {
      return client == kMissing && request.kind == kinds[phase] && request.round == 1;
    };
    for (Round round = 0; round < 2; ++round) expect_finite(play(round, run, federation), run);
    if (kinds[phase] == "upload" || kinds[phase] == "count") {
      // What it would have brought is missing from the sum.
    } else if (kinds[phase] == "query") {
      for (const Index k : all_but({kMissing})) {  // fewer queries are multiplied in another order
        const auto client = static_cast<std::size_t>(k);
        EXPECT_TRUE(run.scores(client).isApprox(whole.scores(client), 1e-3F)) << k;
      }
    } else {
      expect_same_states(run, all_but({kMissing}), whole, all_but({kMissing}));
      EXPECT_TRUE(run.server_state() == whole.server_state());
    }
    expect_finite(play(2, run, federation), run);
  }
}

TEST_P(Participation, MayBeginLate) {
  MethodRun run(settings(GetParam()));
  UnreliableFederation federation(run.client_methods());
  federation.is_absent = [](Index client, const Message& request) {
    return client == kMissing && (request.kind == "start" || request.kind == "update") &&
           request.round == 0;
  };
  for (Round round = 0; round < 3; ++round) expect_finite(play(round, run, federation), run);
}

TEST_P(Participation, MayShrinkToTwoForARound) {
  MethodRun run(settings(GetParam()));
  UnreliableFederation federation(run.client_methods());
  federation.is_absent = [](Index client, const Message& request) {
    return client != 1 && client != 5 && request.round == 1;
  };
  for (Round round = 0; round < 3; ++round) expect_finite(play(round, run, federation), run);
  EXPECT_TRUE(federation.refusals.empty()) << federation.refusals.front();
}

// ---- Clients that send what cannot be.
struct Spoiling {
  std::string name;
  void (*spoil)(NamedArrays& arrays, const std::string& name);
};

NamedArrays without(const NamedArrays& arrays, const std::string& name) {
  NamedArrays rest;
  for (const auto& [other, array] : arrays.entries()) {
    if (other != name) rest.set(other, array);
  }
  return rest;
}

template <class Change>
void change(NamedArrays& arrays, const std::string& name, const Change& change_matrix) {
  std::visit(
      [&](const auto& shared) {
        auto matrix = *shared;
        change_matrix(matrix);
        arrays.set(name, std::move(matrix));
      },
      Array(*arrays.find(name)));
}

template <class Matrix>
void set_last(Matrix& matrix, double value) {
  matrix.data()[matrix.size() - 1] = static_cast<typename Matrix::Scalar>(value);
}
template <class Matrix>
void add_row(Matrix& matrix) {
  matrix.conservativeResizeLike(Matrix::Zero(matrix.rows() + 1, matrix.cols()));
}

// The same entries, the last with this value, in so many rows.
template <class Scalar>
SparseMatrix<Scalar> change_sparse(const SparseMatrix<Scalar>& matrix, Scalar last, Index rows) {
  SparseMatrix<Scalar> changed(rows, matrix.cols());
  for (std::size_t e = 0; e < matrix.num_entries(); ++e) {
    changed.append(matrix.places()[e], e + 1 < matrix.num_entries() ? matrix.values()[e] : last);
  }
  return changed;
}
template <class Scalar>
void set_last(SparseMatrix<Scalar>& matrix, double value) {
  using Limits = std::numeric_limits<Scalar>;
  const Scalar last = std::is_integral_v<Scalar> ? value > 0 ? Limits::max() : Limits::min()
                                                 : static_cast<Scalar>(value);
  matrix = change_sparse(matrix, last, matrix.rows());
}
template <class Scalar>
void add_row(SparseMatrix<Scalar>& matrix) {
  matrix = change_sparse(matrix, matrix.values().back(), matrix.rows() + 1);
}

const std::vector<Spoiling> kSpoilings = {
    {"NaN",
     [](NamedArrays& arrays, const std::string& name) {
       change(arrays, name, [](auto& matrix) { set_last(matrix, std::nan("")); });
     }},
    {"huge",
     [](NamedArrays& arrays, const std::string& name) {
       change(arrays, name, [](auto& matrix) { set_last(matrix, 1e30); });
     }},
    {"one more row",
     [](NamedArrays& arrays, const std::string& name) {
       change(arrays, name, [](auto& matrix) { add_row(matrix); });
     }},
    {"missing",
     [](NamedArrays& arrays, const std::string& name) { arrays = without(arrays, name); }},
};

struct Ending {
  std::vector<std::vector<std::byte>> others;
  std::vector<std::byte> server;
  std::map<std::string, double> quality;
  std::vector<std::string> refusals;
};

Ending run_two_rounds(const Case& given, const UnreliableFederation::IsAbsent& is_absent,
                      const UnreliableFederation::Lie& lie) {
  MethodRun run(settings(given));
  UnreliableFederation federation(run.client_methods());
  federation.is_absent = is_absent;
  federation.lie = lie;
  Ending ending;
  for (Round round = 0; round < 2; ++round) ending.quality = play(round, run, federation).quality;
  for (const Index k : all_but({kMissing})) {
    ending.others.push_back(run.client_state(static_cast<std::size_t>(k)));
  }
  ending.server = run.server_state();
  ending.refusals = federation.refusals;
  return ending;
}

TEST_P(Participation, EndsForWhoeverIsRefused) {
  std::map<std::string, std::set<std::string>> uploads;  // by kind
  (void)run_two_rounds(GetParam(), {}, [&](Index, const Message& reply) {
    for (const auto& [name, array] : reply.arrays.entries()) uploads[reply.kind].insert(name);
  });
  EXPECT_EQ(uploads.count("evaluate"), 1U);
  for (const auto& [asked, names] : uploads) {
    const std::string& kind = asked;
    const Ending missing = run_two_rounds(GetParam(),
                                          [&](Index client, const Message& request) {
                                            return client == kMissing && request.kind == kind;
                                          },
                                          {});
    for (const std::string& name : names) {
      for (const Spoiling& spoiling : kSpoilings) {
        SCOPED_TRACE(fmt::format("{}: '{}' {}", kind, name, spoiling.name));
        const Ending refused = run_two_rounds(GetParam(), {}, [&](Index client, Message& reply) {
          if (client == kMissing && reply.kind == kind) spoiling.spoil(reply.arrays, name);
        });
        EXPECT_FALSE(refused.refusals.empty());
        for (const std::string& refusal : refused.refusals) {
          EXPECT_THAT(refusal, testing::StartsWith("client 3: "));
        }
        EXPECT_TRUE(refused.others == missing.others);
        EXPECT_TRUE(refused.server == missing.server);
        // Elsewhere the client itself has come further, and says so when it is evaluated.
        if (kind == "evaluate") {
          EXPECT_EQ(refused.quality, missing.quality);
        }
      }
    }
  }
}

// What passes every check can still be nothing that training makes.
TEST_P(Participation, BearsUploadsOfZerosAndOfOnes) {
  for (const Real value : {0.0F, 1.0F, kMissing * 300.0F}) {
    SCOPED_TRACE(value);
    MethodRun run(settings(GetParam()));
    UnreliableFederation federation(run.client_methods());
    federation.lie = [&](Index client, Message& reply) {
      if (client != kMissing) return;
      const NamedArrays honest = reply.arrays;
      for (const auto& [name, array] : honest.entries()) {
        if (const auto* table = std::get_if<Shared<Matrix>>(&array)) {
          reply.arrays.set(name,
                           Matrix(Matrix::Constant((*table)->rows(), (*table)->cols(), value)));
        }
      }
    };
    for (Round round = 0; round < 3; ++round) {
      const Played played = play(round, run, federation);
      for (const auto& [name, number] : played.quality) EXPECT_TRUE(std::isfinite(number)) << name;
      expect_finite(played, run);
    }
  }
}

// Who is sent what after a round in which one did not train.
TEST(Participation, IsNotNeededForWhatIsGoodForEverybody) {
  struct Phase {
    std::string method;
    std::string kind;
    bool is_for_all;
  };
  for (const auto& [method, phase, is_for_all] :
       std::vector<Phase>{{"popularity", "update", true},
                          {"fedslim", "update", true},
                          {"fedmf", "update", true},
                          {"fedncf", "update", true},
                          {"fedrap", "update", true},
                          {"gpfedrec", "update", true},
                          {"fedcia", "finetune", true},
                          {"fedca", "mix", false},
                          {"fedhur", "query", false},
                          {"fedhur", "finetune", false}}) {
    MethodRun run(settings({"", method, {}}));
    UnreliableFederation federation(run.client_methods());
    federation.is_absent = [](Index client, const Message& request) {
      return client == kMissing && (request.kind == "train" || request.kind == "count");
    };
    (void)run.server->run_round(1, federation);
    EXPECT_EQ(federation.clients_asked(phase, 1),
              all_but(is_for_all ? std::vector<Index>{} : std::vector<Index>{kMissing}))
        << method << ", " << phase;
  }
}

TEST(GpFedRecParticipation, PullsWhoeverIsMissingTowardsAll) {
  MethodRun run(settings({"", "gpfedrec", {}}));
  UnreliableFederation federation(run.client_methods());
  federation.is_absent = [](Index client, const Message& request) {
    return client == kMissing && request.kind == "train";
  };
  (void)run.server->run_round(0, federation);
  const auto table = [&](Index client, const std::string& name) {
    return run.clients[static_cast<std::size_t>(client)].half().save().matrix(name);
  };
  const Matrix global = table(0, "global_item_embeddings");
  EXPECT_EQ(table(kMissing, "global_item_embeddings"), global);
  EXPECT_EQ(table(kMissing, "personalized_item_embeddings"), global);
  EXPECT_NE(table(kMissing + 1, "personalized_item_embeddings"), global);
}

TEST(FedHurParticipation, KnowsTheCandidateByItsNumber) {
  const auto settings_of = [](const std::string& candidate) {
    return settings({"", "fedhur", {"relation.kind=candidate", "relation.candidate=" + candidate}});
  };
  const auto is_missing = [](Index client, const Message&) { return client == kMissing; };
  const std::vector<Index> others = all_but({kMissing});
  MethodRun all(settings_of("4"));
  UnreliableFederation unreliable(all.client_methods());
  unreliable.is_absent = is_missing;
  MethodRun few(settings_of("3"), 2, others);  // the same client, one place earlier
  UnreliableFederation reliable(few.client_methods());
  for (Round round = 0; round < 2; ++round) {
    (void)play(round, all, unreliable);
    (void)play(round, few, reliable);
  }
  expect_same_states(all, others, few, first(others.size()));

  // If it is not there, all get what they have in common.
  MethodRun nobody(settings_of("3"));
  UnreliableFederation without_candidate(nobody.client_methods());
  without_candidate.is_absent = is_missing;
  MethodRun fedcia(settings({"", "fedcia", {}}));
  UnreliableFederation without_one(fedcia.client_methods());
  without_one.is_absent = is_missing;
  for (Round round = 0; round < 2; ++round) {
    (void)play(round, nobody, without_candidate);
    (void)play(round, fedcia, without_one);
  }
  for (const Index k : others) {
    const auto client = static_cast<std::size_t>(k);
    EXPECT_TRUE(nobody.scores(client).isApprox(fedcia.scores(client), 1e-3F)) << k;
  }
}

TEST(Participation, OfNobodyIsAnError) {
  for (const auto& method : methods::all_methods()) {
    if (method.name == "popularity") continue;  // no counts are counts
    MethodRun run(settings({"", method.name, {}}));
    UnreliableFederation federation(run.client_methods());
    federation.is_absent = [](Index, const Message& request) {
      return request.kind == "train" || request.kind == "count";
    };
    EXPECT_THROW((void)run.server->run_round(0, federation), TransportError) << method.name;
  }
}
}  // namespace
}  // namespace fedhur::experiment
