#pragma once
#include <cuda_runtime_api.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

/// Times products of bf16 on a GPU as tune does: their operands are random, and not in the caches.
class Timing {
 public:
  Timing() {
    std::vector<unsigned short> numbers(kStep / sizeof(unsigned short));
    std::minstd_rand random;
    for (unsigned short& each : numbers) each = 0x3f00 | (random() & 0x80ff);  // 0.5 to 2, and negative ones
    if (const cudaError_t error = cudaMalloc(reinterpret_cast<void**>(&memory_), kMemory); error != cudaSuccess)
      throw std::runtime_error(std::string("2 GiB of a GPU's memory are needed: ") + cudaGetErrorString(error));
    cudaMemcpy(memory_, numbers.data(), kStep, cudaMemcpyDefault);
    for (std::size_t at = kStep; at < kMemory; at += kStep) cudaMemcpy(memory_ + at, memory_, kStep, cudaMemcpyDefault);
    cudaEventCreate(&begin_);
    cudaEventCreate(&end_);
  }
  ~Timing() {
    cudaFree(memory_);
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Timing(const Timing&) = delete;

  /// The median of some calls of multiply(A, B, C) in milliseconds, each with other operands than the one before.
  /// Before each some more are queued, so that it does not wait for the host.
  template <typename Sizes, typename Multiply>
  double of(const Sizes& sizes, const Multiply& multiply) {
    const std::size_t a = bytes(sizes.m, sizes.k), b = bytes(sizes.k, sizes.n), one = a + b + bytes(sizes.m, sizes.n);
    if (2 * one > kMemory) throw std::runtime_error("two sets of operands do not fit 2 GiB");
    const std::size_t sets = std::clamp<std::size_t>(kCold / one, 2, 64);
    std::size_t turn = 0;
    const auto call = [&] {
      char* operands = memory_ + one * (turn++ % sets);
      multiply(operands, operands + a, operands + a + b);
    };
    std::vector<float> times(kTimes);
    for (float& time : times) {
      for (int ahead = 0; ahead < kAhead; ++ahead) call();
      cudaEventRecord(begin_);
      call();
      cudaEventRecord(end_);
      cudaEventSynchronize(end_);
      cudaEventElapsedTime(&time, begin_, end_);
    }
    std::nth_element(times.begin(), times.begin() + kTimes / 2, times.end());
    return times[kTimes / 2];
  }

 private:
  static constexpr std::size_t kMemory = std::size_t{2} << 30, kCold = std::size_t{512} << 20, kStep = kCold / 4;
  static constexpr int kTimes = 31, kAhead = 8;

  /// Of a matrix, up to where the next one can begin.
  static std::size_t bytes(std::size_t rows, std::size_t columns) {
    constexpr std::size_t kAligned = 1024;
    return (rows * columns * sizeof(unsigned short) + kAligned - 1) / kAligned * kAligned;
  }

  char* memory_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};
