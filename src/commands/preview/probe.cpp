#include "commands/installation.h"
#include "commands/tune/modes.h"
#include "config/reader/device_file.h"
#include "config/reader/load.h"
#include "platform/files/streams.h"

namespace tune::commands {
namespace {

Backend backend_to_probe(const TuneOptions& options, exec::Workers& workers) {
  if (options.job.load.backend) return *options.job.load.backend;
  if (options.yaml.empty()) return Backend::cpu;
  config::LoadRules rules{options.job.load};
  rules.file_must_exist = false;
  rules.present = [&](Backend backend) { return workers.present(backend); };
  rules.probe = [&](Backend backend) { return workers.probe(backend).device; };
  return config::load(options.yaml, rules).plan.backend();
}

}  // namespace

ExitCode probe(const TuneOptions& options) {
  exec::Workers workers = find_workers(options.measure.deadlines);
  platform::print(config::write_device(workers.probe(backend_to_probe(options, workers)).device));
  return ExitCode::ok;
}

}  // namespace tune::commands
