#!/usr/bin/env python3
"""Recomputes from a journal alone what a run found: python3 table.py JOURNAL.jsonl [METRIC...]

Prints where it ran, what became of every spec, and the finals: the median of the rounds, and the median of the rounds'
ratios to the vendor's library (or else to the best finalist). METRICs, clock_mhz and power_w if none is named, are
further columns.
"""
import collections
import json
import statistics
import sys


def read(path):
    with open(path) as journal:
        return [json.loads(line) for line in journal if line.strip()]


def outcome(trial):
    if "measured" in trial:
        return "measured" if not trial["measured"]["timing"].get("stopped_early") else "measured, stopped early"
    if "pruned" in trial:
        return "pruned after the build: " + trial["pruned"]["reason"]
    failed = trial.get("failed", {})
    return f"{failed.get('stage')}, {failed.get('cause')}: " + failed.get("message", "").split("\n")[0]


def name(finalist):
    values = " ".join(f"{key.lstrip('$')}={value}" for key, value in finalist.get("params", {}).items())
    return f"{finalist['label']} {values}".strip()


def main(path, metrics):
    records = read(path)
    run = next(r for r in records if r["record"] == "run")
    device = run["hello"]["device"]
    print(f"{run['name']}: {device['name']}, driver {device['driver']}, {run['hello']['compiler']}")
    print("command:", " ".join(run["command"]))
    trials = {r["id"]: r for r in records if r["record"] == "trial"}
    for text, count in collections.Counter(map(outcome, trials.values())).most_common():
        print(f"{count:7}  {text}")
    finals = next((r for r in reversed(records) if r["record"] == "finals"), None)
    if finals is None:
        return
    finalists = sorted(finals["finalists"], key=lambda f: statistics.median(f["rounds"]))
    bases = [f for f in finalists if f["label"].startswith("vendor")] or finalists[:1]
    heads = ["x " + (base["label"] or "first") for base in bases] + metrics
    print(f"{'met (ms)':>12}" + "".join(f"{head:>15}" for head in heads) + "  name")
    for finalist in finalists:
        ratios = [statistics.median(b / f for b, f in zip(base["rounds"], finalist["rounds"])) for base in bases]
        figures = [finalist.get("metrics", {}).get(metric, float("nan")) for metric in metrics]
        columns = "".join(f"{r:15.3f}" for r in ratios) + "".join(f"{f:15.1f}" for f in figures)
        print(f"{statistics.median(finalist['rounds']) * 1e3:12.6f}{columns}  {name(finalist)}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:] or ["clock_mhz", "power_w"])
