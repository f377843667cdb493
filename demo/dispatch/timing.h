#pragma once
#include <cuda_runtime_api.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

/// Times products on a GPU as tune does: their operands are random, and not in the caches.
class Timing {
 public:
  Timing() {
    std::vector<unsigned short> numbers(kStep / sizeof(unsigned short));
    std::minstd_rand random;
    for (unsigned short& each : numbers) each = 0x3f00 | (random() & 0x80ff);  // as bf16: 0.5 to 2, and negative ones
    for (char*& matrix : matrices_) {
      const std::size_t size = kStep * (kPlaces + kLongest);
      if (const cudaError_t error = cudaMalloc(reinterpret_cast<void**>(&matrix), size); error != cudaSuccess)
        throw std::runtime_error(std::string("15 GiB of a GPU's memory are needed: ") + cudaGetErrorString(error));
      cudaMemcpy(matrix, numbers.data(), kStep, cudaMemcpyHostToDevice);
      for (std::size_t at = kStep; at < size; at += kStep) cudaMemcpy(matrix + at, matrix, kStep, cudaMemcpyDefault);
    }
    cudaEventCreate(&begin_);
    cudaEventCreate(&end_);
  }
  ~Timing() {
    for (char* matrix : matrices_) cudaFree(matrix);
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Timing(const Timing&) = delete;

  /// The median over some calls of multiply(A, B, C). Before each some more are queued, so that it does not wait for
  /// the host.
  template <typename Multiply>
  double milliseconds(const Multiply& multiply) {
    std::vector<float> times(kTimes);
    for (float& time : times) {
      for (int ahead = 0; ahead < kAhead; ++ahead) call(multiply);
      cudaEventRecord(begin_);
      call(multiply);
      cudaEventRecord(end_);
      cudaEventSynchronize(end_);
      cudaEventElapsedTime(&time, begin_, end_);
    }
    std::nth_element(times.begin(), times.begin() + kTimes / 2, times.end());
    return times[kTimes / 2];
  }

 private:
  static constexpr std::size_t kStep = std::size_t{128} << 20, kPlaces = 32, kLongest = 8;
  static constexpr int kTimes = 31, kAhead = 8;

  template <typename Multiply>
  void call(const Multiply& multiply) {
    const std::size_t at = kStep * (turn_++ % kPlaces);
    multiply(matrices_[0] + at, matrices_[1] + at, matrices_[2] + at);
  }

  char* matrices_[3] = {};
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  std::size_t turn_ = 0;
};
