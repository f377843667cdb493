"""C = A B in f16 with NVIDIA's Hopper GEMM in CuTe DSL: how a kernel of that package is tuned, compiled once per key.

bench_cute.py --build FILE -DTILE_M=128 ...   compiles the kernel for any size into FILE; needs no GPU
bench_cute.py FILE --m=4096 --n=4096 --k=4096   checks and times it; the result goes to the file that TUNE_RESULT names

The kernel is the class of nvidia-cutlass-operators, which takes (sum's type, tile, cluster, swizzle, raster along m).
"""

import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

os.environ.setdefault("CUTE_DSL_ARCH", "sm_90a")
try:
    import cuda.bindings.driver as cuda
    import cutlass
    import numpy
    from cutlass import cute
except ImportError as missing:
    sys.exit(f"{missing}; install it: pip install nvidia-cutlass-dsl nvidia-cutlass-operators numpy")

INSTALLED = "providers/cutedsl/gemm/implementations/sm90_static_persistent_impl.py"
MULTIPROCESSORS = 132  # of H100 SXM and H200, where no GPU is asked


def kernel_class():
    """The one class of the package's file whose name ends in PersistentGemmKernel."""
    package = importlib.util.find_spec("cutlass.operators")
    if package is None:
        sys.exit("no module cutlass.operators; pip install nvidia-cutlass-operators")
    path = pathlib.Path(package.origin).parent / INSTALLED
    if not path.is_file():
        sys.exit(f"{path}: there is no such file in this version; 0.3.0 of nvidia-cutlass-operators has it")
    spec = importlib.util.spec_from_file_location("kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = [value for name, value in vars(module).items()
             if name.endswith(("GemmPersistentKernel", "PersistentGemmKernel"))]
    if len(found) != 1:
        sys.exit(f"{path}: it has {len(found)} classes of persistent GEMM kernels, not one")
    return found[0]


def resident_clusters(size):
    """How many clusters of so many blocks run at the same time: a persistent kernel starts no more."""
    try:
        return cutlass.utils.HardwareInfo().get_max_active_clusters(size)
    except Exception:  # each version has its own way to say that no GPU is here
        return MULTIPROCESSORS // size


def pointer(address=0):
    return cute.runtime.make_ptr(cutlass.Float16, address, cute.AddressSpace.gmem, assumed_align=16)


def build(options):
    """All that the key says is fixed here; the sizes are arguments of what is compiled."""
    key = dict(text.split("=", 1) for text in options.D)
    cluster = int(key["CLUSTER_M"]), int(key["CLUSTER_N"])
    gemm = kernel_class()(cutlass.Float32, (int(key["TILE_M"]), int(key["TILE_N"])), cluster, int(key["SWIZZLE"]),
                          key["RASTER"] == "m")

    @cute.jit
    def product(a: cute.Pointer, b: cute.Pointer, c: cute.Pointer, m: cutlass.Int32, n: cutlass.Int32,
                k: cutlass.Int32, clusters: cutlass.Constexpr, stream: cuda.CUstream):
        def by_rows(start, rows, columns):
            columns = cute.assume(columns, divby=8)
            return cute.make_tensor(start, cute.make_layout((rows, columns), stride=(cutlass.Int64(columns), 1)))

        def by_columns(start, rows, columns):
            rows = cute.assume(rows, divby=8)
            return cute.make_tensor(start, cute.make_layout((rows, columns), stride=(1, cutlass.Int64(rows))))

        gemm(by_rows(a, m, k), by_columns(b, k, n), by_rows(c, m, n), clusters, stream)

    compiled = cute.compile(product, pointer(), pointer(), pointer(), 8, 8, 8,
                            resident_clusters(cluster[0] * cluster[1]), cuda.CUstream(0))
    with tempfile.TemporaryDirectory() as folder:
        compiled.export_to_c(file_path=folder, file_name="gemm", function_prefix="gemm")
        shutil.copy(os.path.join(folder, "gemm.o"), options.file)


def call(function, *arguments):
    """What a function of the driver gives; ends the program if it fails."""
    status, *values = function(*arguments)
    if status != cuda.CUresult.CUDA_SUCCESS:
        sys.exit(f"{function.__name__}: {status.name}")
    return values[0] if len(values) == 1 else values


def on_device(array):
    address = call(cuda.cuMemAlloc, array.nbytes)
    call(cuda.cuMemcpyHtoD, address, array.ctypes.data, array.nbytes)
    return address


def is_right(a, b, c):
    """By a random projection: of a right C, which is rounded to 11 bits, C x differs from A (B' x) by little."""
    x = numpy.random.default_rng(2).uniform(-1, 1, c.shape[1])

    def times(matrix, vector):
        return numpy.concatenate([part.astype(numpy.float64) @ vector for part in numpy.array_split(matrix, 64)])

    inner = numpy.zeros(b.shape[1])
    for part, some in zip(numpy.array_split(b, 64), numpy.array_split(x, 64)):
        inner += some @ part.astype(numpy.float64)
    rounding = 2**-11 * numpy.concatenate([numpy.linalg.norm(part.astype(numpy.float64) * x, axis=1)
                                           for part in numpy.array_split(c, 64)])
    return bool((abs(times(c, x) - times(a, inner)) <= 8 * rounding).all())


def time_launches(launch, launches=20):
    """Seconds of each launch; 256 MB are written before it, so that A and B are not in the cache."""
    flush = call(cuda.cuMemAlloc, 1 << 28)
    begin, end = (call(cuda.cuEventCreate, 0) for _ in range(2))
    seconds = []
    for _ in range(launches):
        call(cuda.cuMemsetD8, flush, 0, 1 << 28)
        call(cuda.cuEventRecord, begin, 0)
        launch()
        call(cuda.cuEventRecord, end, 0)
        call(cuda.cuEventSynchronize, end)
        seconds.append(call(cuda.cuEventElapsedTime, begin, end) * 1e-3)
    return seconds


def run(options):
    try:
        call(cuda.cuInit, 0)
    except RuntimeError as error:
        sys.exit(f"no NVIDIA driver is here: {str(error).splitlines()[0]}")
    call(cuda.cuCtxSetCurrent, call(cuda.cuDevicePrimaryCtxRetain, call(cuda.cuDeviceGet, 0)))
    m, n, k = options.m, options.n, options.k
    random = numpy.random.default_rng(1)
    # As tune's own inputs: of numbers with few digits a product needs less power, and so less time.
    a, b = (random.uniform(-1, 1, (rows, k)).astype(numpy.float16) for rows in (m, n))
    c = numpy.full((m, n), numpy.nan, dtype=numpy.float16)
    addresses = [on_device(each) for each in (a, b, c)]
    with tempfile.TemporaryDirectory() as folder:  # it is loaded by the end of its name
        product = cute.runtime.load_module(shutil.copy(options.file, os.path.join(folder, "gemm.o")))["gemm"]
    pointers = [pointer(int(address)) for address in addresses]
    stream = cuda.CUstream(0)

    def launch():
        product(*pointers, m, n, k, stream)

    launch()
    call(cuda.cuMemcpyDtoH, c.ctypes.data, addresses[2], c.nbytes)
    right = is_right(a, b, c)
    seconds = time_launches(launch)
    result = {"name": "gemm", "time": statistics.median(seconds), "iters": len(seconds), "ok": right}
    with open(os.environ.get("TUNE_RESULT", os.devnull), "w", encoding="utf-8") as file:
        json.dump(result, file)
    print(json.dumps(result))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true")
    parser.add_argument("-D", action="append", default=[])
    parser.add_argument("-I", help="not needed: what tune tells compilers of C++")
    parser.add_argument("file")
    for name in ("m", "n", "k"):
        parser.add_argument("--" + name, type=int, default=4096)
    options = parser.parse_args()
    if options.build:
        build(options)
    else:
        run(options)


if __name__ == "__main__":
    main()
