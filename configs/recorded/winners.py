#!/usr/bin/env python3
"""Holds the winners of several runs against one long, exhaustive measurement of the same grid.

usage: winners.py EXHAUSTIVE.jsonl RUN.jsonl...

Prints device, driver and clocks of each journal, its winner, and that winner's time in the exhaustive journal over the
best time there; then how many of the runs are within 1 %. Ends with 1 if these are less than 9 of 10. Needs nothing
but Python.
"""

import json
import statistics
import sys


def records(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def times(journal):
    """Median seconds by mesh_idx, scaled to the run's first device, of the specs that were timed in full."""
    found = {}
    for record in journal:
        if record["record"] == "trial" and "measured" in record:
            timing = record["measured"]["timing"]
            if not timing["stopped_early"]:
                found[record["mesh_idx"]] = timing["median"] * record["measured"].get("scale", 1)
    return found


def finalists(journal):
    finals = [record for record in journal if record["record"] == "finals"]
    specs = finals[-1]["finalists"] if finals else []
    return {f["mesh_idx"]: f["rounds"] for f in specs if not f["label"] and "failed" not in f}


def winner(journal):
    """The fastest over the rounds of the finals, or else of the sweep."""
    rounds = finalists(journal)
    medians = {spec: statistics.median(seconds) for spec, seconds in rounds.items()} or times(journal)
    return min(medians, key=lambda spec: (medians[spec], spec))


def identity(journal, spec):
    """What was measured as this spec: source, compiler, problem, device and more, as a hash."""
    return next(r["id"] for r in journal if r["record"] == "trial" and r["mesh_idx"] == spec)


def conditions(journal):
    device = next(record for record in journal if record["record"] == "run")["hello"]["device"]
    clocks = [record["measured"]["metrics"].get("clock_mhz") for record in journal if "measured" in record]
    clocks = [clock for clock in clocks if clock]
    text = f"{device['name']}, driver {device['driver']}"
    return text + (f", SM clock {min(clocks):.0f} to {max(clocks):.0f} MHz" if clocks else ", SM clock not recorded")


def main(paths):
    exhaustive = records(paths[0])
    truth = times(exhaustive)
    best = min(truth, key=truth.get)
    print(f"{paths[0]}: {conditions(exhaustive)}; {len(truth)} specs, the best is {best}: {1e3 * truth[best]:.6f} ms")
    within = 0
    for path in paths[1:]:
        journal = records(path)
        spec = winner(journal)
        if identity(journal, spec) != identity(exhaustive, spec):
            sys.exit(f"{path}: spec {spec} is not what {paths[0]} measured: source, compiler, problem or device differ")
        ratio = truth[spec] / truth[best] if spec in truth else float("inf")
        within += ratio <= 1.01
        print(f"{path}: {conditions(journal)}; winner {spec}, {ratio:.4f} times the best")
    print(f"{within} of {len(paths) - 1} winners are within 1 % of the best")
    return 0 if 10 * within >= 9 * (len(paths) - 1) else 1


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
