#include <filesystem>

#include "cli/options.h"

namespace tune {
namespace {

constexpr const char* kDefaultFile = "gemm.yaml";

/// best.csv means the files best.*.
void split_output(Options& options) {
  if (!options.output) return;
  const std::string ending = options.output->extension();
  if (ending == ".yaml" || ending == ".yml") options.best_ending = ending;
  if (options.best_ending || ending == ".csv" || ending == ".jsonl") options.output->replace_extension();
}

}  // namespace

void add_consequences(Options& options) {
  split_output(options);
  // The commands of tune_gemm do not say that they tune, and name no tuning file.
  if (options.tuning_results && !options.dry_run && !options.build_only) options.tune = true;
  if (options.compare_alone) options.compare = true;
  const bool measures = !options.simulate && !options.probe;
  if (options.yaml.empty() && measures && options.names_sizes() && std::filesystem::exists(kDefaultFile))
    options.yaml = {kDefaultFile};
}

}  // namespace tune
