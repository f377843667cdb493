#!/usr/bin/env python3
"""Kernel Tuner on the 476 specs of gemm_simt.yaml: its own time for what `tune --yaml configs/gemm_simt.yaml` does.

usage: kernel_tuner_sgemm.py demo/gemm_simt.cu

Needs kernel_tuner, CuPy and a GPU. Nothing is checked, every spec is launched seven times, in one process. Its CuPy
backend allows a kernel 48 KB of dynamic shared memory, and 66 of the specs need more: that one attribute is set here.
"""

import sys
import time

import kernel_tuner
import numpy
from kernel_tuner.backends import cupy

SIZE = 4096


def allow_shared_memory():
    original = cupy.CupyFunctions.compile

    def compile(self, instance):
        function = original(self, instance)
        function.max_dynamic_shared_size_bytes = 200 * 1024
        return function

    cupy.CupyFunctions.compile = compile


def shared_bytes(p):
    return 2 * (p["block_size_y"] * p["TM"] + 4 + p["block_size_x"] * p["TN"]) * p["BK"] * 4


def main(source):
    allow_shared_memory()
    random = numpy.random.default_rng(1)
    a, b = (random.random((SIZE, SIZE), dtype=numpy.float32) for _ in range(2))
    size = numpy.int32(SIZE)
    params = {
        "block_size_x": [8, 16, 32],
        "block_size_y": [8, 16, 32],
        "TM": [2, 4, 8],
        "TN": [2, 4, 8],
        "BK": [8, 16, 32],
        "UNROLL": [1, 4],
    }
    start = time.time()
    results, _ = kernel_tuner.tune_kernel(
        "gemm",
        source,
        (SIZE, SIZE),
        [a, b, numpy.zeros_like(a), size, size, size],
        params,
        grid_div_x=["block_size_x*TN"],
        grid_div_y=["block_size_y*TM"],
        restrictions=[
            "64 <= block_size_x*block_size_y <= 1024",
            "(block_size_y*TM + 4 + block_size_x*TN)*BK*4 <= 49152",
        ],
        lang="cupy",
        compiler_options=["-DEXACT=1", "-std=c++17"],
        smem_args={"size": shared_bytes},
        quiet=True,
    )
    seconds = time.time() - start
    timed = [result for result in results if isinstance(result["time"], float)]
    best = min(timed, key=lambda result: result["time"])
    print(f"{len(timed)} of {len(results)} specs timed in {seconds:.1f} s; the best took {best['time']:.6f} ms:")
    print({name: best[name] for name in params})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
