// In the style of Kernel Tuner: the parameters have lower-case names, and the grid follows from the block.
extern "C" __global__ void stencil(float *y, const float *x, int w, int h) {
  const int i0 = (blockIdx.x * block_size_x + threadIdx.x) * work_per_thread;
  const int j = blockIdx.y * block_size_y + threadIdx.y;
#pragma unroll
  for (int p = 0; p < work_per_thread; p++) {
    const int i = i0 + p;
    if (i < w && j < h) {
      float sum = x[j * w + i];
      if (i > 0) sum += x[j * w + i - 1];
      if (i < w - 1) sum += x[j * w + i + 1];
      if (j > 0) sum += x[(j - 1) * w + i];
      if (j < h - 1) sum += x[(j + 1) * w + i];
      y[j * w + i] = 0.2f * sum;
    }
  }
}
