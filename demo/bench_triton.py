"""C = A B in f16 with a kernel in Triton: how a kernel is tuned whose compiler is a Python package.

Every parameter comes as --NAME=VALUE; the result goes to the file that TUNE_RESULT names, as one JSON object.
With TRITON_INTERPRET=1 in the environment the kernel is interpreted on the CPU, which checks it and times nothing useful.
"""

import argparse
import json
import os
import statistics
import sys
import time

try:
    import torch
    import triton
    import triton.language as tl
except ImportError as missing:
    sys.exit(f"{missing}; install it: pip install torch triton")


@triton.jit
def gemm(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """One BM x BN tile of C. Tiles are numbered so that GROUP rows of them, which share columns of B, run together."""
    tile = tl.program_id(0)
    rows_of_tiles, cols_of_tiles = tl.cdiv(m, BM), tl.cdiv(n, BN)
    first_row = tile // (GROUP * cols_of_tiles) * GROUP
    rows_here = min(rows_of_tiles - first_row, GROUP)
    within = tile % (GROUP * cols_of_tiles)
    rows = (first_row + within % rows_here) * BM + tl.arange(0, BM)[:, None]
    cols = within // rows_here * BN + tl.arange(0, BN)[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        part_a = tl.load(a + rows * k + depth[None, :], mask=(rows < m) & (depth[None, :] < k), other=0.0)
        part_b = tl.load(b + depth[:, None] * n + cols, mask=(depth[:, None] < k) & (cols < n), other=0.0)
        total = tl.dot(part_a, part_b, total)
    tl.store(c + rows * n + cols, total.to(tl.float16), mask=(rows < m) & (cols < n))


def on_cpu(launch):
    """Seconds of one launch."""
    start = time.perf_counter()
    launch()
    return [time.perf_counter() - start]


def on_gpu(launch, launches=20):
    """Seconds of each launch; 256 MB are written before it, so that A and B are not in the cache."""
    flush = torch.empty(1 << 28, dtype=torch.int8, device="cuda")
    seconds = []
    for _ in range(launches):
        flush.zero_()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        launch()
        end.record()
        end.synchronize()
        seconds.append(begin.elapsed_time(end) * 1e-3)
    return seconds


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, value in (("m", 4096), ("n", 4096), ("k", 4096), ("BM", 128), ("BN", 128), ("BK", 64), ("GROUP", 8),
                        ("STAGES", 3), ("WARPS", 8)):
        parser.add_argument("--" + name, type=int, default=value)
    return parser.parse_args()


def main():
    options = parse_options()
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    if not interpreted and not torch.cuda.is_available():
        sys.exit("no GPU is here; TRITON_INTERPRET=1 checks the kernel on the CPU")
    device = "cpu" if interpreted else "cuda"
    m, n, k = options.m, options.n, options.k
    # Small integers: every sum is exact in f32, and the comparison needs no tolerance but that of f16.
    torch.manual_seed(1)
    a = torch.randint(-2, 3, (m, k), device=device).half()
    b = torch.randint(-2, 3, (k, n), device=device).half()
    c = torch.full((m, n), float("nan"), dtype=torch.float16, device=device)
    tiles = triton.cdiv(m, options.BM) * triton.cdiv(n, options.BN)

    def launch():
        gemm[(tiles,)](a, b, c, m, n, k, options.BM, options.BN, options.BK, options.GROUP,
                       num_stages=options.STAGES, num_warps=options.WARPS)

    launch()  # compiles
    right = torch.equal(c, (a.float() @ b.float()).half())
    seconds = on_cpu(launch) if interpreted else on_gpu(launch)
    result = {"name": "gemm", "time": statistics.median(seconds), "iters": len(seconds), "ok": right}
    with open(os.environ.get("TUNE_RESULT", os.devnull), "w", encoding="utf-8") as file:
        json.dump(result, file)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
