#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <regex>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "gpu/gpu_vendor.h"
#include "host/nvidia_nodes.h"

namespace tune::gpu {
namespace {

namespace fs = std::filesystem;

void require(CompilerStatus status, const worker::GpuCompilerLibrary& compiler) {
  if (status != kCompiled) throw std::runtime_error(fmt::format("NVRTC: {}", compiler.error_text(status)));
}

std::pair<int, int> numbers_of_version(const worker::GpuCompilerLibrary& compiler) {
  int major = 0, minor = 0;
  require(compiler.version(&major, &minor), compiler);
  return {major, minor};
}

}  // namespace

const char* const kNoContraction = "--fmad=false";

std::string describe(const worker::GpuDriver& driver, Status status) {
  const char *name = nullptr, *text = nullptr;
  driver.error_name(status, &name);
  driver.error_text(status, &text);
  return fmt::format("{} ({})", text ? text : "unknown error", name ? name : std::to_string(status));
}

std::string device_advice() { return ""; }

/// Where NVRTC finds a device it opens all of them, under a lock that all processes share: 476 builds took 64 s on a
/// machine with four H200s instead of 1.9 s.
void renounce_devices() {
  if (const auto nodes = worker::nvidia_nodes(); !nodes.empty()) worker::renounce(nodes);
}

/// CUDA opens all GPUs that it can, though it shows only those of CUDA_VISIBLE_DEVICES, and each takes it 20 ms of a
/// lock that all processes share (H200). An instance of a card that is split up (MIG) stays what was chosen.
void see_one_gpu_alone(const char* uuid) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr && std::string_view(visible).starts_with("MIG-")) return;
  const auto others = worker::nodes_of_other_gpus(uuid);
  if (!others.empty() && worker::renounce(others)) ::setenv("CUDA_VISIBLE_DEVICES", uuid, 1);
}

Status open(const worker::GpuDriver& driver, Device& device) {
  if (const char* uuid = std::getenv("TUNE_GPU")) see_one_gpu_alone(uuid);
  // Halves the time that a context takes; kernels of one stream need no more than one queue.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 0);
  const Status status = driver.init(0);
  return status == kSuccess ? driver.device(&device, 0) : status;
}

Status enter(const worker::GpuDriver& driver, Device device) {
  Context context = nullptr;
  const Status status = driver.retain_context(&context, device);
  return status == kSuccess ? driver.set_context(context) : status;
}

/// The architecture's own instructions (wgmma, TMA) where it has some, from 9.0 on.
std::string architecture(const worker::GpuHandle& gpu) {
  const int major = gpu.attribute(kComputeMajor);
  return fmt::format("sm_{}{}{}", major, gpu.attribute(kComputeMinor), major >= 9 ? "a" : "");
}

std::string driver_version(const worker::GpuDriver& driver) {
  int version = 0;
  driver.version(&version);
  return worker::display_driver_version().value_or(fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10));
}

std::vector<std::size_t> parameter_sizes(const worker::GpuDriver& driver, Function function, const std::string&,
                                         const std::string&) {
  std::vector<std::size_t> sizes;
  std::size_t offset = 0, size = 0;
  while (driver.parameter(function, sizes.size(), &offset, &size) == kSuccess) sizes.push_back(size);
  return sizes;
}

Status allow(const worker::GpuDriver& driver, const worker::GpuLaunch& launch) {
  Status status = kSuccess;
  const auto set = [&](auto attribute, int value) {
    if (status == kSuccess) status = driver.set_function_attribute(launch.function, attribute, value);
  };
  if (launch.shared > 0) set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(launch.shared));
  if (launch.cluster) set(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  return status;
}

Status launch(const worker::GpuDriver& driver, const worker::GpuLaunch& launch, void** arguments) {
  CUlaunchConfig config{};
  std::tie(config.gridDimX, config.gridDimY, config.gridDimZ) = std::tuple_cat(launch.grid);
  std::tie(config.blockDimX, config.blockDimY, config.blockDimZ) = std::tuple_cat(launch.block);
  config.sharedMemBytes = launch.shared;
  std::array<CUlaunchAttribute, 2> attributes = {};
  config.attrs = attributes.data();
  if (launch.cluster) {
    CUlaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    auto& extents = cluster.value.clusterDim;
    std::tie(extents.x, extents.y, extents.z) = std::tuple_cat(*launch.cluster);
  }
  if (launch.programmatic) {
    CUlaunchAttribute& programmatic = attributes[config.numAttrs++];
    programmatic.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    programmatic.value.programmaticStreamSerializationAllowed = 1;
  }
  return driver.launch(&config, launch.function, arguments, nullptr);
}

Status forget_kept_lines(const worker::GpuDriver& driver) { return driver.forget_persisting(); }

std::optional<worker::GpuCompilerLibrary> chosen_library() { return std::nullopt; }

std::string version(const worker::GpuCompilerLibrary& compiler) {
  const auto [major, minor] = numbers_of_version(compiler);
  return fmt::format("NVRTC {}.{}", major, minor);
}

std::vector<std::string> architectures(const worker::GpuCompilerLibrary& compiler) {
  int count = 0;
  require(compiler.architecture_count(&count), compiler);
  std::vector<int> numbers(static_cast<std::size_t>(count));
  require(compiler.architectures(numbers.data()), compiler);
  std::vector<std::string> names;
  for (const int number : numbers) {
    names.push_back(fmt::format("sm_{}", number));
    if (number >= 90) names.push_back(fmt::format("sm_{}a", number));
    if (number >= 100) names.push_back(fmt::format("sm_{}f", number));
  }
  return names;
}

/// The include folders next to the compiler's library, or else those of a toolkit.
std::vector<std::string> includes(const worker::GpuCompilerLibrary& compiler) {
  std::vector<fs::path> candidates;
  std::error_code error;
  for (fs::path folder = fs::canonical(compiler.path, error).parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    candidates.push_back(folder / "include");
  for (const fs::path& root : worker::toolkits()) candidates.push_back(root / "include");
  candidates.emplace_back(TUNE_TOOLKIT_INCLUDES);
  for (const fs::path& folder : candidates)
    if (fs::exists(folder / "cuda_fp16.h", error)) return {folder.string(), (folder / "cccl").string()};
  return {};
}

std::vector<std::string> options_for(const worker::GpuCompilerLibrary& compiler, const std::string& arch) {
  std::vector<std::string> options = {"--gpu-architecture=" + arch};
  // Otherwise the names of what is in a namespace without a name have the number of the process.
  if (numbers_of_version(compiler) >= std::pair(12, 9)) options.emplace_back("--frandom-seed=tune");
  return options;
}

std::vector<std::string> quick_options(const worker::GpuCompilerLibrary& compiler) {
  if (numbers_of_version(compiler).first < 13) return {};
  return {"--Ofast-compile=mid"};
}

std::vector<std::string> options_for_statistics() { return {"--ptxas-options=-v"}; }

std::map<std::string, worker::KernelResources> resources(const std::string&, const std::string& log) {
  return worker::read_ptxas_log(log);
}

std::string compile_error_advice(const std::string& error) {
  static const std::regex kOfTheLibrary(
      "cannot open source file \"(\\w+|(assert|float|limits|math|std\\w+|string)\\.h)\"|namespace \"std\" has no "
      "member|"
      "identifier \"(u?int\\d+_t|INFINITY|NAN|U?(CHAR|SHRT|INT|LONG|LLONG)_M\\w+|U?INT\\d+_M\\w+)\" is undefined");
  static const std::regex kOfLimits("identifier \"(FLT|DBL)_\\w+\" is undefined");
  if (std::regex_search(error, kOfTheLibrary))
    return "NVRTC has no headers of C and C++: include CUDA's, such as <cuda/std/cmath>, <cuda/std/cstdint>, "
           "<cuda/std/climits>, and write cuda::std:: for std::";
  if (std::regex_search(error, kOfLimits))
    return "NVRTC has no headers of C: include <cuda/std/limits>, and write cuda::std::numeric_limits<float>::max()";
  if (error.starts_with("__nv_nvrtc_builtin_header.h("))
    return "a macro hides a name in NVRTC's own header: give a parameter of one letter, such as T, a longer name";
  return "";
}

}  // namespace tune::gpu
