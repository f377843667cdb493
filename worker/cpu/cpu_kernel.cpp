#include "cpu/cpu_kernel.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "backend.h"
#include "cpu/cpu_shim.h"

namespace tune::worker {

SharedObject::SharedObject(const std::vector<std::string>& names) {
  std::string reasons;
  for (const std::string& name : names) {
    handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    name_ = name;
    if (handle_) return;
    const std::string reason = ::dlerror(), place = name + ": ";
    reasons += (reasons.empty() ? "" : "; ") + reason.substr(reason.starts_with(place) ? place.size() : 0);
  }
  // Without folders, of which every artifact has its own.
  const std::string file = std::filesystem::path(names.front()).filename().string();
  throw SpecFailure(Stage::load, fmt::format("cannot load {}: {}", file, reasons));
}

bool SharedObject::has(const std::string& symbol) const { return ::dlsym(handle_, symbol.c_str()) != nullptr; }

void* SharedObject::find(const std::string& name) const {
  if (void* found = ::dlsym(handle_, name.c_str())) return found;
  throw SpecFailure(Stage::load, fmt::format("{} has no function {}; build it again", name_, name));
}

CpuKernel::Scalar CpuKernel::scalar(const wire::Arg& arg, Type acc) {
  Scalar value{};
  if (arg.kind != Argument::Kind::scalar) {
    if (acc == Type::f64) value.f64 = arg.number;
    if (acc == Type::f32) value.f32 = static_cast<float>(arg.number);
    if (acc == Type::s32) value.i32 = static_cast<std::int32_t>(arg.number);
    return value;
  }
  switch (arg.type) {
    case Argument::Scalar::i32:
      if (arg.integer != static_cast<std::int32_t>(arg.integer))
        throw SpecFailure(Stage::load, fmt::format("args: {} does not fit an int; write {{i64: ...}}", arg.integer));
      value.i32 = static_cast<std::int32_t>(arg.integer);
      break;
    case Argument::Scalar::i64:
      value.i64 = arg.integer;
      break;
    case Argument::Scalar::f32:
      value.f32 = static_cast<float>(arg.number);
      break;
    case Argument::Scalar::f64:
      value.f64 = arg.number;
      break;
  }
  return value;
}

CpuKernel::CpuKernel(const std::string& artifact, const std::vector<wire::KernelLaunch>& launches, Type acc,
                     const AddressOf& address)
    : library_({artifact}) {
  for (std::size_t i = 0; i < launches.size(); ++i) {
    auto* const function = library_.symbol<Function>(shim_symbol(i));
    for (std::int64_t turn = 0; turn < launches[i].repeat; ++turn)
      calls_.push_back(bind(function, launches[i], acc, [&](const std::string& buffer) {
        return address(wire::buffer_of(launches[i], buffer, turn));
      }));
  }
}

CpuKernel::Call CpuKernel::bind(Function* function, const wire::KernelLaunch& launch, Type acc,
                                const AddressOf& address) {
  Call call{function, {}, {}};
  call.scalars.reserve(launch.args.size());  // the arguments point into it
  for (const wire::Arg& arg : launch.args) {
    if (arg.kind == Argument::Kind::buffer)
      call.arguments.push_back(address(arg.buffer));
    else
      call.arguments.push_back(&call.scalars.emplace_back(scalar(arg, acc)));
  }
  return call;
}

void CpuKernel::launch() const {
  for (const Call& call : calls_) call.function(call.arguments.data());
}

}  // namespace tune::worker
