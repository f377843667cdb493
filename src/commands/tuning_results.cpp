#include <fmt/format.h>

#include "base/store.h"
#include "commands/commands.h"
#include "commands/tune.h"
#include "model/problem.h"

namespace tune::commands {
namespace {

/// The seconds of a row, as the table has them.
double seconds_of(const Ranked& row) {
  return row.standing ? row.standing->median_seconds : row.timed().measurement()->timing.median;
}

/// `- {M: 16, N: 16, K: 16, rowMajorA: T, rowMajorB: N, BM: 32} # TFLOPS: 0.4 time(us): 21.3`
std::string line_of(const Target& target, const Ranked& winner) {
  const double seconds = seconds_of(winner), flops = flops_of(target.plan().problem);
  const std::string rate = flops > 0 ? fmt::format("TFLOPS: {:.4g} ", flops / seconds * 1e-12) : "";
  return fmt::format("{} # {}time(us): {:.6g}\n",
                     config::configured_shape(target.plan(), target.shape, winner.trial->spec), rate, seconds * 1e6);
}

}  // namespace

ExitCode tune_to_one_file(const Options& options) {
  std::string lines;
  // After each problem the whole file is written, so that an interruption loses none.
  const auto tune_one = [&lines](const Options& each, Target& target) {
    const Tuned tuned = tune(each, target, {});
    if (tuned.rows.empty()) return tuned.code;
    lines += line_of(target, tuned.rows.front());
    base::write_file(target.outputs.tuning_results, lines);
    return tuned.code;
  };
  return for_each_shape(options, tune_one);
}

}  // namespace tune::commands
