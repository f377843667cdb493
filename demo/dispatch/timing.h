#pragma once
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

/// Times products of bf16 on a GPU as tune does: their operands are random and not in the caches, and between two
/// launches the GPU rests, so that its power limit does not lower the clock.
class Timing {
 public:
  Timing() {
    std::vector<unsigned short> numbers(kStep / sizeof(unsigned short));
    std::minstd_rand random;
    for (unsigned short& each : numbers) each = 0x3f00 | (random() & 0x80ff);  // 0.5 to 2, and negative ones
    for (void** memory : {reinterpret_cast<void**>(&memory_), &scratch_})
      if (const cudaError_t error = cudaMalloc(memory, kMemory); error != cudaSuccess)
        throw std::runtime_error(std::string("4 GiB of a GPU's memory are needed: ") + cudaGetErrorString(error));
    cudaMemcpy(memory_, numbers.data(), kStep, cudaMemcpyDefault);
    for (std::size_t at = kStep; at < kMemory; at += kStep) cudaMemcpy(memory_ + at, memory_, kStep, cudaMemcpyDefault);
    cudaEventCreate(&begin_);
    cudaEventCreate(&end_);
  }
  ~Timing() {
    cudaFree(memory_);
    cudaFree(scratch_);
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Timing(const Timing&) = delete;

  /// The median of some calls of multiply(A, B, C, scratch) in milliseconds, each with other operands than the one
  /// before. `scratch` has 2 GiB.
  template <typename Sizes, typename Multiply>
  double of(const Sizes& sizes, const Multiply& multiply) {
    const std::size_t a = bytes(sizes.m, sizes.k), b = bytes(sizes.k, sizes.n), one = a + b + bytes(sizes.m, sizes.n);
    if (2 * one > kMemory) throw std::runtime_error("two sets of operands do not fit 2 GiB");
    const std::size_t sets = std::clamp<std::size_t>(kCold / one, 2, 64);
    std::size_t turn = 0;
    const auto call = [&] {
      char* operands = memory_ + one * (turn++ % sets);
      multiply(operands, operands + a, operands + a + b, scratch_);
    };
    milliseconds_of(call, 0);  // loads the kernel
    const int ahead = std::clamp(static_cast<int>(kAheadMilliseconds / milliseconds_of(call, 0)), 1, 32);
    std::vector<float> times(kTimes);
    for (float& time : times) time = milliseconds_of(call, ahead);
    std::nth_element(times.begin(), times.begin() + kTimes / 2, times.end());
    return times[kTimes / 2];
  }

 private:
  static constexpr std::size_t kMemory = std::size_t{2} << 30, kCold = std::size_t{512} << 20, kStep = kCold / 4;
  static constexpr int kTimes = 31;
  static constexpr float kAheadMilliseconds = 0.5F;

  /// Of one call, with some more queued ahead of it. The GPU begins when all are queued, so that it never waits for the
  /// host.
  template <typename Call>
  float milliseconds_of(const Call& call, int ahead) {
    is_queued_ = ahead == 0;  // a first call may itself wait for the GPU
    cudaLaunchHostFunc(nullptr, &Timing::wait_until_queued, this);
    for (int i = 0; i < ahead; ++i) call();
    cudaEventRecord(begin_);
    call();
    cudaEventRecord(end_);
    is_queued_ = true;
    cudaEventSynchronize(end_);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, begin_, end_);
    return milliseconds;
  }
  static void wait_until_queued(void* timing) {
    while (!static_cast<Timing*>(timing)->is_queued_) std::this_thread::yield();
  }
  /// Of a matrix, up to where the next one can begin.
  static std::size_t bytes(std::size_t rows, std::size_t columns) {
    constexpr std::size_t kAligned = 1024;
    return (rows * columns * sizeof(unsigned short) + kAligned - 1) / kAligned * kAligned;
  }

  std::atomic<bool> is_queued_ = false;
  char* memory_ = nullptr;
  void* scratch_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};
