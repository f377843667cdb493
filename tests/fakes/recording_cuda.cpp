// Stands in for the CUDA driver (libcuda.so.1) where the code of a package is tested without a GPU: a card of compute
// capability TUNE_TEST_CAPABILITY (90) and TUNE_TEST_MULTIPROCESSORS (132), called TUNE_TEST_CARD. It takes any module,
// and writes what is launched to TUNE_TEST_LAUNCHES, if that is set.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

char context[1], module_[1];

struct Config {
  unsigned grid[3], block[3], shared;
  void* stream;
  const unsigned char* attributes;
  unsigned count;
};

}  // namespace

extern "C" {

int cuInit(unsigned) { return 0; }
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? 0 : 101;
}
int cuDeviceGetName(char* name, int length, int) {
  const char* card = std::getenv("TUNE_TEST_CARD");
  std::snprintf(name, static_cast<std::size_t>(length), "%s", card != nullptr ? card : "NVIDIA H200");
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  const int capability = number("TUNE_TEST_CAPABILITY", 90);
  *value = attribute == 75   ? capability / 10
           : attribute == 76 ? capability % 10
           : attribute == 16 ? number("TUNE_TEST_MULTIPROCESSORS", 132)
                             : 0;
  return 0;
}
int cuCtxGetCurrent(void** current) {
  *current = context;
  return 0;
}
int cuCtxGetDevice(int* device) {
  *device = 0;
  return 0;
}
int cuCtxSetCurrent(void*) { return 0; }
int cuDevicePrimaryCtxRetain(void** made, int) {
  *made = context;
  return 0;
}
int cuModuleLoadData(void** module, const void* image) {
  *module = module_;
  return image != nullptr ? 0 : 1;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  *function = const_cast<char*>(name);
  return 0;
}
int cuFuncSetAttribute(void*, int, int) { return 0; }
int cuTensorMapEncodeTiled(void* map, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*,
                           const std::uint32_t*, const std::uint32_t*, int, int, int, int) {
  std::memset(map, 0, 128);
  return 0;
}
int cuMemsetD8Async(unsigned long long, unsigned char, std::size_t, void*) { return 0; }
int cuMemAllocAsync(unsigned long long* address, std::size_t, void*) {
  *address = 1 << 20;
  return 0;
}
int cuMemFreeAsync(unsigned long long, void*) { return 0; }
int cuLaunchKernelEx(const Config* config, void* function, void** arguments, void**) {
  static std::FILE* const log =
      std::getenv("TUNE_TEST_LAUNCHES") != nullptr ? std::fopen(std::getenv("TUNE_TEST_LAUNCHES"), "w") : nullptr;
  if (log == nullptr) return arguments != nullptr ? 0 : 1;
  unsigned cluster[3] = {0, 0, 0};
  if (config->count == 1) std::memcpy(cluster, config->attributes + 8, sizeof cluster);
  std::fprintf(log, "%s grid %u %u %u block %u %u %u cluster %u %u %u shared %u\n", static_cast<char*>(function),
               config->grid[0], config->grid[1], config->grid[2], config->block[0], config->block[1], config->block[2],
               cluster[0], cluster[1], cluster[2], config->shared);
  std::fflush(log);
  return 0;
}

}  // extern "C"
