#include "fuzz/service_input.hpp"
#include "tests/support/corpus.hpp"

namespace fedhur::fuzz {
namespace {
TEST(ServiceCorpus, IsServedWithoutAFinding) {
  EXPECT_GE(tests::replay_corpus("service", service_input), 39);
}
}  // namespace
}  // namespace fedhur::fuzz
