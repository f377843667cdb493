#!/usr/bin/env python3
"""Recomputes from a journal alone what a run found: python3 table.py JOURNAL.jsonl[.gz] [METRIC...]

Prints where it ran, what became of every spec, and the finals: the median of the rounds, and the median of the rounds'
ratios to the vendor's library (or else to the best finalist). METRICs, clock_mhz and power_w if none is named, are
further columns. In the end: how the sweep's times of the finalists agree with those of the finals (Spearman's rank
correlation, and the largest difference).
"""
import collections
import gzip
import json
import statistics
import sys


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as journal:
        return [json.loads(line) for line in journal if line.strip()]


def outcome(trial):
    if "measured" in trial:
        return "measured" if not trial["measured"]["timing"].get("stopped_early") else "measured, stopped early"
    if "pruned" in trial:
        return "pruned after the build: " + trial["pruned"]["reason"]
    failed = trial.get("failed", {})
    return f"{failed.get('stage')}, {failed.get('cause')}: " + failed.get("message", "").split("\n")[0]


def rounds(finalist):
    """Seconds by the round's number; journals of protocol 3 have a list without numbers."""
    return dict(r if isinstance(r, list) else (number, r) for number, r in enumerate(finalist["rounds"], 1))


def median(finalist):
    return statistics.median(rounds(finalist).values())


def ratio(base, finalist):
    pairs = [(rounds(base)[n], seconds) for n, seconds in rounds(finalist).items() if n in rounds(base)]
    return statistics.median(x / y for x, y in pairs)


def ranks(values):
    order = sorted(values)
    return [order.index(value) for value in values]


def compare_with_sweep(trials, finalists):
    swept = {r["mesh_idx"]: r["measured"]["timing"]["median"] for r in trials.values() if "measured" in r}
    pairs = [(swept[f["mesh_idx"]], median(f)) for f in finalists if not f["label"] and f.get("mesh_idx") in swept]
    n = len(pairs)
    if n < 3:
        return
    x, y = ranks([p[0] for p in pairs]), ranks([p[1] for p in pairs])
    correlation = 1 - 6 * sum((a - b) ** 2 for a, b in zip(x, y)) / (n * (n * n - 1))
    furthest = max(abs(b / a - 1) for a, b in pairs)
    print(f"sweep and finals: rank correlation {correlation:.3f} of {n} specs, at most {100 * furthest:.2f} % apart")


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
    timed = [f for f in finals["finalists"] if f["rounds"]]
    finalists = sorted(timed, key=median)
    bases = [f for f in finalists if f["label"].startswith("vendor")] or finalists[:1]
    heads = ["x " + (base["label"] or "first") for base in bases] + metrics
    print(f"{'met (ms)':>12}" + "".join(f"{head:>15}" for head in heads) + "  name")
    for finalist in finalists:
        ratios = [ratio(base, finalist) for base in bases]
        figures = [finalist.get("metrics", {}).get(metric, float("nan")) for metric in metrics]
        columns = "".join(f"{r:15.3f}" for r in ratios) + "".join(f"{f:15.1f}" for f in figures)
        print(f"{median(finalist) * 1e3:12.6f}{columns}  {name(finalist)}")
    compare_with_sweep(trials, finalists)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:] or ["clock_mhz", "power_w"])
