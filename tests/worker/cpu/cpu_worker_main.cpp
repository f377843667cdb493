// Tests that hold a worker's backend in their own process: kernels run in another execution of the test's program, as
// they do in one of the worker's.
#include <gtest/gtest.h>

#include <string_view>

#include "backend.h"
#include "cpu/sandbox/kernel_runner.h"

int main(int argc, char** argv) {
  if (argc == 2 && argv[1] == std::string_view(tune::worker::kRunKernel))
    return tune::worker::make_backend()->run_kernel();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
