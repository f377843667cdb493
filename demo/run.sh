#!/usr/bin/env bash
# Installs what is missing, builds tune, and tunes the demo GEMM on what this machine has. Results: build/demo/.
set -euo pipefail
cd "$(dirname "$0")/.."

demo/setup.sh
cmake --preset release >/dev/null
cmake --build --preset release -j2 | grep -v '^\[' || true
export PATH="$PWD/build/release/bin:$PATH"
mkdir -p build/demo
exec tune --yaml configs/gemm_cpu.yaml --tune --top 10 --output build/demo/gemm_cpu "$@"
