#include "commands/tune/default_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "commands/installation.h"
#include "commands/print_messages.h"
#include "commands/tune/rules.h"
#include "model/values/error.h"
#include "tuning/machine.h"

namespace tune::commands {
namespace {

/// The first of these that is here; the CPU needs no device.
Backend chosen_backend(const TuneOptions& options, const tuning::Machine& machine) {
  if (options.job.load.backend && *options.job.load.backend != Backend::automatic) return *options.job.load.backend;
  for (const BackendTraits& traits : backends())
    if (traits.is_gpu && machine.present(traits.backend)) return traits.backend;
  return Backend::cpu;
}

}  // namespace

std::string shipped_gemm(Backend backend, const std::optional<Device>& device) {
  constexpr std::int64_t kAmpere = 80;  // of the instructions of gemm_mma
  constexpr std::array kMatrixCores = {"gfx908", "gfx90a", "gfx94", "gfx95"};
  if (backend == Backend::cuda)
    return device && device->integer("compute_capability").value_or(kAmpere) < kAmpere ? "gemm_simt.yaml"
                                                                                       : "gemm_mma.yaml";
  if (backend == Backend::hip) {
    const bool matrix_cores = device && std::ranges::any_of(kMatrixCores, [&](const char* series) {
                                return device->arch.starts_with(series);
                              });
    return matrix_cores ? "gemm_mfma.yaml" : "gemm_simt_hip.yaml";
  }
  return "gemm_cpu.yaml";
}

TuneOptions with_tuning_file(TuneOptions options) {
  if (!options.takes_shipped_file()) return options;
  exec::Workers workers = find_workers(options.measure.deadlines);
  tuning::Machine machine(
      options.machine,
      machine_rules(options, options.job, results::Outputs(options.outputs, output_rules(options, options.job))),
      workers);
  const Backend backend = chosen_backend(options, machine);
  const std::filesystem::path file =
      folder_of_configs() / shipped_gemm(backend, is_gpu(backend) ? machine.limiting_device(backend) : std::nullopt);
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    throw Error(ExitCode::environment,
                fmt::format("this folder has no gemm.yaml, and the tuning file that is installed with tune is not "
                            "there: {}; name one with --yaml FILE",
                            file.string()));
  print_wrapped(fmt::format("note: this folder has no gemm.yaml; the tuning file is {}", file.string()));
  options.yaml = {file};
  options.given.set("--yaml", {file.string()});
  return options;
}

}  // namespace tune::commands
