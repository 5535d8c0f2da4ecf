#include <gtest/gtest.h>

#include "fedhur/federation/federation.hpp"
#include "fedhur/methods/method.hpp"
#include "tests/support/support.hpp"

namespace fedhur::methods {
namespace {
using federation::Answer;
using federation::Request;
using message::Message;

// Two clients that upload fixed tables and remember what they are sent.
class FixedUploads : public federation::Federation {
 public:
  [[nodiscard]] Index num_clients() const override { return 2; }
  std::vector<Answer> exchange(std::span<const Request> requests) override {
    std::vector<Answer> answers;
    for (const Request& request : requests) {
      const auto k = static_cast<std::size_t>(request.client);
      Message reply{.kind = request.message->kind, .round = request.message->round, .arrays = {}};
      if (reply.kind == "train") {
        reply.arrays.set("item_embeddings", uploads[k]);
        reply.arrays.set_number("num_interactions", data_sizes[k]);
        reply.arrays.set_number("loss_sum", 4);
        reply.arrays.set_number("num_samples", 2);
      } else {
        received = request.message->arrays.matrix("item_embeddings");
      }
      answers.push_back({request.client, std::move(reply)});
    }
    return answers;
  }
  std::vector<Matrix> uploads = {(Matrix(3, 2) << 1, 0, 0, 2, 1, 1).finished(),
                                 (Matrix(3, 2) << 0, 1, 2, 0, 1, -1).finished()};
  std::vector<double> data_sizes = {3, 1};
  Matrix received;
};

struct Server {
  explicit Server(Index num_items = 3) {
    ConfigTable table;
    experiment::add_assignment(table, "model.embedding_dim=2");
    half = find_method("fedmf").configure(table).make_server(
        {.num_clients = 2, .num_items = num_items, .rng = Rng(1), .executor = &executor});
  }
  Executor executor{2};
  std::unique_ptr<federation::ServerMethod> half;
};

TEST(FedMf, AveragesByDataSizeAsInTheWorkedExample) {
  FixedUploads federation;
  Server server;
  const auto notes = server.half->run_round(0, federation);
  EXPECT_EQ(federation.received, (Matrix(3, 2) << 0.75, 0.25, 0.5, 1.5, 1, 0.5).finished());
  EXPECT_EQ(notes.loss, 2.0);
}

TEST(FedMf, RefusesUploadsOfTheWrongShapeOrWithNaN) {
  FixedUploads federation;
  Server server;
  federation.uploads[1](2, 1) = std::numeric_limits<Real>::quiet_NaN();
  const auto error_of = [&](Server& asked) -> std::string {
    try {
      (void)asked.half->run_round(0, federation);
    } catch (const ProtocolError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of(server), "client 1: 'item_embeddings' holds values that are not finite");
  federation.data_sizes[1] = 0;  // a weight of zero does not hide it
  EXPECT_EQ(error_of(server), "client 1: 'item_embeddings' holds values that are not finite");
  Server larger(4);
  EXPECT_EQ(error_of(larger), "client 0: 'item_embeddings' is 3 x 2, expected 4 x 2");
}

TEST(Methods, AreFoundByNameOrTheNearestIsNamed) {
  EXPECT_EQ(find_method("local").name, "local");
  try {
    (void)find_method("fedfm");
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'fedmf'"), std::string::npos);
  }
}
}  // namespace
}  // namespace fedhur::methods
