#include "commands/installation.h"
#include "commands/tune/modes.h"
#include "config/reader/device_file.h"
#include "platform/files/streams.h"

namespace tune::commands {

ExitCode probe(const TuneOptions& options) {
  exec::Workers workers = find_workers(options.measure.deadlines);
  platform::print(config::write_device(workers.probe(options.load.backend.value_or(Backend::cpu)).device));
  return ExitCode::ok;
}

}  // namespace tune::commands
