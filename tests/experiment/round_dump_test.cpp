// A dumped round, computed once more from its files alone: dense, in double, by the equations.
#include "fedhur/experiment/round_dump.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "fedhur/experiment/training.hpp"
#include "tests/support/decompositions.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/npy.hpp"
#include "tests/support/support.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::experiment {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::Dense;
using tests::distance;
using tests::gram;
using tests::product;
using tests::TempFolder;
using tests::tiny_settings;

constexpr Index kClients = 7;
constexpr Index kItems = 60;

ConfigTable settings(const std::string& method, const std::vector<std::string>& more) {
  ConfigTable table = tiny_settings(method);
  for (const std::string& assignment : more) add_assignment(table, assignment);
  return table;
}

// Files of a dump, in double.
class Dump {
 public:
  explicit Dump(fs::path folder) : folder_(std::move(folder)) {
    for (Index k = 0; k < kClients; ++k) embeddings.push_back(of("item_embeddings", k));
  }
  [[nodiscard]] Dense matrix(const std::string& name) const {
    return tests::widen(tests::read_npy(folder_ / (name + ".npy")).matrix());
  }
  [[nodiscard]] Dense of(const std::string& name, Index client) const {
    return matrix(fmt::format("{}/{}", name, client));
  }
  [[nodiscard]] json read(const std::string& name) const {
    return json::parse(read_text_file(folder_ / (name + ".json")));
  }
  // V diag(values) V^T
  [[nodiscard]] Dense global_filter() const {
    const auto values = tests::read_npy(folder_ / "global_filter_values.npy").values;
    const Eigen::VectorXd diagonal =
        Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size())).cast<double>();
    const Dense V = matrix("global_filter_basis");
    return product(V * diagonal.asDiagonal(), V.transpose());
  }

  std::vector<Dense> embeddings;

 private:
  fs::path folder_;
};

void expect_near(const Dense& found, const Dense& expected, double tolerance, const char* what) {
  ASSERT_EQ(found.rows(), expected.rows()) << what;
  ASSERT_EQ(found.cols(), expected.cols()) << what;
  EXPECT_LT(distance(found, expected), tolerance * (expected.norm() + 1e-9)) << what;
}

Dense mean_filter(const std::vector<Dense>& embeddings) {
  Dense sum = Dense::Zero(embeddings[0].rows(), embeddings[0].rows());
  for (const Dense& E : embeddings) sum += gram(E);
  return sum / static_cast<double>(embeddings.size());
}

// alpha = softmax_j(clip(Norm_j(r)) / tau)
Dense weigh(Dense scores, double clip, double temperature) {
  for (Index k = 0; k < scores.rows(); ++k) {
    Eigen::RowVectorXd row = scores.row(k).array() - scores.row(k).mean();
    row /= std::sqrt(row.squaredNorm() / static_cast<double>(row.size()));
    row = (row.cwiseMax(-clip).cwiseMin(clip) / temperature).array().exp();
    scores.row(k) = row / row.sum();
  }
  return scores;
}

// Eckart-Young: how near E E^T of rank `dim` can come to the filter.
double least_distance(const Dense& filter, Index dim) {
  const Eigen::VectorXd values = tests::eigen_pairs(filter).values;
  double square = values.squaredNorm();
  for (Index i = values.size() - dim; i < values.size(); ++i) {
    square -= std::pow(std::max(0.0, values(i)), 2);
  }
  return std::sqrt(square);
}

void expect_best_fit(const Dense& tuned, const Dense& before, const Dense& filter) {
  const double least = least_distance(filter, tuned.cols());
  EXPECT_NEAR(distance(gram(tuned), filter), least, 1e-4 * least);
  EXPECT_LT(least, distance(gram(before), filter));
  // Of all T O the one nearest to E is that with (T O)^T E symmetric and not negative.
  const Dense overlap = product(tuned.transpose(), before);
  EXPECT_LT(distance(overlap, overlap.transpose()), 1e-4 * overlap.norm());
  const Dense symmetric = 0.5 * (overlap + overlap.transpose());
  EXPECT_GT(tests::eigen_pairs(symmetric).values(0), -1e-4 * overlap.norm());
}

// One scope of a dump, and what the equations make of it.
struct ScopeCheck {
  const Dump& dump;
  json scope;
  json config;
  std::string folder;
  std::vector<std::vector<Index>> members;
  std::vector<Dense> Z;

  ScopeCheck(const Dump& source, json description, json settings)
      : dump(source),
        scope(std::move(description)),
        config(std::move(settings)),
        folder(fmt::format("scopes/{}/", scope.at("id").get<int>())),
        members(scope.at("members").get<std::vector<std::vector<Index>>>()) {
    for (const Dense& E : dump.embeddings) {
      Dense own = Dense::Zero(size(), E.cols());
      for (Index b = 0; b < size(); ++b) {
        const auto& items = members[static_cast<std::size_t>(b)];
        for (const Index item : items) own.row(b) += E.row(item);
        own.row(b) /= static_cast<double>(items.size());
      }
      Z.push_back(own);
    }
  }
  [[nodiscard]] Index size() const { return static_cast<Index>(members.size()); }

  // F_g = inherited + mean_k Z_k Z_k^T
  void check_filter(const std::vector<Dense>& filters) const {
    Dense F_g = mean_filter(Z);
    if (!scope.at("parent").is_null()) {
      const auto parent = scope.at("parent").at(0).get<std::size_t>();
      const auto member = scope.at("parent").at(1).get<Index>();
      const double beta = config.at("beta").at(scope.at("level").get<std::size_t>() - 1);
      F_g.array() += beta * filters[parent](member, member);
    }
    expect_near(dump.matrix(folder + "global_relation_filter"), F_g, 1e-5, "F_g");
  }

  // Q = normalise_columns(U P), U = H - (H F + F H) / 2
  void check_queries(const Dense& F_g) const {
    const Dense P = dump.matrix(folder + "projection");
    const Dense F = F_g / tests::largest_eigenvalue(F_g);
    for (Index k = 0; k < kClients; ++k) {
      const Dense& own = Z[static_cast<std::size_t>(k)];
      const Dense H = gram(own);
      Dense Q = product(H - 0.5 * (product(H, F) + product(F, H)), P);
      Q.colwise().normalize();
      expect_near(dump.of(folder + "projected_query", k), Q, 1e-4, "Q");
    }
  }

  void check_scores() const {
    Dense s(kClients, kClients);
    for (Index k = 0; k < kClients; ++k) {
      const Dense Q = dump.of(folder + "projected_query", k);
      for (Index j = 0; j < kClients; ++j) {
        s(k, j) = product(Q.transpose(), Z[static_cast<std::size_t>(j)]).squaredNorm();
      }
    }
    expect_near(dump.matrix(folder + "direct_scores"), s, 1e-5, "s");
    const Dense r = dump.matrix(folder + "retrieval_scores");
    if (config.at("lambda") == 0.0) {
      EXPECT_EQ(r, dump.matrix(folder + "direct_scores"));
    } else {
      EXPECT_NE(r, dump.matrix(folder + "direct_scores"));
    }
    const Dense alpha = weigh(r, config.at("clip"), config.at("tau"));
    expect_near(dump.matrix(folder + "aggregation_weights"), alpha, 1e-4, "alpha");
  }

  // R_k = sum_j alpha_kj (F_j - F_g), where what is inherited cancels.
  [[nodiscard]] Dense residual(Index target) const {
    const Dense alpha = dump.matrix(folder + "aggregation_weights");
    const Dense mean = mean_filter(Z);
    Dense R = Dense::Zero(size(), size());
    for (Index j = 0; j < kClients; ++j) {
      R += alpha(target, j) * (gram(Z[static_cast<std::size_t>(j)]) - mean);
    }
    return R;
  }

  // The value of a pair of members for all pairs of their items.
  void add_to(Dense& filter, const Dense& R) const {
    const double beta = config.at("beta").at(scope.at("level").get<std::size_t>());
    for (Index a = 0; a < size(); ++a) {
      for (Index b = 0; b < size(); ++b) {
        for (const Index i : members[static_cast<std::size_t>(a)]) {
          for (const Index j : members[static_cast<std::size_t>(b)]) {
            filter(i, j) += beta * R(a, b);
          }
        }
      }
    }
  }
};

class DumpedRound : public testing::TestWithParam<const char*> {};

TEST_P(DumpedRound, OfFedHurFollowsTheEquations) {
  const TempFolder folder;
  // The basis holds all of S_g, which has full rank with 7 x 12 columns, and the solver is given
  // the passes it needs to converge.
  ConfigTable table = settings(
      "fedhur", {"global_filter.rank=60", "global_filter.passes=4", "finetune.passes=400",
                 "hierarchy.branching=[3, 2, \"items\"]", "model.embedding_dim=12",
                 "hierarchy.level_weights=[1.0, 0.5, 0.4]", "relation.decay=0.5",
                 "query.directions=5", std::string("scorer.refinement_weight=") + GetParam()});
  (void)train(resolve(table), RunFolder::create(folder / "run"), {},
              DumpConfig{.round = 2, .folder = folder / "dump"});

  const Dump dump(folder / "dump");
  const json config = dump.read("config");
  EXPECT_EQ(config.at("round"), 2);
  EXPECT_EQ(config.at("beta"), json({0.5, 0.25, 0.2})) << "decayed once";
  Dense mean = Dense::Zero(kItems, 12);
  for (const Dense& E : dump.embeddings) mean += E / static_cast<double>(kClients);
  expect_near(dump.matrix("global_item_embeddings"), mean, 1e-6, "E_g");
  const Dense S_g = mean_filter(dump.embeddings);
  expect_near(dump.global_filter(), S_g, 1e-5, "S_g");

  std::vector<Dense> personalized(kClients, S_g);
  std::vector<Dense> filters;
  const json hierarchy = dump.read("hierarchy");
  ASSERT_EQ(hierarchy.size(), 1U + 3U + 6U);
  for (const json& scope : hierarchy) {
    SCOPED_TRACE(scope.at("id"));
    const ScopeCheck check(dump, scope, config);
    check.check_filter(filters);
    filters.push_back(dump.matrix(check.folder + "global_relation_filter"));
    check.check_queries(filters.back());
    check.check_scores();
    for (Index k = 0; k < kClients; ++k) {
      const Dense R = check.residual(k);
      expect_near(dump.of(check.folder + "residual_filter", k), R, 1e-4, "R");
      check.add_to(personalized[static_cast<std::size_t>(k)], R);
    }
  }
  for (Index k = 0; k < kClients; ++k) {
    SCOPED_TRACE(k);
    expect_best_fit(dump.of("fine_tuned", k), dump.embeddings[static_cast<std::size_t>(k)],
                    personalized[static_cast<std::size_t>(k)]);
  }
}
INSTANTIATE_TEST_SUITE_P(RefinementWeight, DumpedRound, testing::Values("0", "0.5"),
                         [](const auto& weight) {
                           return weight.param == std::string("0") ? "none" : "half";
                         });

TEST(RoundDump, OfFedCiaFollowsTheEquations) {
  const TempFolder folder;
  ConfigTable table = settings("fedcia", {"global_filter.rank=60"});
  (void)train(resolve(table), RunFolder::create(folder / "run"), {},
              DumpConfig{.round = 1, .folder = folder / "dump"});
  const Dump dump(folder / "dump");
  const Dense S_g = mean_filter(dump.embeddings);
  expect_near(dump.global_filter(), S_g, 1e-5, "S_g");
  for (Index k = 0; k < kClients; ++k) {
    expect_best_fit(dump.of("fine_tuned", k), dump.embeddings[static_cast<std::size_t>(k)], S_g);
  }
  EXPECT_EQ(dump.read("config").at("method"), "fedcia");
  EXPECT_FALSE(fs::exists(folder / "dump" / "hierarchy.json"));
}

TEST(RoundDump, WorksForEveryRelationAndStructure) {
  const TempFolder folder;
  for (const std::string setting :
       {"relation.kind=none", "relation.kind=own", "relation.kind=both",
        "relation.structure=single", "hierarchy.coarse=parameters", "hierarchy.branching=[3, 2]"}) {
    SCOPED_TRACE(setting);
    ConfigTable table = settings("fedhur", {setting, "stop.max_rounds=1"});
    (void)train(resolve(table), RunFolder::create(folder / ("run " + setting)), {},
                DumpConfig{.round = 1, .folder = folder / setting});
    const Dump dump(folder / setting);
    EXPECT_EQ(dump.read("config").at("round"), 1);
    EXPECT_EQ(dump.of("fine_tuned", kClients - 1).rows(), kItems);
  }
  EXPECT_FALSE(fs::exists(folder / "relation.kind=none" / "scopes"));
  EXPECT_FALSE(fs::exists(folder / "relation.kind=both" / "scopes" / "0" / "projection.npy"));
  const fs::path single = folder / "relation.structure=single" / "scopes" / "0";
  EXPECT_THAT(tests::read_npy(single / "residual_core" / "3.npy").shape, ElementsAre(6, 6));
}

TEST(RoundDump, ChangesNothingAboutTheRun) {
  const TempFolder folder;
  for (const char* method : {"fedcia", "fedhur"}) {
    ConfigTable table = tiny_settings(method);
    (void)train(resolve(table), RunFolder::create(folder / method / "watched"), {},
                DumpConfig{.round = 2, .folder = folder / method / "dump"});
    (void)tests::train_tiny(folder / method / "alone", tiny_settings(method));
    EXPECT_EQ(read_file(folder / method / "watched" / "model" / "model.bin"),
              read_file(folder / method / "alone" / "model" / "model.bin"));
  }
}

TEST(RoundDump, ThatNeverCameIsAWarning) {
  const TempFolder folder;
  std::vector<std::string> warnings;
  int rounds = 0;
  TrainingHooks hooks;
  hooks.on_warning = [&](const std::string& text) { warnings.push_back(text); };
  hooks.on_round = [&](const auto&, const auto&) { ++rounds; };
  ConfigTable patient = settings("fedcia", {"stop.max_rounds=300", "stop.patience=1"});
  (void)train(resolve(patient), RunFolder::create(folder / "early"), hooks,
              DumpConfig{.round = 300, .folder = folder / "dump"});
  ASSERT_LT(rounds, 300);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("round 300 was not dumped")));

  warnings.clear();
  hooks.should_stop = [] { return true; };
  ConfigTable interrupted = tiny_settings("fedcia");
  (void)train(resolve(interrupted), RunFolder::create(folder / "interrupted"), hooks,
              DumpConfig{.round = 2, .folder = folder / "dump"});
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("stopped after round 1")));
}
}  // namespace
}  // namespace fedhur::experiment
