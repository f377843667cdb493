// HIP: four elements a thread by float4.
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
extern "C" __global__ __launch_bounds__(BLOCK_SIZE) void scale(const float4* in, float4* out, float factor, int count) {
  const int index = blockIdx.x * BLOCK_SIZE + threadIdx.x;
  if (index >= count) return;
  float4 value = in[index];
  value.x *= factor;
  value.y *= factor;
  value.z *= factor;
  value.w *= factor;
  out[index] = value;
}
