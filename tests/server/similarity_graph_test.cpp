#include "fedhur/server/similarity_graph.hpp"

#include <gtest/gtest.h>

#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::server {
namespace {
using tests::Dense;

Uploads share(const std::vector<Matrix>& tables) {
  Uploads uploads;
  for (const Matrix& table : tables) uploads.push_back(std::make_shared<const Matrix>(table));
  return uploads;
}

Uploads two_clients() {
  return share({(Matrix(3, 2) << 1, 0, 0, 2, 1, 1).finished(),
                (Matrix(3, 2) << 0, 1, 2, 0, 1, -1).finished()});
}

Uploads three_clients() {
  Uploads uploads = two_clients();
  uploads.push_back(std::make_shared<const Matrix>((Matrix(3, 2) << 1, 0, 0, 1, 1, 0).finished()));
  return uploads;
}

struct Graph {
  explicit Graph(const Uploads& uploads, const SimilarityGraphConfig& config = {})
      : similarities(cosine_similarities(uploads, executor)),
        weights(weigh_neighbors(similarities, config)),
        personalized(average_over_neighbors(uploads, weights, config.layers, executor)),
        global(average_embeddings(personalized, executor)) {}
  Executor executor{2};
  Dense similarities;
  Dense weights;
  Uploads personalized;
  Matrix global;
};

TEST(SimilarityGraph, LeavesTwoUnlikeClientsAloneAsInTheWorkedExample) {
  const Uploads uploads = two_clients();
  const Graph graph(uploads);
  EXPECT_EQ(graph.similarities, Dense::Identity(2, 2));
  EXPECT_EQ(graph.weights, Dense::Identity(2, 2));
  EXPECT_EQ(*graph.personalized[0], *uploads[0]);
  EXPECT_EQ(*graph.personalized[1], *uploads[1]);
  EXPECT_EQ(graph.global, (Matrix(3, 2) << 0.5, 0.5, 1, 1, 1, 0).finished());
}

TEST(SimilarityGraph, JoinsTheTwoOfThreeThatAreAlikeAsInTheWorkedExample) {
  const Uploads uploads = three_clients();
  const Graph graph(uploads);
  EXPECT_NEAR(graph.similarities(0, 1), 0.0, 1e-15);
  EXPECT_NEAR(graph.similarities(0, 2), 0.872871561, 1e-9);
  EXPECT_NEAR(graph.similarities(2, 1), 0.218217890, 1e-9);
  EXPECT_NEAR(graph.similarities.mean(), 0.575797656, 1e-9);
  EXPECT_EQ(graph.weights, (Dense(3, 3) << 0.5, 0, 0.5, 0, 1, 0, 0.5, 0, 0.5).finished());
  const Matrix joined = (Matrix(3, 2) << 1, 0, 0, 1.5, 1, 0.5).finished();
  EXPECT_EQ(*graph.personalized[0], joined);
  EXPECT_EQ(*graph.personalized[1], *uploads[1]);
  EXPECT_EQ(*graph.personalized[2], joined);
  tests::expect_close(graph.global, (Dense(3, 2) << 2. / 3, 1. / 3, 2. / 3, 1, 1, 0).finished(),
                      1e-7);
}

TEST(SimilarityGraph, OfDistancesJoinsTheUnlikeAndNeverItself) {
  const Uploads uploads = two_clients();
  const Graph graph(uploads, {.kind = GraphKind::distance_reference});
  EXPECT_EQ(graph.weights, (Dense(2, 2) << 0, 1, 1, 0).finished());
  EXPECT_EQ(*graph.personalized[0], *uploads[1]);
  EXPECT_EQ(*graph.personalized[1], *uploads[0]);
  EXPECT_EQ(graph.global, Graph(uploads).global);
  const Graph three(three_clients(), {.kind = GraphKind::distance_reference});
  EXPECT_EQ(three.weights, (Dense(3, 3) << 0, 1, 0, 0.5, 0, 0.5, 0, 1, 0).finished());
}

TEST(SimilarityGraph, TakesAsManyNeighborsAsAskedFor) {
  const Dense relations = (Dense(3, 3) << 1, 0.5, 0.5, 0.5, 1, 0.7, 0.5, 0.7, 1).finished();
  EXPECT_EQ(weigh_neighbors(relations, {.neighbors = 1}), Dense::Identity(3, 3));
  EXPECT_EQ(weigh_neighbors(relations, {.neighbors = 2}),
            (Dense(3, 3) << 0.5, 0.5, 0, 0, 0.5, 0.5, 0, 0.5, 0.5).finished())
      << "equals in client order";
  EXPECT_EQ(weigh_neighbors(relations, {.neighbors = 9}), Dense::Constant(3, 3, 1.0 / 3));
}

TEST(SimilarityGraph, HasNeighborsStrictlyAboveTheThresholdOrOnlyItself) {
  EXPECT_EQ(weigh_neighbors(Dense::Ones(3, 3), {}), Dense::Identity(3, 3)) << "none is above";
  EXPECT_EQ(weigh_neighbors(Dense::Ones(3, 3), {.threshold = 0.5}), Dense::Constant(3, 3, 1.0 / 3));
  EXPECT_EQ(weigh_neighbors(Dense::Identity(2, 2), {.threshold = 0.0}), Dense::Identity(2, 2))
      << "0 is not above 0";
  EXPECT_EQ(weigh_neighbors(Dense::Identity(2, 2), {.threshold = 3.0}), Dense::Identity(2, 2));
}

TEST(SimilarityGraph, AveragesOverNeighborsOfNeighborsInSeveralLayers) {
  const Uploads uploads = share({tests::random_matrix(5, 3, 1), tests::random_matrix(5, 3, 2),
                                 tests::random_matrix(5, 3, 3)});
  const Dense weights = (Dense(3, 3) << 0.5, 0.5, 0, 0, 0.5, 0.5, 0, 0, 1).finished();
  const Executor executor(2);
  const Uploads twice = average_over_neighbors(
      average_over_neighbors(uploads, weights, 1, executor), weights, 1, executor);
  const Uploads layers = average_over_neighbors(uploads, weights, 2, executor);
  for (std::size_t k = 0; k < 3; ++k) tests::expect_close(*layers[k], *twice[k], 1e-6);
  EXPECT_FALSE(layers[0]->isApprox(*average_over_neighbors(uploads, weights, 1, executor)[0]));
}

// Straight from the definition, table by table, at sizes that fill several blocks and chunks.
TEST(SimilarityGraph, IsThatOfItsDefinitionForManyClients) {
  const Uploads uploads = tests::related_uploads(70, 450, 10, 5);
  const Graph graph(uploads);
  Dense expected(70, 70);
  for (std::size_t k = 0; k < 70; ++k) {
    const Dense table = uploads[k]->cast<double>();
    for (std::size_t j = 0; j < 70; ++j) {
      const Dense other = uploads[j]->cast<double>();
      expected(static_cast<Index>(k), static_cast<Index>(j)) =
          table.cwiseProduct(other).sum() / (table.norm() * other.norm());
    }
  }
  tests::expect_close(graph.similarities, expected, 1e-13);
  for (const Index k : {0, 33, 69}) {
    Dense sum = Dense::Zero(450, 10);
    for (Index j = 0; j < 70; ++j) {
      sum += graph.weights(k, j) * uploads[static_cast<std::size_t>(j)]->cast<double>();
    }
    tests::expect_close(*graph.personalized[static_cast<std::size_t>(k)], sum, 1e-6);
  }
  const Executor one(1);
  EXPECT_EQ(graph.similarities, cosine_similarities(uploads, one));
  EXPECT_EQ(*graph.personalized[69], *average_over_neighbors(uploads, graph.weights, 1, one)[69]);
}

// In floats all of these similarities are 1, and rounding would choose the neighbours.
TEST(SimilarityGraph, TellsTablesApartThatHaveHardlyMoved) {
  const Matrix start = tests::random_matrix(300, 8, 1);
  std::vector<Matrix> tables;
  for (std::uint64_t k = 0; k < 6; ++k) {
    const Matrix taste = tests::random_matrix(300, 8, 10 + k % 2);
    tables.emplace_back(start + 1e-4F * taste + 1e-5F * tests::random_matrix(300, 8, 20 + k));
  }
  const Graph graph(share(tables));
  EXPECT_GT(graph.similarities.minCoeff(), 1.0 - 1e-7);
  for (Index k = 0; k < 6; ++k) {
    for (Index j = 0; j < 6; ++j) EXPECT_EQ(graph.weights(k, j) > 0, k % 2 == j % 2) << k << j;
  }
}

TEST(SimilarityGraph, HasNoPlaceForATableOfZerosButItsOwn) {
  const Graph graph(share({Matrix::Zero(3, 2), tests::random_matrix(3, 2, 1)}));
  EXPECT_EQ(graph.similarities, Dense::Identity(2, 2));
}
}  // namespace
}  // namespace fedhur::server
