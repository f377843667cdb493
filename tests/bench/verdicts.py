#!/usr/bin/env python3
"""How often the verdict of `tune` is right, and how often it is sure, while other programs disturb the machine.

Tunes a command of known work again and again: 16 specs that take 20.0, 20.6, 21.2, ... 40 ms alone, in random order.
A run is right if its winner does at most 1 % more work than the best, and sure if it says DECIDED. A silent miss is
sure and wrong. With --baseline two sources are compared: the same work twice, then 5 % more, or 15 % more with
`--baseline kernel`, where it is that of a stencil on 16 MB. With --threads a kernel of 2 ms (`short`: 0.1 ms) is tuned
for one or two threads; a loop in C++ times both before and after each run, and says which is right.

  tests/bench/verdicts.py --tune build/release/bin/tune --runs 20 --load bursts
  tests/bench/verdicts.py --tune build/release/bin/tune --runs 50 --baseline
  tests/bench/verdicts.py --tune build/release/bin/tune --runs 10 --load heavy --threads openmp
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

SPECS = [20 * (1 + 0.03 * i) for i in range(11)] + [27, 30, 33, 36, 40]  # ms
WORK = """
#include <stdlib.h>
int main(int argc, char** argv) {
  volatile unsigned long x = 1;
  for (unsigned long i = strtoul(argv[1], 0, 10); i > 0; --i) x = x * 6364136223846793005ul + 1442695040888963407ul;
  return x == 0;
}
"""

KERNEL = """
#include <cmath>
#include <thread>
#include <vector>
namespace {
void fill(float* y, int from, int to) {
  for (int i = from; i < to; ++i) y[i] = std::sqrt(std::exp(float(i % 100) / 50));
}
}  // namespace
extern "C" void openmp(float* y, int count, int threads) {
#pragma omp parallel for num_threads(threads)
  for (int i = 0; i < threads; ++i) fill(y, count / threads * i, count / threads * (i + 1));
}
extern "C" void started(float* y, int count, int threads) {
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(fill, y, count / threads * i, count / threads * (i + 1));
  fill(y, 0, count / threads);
  for (std::thread& other : others) other.join();
}
"""
TIMING = """
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include "threads.cpp"
int main(int, char** argv) {
  const int count = std::atoi(argv[1]);
  std::vector<float> y(count);
  std::vector<double> ms[2];
  for (int i = 0; i < 400; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto start = std::chrono::steady_clock::now();
    KERNEL(y.data(), count, 1 + i % 2);
    ms[i % 2].push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  for (std::vector<double>& of_one : ms) {
    std::nth_element(of_one.begin(), of_one.begin() + of_one.size() / 4, of_one.end());
    std::printf("%g ", of_one[of_one.size() / 4]);
  }
}
"""
KERNEL_YAML = """
name: threads
file: threads.cpp
kernel: {kernel}
problem:
  custom:
    sizes: {{count: {count}}}
    buffers: [{{name: y, type: f32, count: count, role: out}}]
    reference: {{kernel: {kernel}, args: [y, count, 1]}}
params: {{$T: [1, 2]}}
launch: {{args: [y, count, T]}}
build: {{flags: [-fopenmp]}}
"""

STENCIL = """
extern "C" void stencil(const float* in, float* out, int rows, int cols) {
  const int all = int(WORK * rows);
  for (int i = 0; i < all; ++i) {
    const float* const x = in + (1L + i % rows) * cols;
    float* const y = out + long(i % rows) * cols;
    for (int j = 1; j < cols - 1; ++j) y[j] = x[j] + 0.1f * (x[j - 1] + x[j + 1] + x[j - cols] + x[j + cols] - 4 * x[j]);
    y[0] = y[cols - 1] = 0;
  }
}
"""
STENCIL_YAML = """
name: bench
file: bench.cpp
kernel: stencil
problem:
  custom:
    sizes: {rows: 1024, cols: 2000}
    buffers: [{name: in, type: f32, count: (rows+2)*cols, role: in}, {name: out, type: f32, count: rows*cols, role: out}]
    reference: {kernel: stencil, args: [in, out, rows, cols]}
params: {T: 1}
launch: {args: [in, out, rows, cols]}
"""


def compile_work(folder):
    source = folder / "work.c"
    source.write_text(WORK)
    subprocess.run(["cc", "-O1", "-o", str(folder / "work"), str(source)], check=True)


def seconds_of(command):
    begin = time.monotonic()
    subprocess.run(command, check=True)
    return time.monotonic() - begin


def steps_per_ms(folder):
    """Steps of the program that take a millisecond, from the fastest of 15 runs of two lengths."""
    fastest = lambda steps: min(seconds_of([str(folder / "work"), str(steps)]) for _ in range(15))
    return 10_000_000 / ((fastest(15_000_000) - fastest(5_000_000)) * 1e3)


class Load:
    """Other programs that run until this is left: busy processes, or a build of two jobs at a time."""

    def __init__(self, kind, folder, seed):
        self.kind, self.folder, self.random = kind, folder, random.Random(seed)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def busy(self, count, seconds):
        processes = [subprocess.Popen([str(self.folder / "work"), str(1 << 62)]) for _ in range(count)]
        self.over.wait(seconds)
        for process in processes:
            process.kill()
            process.wait()

    def build(self):
        source = self.folder / "built.cpp"
        source.write_text("#include <regex>\n#include <map>\nstd::regex r(\"a*b\");\nint main() {}\n")
        command = ["c++", "-O2", "-c", str(source), "-o", "/dev/null"]
        for process in [subprocess.Popen(command) for _ in range(2)]:
            process.wait()

    def run(self):
        cores = len(os.sched_getaffinity(0))
        while not self.over.is_set():
            if self.kind == "none":
                self.over.wait(1)
            elif self.kind == "build":
                self.build()
            elif self.kind == "heavy":
                self.busy(2 * cores + 1, 5)
            else:  # bursts on all cores, the gaps between them exponential
                length, gap = (0.6, 3) if self.kind == "bursts" else (0.4, 8)
                self.busy(cores, length)
                self.over.wait(self.random.expovariate(1 / gap))


def tuned(options, folder, words):
    """Runs `tune --tune` with these words, which writes out.yaml and a new out.jsonl there."""
    (folder / "out.jsonl").unlink(missing_ok=True)
    command = [options.tune, "--tune", "--fresh", "--output", str(folder / "out"), *words]
    environment = {**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    run = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    if run.returncode not in (0, 3, 5):
        sys.exit(f"{' '.join(command)}\n{run.stdout}{run.stderr}")
    return run


def winner_of(folder):
    return int(re.search(r"STEPS: (\d+)", (folder / "out.yaml").read_text())[1])


def measure_finals(folder):
    """Seconds that the sweep measured."""
    sweep = 0
    for line in (folder / "out.jsonl").read_text().splitlines():
        record = json.loads(line)
        sweep += record.get("measure_seconds", 0)
    return sweep


def judge_winners(options, folder, per_ms):
    counts, slowest = collections.Counter(), 0
    for seed in range(options.seed, options.seed + options.runs):
        steps = [per_ms * ms for ms in SPECS]
        random.Random(seed).shuffle(steps)
        with Load(options.load, folder, seed):
            values = ",".join(str(round(s)) for s in steps)
            run = tuned(options, folder, ["--param", f"STEPS:[{values}]", "--", str(folder / "work"), "{STEPS}"])
        word = run.stdout.split(":")[0]
        right = winner_of(folder) <= min(round(s) for s in steps) * 1.01
        counts[word, right] += 1
        spent = re.search(r"finals ([0-9.]+) s", run.stderr)
        slowest = max(slowest, float(spent[1]) / max(measure_finals(folder), 1) if spent else 0)
        print(f"seed {seed}: {'right' if right else 'WRONG'}, {run.stdout.splitlines()[0]}", flush=True)
    total = sum(counts.values())
    wrong = sum(n for (_, right), n in counts.items() if not right)
    print(f"load {options.load}: {total} runs, {counts['DECIDED', True]} right and sure, "
          f"{wrong} wrong, {counts['DECIDED', False]} of them silently, "
          f"{sum(n for (word, _), n in counts.items() if word == 'UNDECIDED')} undecided; "
          f"finals at most {slowest:.2f} times the sweep (or 1 s)")


def compile_timing(folder, kernel):
    (folder / "threads.cpp").write_text(KERNEL)
    (folder / "timing.cpp").write_text(TIMING)
    subprocess.run(["c++", "-O3", "-march=native", "-fopenmp", f"-DKERNEL={kernel}", "-o", str(folder / "timing"),
                    str(folder / "timing.cpp")], check=True)


def ratio_of_threads(folder, count):
    """How long the kernel takes with two threads, in times of one: by the lower quartiles, which others disturb less."""
    run = subprocess.run([str(folder / "timing"), str(count)], check=True, capture_output=True, text=True)
    one, two = map(float, run.stdout.split())
    return two / one


def judge_threads(options, folder, _):
    kernel = "started" if options.threads == "started" else "openmp"
    count = 20000 if options.threads == "short" else 400000
    compile_timing(folder, kernel)
    (folder / "threads.yaml").write_text(KERNEL_YAML.format(kernel=kernel, count=count))
    counts = collections.Counter()
    for seed in range(options.seed, options.seed + options.runs):
        ratios = [ratio_of_threads(folder, count)]
        with Load(options.load, folder, seed):
            run = tuned(options, folder, ["--yaml", str(folder / "threads.yaml")])
        ratios.append(ratio_of_threads(folder, count))
        has_two = "T: 2" in (folder / "out.yaml").read_text()
        right = min(ratios) <= 1.01 if has_two else max(ratios) >= 0.99
        counts[run.stdout.split(":")[0], right] += 1
        print(f"seed {seed}: {'right' if right else 'WRONG'}, {run.stdout.splitlines()[0]}; two threads take "
              f"{ratios[0]:.2f} (before), {ratios[1]:.2f} (after) times as long as one", flush=True)
    print(f"load {options.load}, {options.threads}: {options.runs} runs, {counts['DECIDED', True]} right and sure, "
          f"{counts['DECIDED', False]} wrong and sure, "
          f"{counts['UNDECIDED', True] + counts['UNDECIDED', False]} undecided")


def write_source(folder, per_ms, slowdown):
    """A tuning file of two specs, 20 and 26 ms of work, and its source, which does so many times the work."""
    (folder / "bench.c").write_text(WORK.replace("i = strtoul(argv[1], 0, 10)", f"i = {slowdown} * atof(argv[1] + 4)"))
    (folder / "bench.yaml").write_text(
        f"name: bench\nfile: bench.c\nwhole: true\nbuild: {{command: [cc, -O1, -o, '{{binary}}', '{{file}}']}}\n"
        f"params: {{$W: [{round(20 * per_ms)}, {round(26 * per_ms)}]}}\n")


def write_stencil(folder, _, slowdown):
    (folder / "bench.cpp").write_text(STENCIL.replace("WORK", str(slowdown)))
    (folder / "bench.yaml").write_text(STENCIL_YAML)


def judge_baselines(options, folder, per_ms):
    is_kernel = options.baseline == "kernel"
    write, threshold = (write_stencil, "8%") if is_kernel else (write_source, "3%")
    for slowdown in (1, 1.15 if is_kernel else 1.05):
        codes = collections.Counter()
        for seed in range(options.seed, options.seed + options.runs):
            with Load(options.load, folder, seed):
                write(folder, per_ms, 1)
                tuned(options, folder, ["--yaml", str(folder / "bench.yaml")])
                (folder / "out.yaml").rename(folder / "old.yaml")
                write(folder, per_ms, slowdown)
                run = tuned(options, folder, ["--yaml", str(folder / "bench.yaml"), "--baseline", str(folder / "old.yaml"),
                                              "--threshold", threshold])
            codes[run.returncode] += 1
            print(f"seed {seed}: x {slowdown}: {run.stdout.splitlines()[0]}", flush=True)
        print(f"load {options.load}: {slowdown} times the work, {options.runs} runs: exit codes "
              + ", ".join(f"{code}: {count}" for code, count in sorted(codes.items())))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tune", required=True, help="the program to be judged")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="of the first run")
    parser.add_argument("--load", choices=["none", "bursts", "rare", "build", "heavy"], default="none")
    parser.add_argument("--baseline", nargs="?", const="command", choices=["command", "kernel"],
                        help="compare two sources instead")
    parser.add_argument("--threads", choices=["openmp", "started", "short"], help="tune a kernel of one or two threads instead")
    options = parser.parse_args()
    options.tune = os.path.abspath(options.tune)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compile_work(folder)
        judge = judge_baselines if options.baseline else judge_threads if options.threads else judge_winners
        judge(options, folder, steps_per_ms(folder))


if __name__ == "__main__":
    main()
