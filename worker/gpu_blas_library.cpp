#include "gpu_blas_library.h"

#include <fmt/format.h>

#include "backend.h"
#include "gpu_device.h"
#include "gpu_library.h"

namespace tune::blas {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw Refusal(Stage::load, text); }

GpuLibrary find() try { return GpuLibrary(places_of(kLibraries)); } catch (const std::runtime_error& error) {
  refuse(fmt::format("no {}: {}; install it or set {}", kName, error.what(), gpu::kToolkitVariables[0]));
}

}  // namespace

void Library::check(Status status) const {
  if (status != kSuccess) throw GpuError(fmt::format("{}: {}", kName, text(status)));
}

Library Library::open() {
  const GpuLibrary file = find();
  Library library;
  std::string objection;
  try {
#define TUNE_FIND(member, function) file.find(library.member, #function);
    TUNE_GPU_BLAS(TUNE_FIND)
#undef TUNE_FIND
    const Status started = library.create(&library.handle);
    if (started != kSuccess) refuse(fmt::format("{} does not start: {}", file.place(), library.text(started)));
    objection = library.objection();
  } catch (const std::runtime_error& error) {
    refuse(error.what());
  }
  if (!objection.empty()) refuse(file.place() + ' ' + objection);
  return library;
}

}  // namespace tune::blas
