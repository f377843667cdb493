#include "gpu/gpu_blas_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "backend.h"
#include "gpu/gpu_library.h"

namespace tune::blas {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw worker::SpecFailure(Stage::load, text); }

worker::GpuLibrary take_first(std::vector<std::string>& places) try {
  worker::GpuLibrary library(places);
  places.erase(places.begin(), std::ranges::find(places, library.place()) + 1);
  return library;
} catch (const std::runtime_error& error) {
  places.clear();
  refuse(fmt::format("no {}: {}; install it or set {}", kName, error.what(), gpu::kToolkitVariables[0]));
}

}  // namespace

void Library::check(Status status) const {
  const auto message = [&] { return fmt::format("{}: {}", kName, text(status)); };
  if (status == kNotSupported) throw NotSupported(message());
  if (status != kSuccess) throw worker::GpuError(message());
}

std::vector<std::string> Library::places() { return worker::places_of(kLibraries); }

std::string Library::likely_file() {
  std::error_code error;
  for (const std::string& place : places())
    if (const auto file = std::filesystem::canonical(place, error); !error) return file.string();
  return "";
}

Library Library::open(std::vector<std::string>& places) {
  static std::map<std::string, Library> opened;
  const worker::GpuLibrary file = take_first(places);
  if (const auto known = opened.find(file.place()); known != opened.end()) return known->second;
  Library library;
  library.place = file.place();
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
  return opened[library.place] = library;
}

}  // namespace tune::blas
