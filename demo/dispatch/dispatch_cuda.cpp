// dispatch.cpp for CUDA: loads the tuned binary with the driver and launches it. It needs cuda.h and libcuda.
#include <cuda.h>

#include "dispatch.h"

namespace {

void require(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text != nullptr ? text : "unknown error");
  std::exit(4);
}

/// A buffer of floats on the device.
class Buffer {
 public:
  explicit Buffer(std::size_t count) : bytes_(count * sizeof(float)) { require(cuMemAlloc(&data, bytes_), "memory"); }
  ~Buffer() { cuMemFree(data); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void write(const std::vector<float>& values) { require(cuMemcpyHtoD(data, values.data(), bytes_), "copy"); }
  void read(std::vector<float>& values) const { require(cuMemcpyDtoH(values.data(), data, bytes_), "copy"); }

  CUdeviceptr data = 0;

 private:
  std::size_t bytes_;
};

std::string device_name() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  char name[256] = "";
  require(cuInit(0), "cuInit");
  require(cuDeviceGet(&device, 0), "device");
  require(cuDeviceGetName(name, sizeof name, device), "name");
  require(cuDevicePrimaryCtxRetain(&context, device), "context");
  require(cuCtxSetCurrent(context), "context");
  return name;
}

/// The kernel of a binary, which is loaded once.
CUfunction load(const std::string& binary) {
  static std::map<std::string, CUfunction> loaded;
  const auto known = loaded.find(binary);
  if (known != loaded.end()) return known->second;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  require(cuModuleLoad(&module, binary.c_str()), binary.c_str());
  require(cuModuleGetFunction(&function, module, "gemm"), "gemm");
  return loaded[binary] = function;
}

/// Multiplies with the grid that gemm_cuda.yaml has.
bool run(const Size& size, CUfunction gemm, unsigned tile) {
  Product product(size);
  Buffer a(product.A.size()), b(product.B.size()), c(product.C.size());
  a.write(product.A);
  b.write(product.B);
  int sizes[] = {static_cast<int>(size.m), static_cast<int>(size.n), static_cast<int>(size.k)};
  void* arguments[] = {&a.data, &b.data, &c.data, &sizes[0], &sizes[1], &sizes[2]};
  const auto blocks = [tile](long count) { return (static_cast<unsigned>(count) + tile - 1) / tile; };
  require(cuLaunchKernel(gemm, blocks(size.n), blocks(size.m), 1, tile, tile, 1, 0, nullptr, arguments, nullptr),
          "launch");
  c.read(product.C);
  return product.is_right();
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  Dispatcher dispatcher(settings, device_name());
  bool right = true;
  for (const Size& size : settings.sizes) {
    const auto tile_of = [](const tuned_gemm::Params& params) {
      return std::map<std::string, long>{{"TILE", static_cast<long>(params.TILE)}};
    };
    Choice choice = dispatcher.choose(size, tile_of);
    dispatcher.count(choice, !choice.binary.empty());
    if (choice.binary.empty()) {
      std::printf("%ldx%ldx%ld: nothing tuned; call your present kernel here\n", size.m, size.n, size.k);
      continue;
    }
    const bool is_right = run(size, load(choice.binary), static_cast<unsigned>(choice.params["TILE"]));
    std::printf("%ldx%ldx%ld: %s, %s\n", size.m, size.n, size.k, choice.binary.c_str(), is_right ? "right" : "WRONG");
    right = right && is_right;
  }
  if (settings.print_counts) dispatcher.print_counts();
  return right ? 0 : 1;
}
