#!/usr/bin/env python3
"""Prints how much nearer to the best specs came in the finals that had run at a lower clock than it in the sweep.

What src/tuning/contenders.cpp says of clocks is of hopper_bf16_shapes_h200.jsonl.gz, hopper_bf16_random_shapes_h200.jsonl.gz,
hopper_scaled_h200.jsonl.gz, hopper_bf16_new_shapes_h100.jsonl.gz and hopper_fp8_h200.jsonl.gz.
"""
import gzip
import json
import sys
from statistics import median

LOWER = 0.97  # of the best's clock


def runs(path):
    """(median and clock in the sweep, by spec; times in the finals, by spec) of each run with finals."""
    sweep, opened = {}, gzip.open if path.endswith(".gz") else open
    for line in opened(path, "rt"):
        record = json.loads(line)
        if record["record"] == "run":
            sweep = {}
        elif record["record"] == "trial" and "measured" in record:
            measured = record["measured"]
            sweep[record["mesh_idx"]] = measured["timing"]["median"], measured.get("metrics", {}).get("clock_mhz")
        elif record["record"] == "finals":
            yield sweep, {each["mesh_idx"]: median(time for _, time, *_ in each["rounds"]) for each in record["finalists"]
                          if each["mesh_idx"] in sweep and len(each["rounds"]) >= 3}


def gains(path):
    """(clock over the best's, how much nearer to the best it came) of each finalist; the best is that of the sweep."""
    for sweep, finals in runs(path):
        if len(finals) < 3:
            continue
        best = min(finals, key=lambda spec: sweep[spec][0])
        for spec, seconds in finals.items():
            (own, clock), (least, clock_of_best) = sweep[spec], sweep[best]
            if clock and clock_of_best:
                yield clock / clock_of_best, own / least * finals[best] / seconds


if len(sys.argv) < 2:
    sys.exit("usage: clocks.py JOURNAL...")
all_gains = [each for path in sys.argv[1:] for each in gains(path)]
for name, chosen in (("lower", [gain for clock, gain in all_gains if clock < LOWER]),
                     ("about the same", [gain for clock, gain in all_gains if clock >= LOWER])):
    print(f"clock {name}: {len(chosen)} finalists, nearer to the best by {median(chosen) - 1:.1%} (median), "
          f"{max(chosen) - 1:.1%} (most)")
