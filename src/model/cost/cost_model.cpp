#include "model/cost/cost_model.h"

#include <algorithm>
#include <cmath>

#include "model/peak.h"
#include "model/statistics/objective.h"

namespace tune {
namespace {

constexpr double kRegistersPerBlock = 65536, kMostRegisters = 255, kUsualRegistersOfWgmma = 168;
constexpr double kSpilling = 4;    ///< times as long
constexpr double kOutside = 1.05;  ///< times as long, where blocks of a cluster have tiles outside of C
constexpr double kUsualSlice = 32;
constexpr double kLevel2 = 45;  ///< bytes per cycle and multiprocessor, by recordings; DeepGEMM reckons with 46.6
constexpr double kAlike = 6;    ///< multiprocessors of a CPC, a third of an H100's GPC; 4 to 8 fit recordings
constexpr double kCpuClock = 3e9, kCpuMemory = 20e9, kCpuLevel2 = 32;

/// Thrown by an expression that has no value, or one that is not possible.
struct NoPrediction {};

double positive(const Expression& expression, std::span<const Value> slots) {
  EvalFailure failure;
  const double value = expression.number(slots, failure);
  if (failure || !std::isfinite(value) || value <= 0) throw NoPrediction{};
  return value;
}

double not_negative(const Expression& expression, std::span<const Value> slots) {
  EvalFailure failure;
  const double value = expression.number(slots, failure);
  if (failure || !std::isfinite(value) || value < 0) throw NoPrediction{};
  return value;
}

double positive_or(const std::optional<Expression>& expression, std::span<const Value> slots, double otherwise) {
  return expression ? positive(*expression, slots) : otherwise;
}

double product_of(const std::vector<Expression>& extents, std::span<const Value> slots) {
  double product = 1;
  for (const Expression& extent : extents) product *= positive(extent, slots);
  return product;
}

bool holds(const std::optional<Expression>& condition, std::span<const Value> slots) {
  EvalFailure failure;
  return !condition || condition->holds(slots, failure);
}

bool is_by_lanes(Type type) { return type == Type::f32 || type == Type::f64; }

bool uses_tensor_maps(const Launch& launch) {
  return std::ranges::any_of(launch.args,
                             [](const Argument& argument) { return argument.kind == Argument::Kind::tensor_map; });
}

double number_in(const Device& device, const std::string& property) {
  const auto found = device.properties.find(property);
  return found == device.properties.end() ? 0 : number_of(found->second).value_or(0);
}

cost::Hardware hardware_of_gpu(const Device& device, Type type) {
  const double shared = device.arch.starts_with("sm_75") ? 64 : 128;  // CUDA's programming guide; CDNA's LDS has 128
  const bool nvidia = device.arch.starts_with("sm_");
  return {number_in(device, "multiprocessors"),
          number_in(device, "clock_hz"),
          operations_per_cycle(device.arch, type),
          shared,
          nvidia ? shared : 64,
          nvidia ? kLevel2 : 64,
          nvidia ? kAlike : 1,
          number_in(device, "l2_bytes"),
          number_in(device, "memory_bandwidth"),
          2.5e-6,
          0.9e-6,
          true};
}

// Neither the clock nor the memory's bandwidth is told: only their ratio matters to the order.
cost::Hardware hardware_of_cpu(const Device& device, Type type) {
  const double simd_bytes = number_in(device, "simd_bits") / 8;
  return {number_in(device, "cores"),
          kCpuClock,
          4 * simd_bytes / static_cast<double>(size_of(type)),
          2 * simd_bytes,
          kCpuLevel2,
          kCpuLevel2,
          1,
          number_in(device, "l2_bytes"),
          kCpuMemory,
          1e-6,
          0,
          false};
}

/// The registers of a thread that multiplies `inner` by itself, or together with the rest of its warp.
double registers_of(const cost::Kernel& kernel, bool by_lanes, bool by_warpgroups) {
  const double m = kernel.inner_m, n = kernel.inner_n;
  if (by_warpgroups) return kUsualRegistersOfWgmma;
  return by_lanes ? m * n + 2 * (m + n) + 30 : m * n / 32 + m / 2 + 60;
}

bool spills(const cost::Kernel& kernel, bool by_lanes, double threads) {
  const double m = kernel.inner_m, n = kernel.inner_n;
  const double needed = by_lanes ? m * n + m + n + 20 : m * n / 32 + 40;
  return needed > std::min(kMostRegisters, kRegistersPerBlock / threads);
}

}  // namespace

CostModel::CostModel(const Plan& plan, const Device& device, cost::Hardware hardware)
    : plan_(&plan),
      device_name_(device.name),
      hardware_(hardware),
      threads_(device.integer("max_threads_per_multiprocessor")),
      shared_(device.integer("max_shared_per_multiprocessor")),
      blocks_(device.integer("max_blocks_per_multiprocessor")) {}

std::optional<CostModel> CostModel::of(const Plan& plan, const Device& device) {
  if (plan.cost_rules.empty()) return std::nullopt;
  const auto* gemm = std::get_if<Gemm>(&plan.problem);
  const Type type = gemm != nullptr ? gemm->a : Type::f32;
  const auto hardware = is_gpu(plan.backend()) ? hardware_of_gpu(device, type) : hardware_of_cpu(device, type);
  const auto suffices = [&](const CostRule& rule) {
    if (rule.time) return true;
    if (rule.streams) return hardware.memory > 0;
    return hardware.clock_hz > 0 && hardware.l2_bytes > 0 && hardware.memory > 0 && (rule.math || hardware.math > 0) &&
           (rule.workers || hardware.units > 0);
  };
  if (!std::ranges::all_of(plan.cost_rules, suffices)) return std::nullopt;
  return CostModel(plan, device, hardware);
}

std::optional<cost::Prediction> CostModel::predict(const Spec& spec) const try {
  const auto prediction = prediction_of(spec);
  const bool possible = prediction && std::isfinite(prediction->seconds) && prediction->seconds > 0;
  return possible ? prediction : std::nullopt;
} catch (const NoPrediction&) {
  return std::nullopt;
}

std::optional<cost::Prediction> CostModel::prediction_of(const Spec& spec) const {
  const std::vector<Value> slots = plan_->space.environment(spec);
  const auto rule =
      std::ranges::find_if(plan_->cost_rules, [&](const CostRule& each) { return holds(each.condition, slots); });
  if (rule == plan_->cost_rules.end()) return std::nullopt;
  if (rule->time) return cost::Prediction{positive(*rule->time, slots)};
  if (rule->streams)
    return cost::predict_stream(hardware_, bytes_of(plan_->problem), positive_or(rule->factor, slots, 1));
  const auto* gemm = std::get_if<Gemm>(&plan_->problem);
  if (gemm == nullptr) return std::nullopt;
  const KernelPlan* kernel = plan_->kernel();
  const Launch* launch = nullptr;
  double launches = 0;
  for (const Launch& each : kernel != nullptr ? std::span(kernel->launches) : std::span<const Launch>()) {
    if (!holds(each.condition, slots)) continue;
    const bool is_main = each.kernel == kernel->name;
    if (launch == nullptr || (is_main && launch->kernel != kernel->name)) launch = &each;
    ++launches;
  }
  cost::Hardware hardware = hardware_;
  hardware.math = positive_or(rule->math, slots, hardware.math);
  hardware.units = positive_or(rule->workers, slots, hardware.units);
  // Of the columns that are multiplied, an epilogue may store fewer.
  const double stored = static_cast<double>(gemm->n) / static_cast<double>(gemm->columns());
  const cost::Product product{static_cast<double>(gemm->m),
                              static_cast<double>(gemm->columns()),
                              static_cast<double>(gemm->k),
                              static_cast<double>(gemm->batch),
                              static_cast<double>(gemm->used_matrices_of_b()) / static_cast<double>(gemm->batch),
                              static_cast<double>(size_of(gemm->a)),
                              stored * static_cast<double>(size_of(gemm->c))};
  return cost::predict(hardware, product, kernel_of(*rule, slots, launch, launches));
}

cost::Kernel CostModel::kernel_of(const CostRule& rule, std::span<const Value> slots, const Launch* launch,
                                  double launches) const {
  const auto& gemm = std::get<Gemm>(plan_->problem);
  const auto entry = [&](const std::vector<Expression>& list, std::size_t i, double otherwise) {
    return i < list.size() ? positive(list[i], slots) : otherwise;
  };
  const bool gpu = is_gpu(plan_->backend()), by_lanes = is_by_lanes(gemm.a);
  const bool by_warpgroups = launch != nullptr && uses_tensor_maps(*launch);
  const double bytes = static_cast<double>(size_of(gemm.a));
  const double threads = launch != nullptr && gpu ? product_of(launch->block, slots) : 1;
  const double shared = launch != nullptr && launch->shared ? not_negative(*launch->shared, slots) : 0;

  cost::Kernel kernel;
  kernel.launches = std::max(1.0, launches);
  kernel.tile_m = entry(rule.tile, 0, 0);
  kernel.tile_n = entry(rule.tile, 1, 0);
  kernel.tile_k = entry(rule.tile, 2, kUsualSlice);
  const double rows = entry(rule.of, 0, static_cast<double>(gemm.m));
  const double columns = entry(rule.of, 1, static_cast<double>(gemm.columns()));
  const double batch = static_cast<double>(gemm.batch);
  const double covering = batch * std::ceil(rows / kernel.tile_m) * std::ceil(columns / kernel.tile_n);
  kernel.tiles = positive_or(rule.tiles, slots, covering);
  const double parts = launch != nullptr && gpu ? product_of(launch->grid, slots) / kernel.tiles : 1;
  kernel.split = positive_or(rule.split, slots, parts > 1 && parts == std::floor(parts) ? parts : 1);
  const double slice = (kernel.tile_m + kernel.tile_n) * kernel.tile_k * bytes;
  kernel.stages = positive_or(rule.stages, slots, std::max(1.0, std::floor(shared / slice)));
  kernel.share_a = entry(rule.share, 0, 1);
  kernel.share_b = entry(rule.share, 1, 1);
  // Tiles below each other share loads of B, and some of them may be outside of C.
  const double down = std::ceil(std::ceil(rows / kernel.tile_m) / kernel.share_b) * kernel.share_b;
  const double across = std::ceil(std::ceil(columns / kernel.tile_n) / kernel.share_a) * kernel.share_a;
  kernel.down = batch * down;
  kernel.across = static_cast<double>(gemm.used_matrices_of_b()) * across;
  if (launch != nullptr) kernel.cluster = product_of(launch->cluster, slots);
  const double workers = by_lanes ? threads : std::max(1.0, threads / 32);
  const double side = std::sqrt(kernel.tile_m * kernel.tile_n / workers);
  kernel.inner_m = entry(rule.inner, 0, by_warpgroups ? 64 : side);
  kernel.inner_n = entry(rule.inner, 1, by_warpgroups ? kernel.tile_n : side);
  if (rule.group) kernel.group = positive(*rule.group, slots);
  kernel.store = positive_or(rule.store, slots, 1);
  kernel.factor = positive_or(rule.factor, slots, 1);
  // The tiles of groups are as many as there can be at most.
  if (kernel.cluster > 1 && kernel.tiles > covering && gemm.groups() == 0) kernel.factor *= kOutside;
  if (!gpu) return kernel;
  // Who loads tensors gets zeros for what is outside of them, and other kernels ask for nothing there.
  if (by_warpgroups && gemm.groups() == 0)
    kernel.outside = batch * (across * (down * kernel.tile_m - rows) + down * (across * kernel.tile_n - columns));

  if (!by_warpgroups && spills(kernel, by_lanes, threads)) kernel.factor *= kSpilling;
  double held = static_cast<double>(blocks_.value_or(32));
  if (threads_) held = std::min(held, static_cast<double>(*threads_) / threads);
  if (shared_ && shared > 0) held = std::min(held, static_cast<double>(*shared_) / shared);
  held = std::min(held, kRegistersPerBlock / (registers_of(kernel, by_lanes, by_warpgroups) * threads));
  kernel.occupancy = std::max(1.0, std::floor(held));
  return kernel;
}

}  // namespace tune
