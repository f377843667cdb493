#include "cpu/cpu_probe.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <thread>

#include "measuring/measure.h"
#include "platform/store/store.h"
#include "program/program_host.h"

namespace tune::worker {
namespace {

/// The first processor's lines of /proc/cpuinfo; empty where there is none.
std::map<std::string, std::string> processor() {
  std::map<std::string, std::string> facts;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();)
    if (const auto colon = line.find(':'); colon != line.npos)
      facts[line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1)] =
          colon + 2 < line.size() ? line.substr(colon + 2) : "";
  return facts;
}

std::int64_t simd_bits(const std::set<std::string>& features) {
  if (features.contains("avx512f")) return 512;
  return features.contains("avx") ? 256 : 128;
}

/// The model's numbers and a hash of its features: virtual machines hide features of CPUs with the same name.
std::string arch(const std::map<std::string, std::string>& facts) {
  utsname system{};
  ::uname(&system);
  const auto fact = [&](const char* name) { return facts.contains(name) ? facts.at(name) : std::string("?"); };
  const std::string features = platform::Hash().add(fact("flags")).add(fact("Features")).hex().substr(0, 8);
  return fmt::format("{} {}.{}.{} {}", system.machine, fact("cpu family"), fact("model"), fact("stepping"), features);
}

std::int64_t cache_bytes(int name) { return std::max<std::int64_t>(0, ::sysconf(name)); }

/// The power over a moment; nullopt: there is no counter.
std::optional<double> power_now(const Monitor& monitor) {
  constexpr auto kMoment = std::chrono::milliseconds(50);
  const auto before = monitor.joules();
  const double start = seconds_now();
  if (!before) return std::nullopt;
  std::this_thread::sleep_for(kMoment);
  const auto after = monitor.joules();
  return after ? std::optional((*after - *before) / (seconds_now() - start)) : std::nullopt;
}

constexpr double kHertz = 6.5e9;
constexpr double kBandwidthOfCore = 200e9;
// Operations per cycle of two units for fused multiplication and addition of 512-bit vectors.
constexpr double kVectorF32 = 2 * 2 * 16;
// Of a matrix unit (AMX): 16 x 16 sums of 32 products of 16 bits in 16 cycles. It makes f32 out of several bf16.
constexpr double kMatrix16 = 2 * 16 * 16 * 32 / 16.0;

double cores() { return static_cast<double>(std::max<long>(1, ::sysconf(_SC_NPROCESSORS_CONF))); }

/// Features of other architectures are not known.
bool has_matrix_unit() {
#if defined(__x86_64__)
  return cpu_features().contains("amx_tile");
#else
  return true;
#endif
}

/// The most that elements of a type can be processed with.
double operations_per_cycle(Type type, bool matrix_unit) {
  const auto bytes = static_cast<double>(size_of(type));
  if (type == Type::f64) return matrix_unit ? kMatrix16 / 4 : kVectorF32 / 2;
  // Short types have instructions for sums of products, of twice as many operations.
  const double vector = kVectorF32 * 4 / bytes * (bytes < 4 ? 2 : 1);
  return matrix_unit ? std::max(vector, kMatrix16 * (bytes < 2 ? 2 : 1)) : vector;
}

Type input_type(const Problem& problem) {
  const auto* gemm = std::get_if<Gemm>(&problem);
  return gemm ? size_of(gemm->a) < size_of(gemm->b) ? gemm->a : gemm->b : Type::s8;
}

}  // namespace

Device probe_cpu(const CpuMonitor& monitor) {
  Device device = host_device();
  const auto facts = processor();
  device.arch = arch(facts);
  device.properties["l1d_bytes"] = cache_bytes(_SC_LEVEL1_DCACHE_SIZE);
  device.properties["l2_bytes"] = cache_bytes(_SC_LEVEL2_CACHE_SIZE);
  device.properties["l3_bytes"] = cache_bytes(_SC_LEVEL3_CACHE_SIZE);
  device.properties["simd_bits"] = simd_bits(cpu_features());
  const auto power = power_now(monitor);
  device.properties["energy_counter"] = std::int64_t{power.has_value()};
  if (power) device.properties["idle_power_w"] = *power;
  if (const std::string why = monitor.why_no_energy(); !why.empty()) device.properties["no_energy"] = why;
  return device;
}

std::set<std::string> cpu_features() {
  std::istringstream words(processor()["flags"]);
  return {std::istream_iterator<std::string>(words), {}};
}

double cpu_most_flops(const Problem& problem) {
  return cores() * kHertz * operations_per_cycle(input_type(problem), has_matrix_unit());
}

double cpu_most_bandwidth() { return cores() * kBandwidthOfCore; }

}  // namespace tune::worker
