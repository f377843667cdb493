// A block computes one row.
__device__ float reduce_max(float value, float* shared) {
  for (int offset = 16; offset > 0; offset /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  float all = shared[0];
  for (int i = 1; i < BLOCK / 32; ++i) all = fmaxf(all, shared[i]);
  __syncthreads();
  return all;
}

__device__ float reduce_sum(float value, float* shared) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  float all = 0;
  for (int i = 0; i < BLOCK / 32; ++i) all += shared[i];
  __syncthreads();
  return all;
}

extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  __shared__ float shared[BLOCK / 32];
  const float* in = x + static_cast<long long>(blockIdx.x) * cols;
  float* out = y + static_cast<long long>(blockIdx.x) * cols;
  float most = -1e30f, sum = 0;
  for (int i = threadIdx.x; i < cols; i += BLOCK) most = fmaxf(most, in[i]);
  most = reduce_max(most, shared);
  for (int i = threadIdx.x; i < cols; i += BLOCK) sum += expf(in[i] - most);
  sum = reduce_sum(sum, shared);
  for (int i = threadIdx.x; i < cols; i += BLOCK) out[i] = expf(in[i] - most) / sum;
}

extern "C" __global__ void softmax_simple(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float most = -1e30f, sum = 0;
  for (int i = 0; i < cols; ++i) most = fmaxf(most, x[row * cols + i]);
  for (int i = 0; i < cols; ++i) sum += expf(x[row * cols + i] - most);
  for (int i = 0; i < cols; ++i) y[row * cols + i] = expf(x[row * cols + i] - most) / sum;
}
