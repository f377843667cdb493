#!/usr/bin/env python3
"""Times the kernels of packages in turn with DeepGEMM's, on the same operands, and prints times in us and ratios.

usage: beside_deep_gemm.py [--operands randn|small] KIND=PACKAGE/build ...

Needs PyTorch, DeepGEMM (of PyPI: sgl-deep-gemm), a Hopper GPU, and built packages. A KIND is `scaled`, of the database
hopper_scaled.db.yaml, or `grouped` or `grouped_scaled` of hopper_grouped.db.yaml. Launches are timed in CUDA graphs, in
which they take sets of operands in turn that together are larger than four L2 caches. Each side has its scales in the
order that it wants. `small` operands are the whole numbers from -2 to 2, which need less power than those of `randn`.
DeepGEMM is timed without and with programmatic launches (its set_pdl), and the ratio is to its faster one.
"""

import argparse
import ctypes
import pathlib
import re
import statistics
import time

import deep_gemm
import torch

ROUNDS = 15
GRAPH_MS = 2.0
BLOCK = 128  # elements of k, and columns of B, that share a scale

SCALED = [(m, n, k) for m in (64, 128, 4096)
          for n, k in ((2112, 7168), (4096, 7168), (7168, 16384), (7168, 2048), (24576, 1536), (32768, 512))]
GROUPED = [[512] * 8, [2048, 1024, 512, 256, 128, 64, 32, 32], [4096] * 8]  # rows of each; n, k:
GROUPED_NK = 4096, 7168


def ceil_div(a, b):
    return -(-a // b)


class Package:
    """The library of a package, which multiplies on PyTorch's current stream."""

    def __init__(self, folder):
        library, = pathlib.Path(folder).glob("python/libtuned_*_shared.so")
        name = re.fullmatch("libtuned_(.*)_shared", library.stem)[1]
        functions = ctypes.CDLL(str(library.resolve()))
        self.name = name
        self._launch = getattr(functions, f"tuned_{name}_launch")
        self._workspace = getattr(functions, f"tuned_{name}_workspace")
        self._workspace.restype = ctypes.c_int64
        self._text = getattr(functions, f"tuned_{name}_text")
        self._text.restype = ctypes.c_char_p

    def has(self, *sizes):
        return self._workspace((ctypes.c_int64 * 16)(*sizes)) >= 0

    def launcher(self, sizes, operands):
        all_sizes = (ctypes.c_int64 * 16)(*sizes)  # distances that are 0 are the closest
        addresses = (ctypes.c_void_p * 8)(*[each.data_ptr() for each in operands])
        needed = self._workspace(all_sizes)
        workspace = torch.empty(max(needed, 16), dtype=torch.uint8, device="cuda")

        def launch(kept=(operands, workspace)):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            error = self._launch(all_sizes, stream, addresses, ctypes.c_void_p(workspace.data_ptr()), ctypes.c_int64(needed))
            if error != 0:
                raise SystemExit(self._text(error).decode())
        return launch


class Operands:
    """A set of both sides' operands, and the results, of one product of groups of rows, or without groups."""

    def __init__(self, rows, n, k, is_scaled, numbers, has_groups):
        self.rows, self.n, self.k, self.is_scaled, self.has_groups = rows, n, k, is_scaled, has_groups
        dtype = torch.float8_e4m3fn if is_scaled else torch.bfloat16
        m, groups = sum(rows), len(rows)
        self.a, self.b = numbers((m, k), dtype), numbers((groups, n, k), dtype)
        self.c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        if is_scaled:
            slices = ceil_div(k, BLOCK)
            self.scale_a = torch.rand(slices, m, device="cuda") + 0.5
            self.scale_b = torch.rand(groups, ceil_div(n, BLOCK), slices, device="cuda") + 0.5
        # DeepGEMM wants each group to begin at a multiple of so many rows.
        self.step = deep_gemm.get_mk_alignment_for_contiguous_layout() if has_groups else 1
        self.places = torch.cat([torch.arange(count) + begin for count, begin in zip(rows, self.begins())]).cuda()
        self.room = sum(ceil_div(count, self.step) * self.step for count in rows)
        self.d = torch.empty(self.room, n, device="cuda", dtype=torch.bfloat16)

    def begins(self):
        begin = 0
        for count in self.rows:
            yield begin
            begin += ceil_div(count, self.step) * self.step

    def ours(self, package):
        operands = [self.a, self.b, self.c]
        if self.is_scaled:
            slices = self.scale_b.shape[2]
            padded = torch.zeros(*self.scale_b.shape[:2], ceil_div(slices, 4) * 4, device="cuda")
            padded[:, :, :slices] = self.scale_b
            operands += [self.scale_a, padded]
        if self.has_groups:
            ends = torch.tensor(self.rows, dtype=torch.int32).cumsum(0, dtype=torch.int32)
            operands.append(torch.cat([torch.zeros(1, dtype=torch.int32), ends]).cuda())
        return package.launcher((len(self.a), self.n, self.k, len(self.rows)), operands)

    def theirs(self, is_programmatic):
        a = torch.zeros(self.room, self.k, device="cuda", dtype=torch.bfloat16).to(self.a.dtype)
        a.view(torch.uint8)[self.places] = self.a.view(torch.uint8)
        b = self.b if self.has_groups else self.b[0]
        group_of_row = torch.full((self.room,), -1, dtype=torch.int32)
        for group, (count, begin) in enumerate(zip(self.rows, self.begins())):
            group_of_row[begin:begin + count] = group
        group_of_row = group_of_row.cuda()
        if self.is_scaled:
            scale_a = torch.ones(len(self.scale_a), self.room, device="cuda")
            scale_a[:, self.places] = self.scale_a
            a = a, scale_a.t()  # which is what the TMA wants, for multiples of four rows
            b = b, self.scale_b if self.has_groups else self.scale_b[0]

        def launch():
            deep_gemm.set_pdl(is_programmatic)
            if not self.has_groups:
                deep_gemm.fp8_gemm_nt(a, b, self.d)
            elif self.is_scaled:
                deep_gemm.m_grouped_fp8_gemm_nt_contiguous(a, b, self.d, group_of_row)
            else:
                deep_gemm.m_grouped_bf16_gemm_nt_contiguous(a, b, self.d, group_of_row)
        return launch

    def bytes(self):
        return self.a.nbytes + self.b.nbytes + self.c.nbytes

    def stop_unless_equal(self):
        ours, theirs = self.c.float(), self.d[self.places].float()
        error = float((ours - theirs).abs().max() / theirs.abs().max())
        if not error < 0.02:
            raise SystemExit(f"the results differ by {error:.3f} of the largest element")


def graph_of(launches):
    """Every launch in turn, again and again for about GRAPH_MS; and how many there are."""
    for launch in launches:
        launch()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for launch in launches:
        launch()
    end.record()
    end.synchronize()
    turns = max(1, round(GRAPH_MS / begin.elapsed_time(end)))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(turns):
            for launch in launches:
                launch()
    return graph, turns * len(launches)


def microseconds(graph, count):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000 / count


def race(package, make):
    """Medians of us: of the package's kernel, and of DeepGEMM's without and with programmatic launches."""
    first, cold = make(), 4 * torch.cuda.get_device_properties(0).L2_cache_size
    sets = [first] + [make() for _ in range(min(64, max(2, ceil_div(cold, first.bytes()))) - 1)]
    sides = [[each.ours(package) for each in sets],
             [each.theirs(is_programmatic=False) for each in sets],
             [each.theirs(is_programmatic=True) for each in sets]]
    graphs = [graph_of(side) for side in sides]
    for graph, _ in graphs[1:]:
        graphs[0][0].replay()
        graph.replay()
        torch.cuda.synchronize()
        for each in sets:
            each.stop_unless_equal()
    times = [[] for _ in graphs]
    for _ in range(ROUNDS + 1):
        for graph, of_graph in zip(graphs, times):
            time.sleep(0.02)  # heavy launches one after the other lower the clock
            of_graph.append(microseconds(*graph))
    return [statistics.median(each[1:]) for each in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operands", choices=["randn", "small"], default="randn")
    parser.add_argument("packages", nargs="+", metavar="KIND=PACKAGE/build")
    arguments = parser.parse_args()

    def numbers(shape, dtype):
        if arguments.operands == "small":
            return torch.randint(-2, 3, shape, device="cuda", dtype=torch.int8).to(dtype)
        return torch.randn(shape, device="cuda", dtype=torch.bfloat16).to(dtype)

    print(f"operands: {arguments.operands}; {torch.cuda.get_device_name()}")
    print(f"{'':36}      ours  DeepGEMM  with set_pdl  DeepGEMM/ours")
    for argument in arguments.packages:
        kind, _, folder = argument.partition("=")
        if kind not in ("scaled", "grouped", "grouped_scaled"):
            parser.error(f"there is no KIND '{kind}'; write scaled, grouped or grouped_scaled before the =")
        package, is_scaled, has_groups = Package(folder), "scaled" in kind, "grouped" in kind
        products = [(rows, *GROUPED_NK) for rows in GROUPED] if has_groups else [([m], n, k) for m, n, k in SCALED]
        ratios = []
        for rows, n, k in products:
            if not package.has(sum(rows), n, k, len(rows)):
                continue
            times = race(package, lambda: Operands(rows, n, k, is_scaled, numbers, has_groups))
            ratios.append(min(times[1:]) / times[0])
            text = f"{sum(rows)} x {n} x {k}" + (f", {len(rows)} groups to {max(rows)}" if has_groups else "")
            print(f"{text:36}{times[0]:10.2f}{times[1]:10.2f}{times[2]:14.2f}{ratios[-1]:15.3f}", flush=True)
            torch.cuda.empty_cache()
        print(f"geometric mean of {len(ratios)}, {package.name}: {statistics.geometric_mean(ratios):.3f}")


if __name__ == "__main__":
    main()
