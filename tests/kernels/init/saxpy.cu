#ifndef THREADS
#define THREADS 256
#endif
#ifndef PER_THREAD
#define PER_THREAD 4
#endif

extern "C" {

__global__ void __launch_bounds__(THREADS) saxpy(long long n, float alpha, const float* __restrict__ x,
                                                 float* __restrict__ y) {
  const long long first = (long long)blockIdx.x * (THREADS * PER_THREAD) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < PER_THREAD; ++k) {
    const long long i = first + k * THREADS;
    if (i < n) y[i] = alpha * x[i] + y[i];
  }
}

}  // extern "C"
