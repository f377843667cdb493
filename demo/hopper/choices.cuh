// What follows from the choices at the head of gemm.cu: sizes of tiles, stages and memory, and how the work is divided.
#pragma once
#include "pipe.cuh"
#include "schedule.cuh"
#include "wgmma.cuh"
// It uses Result.
#include "finish.cuh"
// They use the four above.
#include "epilogue.cuh"
#include "groups.cuh"
#include "scales.cuh"

namespace {

#if IS_SWIGLU && (SWAP || REDUCE_workspace || BN % 32 != 0 || HAS_BLOCK_SCALES)
#error "swiglu needs SWAP 0, no REDUCE, no scales and a BN that is a multiple of 32"
#endif
#if HAS_GROUPS && (REDUCE_workspace || HAS_EPILOGUE)
#error "groups of rows have no REDUCE and no epilogue"
#endif
#if SCHEDULE_pingpong
constexpr bool kPingPong = true;
#else
constexpr bool kPingPong = false;
#endif
#if REDUCE_workspace
constexpr bool kSplit = true;
#else
constexpr bool kSplit = false;
#endif
constexpr int kThreads = (CONSUMERS + 1) * 128;
#if type_a_e4m3
constexpr int kWidth = 128;  // elements of k in a swizzled row
#else
constexpr int kWidth = 64;
#endif
constexpr int kPartsK = BK / kWidth;
constexpr int kBytesA = BM * 128, kBytesB = BN * 128, kStageBytes = (kBytesA + kBytesB) * kPartsK;
constexpr int kConsumerRows = kPingPong ? BM : BM / CONSUMERS, kBlocks = kConsumerRows / 64, kFragments = BN / 8;
constexpr int kReaders = (kPingPong ? 1 : CONSUMERS) * 4;  // warps that read a stage

#if HAS_GROUPS
enum { kHalf = !SWAP && !kPingPong && CONSUMERS == 2 ? BM / 2 : 0 };  // rows of a tile that one consumer has
// Whether tiles of few rows have twice as many columns: each consumer has all rows and half of the columns, the second
// one those whose part of B lies where whole tiles have A's second half. Beside stores of the TMA, the code for that
// takes registers which whole tiles need.
#if EPILOGUE_tma
enum { kWide = 0 };
#else
enum { kWide = kHalf == 128 && BN <= 128 && kPartsK == 1 };
#endif
using Tiles = Groups<BM, BN, SWAP != 0, kHalf, kWide>;

__device__ __forceinline__ bool is_wide(const GroupedWork& work) { return kWide && work.end - work.row <= kHalf; }

/// How many times 64 rows a tile has.
__device__ __forceinline__ int blocks_of(const GroupedWork& work) {
  return min((work.end - work.row + 63) / 64, BM / 64);
}
#else
enum { kWide = 0 };
using Tiles = Schedule<BM, BN, kSplit>;
#endif
#if EPILOGUE_tma
constexpr int kStoreBytes = kStoreBuffers * 64 * 128;  // for each consumer, behind the ring
#else
constexpr int kStoreBytes = kWide ? 64 : 0;  // plans lie there
#endif

constexpr int kWarps = CONSUMERS * 4, kAdders = kWarps * 32;  // of all consumers
constexpr int kTileFragments = BM * BN / 128, kPartBytes = kTileFragments * kFragmentBytes;
// Named barriers. Each consumer has the first two for itself, but those that add up together share one.
constexpr int kStoring = 1, kTurn = 4, kReady = 6;
// Threads at kReady: all but the producer's idle warps.
enum { kAtStart = kAdders + (HAS_BLOCK_SCALES ? 96 : 64) + (kWide ? 32 : 0) };

static_assert(CONSUMERS >= 1 && CONSUMERS <= 3, "one to three warpgroups share the registers");
static_assert(kConsumerRows % 64 == 0 && BN % 8 == 0 && BN <= 256, "shapes that wgmma has");
static_assert(BK % kWidth == 0 && STAGES >= 2, "whole swizzled rows");
static_assert(!kPingPong || CONSUMERS == 2, "two take turns");
static_assert(!kSplit || (!kPingPong && kStoreBytes == 0), "all consumers add up together, and store directly");
static_assert(!kSplit || STAGES * kStageBytes > kPartBytes, "the ring holds what a block adds up");
static_assert(!kSplit || kTileFragments % kWarps == 0, "every warp has as many fragments of a tile");

#if HAS_SCALES
// How slices of 128 bytes are added. A consumer adds one while it multiplies the next one, if its registers hold the
// sums of both. Otherwise it multiplies 64 rows of a slice at a time, and adds them while the other consumer
// multiplies; if it has no more than these, the two take turns.
enum { kAddsBehind = PROMOTE && BK == kWidth };
constexpr bool kTwoSlices = 3 * kBlocks * kFragments * 4 <= 192;
constexpr bool kInTurn = kAddsBehind && !kTwoSlices && !kPingPong && CONSUMERS == 2 && kBlocks == 1;
#endif

using Stages = Ring<STAGES, kStageBytes>;

}  // namespace
