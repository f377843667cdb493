#include "model/cost/cost.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tune::cost {
namespace {

// Shares of a peak that good kernels reach.
constexpr double kMathShare = 0.9, kMemoryShare = 0.87;
constexpr double kFillRate = 2;            // of shared memory: how many times as fast as it is read
constexpr double kFillShare = 0.3;         // of what memory delivers: taking that in keeps the L2 cache from giving
constexpr double kZeros = 3.5;             // rows that the L2 cache could give instead of one of zeros, by recordings
constexpr double kStoreBytes = 70;         // per cycle and unit
constexpr double kFirstLoad = 0.5e-6;      // seconds
constexpr double kSliceSeconds = 0.12e-6;  // of a barrier and of issuing the loads
constexpr double kSumSeconds = 2.5e-6;     // of the parts of a split k to find each other
constexpr double kFewInFlight = 0.1;       // how much longer, where nothing is in flight
constexpr double kInFlightSeconds = 0.83e-6;
constexpr double kSumBytes = 8;  // each sum of a part is written down, and read by what adds the parts up

/// What is nearly as long as the longest part delays it a little: by a fifth where two are equal.
double together(const std::array<double, 5>& parts) {
  double sum = 0;
  for (const double part : parts) sum += part * part * part * part;
  return std::sqrt(std::sqrt(sum));
}

/// What a product asks of a device before anything is timed, in the words of docs/cost-model.md.
struct Load {
  double pieces;       ///< of work: tiles, times the parts of k
  double waves;        ///< pieces of the unit that has most
  double slices;       ///< of a piece
  double at_work;      ///< blocks
  double sharing;      ///< blocks that really share a unit
  double input_bytes;  ///< of A and B once
  double bytes;        ///< of A, B and C once
};

Load load_of(const Hardware& hardware, const Product& product, const Kernel& kernel) {
  Load load{};
  const double units = std::max(kernel.cluster, std::floor(hardware.units / kernel.cluster) * kernel.cluster);
  load.pieces = kernel.tiles * kernel.split;
  load.waves = std::ceil(load.pieces / units);
  load.slices = std::ceil(std::ceil(product.k / kernel.tile_k) / kernel.split);
  load.at_work = std::min(load.pieces, units * kernel.occupancy);
  load.sharing = std::clamp(load.pieces / units, 1.0, std::max(1.0, kernel.occupancy));
  load.input_bytes = product.input_bytes * product.k * (product.m + product.n * product.matrices_of_b);
  load.bytes = product.batch * (load.input_bytes + product.output_bytes * product.m * product.n);
  return load;
}

/// How many times the memory is asked for what it has given already.
double rereads(const Hardware& hardware, const Product& product, const Kernel& kernel, const Load& load) {
  const double waves = std::ceil(load.pieces / load.at_work);
  if (kernel.group == 0 || waves <= 1) return 1;
  const double columns = std::min(load.at_work / (kernel.split * kernel.group), std::ceil(product.n / kernel.tile_n));
  const double edge = kernel.group * kernel.tile_m + columns * kernel.tile_n;
  const double again = std::max(1.0, waves * edge * product.k * product.input_bytes / load.bytes);
  // Of what the L2 cache cannot keep, half is assumed to be there all the same.
  const double beyond = std::clamp(load.input_bytes / hardware.l2_bytes - 0.5, 0.0, 1.0);
  return 1 + beyond * (again - 1) / 2;
}

double memory_seconds(const Hardware& hardware, const Product& product, const Kernel& kernel, const Load& load) {
  const double once = load.bytes / (kMemoryShare * hardware.memory);
  if (!hardware.keeps_pipeline) return once;
  const double in_flight =
      load.at_work * kernel.stages * (kernel.tile_m + kernel.tile_n) * kernel.tile_k * product.input_bytes;
  const double lacking = std::max(0.0, 1 - in_flight / (hardware.memory * kInFlightSeconds));
  return once * (1 + kFewInFlight * lacking) * rereads(hardware, product, kernel, load);
}

/// Reads of the units that multiply, and writes of what the L2 cache gives.
double shared_seconds(const Hardware& hardware, const Product& product, const Kernel& kernel, double slices) {
  const double reads = kernel.tile_m * kernel.tile_n * (1 / kernel.inner_m + 1 / kernel.inner_n);
  const double writes = (kernel.tile_m + kernel.tile_n) / kFillRate;
  return slices * kernel.tile_k * product.input_bytes * (reads + writes) / (hardware.shared * hardware.clock_hz);
}

/// How many different ones of so many slices are among those that blocks with random tiles ask for.
double different(double slices, double blocks) {
  if (slices <= 1) return std::min(blocks, slices);
  return std::min(blocks, slices * (1 - std::pow(1 - 1 / slices, blocks)));
}

/// The busiest unit takes in all of its slices, whoever else uses a load. The cache gives a load once to those who
/// share it, and to those who ask alike.
double l2_seconds(const Hardware& hardware, const Product& product, const Kernel& kernel, const Load& load,
                  double memory) {
  const double per_length = load.slices * kernel.tile_k * product.input_bytes / hardware.clock_hz;
  const double taken = load.waves * (kernel.tile_m + kernel.tile_n);
  const double blocks = load.at_work * hardware.alike / hardware.units;
  const double needed = kernel.tile_m * different(kernel.down * kernel.split, blocks / kernel.share_a) +
                        kernel.tile_n * different(kernel.across * kernel.split, blocks / kernel.share_b);
  const double given =
      load.pieces / load.at_work * needed / hardware.alike + kZeros * kernel.outside * kernel.split / hardware.units;
  return std::max(per_length * taken / hardware.intake, per_length * given / hardware.l2 + kFillShare * memory);
}

double latency_seconds(const Hardware& hardware, const Kernel& kernel, const Load& load) {
  if (!hardware.keeps_pipeline) return 0;
  const double per_slice = std::max(kSliceSeconds, hardware.round_trip / std::max(1.0, kernel.stages - 1));
  return kFirstLoad + std::ceil(load.waves / load.sharing) * load.slices * per_slice;
}

}  // namespace

std::string_view to_text(Limit limit) {
  constexpr std::array<std::string_view, 6> kTexts = {"math",   "shared memory", "L2 cache",
                                                      "memory", "latency",       "store"};
  return kTexts[static_cast<std::size_t>(limit)];
}

Prediction predict(const Hardware& hardware, const Product& product, const Kernel& kernel) {
  const Load load = load_of(hardware, product, kernel);
  const double slices = load.waves * load.slices, area = kernel.tile_m * kernel.tile_n;
  const double volume = area * kernel.tile_k;
  const double memory = memory_seconds(hardware, product, kernel, load);
  const std::array<double, 5> parts = {
      slices * 2 * volume / (kMathShare * hardware.math * hardware.clock_hz),
      shared_seconds(hardware, product, kernel, slices),
      l2_seconds(hardware, product, kernel, load, memory),
      memory,
      latency_seconds(hardware, kernel, load),
  };
  const double per_cycle = kStoreBytes * hardware.clock_hz;
  const double store = load.waves * area * product.output_bytes * kernel.store / per_cycle;
  const double sum = kernel.split == 1 ? 0 : kSumSeconds + load.waves * area * kSumBytes / per_cycle;
  const auto longest = std::ranges::max_element(parts);
  const Limit limit = store + sum > *longest ? Limit::store : static_cast<Limit>(longest - parts.begin());
  return {kernel.factor * (kernel.launches * hardware.launch_seconds + together(parts) + store + sum), limit};
}

Prediction predict_stream(const Hardware& hardware, double bytes, double factor) {
  return {factor * (hardware.launch_seconds + bytes / (kMemoryShare * hardware.memory)), Limit::memory};
}

}  // namespace tune::cost
