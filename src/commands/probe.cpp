#include "base/streams.h"
#include "commands/commands.h"
#include "commands/rules.h"
#include "config/device_file.h"

namespace tune::commands {

ExitCode probe(const Options& options) {
  exec::Workers workers = find_workers(options);
  base::print(config::write_device(workers.probe(options.backend.value_or(Backend::cpu)).device));
  return ExitCode::ok;
}

}  // namespace tune::commands
