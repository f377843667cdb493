#!/usr/bin/env python3
"""Prints what the order of the sweep is worth in the finals: how much slower the fastest of the best N by the sweep is than
the winner.

What src/tuning/contenders.h says of it is of hopper_bf16_shapes_h200.jsonl.gz, hopper_bf16_random_shapes_h200.jsonl.gz,
hopper_scaled_h200.jsonl.gz, hopper_bf16_new_shapes_h100.jsonl.gz and hopper_fp8_h200.jsonl.gz.
"""
import gzip
import json
import sys
from statistics import median

FEWEST = 10  # specs in finals where their number is looked at


def runs(path):
    """(low end of the interval in the sweep, by spec; time in the finals, by spec) of each run with finals."""
    sweep, opened = {}, gzip.open if path.endswith(".gz") else open
    for line in opened(path, "rt"):
        record = json.loads(line)
        if record["record"] == "run":
            sweep = {}
        elif record["record"] == "trial" and "measured" in record:
            sweep[record["mesh_idx"]] = record["measured"]["timing"]["ci_low"]
        elif record["record"] == "finals":
            yield sweep, {each["mesh_idx"]: median(time for _, time, *_ in each["rounds"]) for each in record["finalists"]
                          if each["mesh_idx"] in sweep and len(each["rounds"]) >= 3}


def losses(path, most):
    """By how much the fastest of the first `most` specs by the sweep is slower than the fastest of all, of each finals."""
    for sweep, finals in runs(path):
        if len(finals) >= FEWEST:
            order = sorted(finals, key=sweep.get)
            yield min(finals[spec] for spec in order[:most]) / min(finals.values()) - 1


if len(sys.argv) < 2:
    sys.exit("usage: finalists.py JOURNAL...")
for most in 4, 8, 12, 16:
    lost = [loss for path in sys.argv[1:] for loss in losses(path, most)]
    print(f"the best {most} by the sweep, in {len(lost)} finals: slower by {sum(lost) / len(lost):.2%} (mean), "
          f"{max(lost):.2%} (most)")
