#include "commands/tune/job.h"

#include <algorithm>

namespace tune::commands {

Job::Job(const TuneOptions& options)
    : load(options.load),
      devices(options.per_device_model ? std::nullopt : options.devices),  // each model names its own
      search(options.search),
      prefix(options.outputs.prefix),
      baseline(options.baseline),
      quiet(options.terminal.quiet),
      retry_failed(options.retry_failed) {}

cli::Given Job::given(const TuneOptions& options) const {
  cli::Given given = options.given;
  devices ? given.set("--devices", {*devices}) : given.unset("--devices");
  if (search.seed != options.search.seed) given.set("--seed", {std::to_string(search.seed)});
  return given;
}

std::string Job::label() const {
  const std::string sizes = shape() ? config::to_text(*shape()) : "";
  return sizes + (sizes.empty() || model.empty() ? "" : " on ") + model;
}

std::string Job::file_suffix() const {
  std::string suffix;
  if (shape())
    for (const Setting& setting : shape()->settings) suffix += "-" + setting.name + to_text(setting.value);
  if (!model.empty()) suffix += "-" + model;
  std::ranges::replace(suffix, ' ', '_');
  return suffix;
}

}  // namespace tune::commands
