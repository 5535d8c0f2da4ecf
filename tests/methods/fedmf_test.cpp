#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "fedhur/methods/uploads.hpp"
#include "tests/support/method_halves.hpp"

namespace fedhur::methods {
namespace {
using tests::FixedTables;
using tests::ServerHalf;

TEST(FedMf, AveragesByDataSizeAsInTheWorkedExample) {
  FixedTables federation;
  const ServerHalf server("fedmf");
  const auto notes = server.half->run_round(0, federation);
  EXPECT_EQ(federation.received, (Matrix(3, 2) << 0.75, 0.25, 0.5, 1.5, 1, 0.5).finished());
  EXPECT_EQ(notes.loss, 2.0);
}

TEST(FedMf, AveragesThoseWhoUploadOfThoseWhoTrained) {
  class OneLeaves : public FixedTables {
   public:
    std::vector<federation::Answer> exchange(
        std::span<const federation::Request> requests) override {
      const bool is_upload = !requests.empty() && requests.front().message->kind == "upload";
      return FixedTables::exchange(is_upload ? requests.last(1) : requests);
    }
  };
  OneLeaves federation;
  (void)ServerHalf("fedmf").half->run_round(0, federation);
  EXPECT_EQ(federation.received, federation.uploads[1]);
}

TEST(FedMf, RefusesUploadsThatCannotBe) {
  FixedTables federation;
  const ServerHalf server("fedmf");
  federation.uploads[1](2, 1) = std::numeric_limits<Real>::quiet_NaN();
  const std::string not_finite = "client 1: 'item_embeddings' holds values that are not finite";
  EXPECT_EQ(server.protocol_error(federation), not_finite);
  federation.data_sizes[1] = 0;  // a weight of zero does not hide it
  EXPECT_EQ(server.protocol_error(federation), not_finite);
  federation.uploads[1].setConstant(1e20F);
  EXPECT_EQ(server.protocol_error(federation),
            "client 1: 'item_embeddings' holds values of magnitude 1e+20, expected at most 1000");
  federation.uploads[1].setConstant(kLargestUpload);
  EXPECT_EQ(server.protocol_error(federation), "no error");
  for (const double size : {-1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    federation.data_sizes[1] = size;
    EXPECT_EQ(server.protocol_error(federation),
              fmt::format("client 1: 'num_interactions' is {}, expected a count", size));
  }
  federation.data_sizes[1] = 1;
  EXPECT_EQ(ServerHalf("fedmf", {}, 4).protocol_error(federation),
            "client 0: 'item_embeddings' is 3 x 2, expected 4 x 2");
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
