#include <cuda_fp16.h>

template <int N>
__device__ float sum_of_block(float value) {
  __shared__ float parts[N / 32];
  for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_down_sync(0xffffffffu, value, offset);
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = value;
  __syncthreads();
  float total = 0.f;
  for (int i = 0; i < N / 32; ++i) total += parts[i];
  __syncthreads();
  return total;
}

extern "C" __global__ void layernorm(const __half* input, const __half* gamma, const __half* beta, __half* output,
                                     int rows, int hidden, float epsilon) {
  const int row = blockIdx.x;
  if (row >= rows) return;
  float sum = 0.f, squares = 0.f;
  for (int i = threadIdx.x; i < hidden; i += NUM_THREADS) {
    const float value = __half2float(input[row * hidden + i]);
    sum += value;
    squares += value * value;
  }
  const float mean = sum_of_block<NUM_THREADS>(sum) / hidden;
  const float variance = sum_of_block<NUM_THREADS>(squares) / hidden - mean * mean;
  const float scale = rsqrtf(variance + epsilon);
  for (int i = threadIdx.x; i < hidden; i += NUM_THREADS) {
    const float value = (__half2float(input[row * hidden + i]) - mean) * scale;
    output[row * hidden + i] = __float2half(value * __half2float(gamma[i]) + __half2float(beta[i]));
  }
}
