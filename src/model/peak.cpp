#include "model/peak.h"

#include <algorithm>
#include <string_view>

namespace tune {
namespace {

// Operations (a multiplication and an addition are two) that a multiprocessor does per cycle, with dense 16-bit inputs
// by its matrix units and with f32 by its lanes: NVIDIA's architecture white papers (V100, T4, A100, RTX 3090, RTX
// 4090, H100, B200, RTX 5090) and AMD's CDNA and RDNA instruction set documents.
struct Rate {
  std::string_view arch;
  double half;
  double lanes;
};
constexpr Rate kRates[] = {
    {"sm_70", 1024, 128},  {"sm_72", 1024, 128},  {"sm_75", 1024, 128},  {"sm_80", 2048, 128},  {"sm_86", 1024, 256},
    {"sm_87", 2048, 256},  {"sm_89", 1024, 256},  {"sm_90", 4096, 256},  {"sm_100", 8192, 256}, {"sm_103", 8192, 256},
    {"sm_120", 2048, 256}, {"sm_121", 2048, 256}, {"gfx906", 256, 128},  {"gfx908", 1024, 128}, {"gfx90a", 1024, 256},
    {"gfx940", 2048, 256}, {"gfx941", 2048, 256}, {"gfx942", 2048, 256}, {"gfx950", 4096, 256},
};

bool is_8_bit(Type type) { return size_of(type) == 1; }

/// How many times as fast as 16-bit inputs. f32 is summed from products of tf32 or bf16 at best, f64 from some twenty
/// products of 8-bit integers (Ozaki's scheme), or by AMD's matrix units a quarter as fast.
double relative_rate(Type type) {
  if (is_8_bit(type)) return 2;
  if (type == Type::f32 || type == Type::tf32) return 0.5;
  return type == Type::f64 ? 0.3 : 1;
}

/// Null: not known.
const Rate* rate_of(const std::string& arch) {
  // The letter of sm_90a tells features, and that of gfx90a belongs to the number.
  const std::string_view name = arch.starts_with("sm_")
                                    ? std::string_view(arch).substr(0, arch.find_last_of("0123456789") + 1)
                                    : std::string_view(arch);
  const auto* rate = std::ranges::find(kRates, name, &Rate::arch);
  return rate == std::end(kRates) ? nullptr : rate;
}

}  // namespace

double operations_per_cycle(const std::string& arch, Type type) {
  const Rate* rate = rate_of(arch);
  if (rate == nullptr) return 0;
  if (type == Type::f32) return rate->lanes;
  if (type == Type::f64) return rate->lanes / 2;  // of chips for data centers; others have a 32nd of that
  return rate->half * relative_rate(type);
}

double peak_flops(const std::string& arch, std::int64_t multiprocessors, double clock_hz, const Gemm& gemm) {
  const Rate* rate = rate_of(arch);
  if (rate == nullptr) return 0;
  const double relative = std::min(relative_rate(gemm.a), relative_rate(gemm.b));
  return rate->half * relative * static_cast<double>(multiprocessors) * clock_hz;
}

double peak_flops(const Device& device, const Problem& problem) {
  const auto* gemm = std::get_if<Gemm>(&problem);
  const auto clock = device.properties.find("clock_hz");
  if (gemm == nullptr || clock == device.properties.end()) return 0;
  return peak_flops(device.arch, device.integer("multiprocessors").value_or(0), number_of(clock->second).value_or(0),
                    *gemm);
}

}  // namespace tune
