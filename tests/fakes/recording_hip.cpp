// Stands in for HIP's runtime (libamdhip64.so) where the code of a package is tested without a GPU: a card of the
// architecture TUNE_TEST_ARCHITECTURE (gfx90a:sramecc+:xnack-), called TUNE_TEST_CARD. It takes any module, and writes
// what is launched to TUNE_TEST_LAUNCHES, if that is set.
#include <cstddef>

#include "fakes/recorded_launches.h"

extern "C" {

int hipInit(unsigned) { return 0; }
int hipGetDevice(int* device) {
  *device = 0;
  return 0;
}
int hipSetDevice(int device) { return device == 0 ? 0 : 101; }
int hipDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? 0 : 101;
}
int hipDeviceGetName(char* name, int length, int) {
  const char* card = std::getenv("TUNE_TEST_CARD");
  std::snprintf(name, static_cast<std::size_t>(length), "%s", card != nullptr ? card : "AMD Instinct MI250X");
  return 0;
}
/// Where HIP 5.2 has the architecture.
int hipGetDeviceProperties(char* properties, int) {
  const char* architecture = std::getenv("TUNE_TEST_ARCHITECTURE");
  std::snprintf(properties, 256, "gfx is no architecture in a name");
  std::snprintf(properties + 396, 256, "%s", architecture != nullptr ? architecture : "gfx90a:sramecc+:xnack-");
  return 0;
}
int hipDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 63 ? number("TUNE_TEST_MULTIPROCESSORS", 104) : 0;
  return 0;
}
int hipModuleLoadData(void** module, const void* image) {
  *module = const_cast<void*>(image);
  return image != nullptr ? 0 : 1;
}
int hipModuleGetFunction(void** function, void* module, const char* name) {
  *function = new Function(static_cast<const char*>(module), name);
  return 0;
}
int hipMemsetD8Async(void*, unsigned char value, std::size_t bytes, void*) {
  note("%zu bytes become %d\n", bytes, value);
  return 0;
}
int hipMemset2DAsync(void*, std::size_t distance, int value, std::size_t bytes, std::size_t rows, void*) {
  note("%zu rows of %zu bytes become %d, %zu bytes between them\n", rows, bytes, value, distance);
  return 0;
}
int hipMallocAsync(void** address, std::size_t, void*) {
  *address = reinterpret_cast<void*>(1 << 20);
  return 0;
}
int hipFreeAsync(void*, void*) { return 0; }
int hipModuleLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared, void*, void** arguments, void**) {
  if (log_file() == nullptr) return arguments != nullptr ? 0 : 1;
  const auto* const called = static_cast<Function*>(function);
  note("%s: %s grid %u %u %u block %u %u %u cluster 0 0 0 shared %u", called->image.c_str(), called->name.c_str(),
       grid_x, grid_y, grid_z, block_x, block_y, block_z, shared);
  note_integers(arguments);
  return 0;
}

}  // extern "C"
