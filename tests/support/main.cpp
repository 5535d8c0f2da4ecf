// All test programs begin as the product does.
#include <gmock/gmock.h>

#include "apps/restart.hpp"

int main(int argc, char** argv) {
  fedhur::apps::restart_with_better_kernels(argv);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
