#include <gtest/gtest.h>

#include <map>
#include <string>

#include "model/grid_scan.h"
#include "support/tuning_folder.h"

namespace tune::device_limits_test {
namespace {

const Device kHopper = {"H",
                        "",
                        "sm_90a",
                        {{"max_threads_per_block", std::int64_t{1024}},
                         {"max_shared_per_block", std::int64_t{232448}},
                         {"compute_capability", std::int64_t{90}}}};

class DeviceLimits : public testing::Test {
 protected:
  /// Reasons and counts of what is pruned of P = 1, 2, 3, 4 with this launch.
  std::map<std::string, std::int64_t> pruned(const std::string& launch, const Device& device = kHopper) {
    config::LoadRules options = without_kernel_file();
    options.limits = [&](Backend) { return device; };
    const config::Loaded loaded = load_text(folder_,
                                            "name: g\nfile: g.cu\nkernel: g\nproblem: {gemm: {m: 8, n: 8, k: 8}}\n"
                                            "params: {P: [1, 2, 3, 4]}\nlaunch: {args: [A], " +
                                                launch + "}\n",
                                            options);
    GridScan scan(loaded.plan.space);
    while (scan.next()) {
    }
    std::map<std::string, std::int64_t> counts;
    for (const GridScan::Pruned& row : scan.pruned()) counts[row.reason] = row.count;
    return counts;
  }

  using Counts = std::map<std::string, std::int64_t>;
  TuningFolder folder_;
};

TEST_F(DeviceLimits, PruneABlockOfTooManyThreads) {
  EXPECT_EQ(pruned("grid: [1], block: [256*P, 2]"), (Counts{{"launch.block of g: H allows 1024 threads", 2}}));
}

TEST_F(DeviceLimits, PruneExtentsOutsideOfWhatAGridMayHave) {
  EXPECT_EQ(pruned("grid: [P-1, 60000*P], block: [1]"),
            (Counts{{"launch.grid of g must be from 1 to [2147483647, 65535]", 4}}));
  EXPECT_EQ(pruned("grid: [1], block: [1, 1, 32*P]"),
            (Counts{{"launch.block of g must be from 1 to [1024, 1024, 64]", 2}}));
}

TEST_F(DeviceLimits, AllowSharedMemoryUpToWhatAKernelCanOptInTo) {
  EXPECT_EQ(pruned("grid: [1], block: [1], shared: 232448 + (P > 3)"),
            (Counts{{"launch.shared of g: H allows 232448 bytes", 1}}));
}

TEST_F(DeviceLimits, PruneClustersThatAreTooLargeOrDoNotDivideTheGrid) {
  EXPECT_EQ(pruned("grid: [12, 8], block: [1], cluster: [P, P + 2]"),
            (Counts{{"launch.cluster of g must be from 1 to 16 blocks", 1},
                    {"launch.grid of g: not a multiple of launch.cluster", 2}}));
}

TEST_F(DeviceLimits, PruneClustersAndProgrammaticLaunchesWhereThereAreNone) {
  Device ampere = kHopper;
  ampere.properties["compute_capability"] = std::int64_t{80};
  EXPECT_EQ(pruned("grid: [12], block: [1], cluster: [P]", ampere),
            (Counts{{"launch.cluster of g: H has compute capability 8.0, clusters need 9.0", 3}}));
  EXPECT_EQ(pruned("grid: [1], block: [1], programmatic: P > 2", ampere),
            (Counts{{"launch.programmatic of g: H has compute capability 8.0, programmatic launches need 9.0", 2}}));
}

TEST_F(DeviceLimits, DoNotMindALaunchThatIsLeftOut) {
  EXPECT_EQ(pruned("if: P < 4, grid: [1], block: [400*P]"), (Counts{{"launch.block of g: H allows 1024 threads", 1}}));
}

TEST_F(DeviceLimits, LeaveOutWhatTheDeviceDoesNotTell) {
  EXPECT_EQ(pruned("grid: [1], block: [256*P, 2], shared: 10**7", Device{"unknown", "", "", {}}), Counts{});
}

}  // namespace
}  // namespace tune::device_limits_test
