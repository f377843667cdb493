// What demo/hopper/ptx.cuh has, on the emulated machine.
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "demo/hopper_emulator/machine.h"

#define __device__
#define __global__
#define __shared__
#define __cluster_dims__()
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes)
#define threadIdx (tune::hopper::Machine::now().thread().index)
#define blockIdx (tune::hopper::Machine::now().block().index)
#define gridDim (tune::hopper::Machine::now().block().size)

struct uint2 {
  unsigned x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};
struct int2 {
  int x, y;
};
struct float2 {
  float x, y;
};
struct float4 {
  float x, y, z, w;
};
using std::min;

namespace {

using tune::hopper::Machine;
using TensorMap = tune::hopper::Map;

inline float __fdividef(float x, float y) { return x / y; }
inline unsigned __cvta_generic_to_shared(const void*) { return Machine::now().block().rank << 24; }
inline unsigned atomicAdd(unsigned* counter, unsigned count) {
  Machine::now().note_progress();
  return std::exchange(*counter, *counter + count);
}

inline void __syncwarp() {
  Machine::now().meet(Machine::now().block().warps[threadIdx.x / 32].meeting, 32, "their warp");
}

/// Every lane's word, once all lanes have given theirs.
inline std::array<std::uint32_t, 32> words_of_warp(std::uint32_t word) {
  tune::hopper::Warp& warp = Machine::now().block().warps[threadIdx.x / 32];
  warp.words[threadIdx.x % 32] = word;
  Machine::now().meet(warp.meeting, 32, "their warp");
  const auto words = warp.words;
  Machine::now().meet(warp.meeting, 32, "their warp");
  return words;
}
template <typename T>
T __shfl_sync(unsigned, T value, int lane) {
  return static_cast<T>(words_of_warp(static_cast<std::uint32_t>(value))[static_cast<unsigned>(lane)]);
}
inline float __shfl_sync(unsigned, float value, int lane) {
  return std::bit_cast<float>(words_of_warp(std::bit_cast<std::uint32_t>(value))[static_cast<unsigned>(lane)]);
}
template <typename T>
T __shfl_xor_sync(unsigned, T value, int distance) {
  return static_cast<T>(
      words_of_warp(static_cast<std::uint32_t>(value))[threadIdx.x % 32 ^ static_cast<unsigned>(distance)]);
}

// Here a launch begins when the one before is over.
inline void begin_next_launch() {}
inline void await_launch_before() {}

inline unsigned cluster_threads() {
  const auto& cluster = *Machine::now().block().cluster;
  return static_cast<unsigned>(cluster.blocks.size() * cluster.blocks.front()->warps.size() * 32);
}
inline void arrive_in_cluster() {
  Machine::arrive(Machine::now().block().cluster->meeting, cluster_threads());  // it orders nothing
}
inline void await_cluster() {
  tune::hopper::Meeting& meeting = Machine::now().block().cluster->meeting;
  tune::hopper::Thread& thread = Machine::now().thread();
  const unsigned turn = ++thread.clusters_met;
  Machine::now().wait_until("their cluster", [&meeting, turn] { return meeting.turn >= turn; });
}
inline unsigned address_in(unsigned rank, unsigned address) { return (address & 0xffffff) | rank << 24; }

inline void make_barrier(unsigned barrier, int arrivals) {
  Machine::now().block_of(barrier).barriers[barrier & 0xffffff] = {arrivals, arrivals, 0, 0};
}
inline void publish_barriers() {}
inline void expect(unsigned barrier, int bytes) {
  Machine::now().barrier(barrier).bytes += bytes;
  Machine::now().arrive(barrier);
}
inline void arrive(unsigned barrier) { Machine::now().arrive(barrier); }
inline void arrive_in(unsigned rank, unsigned barrier) {
  tune::hopper::Thread& thread = Machine::now().thread();
  Machine::now().later([rank, barrier, &thread] {
    Machine::now().act_as(thread);
    Machine::now().arrive(address_in(rank, barrier));
  });
}
inline void arrive_in_all(unsigned barrier, unsigned blocks) {
  if (blocks == 1 && threadIdx.x % 32 == 0) arrive(barrier);
  if (blocks > 1 && threadIdx.x % 32 < blocks) arrive_in(threadIdx.x % 32, barrier);
}
inline bool elected() { return threadIdx.x % 32 == 0; }
inline void count_around(unsigned* counter, unsigned most) {
  Machine::now().note_progress();
  *counter = *counter >= most ? 0 : *counter + 1;
}
inline bool has_ended(unsigned barrier, unsigned parity) {
  const tune::hopper::Barrier& waited = Machine::now().barrier(barrier);
  Machine::now().wait_until("a barrier", [&waited, parity] { return waited.phase % 2 != parity; });
  return true;
}
inline void meet(int barrier, int threads) {
  Machine::now().meet(Machine::now().block().named[barrier], static_cast<unsigned>(threads), "a named barrier");
}
inline void pass(int barrier, int threads) {
  Machine::arrive(Machine::now().block().named[barrier], static_cast<unsigned>(threads));
}

inline void prefetch(const TensorMap&) {}
inline void prefetch(const TensorMap&, int, int, int) {}
inline void load(const TensorMap& map, int x, int y, unsigned to, unsigned barrier) {
  tune::hopper::load_box(map, x, y, to, barrier, 1U << Machine::now().block().rank);
}
inline void load(const TensorMap& map, int x, int y, int z, unsigned to, unsigned barrier) {
  TensorMap matrix = map;
  matrix.data += static_cast<std::ptrdiff_t>(z) * map.rows * map.ld * map.element;
  tune::hopper::load_box(matrix, x, y, to, barrier, 1U << Machine::now().block().rank);
}
inline void load_for(unsigned blocks, const TensorMap& map, int x, int y, unsigned to, unsigned barrier) {
  tune::hopper::load_box(map, x, y, to, barrier, blocks);
}
inline void load_bytes(const void* from, int bytes, unsigned to, unsigned barrier) {
  tune::hopper::load_bytes(from, bytes, to, barrier);
}
inline void show_global_to_tma() {}
inline void show_to_tma() {}
// Shared memory is read as late as the kernel allows.
inline void store(const TensorMap& map, int x, int y, unsigned from) {
  Machine::now().thread().asked.push_back([map, x, y, from] { tune::hopper::store_box(map, x, y, from); });
}
inline void commit_stores() {
  tune::hopper::Thread& thread = Machine::now().thread();
  thread.stores.push_back(std::exchange(thread.asked, {}));
}
template <int kPending>
void await_stores() {
  auto& stores = Machine::now().thread().stores;
  for (; stores.size() > kPending; stores.pop_front())
    for (const auto& act : stores.front()) act();
}

inline unsigned transposed(unsigned pair) {
  const auto words = words_of_warp(pair);
  const unsigned row = threadIdx.x % 32 / 4, col = threadIdx.x % 4 * 2;
  const auto element = [&](unsigned r, unsigned c) { return words[r * 4 + c / 2] >> c % 2 * 16 & 0xffff; };
  return element(col, row) | element(col + 1, row) << 16;
}
template <bool kTransposed>
void store_matrices(unsigned to, unsigned first, unsigned second, unsigned third, unsigned fourth) {
  const auto places = words_of_warp(to);
  const unsigned row = threadIdx.x % 32 / 4, col = threadIdx.x % 4 * 2;
  const unsigned words[] = {first, second, third, fourth};
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned e = 0; e < 2; ++e) {
      const auto element = static_cast<unsigned short>(words[i] >> e * 16);
      const unsigned place = kTransposed ? places[i * 8 + col + e] + row * 2 : places[i * 8 + row] + (col + e) * 2;
      std::memcpy(Machine::now().at(place, 2), &element, 2);
    }
}
inline float read_one(unsigned from) {
  float x;
  std::memcpy(&x, Machine::now().at(from, sizeof x), sizeof x);
  return x;
}
inline void write_two(unsigned to, uint2 v) { std::memcpy(Machine::now().at(to, sizeof v), &v, sizeof v); }
inline uint2 read_two(unsigned from) {
  uint2 v;
  std::memcpy(&v, Machine::now().at(from, sizeof v), sizeof v);
  return v;
}
inline void write_four(bool wanted, unsigned to, float4 v) {
  if (wanted) std::memcpy(Machine::now().at(to, sizeof v), &v, sizeof v);
}
inline void write_four(bool wanted, float4* to, float4 v) {
  if (wanted) *to = v;
}
inline float4 read_four(unsigned from) {
  float4 v;
  std::memcpy(&v, Machine::now().at(from, sizeof v), sizeof v);
  return v;
}
inline void count_up(unsigned* counter) { atomicAdd(counter, 1); }
inline unsigned count_of(const unsigned* counter) {
  Machine::now().let_others_run("a counter");
  return *counter;
}

}  // namespace
