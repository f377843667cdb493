#include "model/backend.h"

#include <algorithm>
#include <array>

namespace tune {
namespace {

constexpr std::array<std::string_view, 17> kGpuDevice = {"clock_hz",
                                                         "compute_capability",
                                                         "cooperative_launch",
                                                         "energy_counter",
                                                         "idle_power_w",
                                                         "l2_bytes",
                                                         "max_blocks_per_multiprocessor",
                                                         "max_registers_per_block",
                                                         "max_shared_per_block",
                                                         "max_shared_per_multiprocessor",
                                                         "max_threads_per_block",
                                                         "max_threads_per_multiprocessor",
                                                         "memory_bandwidth",
                                                         "memory_bytes",
                                                         "multiprocessors",
                                                         "name",
                                                         "warp_size"};
constexpr std::array<std::string_view, 9> kCpuDevice = {"cores",        "energy_counter", "idle_power_w",
                                                        "l1d_bytes",    "l2_bytes",       "l3_bytes",
                                                        "memory_bytes", "name",           "simd_bits"};
constexpr std::array<std::string_view, 3> kProgramDevice = {"cores", "memory_bytes", "name"};

constexpr std::array<std::string_view, 4> kGpuBuild = {"registers", "spills", "shared", "occupancy"};
constexpr std::array<std::string_view, 2> kCpuBuild = {"code", "stack"};

constexpr std::array<std::string_view, 1> kCudaSuffixes = {".cu"}, kHipSuffixes = {".hip"};
constexpr std::array<std::string_view, 4> kCpuSuffixes = {".cpp", ".cc", ".cxx", ".c"};

constexpr std::array<std::string_view, 2> kCuda = {"CUBLAS", "NVIDIA_TF32_OVERRIDE"};
constexpr std::array<std::string_view, 3> kHip = {"HIPBLASLT_", "TENSILE_", "ROCBLAS_"};
constexpr std::array<std::string_view, 4> kOpenBlas = {"OPENBLAS_", "GOTO", "OMP_", "GOMP_"};

constexpr double kContextBytes = 600e6;    // taken by a GPU's driver for each process
constexpr double kFlushBytes = 512 << 20;  // with which a worker for HIP flushes caches; for CUDA it is much smaller

constexpr BackendTraits kAutomatic = {.backend = Backend::automatic, .name = "auto"};

constexpr std::array kBackends = {
    BackendTraits{.backend = Backend::cuda,
                  .name = "cuda",
                  .is_gpu = true,
                  .has_clusters = true,
                  .has_tensor_maps = true,
                  .suffixes = kCudaSuffixes,
                  .artifact = "kernel.cubin",
                  .arch = "sm_",
                  .arch_example = "sm_80",
                  .device_names = kGpuDevice,
                  .build_names = kGpuBuild,
                  .vendor_variables = kCuda,
                  .device_choice = "CUDA_VISIBLE_DEVICES",
                  .process_bytes = kContextBytes,
                  .needs = "the CUDA toolkit's headers"},
    BackendTraits{.backend = Backend::hip,
                  .name = "hip",
                  .is_gpu = true,
                  .suffixes = kHipSuffixes,
                  .artifact = "kernel.hsaco",
                  .arch = "gfx",
                  .arch_example = "gfx90a",
                  .device_names = kGpuDevice,
                  .build_names = kGpuBuild,
                  .vendor_variables = kHip,
                  .device_choice = "HIP_VISIBLE_DEVICES",
                  .compiler_reads = CompilerEnvironment::folders,
                  .process_bytes = kContextBytes + kFlushBytes,
                  .needs = "HIP's headers (Debian: libamdhip64-dev)"},
    BackendTraits{.backend = Backend::cpu,
                  .name = "cpu",
                  .suffixes = kCpuSuffixes,
                  .artifact = "kernel.so",
                  .device_names = kCpuDevice,
                  .build_names = kCpuBuild,
                  .vendor_variables = kOpenBlas,
                  .compiler_reads = CompilerEnvironment::flags},
    BackendTraits{.backend = Backend::program,
                  .name = "program",
                  .artifact = "program",
                  .device_names = kProgramDevice,
                  .compiler_reads = CompilerEnvironment::flags},
};

}  // namespace

std::span<const BackendTraits> backends() { return kBackends; }

const BackendTraits& traits_of(Backend backend) {
  const auto* const row = std::ranges::find(kBackends, backend, &BackendTraits::backend);
  return row == kBackends.end() ? kAutomatic : *row;
}

std::vector<std::string_view> backend_names() {
  std::vector<std::string_view> names = {kAutomatic.name};
  for (const BackendTraits& traits : kBackends) names.emplace_back(traits.name);
  return names;
}

std::optional<Backend> parse_backend(std::string_view name) {
  if (name == kAutomatic.name) return Backend::automatic;
  const auto* const row = std::ranges::find(kBackends, name, &BackendTraits::name);
  return row == kBackends.end() ? std::nullopt : std::optional(row->backend);
}

std::optional<Backend> backend_of_source(const std::filesystem::path& file) {
  const std::string suffix = file.extension().string();
  const auto* const row = std::ranges::find_if(
      kBackends, [&](const BackendTraits& traits) { return std::ranges::count(traits.suffixes, suffix) > 0; });
  return row == kBackends.end() ? std::nullopt : std::optional(row->backend);
}

}  // namespace tune
