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

DataType data_type(Type type) {
  switch (type) {
    case Type::f64:
      return kF64;
    case Type::f32:
    case Type::tf32:
      return kF32;
    case Type::f16:
      return kF16;
    case Type::bf16:
      return kBf16;
    case Type::e4m3:
      return kE4m3;
    case Type::e5m2:
      return kE5m2;
    case Type::s32:
      return kS32;
    case Type::s8:
      return kS8;
  }
  return kF32;
}

std::optional<ComputeType> compute_type(const Gemm& g) {
  switch (g.acc) {
    case Type::f64:
      return kComputeF64;
    case Type::f32:
      if ((g.a == Type::tf32) != (g.b == Type::tf32)) return std::nullopt;
      return g.a == Type::tf32 ? kComputeTf32 : kComputeF32;
    case Type::f16:
      return kComputeF16;
    case Type::s32:
      return kComputeS32;
    default:
      return std::nullopt;
  }
}

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
