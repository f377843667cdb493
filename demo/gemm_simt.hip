// gemm_simt.cu on AMD's GPUs: the same text, as nothing in it is NVIDIA's own. Waves of 64 are 8 x 8 threads.
#define WARP_ROWS 8
#include "gemm_simt.cu"
