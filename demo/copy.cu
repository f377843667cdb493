// A copy within the memory of a device, which tells what bandwidth kernels can reach there. Device code for CUDA and
// HIP. A block copies BLOCK * UNROLL pieces of 16 bytes at a time: each thread reads UNROLL of them before it writes
// the first.
//
//   BLOCK    threads of a block
//   UNROLL   pieces of a thread that are on their way at a time
//   STREAM   1: what is read and written leaves the caches first

namespace {

#if defined(__HIP__)
using Piece = unsigned __attribute__((ext_vector_type(4)));
__device__ Piece read_once(const Piece* from) { return __builtin_nontemporal_load(from); }
__device__ void write_once(Piece* to, Piece piece) { __builtin_nontemporal_store(piece, to); }
#else
using Piece = uint4;
__device__ Piece read_once(const Piece* from) { return __ldcs(from); }
__device__ void write_once(Piece* to, Piece piece) { __stcs(to, piece); }
#endif

__device__ Piece read(const Piece* from) { return STREAM ? read_once(from) : *from; }
__device__ void write(Piece* to, Piece piece) {
  if (STREAM)
    write_once(to, piece);
  else
    *to = piece;
}

constexpr int kAtATime = BLOCK * UNROLL;

}  // namespace

extern "C" __global__ void __launch_bounds__(BLOCK) copy(const Piece* from, Piece* to, long long pieces) {
  for (long long start = static_cast<long long>(blockIdx.x) * kAtATime + threadIdx.x; start < pieces;
       start += static_cast<long long>(gridDim.x) * kAtATime) {
    Piece held[UNROLL];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i)
      if (start + i * BLOCK < pieces) held[i] = read(from + start + i * BLOCK);
#pragma unroll
    for (int i = 0; i < UNROLL; ++i)
      if (start + i * BLOCK < pieces) write(to + start + i * BLOCK, held[i]);
  }
}

extern "C" __global__ void copy_simple(const Piece* from, Piece* to, long long pieces) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at < pieces) to[at] = from[at];
}
