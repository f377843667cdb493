#!/usr/bin/env python3
"""Prints how a database's results compare with the vendor's library, per shape, and the geometric means of each problem."""
import re
import sys
from collections import defaultdict
from math import exp, log


def results(path):
    """(problem, sizes, milliseconds, ratio to the first choice, ratio to the best) of each result that was compared."""
    for entry in open(path).read().split("\n  - kernel:")[1:]:
        problem = re.search(r"problem: {(.*)}", entry)
        sizes = re.search(r"sizes: {m: (\d+), n: (\d+), k: (\d+)", entry)
        time = re.search(r"time_ms: ([\d.e+-]+)", entry)
        ratio = re.search(r"ratio: {.*?vendor: ([\d.]+), vendor best: ([\d.]+)", entry)
        if sizes and time:
            found = (float(ratio[1]), float(ratio[2])) if ratio else (None, None)
            yield problem[1], tuple(map(int, sizes.groups())), float(time[1]), *found


def mean(ratios):
    return exp(sum(map(log, ratios)) / len(ratios))


if len(sys.argv) != 2:
    sys.exit("usage: ratios.py DATABASE.db.yaml")
problems = defaultdict(list)
for problem, *row in results(sys.argv[1]):
    problems[problem].append(row)
for problem, rows in problems.items():
    print(problem)
    print(f"{'m n k':>22} {'ms':>9}  x first  x best")
    for sizes, time, first, best in sorted(rows):
        ratios = f"{first:8.3f} {best:7.3f}" if first else "       -       -"
        print(f"{' '.join(map(str, sizes)):>22} {time:9.5f} {ratios}")
    compared = [row for row in rows if row[2]]
    if compared:
        print(f"{'geometric mean of ' + str(len(compared)):>22} {'':9} "
              f"{mean([row[2] for row in compared]):8.3f} {mean([row[3] for row in compared]):7.3f}")
