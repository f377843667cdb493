#!/usr/bin/env bash
# Installs what is missing, builds tune, and tunes the demo GEMM on what this machine has. Results: build/demo/.
set -euo pipefail
cd "$(dirname "$0")/.."

demo/setup.sh
cmake --preset release >/dev/null
# It takes some minutes; on a terminal, ninja's line says how far it is.
quiet=(-- --quiet)
[ -t 1 ] && quiet=()
cmake --build --preset release -j2 "${quiet[@]}"
export PATH="$PWD/build/release/bin:$PATH"
mkdir -p build/demo
kernel=gemm_cpu
grid=()
if [ -x build/release/bin/tune-worker-cuda ] && tune --probe --backend cuda >/dev/null 2>&1; then
  # A part of the CUDA kernel's space: the wide tiles.
  kernel=gemm_simt
  grid=(--param block_size_x:16 --param block_size_y:16 --filter TM=8 --filter TN=8 --filter TN=4)
elif [ -x build/release/bin/tune-worker-hip ] && tune --probe --backend hip >/dev/null 2>&1; then
  kernel=gemm_simt_hip
  grid=(--param block_size_x:16 --param block_size_y:16)
fi
tuning=(tune --yaml "configs/$kernel.yaml" "${grid[@]}" --tune --top 10 --output "build/demo/$kernel" "$@")
echo "\$ ${tuning[*]}"
"${tuning[@]}"
echo "next: export PATH=\"$PWD/build/release/bin:\$PATH\""
echo "  and README.md says how to tune your own kernel"
