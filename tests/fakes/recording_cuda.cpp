// Stands in for the CUDA driver (libcuda.so.1) where the code of a package is tested without a GPU: a card of compute
// capability TUNE_TEST_CAPABILITY (90) and TUNE_TEST_MULTIPROCESSORS (132), called TUNE_TEST_CARD. It takes any module,
// and writes what is launched to TUNE_TEST_LAUNCHES, if that is set.
#include <cstdint>

#include "fakes/recorded_launches.h"

namespace {

char context[1];

struct Config {
  unsigned grid[3], block[3], shared;
  void* stream;
  const unsigned char* attributes;
  unsigned count;
};

}  // namespace

extern "C" {

int cuInit(unsigned) { return 0; }
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
  *module = const_cast<void*>(image);
  return image != nullptr ? 0 : 1;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  *function = new Function(static_cast<const char*>(module), name);
  return 0;
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
  note("attribute %d of %s is %d\n", attribute, static_cast<Function*>(function)->image.c_str(), value);
  return 0;
}
int cuTensorMapEncodeTiled(void* map, int type, std::uint32_t rank, void*, const std::uint64_t* extents,
                           const std::uint64_t* strides, const std::uint32_t*, const std::uint32_t*, int, int swizzle,
                           int promotion, int) {
  std::memset(map, 0, 128);
  note("map of type %d, %u dimensions, %lu x %lu, %lu bytes between rows, swizzle %d, promotion %d\n", type, rank,
       extents[0], extents[1], strides[0], swizzle, promotion);
  return 0;
}
int cuMemsetD8Async(unsigned long long, unsigned char value, std::size_t bytes, void*) {
  note("%zu bytes become %d\n", bytes, value);
  return 0;
}
int cuMemsetD2D8Async(unsigned long long, std::size_t distance, unsigned char value, std::size_t bytes,
                      std::size_t rows, void*) {
  note("%zu rows of %zu bytes become %d, %zu bytes between them\n", rows, bytes, value, distance);
  return 0;
}
int cuMemAllocAsync(unsigned long long* address, std::size_t, void*) {
  *address = 1 << 20;
  return 0;
}
int cuMemFreeAsync(unsigned long long, void*) { return 0; }
int cuLaunchKernelEx(const Config* config, void* function, void** arguments, void**) {
  if (log_file() == nullptr) return arguments != nullptr ? 0 : 1;
  unsigned cluster[3] = {0, 0, 0};
  if (config->count == 1) std::memcpy(cluster, config->attributes + 8, sizeof cluster);
  const auto* const called = static_cast<Function*>(function);
  note("%s: %s grid %u %u %u block %u %u %u cluster %u %u %u shared %u", called->image.c_str(), called->name.c_str(),
       config->grid[0], config->grid[1], config->grid[2], config->block[0], config->block[1], config->block[2],
       cluster[0], cluster[1], cluster[2], config->shared);
  note_integers(arguments);
  return 0;
}

}  // extern "C"
