// The server half of FedHUR against the dense method: uploads in, personalised filters out.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fedhur/linalg/normalize.hpp"
#include "fedhur/methods/method.hpp"
#include "tests/support/fedhur_requests.hpp"

namespace fedhur::methods {
namespace {
using federation::Answer;
using federation::Request;
using message::Message;
using tests::Dense;
using tests::gram;
using tests::widen;

// Clients that upload fixed tables, ask random queries and remember what they are sent.
class FixedUploads : public federation::Federation {
 public:
  FixedUploads(server::Uploads tables, Index directions)
      : uploads(std::move(tables)), finetunes(uploads.size()), directions_(directions) {}
  [[nodiscard]] Index num_clients() const override { return static_cast<Index>(uploads.size()); }
  std::vector<Answer> exchange(std::span<const Request> requests) override {
    std::vector<Answer> answers;
    for (const Request& request : requests) {
      const auto k = static_cast<std::size_t>(request.client);
      const Message& asked = *request.message;
      if (missing.contains({asked.kind, index_of(request.client)})) continue;
      Message reply{.kind = asked.kind, .round = asked.round, .arrays = {}};
      if (asked.kind == "train") {
        reply.arrays.set("item_embeddings", Array(uploads[k]));
        reply.arrays.set_number("loss_sum", 4);
        reply.arrays.set_number("num_samples", 2);
      } else if (asked.kind == "query") {
        query = asked;
        if (asked.arrays.contains("group_filters")) {
          reply.arrays.set("projected_query", answer_query(asked, k));
        }
      } else if (asked.kind == "finetune") {
        finetunes[k] = asked;
      }
      answers.push_back({request.client, std::move(reply)});
      federation::check_answer(answers.back(), request);
    }
    return answers;
  }
  server::Uploads uploads;
  Real query_scale = 1.0F;
  std::set<std::pair<std::string, Index>> missing;  // kinds and clients who do not hear of them
  Message query;
  std::vector<Message> finetunes;

 private:
  [[nodiscard]] Matrix answer_query(const Message& asked, std::size_t client) const {
    const auto hierarchy =
        linalg::from_table({.members = asked.arrays.integers("hierarchy"),
                            .ends_with_items = asked.arrays.number("ends_with_items") != 0.0});
    return query_scale * tests::random_matrix(hierarchy.num_members(), directions_, 40 + client);
  }
  Index directions_;
};

// One round of a server with these settings, and what became known of it.
struct Round0 {
  Round0(Index num_clients, Index num_items, Index dim, const std::vector<std::string>& assignments,
         std::uint64_t seed)
      : Round0(FixedUploads(tests::related_uploads(num_clients, num_items, dim, seed), 4),
               assignments) {}
  Round0(FixedUploads given, std::vector<std::string> assignments) : federation(std::move(given)) {
    const Index num_clients = federation.num_clients();
    const Index num_items = federation.uploads[0]->rows();
    const Index dim = federation.uploads[0]->cols();
    assignments.push_back("model.embedding_dim=" + std::to_string(dim));
    assignments.emplace_back("query.directions=4");
    assignments.insert(assignments.begin(), {"global_filter.rank=" + std::to_string(num_items),
                                             "global_filter.first_passes=5"});
    config = tests::fedhur_config(assignments);
    ConfigTable table;
    for (const auto& assignment : assignments) experiment::add_assignment(table, assignment);
    const RoundWatcher watcher{.round = 0, .show = [&](const FedHurRound& now) { seen = now; }};
    const Executor executor(2);
    Settings settings(table);
    const auto server =
        find_method("fedhur").configure(settings).make_server({.num_clients = num_clients,
                                                               .num_items = num_items,
                                                               .rng = Rng(1),
                                                               .executor = &executor,
                                                               .watcher = &watcher});
    notes = server->run_round(0, federation);
    guidance = read_guidance(federation.query, config, num_items);
    hierarchy = guidance.build_hierarchy();
  }

  // What client k will fit its embeddings to.
  [[nodiscard]] Dense personalized_filter(std::size_t k) const {
    return widen(read_personalized_filter(federation.finetunes[k],
                                          config.in_round(0, guidance.weight_share), guidance)
                     .to_dense());
  }
  [[nodiscard]] Dense weights(Index scope) const {
    return seen.personal.retrievals[static_cast<std::size_t>(scope)].aggregation_weights;
  }

  FixedUploads federation;
  FedHurConfig config;
  FedHurRound seen;
  federation::RoundNotes notes;
  Guidance guidance;
  Shared<linalg::ItemHierarchy> hierarchy;
};

const std::vector<std::string> kKinds = {"own",  "similarity", "complementarity",
                                         "both", "utility",    "common"};

TEST(FedHurServer, MixesWholeFiltersWhereTheStructureIsSingle) {
  for (const std::string& kind : kKinds) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Round0 round(5, 13, 3, {"relation.structure=single", "relation.kind=" + kind}, seed);
      const Dense alpha = round.weights(0);
      for (std::size_t k = 0; k < 5; ++k) {
        Dense expected = Dense::Zero(13, 13);
        for (std::size_t j = 0; j < 5; ++j) {
          expected += alpha(static_cast<Index>(k), static_cast<Index>(j)) *
                      gram(widen(*round.federation.uploads[j]));
        }
        EXPECT_LE(tests::difference(round.personalized_filter(k), expected), 1e-4)
            << kind << ", seed " << seed << ", client " << k;
      }
    }
  }
}

Dense dense_personalized_filter(const Round0& round, std::size_t k) {
  const server::Uploads& uploads = round.federation.uploads;
  const linalg::ItemHierarchy& hierarchy = *round.hierarchy;
  Dense sum = tests::dense_global_filter(uploads);
  for (Index s = 0; s < hierarchy.num_scopes(); ++s) {
    const linalg::Scope& scope = hierarchy.scopes[static_cast<std::size_t>(s)];
    const Dense alpha = round.weights(s);
    const Index m = scope.num_members();
    Dense mixed = Dense::Zero(m, m);
    Dense mean = Dense::Zero(m, m);
    Dense average = Dense::Zero(m, uploads[0]->cols());
    for (std::size_t j = 0; j < uploads.size(); ++j) {
      const Dense Z = tests::dense_group_means(*uploads[j], scope);
      const double weight = alpha(static_cast<Index>(k), static_cast<Index>(j));
      mixed += weight * gram(Z);
      mean += gram(Z) / static_cast<double>(uploads.size());
      average += weight * Z;
    }
    if (round.config.coarse == server::Coarse::parameters && scope.level == 0)
      mixed = gram(average);
    const Dense R = mixed - mean;
    const auto beta =
        static_cast<double>(linalg::level_weight(round.config.level_weights, scope.level));
    sum += beta * tests::dense_map(scope, R.cast<Real>(), hierarchy.num_items);
  }
  return sum;
}

TEST(FedHurServer, AddsTheResidualsOfAllLevelsToTheGlobalFilter) {
  for (const std::string& kind : kKinds) {
    for (const std::string coarse : {"filters", "parameters"}) {
      for (const std::string branching : {"[3]", "[3, 2]", "[2, 2, \"items\"]", "[\"items\"]"}) {
        const Round0 round(
            5, 14, 3,
            {"relation.kind=" + kind, "hierarchy.coarse=" + coarse,
             "hierarchy.branching=" + branching, "hierarchy.level_weights=[0.5, 0.3, 0.2]"},
            2);
        for (std::size_t k = 0; k < 5; ++k) {
          EXPECT_LE(
              tests::difference(round.personalized_filter(k), dense_personalized_filter(round, k)),
              1e-4)
              << kind << ", " << coarse << ", " << branching << ", client " << k;
        }
      }
    }
  }
}

TEST(FedHurServer, HasFiltersOfTheTraceOfTheGlobalOneWhereTheyAreScaled) {
  for (const std::string structure : {"single", "hierarchical"}) {
    const std::vector<std::string> settings = {"relation.structure=" + structure,
                                               "hierarchy.branching=[3, 2, \"items\"]",
                                               "hierarchy.level_weights=[0.5, 0.3, 0.2]"};
    std::vector<std::string> scaled_settings = settings;
    scaled_settings.emplace_back("relation.scale=trace");
    const Round0 as_is(5, 14, 3, settings, 2);
    const Round0 scaled(5, 14, 3, scaled_settings, 2);
    const double trace = tests::dense_global_filter(scaled.federation.uploads).trace();
    for (std::size_t k = 0; k < 5; ++k) {
      const Dense before = as_is.personalized_filter(k);
      EXPECT_GT(std::abs(before.trace() / trace - 1.0), 1e-3) << "there is something to scale";
      const Dense after = scaled.personalized_filter(k);
      EXPECT_NEAR(after.trace() / trace, 1.0, 1e-4) << structure << ", client " << k;
      EXPECT_LE(tests::difference(after, before * (trace / before.trace())), 1e-4);
    }
  }
}

// What S_g of rank 2 does not keep of uploads of rank 3 is left to learn, and so much of the
// weights.
TEST(FedHurServer, WeighsResidualsByWhatIsLeftToLearn) {
  for (const std::string structure : {"single", "hierarchical"}) {
    const auto settings = [&](const std::string& schedule, double weight) {
      return std::vector<std::string>{"relation.structure=" + structure,
                                      "hierarchy.branching=[3, \"items\"]",
                                      "global_filter.rank=2",
                                      "relation.schedule=" + schedule,
                                      fmt::format("relation.single_weight={}", weight),
                                      fmt::format("hierarchy.level_weights=[{}]", weight)};
    };
    const Round0 round(5, 14, 3, settings("left", 1.0), 2);
    const double left = round.guidance.weight_share;
    EXPECT_EQ(left, 1.0 - round.seen.trained.filter->trace_kept);
    EXPECT_GT(left, 0.01);
    EXPECT_LT(left, 0.99);
    const Round0 weighed(5, 14, 3, settings("constant", left), 2);
    const Round0 all(5, 14, 3, settings("constant", 1.0), 2);
    for (std::size_t k = 0; k < 5; ++k) {
      const Dense filter = round.personalized_filter(k);
      EXPECT_LE(tests::difference(filter, weighed.personalized_filter(k)), 1e-5) << structure;
      EXPECT_GT(tests::difference(filter, all.personalized_filter(k)), 1e-3) << structure;
    }
  }
}

TEST(FedHurServer, KeepsWeightsWithinTheBoundOfTheClip) {
  const Round0 round(9, 14, 3, {"retrieval.clip=1.0"}, 3);
  const double high = std::exp(1.0);
  const double bound = high / (high + 8.0 * std::exp(-1.0));
  for (Index s = 0; s < round.hierarchy->num_scopes(); ++s) {
    EXPECT_LE(round.weights(s).maxCoeff(), bound + 1e-6);
    tests::expect_close(Dense(round.weights(s).rowwise().sum()), Dense(Dense::Ones(9, 1)), 1e-6);
  }
}

// Places among those who take part are not numbers of clients.
TEST(FedHurServer, PersonalizesForThoseWhoAskWithTheHelpOfAllWhoTrained) {
  for (const std::string structure : {"single", "hierarchical"}) {
    FixedUploads federation(tests::related_uploads(6, 14, 3, 4), 4);
    federation.missing = {{"train", 1}, {"query", 3}};
    const Round0 round(std::move(federation),
                       {"relation.structure=" + structure, "hierarchy.branching=[3, \"items\"]",
                        "relation.single_weight=0.5"});
    const auto& finetunes = round.federation.finetunes;
    for (const std::size_t k : {1U, 3U}) EXPECT_TRUE(finetunes[k].kind.empty()) << k;
    for (const std::size_t k : {0U, 2U, 4U, 5U}) EXPECT_FALSE(finetunes[k].kind.empty()) << k;
    const auto ids = [](std::initializer_list<Index> numbers) {
      std::vector<ClientId> clients;
      for (const Index number : numbers) clients.push_back(client_id(number));
      return clients;
    };
    EXPECT_EQ(round.seen.trained.clients, ids({0, 2, 3, 4, 5}));
    EXPECT_EQ(*round.seen.trained.uploads[2], *round.federation.uploads[3]);
    EXPECT_EQ(round.seen.targets.clients, ids({0, 2, 4, 5}));
    EXPECT_EQ(round.weights(0).rows(), 4) << "targets 0, 2, 4 and 5";
    EXPECT_EQ(round.weights(0).cols(), 5) << "and client 3 helps them";
    EXPECT_FALSE(round.notes.inside.contains("weight_blocks"));
    double own = 0.0;
    for (Index s = 0; s < round.hierarchy->num_scopes(); ++s) {
      const Dense alpha = round.weights(s);
      own += (alpha(0, 0) + alpha(1, 1) + alpha(2, 3) + alpha(3, 4)) / 4.0;
    }
    own /= static_cast<double>(round.hierarchy->num_scopes());
    EXPECT_NEAR(round.notes.numbers.at("own_weight"), own, 1e-6);

    // The same by the definition, for the last target: client 5, the last of five candidates.
    server::Uploads candidates = round.federation.uploads;
    candidates.erase(candidates.begin() + 1);
    const double beta = structure == "single" ? 0.5 : 0.3;
    Dense expected = tests::dense_global_filter(candidates);
    for (Index s = 0; s < round.hierarchy->num_scopes(); ++s) {
      const linalg::Scope& scope = round.hierarchy->scopes[static_cast<std::size_t>(s)];
      Dense R = Dense::Zero(scope.num_members(), scope.num_members());
      for (std::size_t j = 0; j < candidates.size(); ++j) {
        const Dense Z = tests::dense_group_means(*candidates[j], scope);
        R += (round.weights(s)(3, static_cast<Index>(j)) - 1.0 / 5.0) * gram(Z);
      }
      expected += beta * tests::dense_map(scope, R.cast<Real>(), 14);
    }
    EXPECT_LE(tests::difference(round.personalized_filter(5), expected), 1e-4) << structure;
  }
}

TEST(FedHurServer, GoesOnIfNobodyAsks) {
  FixedUploads federation(tests::related_uploads(3, 14, 3, 4), 4);
  federation.missing = {{"query", 0}, {"query", 1}, {"query", 2}};
  ConfigTable table;
  for (const char* setting : {"model.embedding_dim=3", "scorer.refinement_weight=0.5"}) {
    experiment::add_assignment(table, setting);
  }
  const Executor executor(1);
  Settings settings(table);
  const auto server = find_method("fedhur").configure(settings).make_server(
      {.num_clients = 3, .num_items = 14, .rng = Rng(1), .executor = &executor});
  (void)server->run_round(0, federation);
  for (const Message& finetune : federation.finetunes) EXPECT_TRUE(finetune.kind.empty());
  federation.missing.clear();
  federation = FixedUploads(federation.uploads, 16);
  (void)server->run_round(1, federation);
  for (const Message& finetune : federation.finetunes) EXPECT_FALSE(finetune.kind.empty());
}

// S_g is at most the largest |E_j|^2, and so is, level by level, what a filter adds and takes away.
TEST(FedHurServer, BoundsTheFiltersOfAllWhateverOneUploads) {
  server::Uploads uploads = tests::related_uploads(6, 14, 3, 4);
  std::vector<double> norms;
  for (auto& table : uploads) {
    table = std::make_shared<const Matrix>(0.1F * *table);
    norms.push_back(widen(*table).norm());
  }
  uploads[2] = std::make_shared<const Matrix>(1000.0F * *uploads[2]);
  std::ranges::nth_element(norms, norms.begin() + 3);
  const double most = 10.0 * norms[3];
  for (const std::string& kind : kKinds) {
    const Round0 round(FixedUploads(uploads, 4), {"relation.kind=" + kind});
    EXPECT_THAT(round.notes.warnings,
                testing::ElementsAre(testing::StartsWith("client 2: 'item_embeddings' has norm")));
    constexpr double kLevels = 3;
    const double bound = (1.0 + 0.3 * 2.0 * kLevels) * most * most;
    for (const std::size_t k : {0U, 1U, 3U, 4U, 5U}) {
      EXPECT_LE(round.personalized_filter(k).norm(), bound) << kind << ", client " << k;
    }
  }
}

TEST(FedHurServer, NotesWhatARoundWasLike) {
  const Round0 round(5, 14, 3, {"scorer.refinement_weight=0.5"}, 1);
  EXPECT_EQ(round.notes.loss, 2.0);
  EXPECT_NEAR(round.notes.numbers.at("trace_kept"), 1.0, 1e-4);
  EXPECT_GT(round.notes.numbers.at("relation_entropy"), 0.0);
  EXPECT_LE(round.notes.numbers.at("relation_entropy"), 1.0);
  EXPECT_GT(round.notes.numbers.at("score_loss"), 0.0);
}

TEST(FedHurServer, RefusesUploadsThatAreMalformed) {
  for (const std::string method : {"fedcia", "fedhur"}) {
    ConfigTable table;
    experiment::add_assignment(table, "model.embedding_dim=3");
    const Executor executor(1);
    Settings settings(table);
    const auto server = find_method(method).configure(settings).make_server(
        {.num_clients = 3, .num_items = 7, .rng = Rng(1), .executor = &executor});
    const auto error_of = [&](const Matrix& upload) -> std::string {
      server::Uploads uploads = tests::related_uploads(3, 7, 3, 1);
      uploads[1] = std::make_shared<const Matrix>(upload);
      FixedUploads federation(uploads, 16);
      try {
        (void)server->run_round(0, federation);
      } catch (const ProtocolError& error) {
        return error.what();
      }
      return "no error";
    };
    EXPECT_EQ(error_of(Matrix::Constant(7, 3, std::numeric_limits<Real>::quiet_NaN())),
              "client 1: 'item_embeddings' holds values that are not finite");
    EXPECT_EQ(error_of(Matrix::Constant(7, 3, 1e20F)),
              "client 1: 'item_embeddings' holds values of magnitude 1e+20, expected at most 1000");
    EXPECT_EQ(error_of(Matrix::Zero(7, 2)), "client 1: 'item_embeddings' is 7 x 2, expected 7 x 3");
  }
}

TEST(FedHurServer, RefusesQueriesThatAreMalformed) {
  ConfigTable table;
  experiment::add_assignment(table, "model.embedding_dim=3");
  const Executor executor(1);
  Settings settings(table);
  const auto server = find_method("fedhur").configure(settings).make_server(
      {.num_clients = 3, .num_items = 7, .rng = Rng(1), .executor = &executor});
  FixedUploads too_narrow(tests::related_uploads(3, 7, 3, 1), 15);  // of 16 directions
  EXPECT_THROW((void)server->run_round(0, too_narrow), ProtocolError);
  FixedUploads too_large(tests::related_uploads(3, 7, 3, 1), 16);
  too_large.query_scale = 1e20F;
  EXPECT_THROW((void)server->run_round(0, too_large), ProtocolError);
}

// One client cannot stop the others: what it may upload leaves their filters finite.
TEST(FedHurServer, BearsAnUploadAtTheBound) {
  constexpr Index kItems = 2000;
  for (const std::string setting :
       {"finetune.passes=1", "finetune.passes=3", "finetune.solver=gradient",
        "global_filter.rank=8", "relation.structure=single", "hierarchy.coarse=parameters",
        "upload.norm_cap=10"}) {
    SCOPED_TRACE(setting);
    const std::vector<std::string> assignments = {"model.embedding_dim=16", "upload.norm_cap=0",
                                                  setting};
    ConfigTable table;
    for (const auto& assignment : assignments) experiment::add_assignment(table, assignment);
    const Executor executor(2);
    Settings settings(table);
    const auto server = find_method("fedhur").configure(settings).make_server(
        {.num_clients = 3, .num_items = kItems, .rng = Rng(1), .executor = &executor});
    server::Uploads uploads = tests::related_uploads(3, kItems, 16, 1);
    uploads[1] = std::make_shared<const Matrix>(Matrix::Constant(kItems, 16, kLargestUpload));
    FixedUploads federation(uploads, 16);
    (void)server->run_round(0, federation);

    const FedHurConfig config = tests::fedhur_config(assignments);
    const Guidance guidance = read_guidance(federation.query, config, kItems);
    for (std::size_t k = 0; k < uploads.size(); ++k) {
      const linalg::ItemFilter filter =
          read_personalized_filter(federation.finetunes[k], config, guidance);
      EXPECT_TRUE(client::finetune(*uploads[k], filter, config.common.fine_tuning).allFinite())
          << k;
    }
  }
}

TEST(FedHurConfig, NamesTheKeyOfASettingThatIsNotAllowed) {
  for (const std::string assignment : {"retrieval.temperature=-1",
                                       "retrieval.temperature=0",
                                       "retrieval.temperature=nan",
                                       "retrieval.clip=0",
                                       "hierarchy.branching=[2, \"items\", 3]",
                                       "hierarchy.branching=[]",
                                       "hierarchy.branching=[\"groups\"]",
                                       "hierarchy.branching=[0]",
                                       "hierarchy.branching=[2.5]",
                                       "hierarchy.branching=3",
                                       "hierarchy.leaf_items=-1",
                                       "hierarchy.largest_group=-1",
                                       "hierarchy.max_steps=0",
                                       "hierarchy.level_weights=[]",
                                       "hierarchy.level_weights=[-0.1]",
                                       "hierarchy.level_weights=[\"a\"]",
                                       "hierarchy.level_weights=[inf]",
                                       "hierarchy.coarse=items",
                                       "scorer.inputs=[]",
                                       "scorer.inputs=[\"speed\"]",
                                       "scorer.inputs=[\"scale\", \"scale\"]",
                                       "scorer.inputs=[1]",
                                       "scorer.hidden=0",
                                       "scorer.learning_rate=0",
                                       "scorer.passes=-1",
                                       "scorer.training_rows=0",
                                       "scorer.refinement_weight=-1",
                                       "relation.kind=best",
                                       "relation.structure=flat",
                                       "relation.single_weight=-1",
                                       "relation.decay=0",
                                       "relation.decay=1.1",
                                       "relation.principal_directions=0",
                                       "query.form=up",
                                       "query.directions=0",
                                       "query.filter_scale=frobenius",
                                       "global_filter.rank=-1",
                                       "global_filter.passes=0",
                                       "global_filter.first_passes=0",
                                       "noise.laplace_scale=-1",
                                       "finetune.solver=newton",
                                       "finetune.step=2"}) {
    try {
      (void)tests::fedhur_config({assignment});
      ADD_FAILURE() << assignment;
    } catch (const ConfigError& error) {
      EXPECT_EQ(std::string(error.what()).find(assignment.substr(0, assignment.find('='))), 0U)
          << error.what();
    }
  }
}
}  // namespace
}  // namespace fedhur::methods
