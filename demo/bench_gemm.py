"""A matrix product in blocks, in plain Python: how a script is tuned that needs no build.

Every parameter comes as --NAME=VALUE; the result is one JSON object on the last line of stdout.
"""

import argparse
import json
import statistics
import time

M = N = K = 96


def rows_by_rows(a, b, c, rows, cols, depth):
    """Innermost loop along a row of B: both B and C are walked in the order they are stored in."""
    for i in rows:
        a_row, c_row = a[i], c[i]
        for p in depth:
            factor, b_row = a_row[p], b[p]
            for j in cols:
                c_row[j] += factor * b_row[j]


def dot_products(a, b, c, rows, cols, depth):
    """Innermost loop along K: the sum stays in one variable, B is walked down a column."""
    for i in rows:
        a_row, c_row = a[i], c[i]
        for j in cols:
            total = c_row[j]
            for p in depth:
                total += a_row[p] * b[p][j]
            c_row[j] = total


def blocks(size, block):
    return [range(start, min(start + block, size)) for start in range(0, size, block)]


def multiply(a, b, options):
    c = [[0.0] * N for _ in range(M)]
    inner = {"rows": rows_by_rows, "dot": dot_products}[options.INNER]
    for rows in blocks(M, options.BM):
        for depth in blocks(K, options.BK):
            for cols in blocks(N, options.BN):
                inner(a, b, c, rows, cols, depth)
    return c


def timed(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("BM", "BN", "BK"):
        parser.add_argument("--" + name, type=int, default=32)
    parser.add_argument("--INNER", choices=("rows", "dot"), default="rows")
    return parser.parse_args()


def main():
    options = parse_options()
    # Small integers: the product is exact in any order of summation.
    a = [[float((3 * i + p) % 7 - 3) for p in range(K)] for i in range(M)]
    b = [[float((p + 5 * j) % 5 - 2) for j in range(N)] for p in range(K)]
    expected = [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]

    runs = [timed(lambda: multiply(a, b, options)) for _ in range(5)]
    seconds = statistics.median(spent for spent, _ in runs)
    print(json.dumps({
        "name": "gemm",
        "time": seconds,
        "iters": len(runs),
        "ok": all(c == expected for _, c in runs),
        "Arithmetic (MFLOPS/s)": 2 * M * N * K / seconds / 1e6,
    }))


if __name__ == "__main__":
    main()
