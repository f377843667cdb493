#include "exec/build/build_service.h"

#include <fmt/format.h>

#include <cstdlib>

#include "exec/request/launch_check.h"
#include "exec/request/occupancy.h"
#include "exec/request/spec_launches.h"
#include "model/values/error.h"

namespace tune::exec {
namespace {

std::string no_compiler(Backend backend) {
  const std::string text = fmt::format("no compiler for the {} backend was found; ", to_text(backend));
  const char* named = std::getenv("CXX");
  if (traits_of(backend).compiler_reads == CompilerEnvironment::flags && named != nullptr && *named != 0)
    return text + fmt::format("CXX is '{}', which does not run: set it to another compiler, or unset it", named);
  return text + "install one (CPU: apt-get install g++, or set CXX)";
}

}  // namespace

void BuildService::want(const Spec& spec) {
  if (!requests_->has_build()) return;
  const std::string key = requests_->build_key(spec);
  if (builder_->find(key) != nullptr) return;
  if (requests_->hello().compiler.empty()) throw Error(ExitCode::environment, no_compiler(requests_->hello().backend));
  builder_->want(key, requests_->build(spec));
}

const Builder::Result* BuildService::find(const Spec& spec) {
  static const Builder::Result kNotBuilt = Artifact{};
  return requests_->has_build() ? builder_->find(requests_->build_key(spec)) : &kNotBuilt;
}

const Builder::Result* BuildService::find_or_build(const Spec& spec) {
  if (!requests_->has_build()) return find(spec);
  const Builder::Result* result = builder_->find_intact(requests_->build_key(spec));
  if (result == nullptr) want(spec);
  return result;
}

const Builder::Result* BuildService::find_or_build_reference(const Spec& spec) {
  const std::string key = requests_->reference_build_key(spec);
  const Builder::Result* result = builder_->find_intact(key);
  if (result != nullptr) return result;
  builder_->want(key, requests_->reference_build(spec));
  builder_->start_queued();
  return nullptr;
}

// The occupancy depends on the launch, which is not part of the build, and so cannot be the builder's word.
BuildInfo BuildService::info_of(const Spec& spec, const Artifact& artifact) const {
  BuildInfo info = artifact.info;
  try {
    const auto share = occupancy(requests_->kernel_run(spec).launches, info.properties, requests_->hello().device);
    if (share) info.properties["occupancy"] = *share;
  } catch (const Unlaunchable&) {
    // The measure request will say why.
  }
  return info;
}

std::optional<std::string> BuildService::launch_fault(std::span<const wire::KernelLaunch> launches,
                                                      const Artifact& artifact) const {
  const wire::Hello& hello = requests_->hello();
  const bool gpu = is_gpu(hello.backend);
  const std::string code = gpu ? platform::read_file(artifact.path) : "";
  return exec::launch_fault(hello.backend, code, artifact.info.properties, launches, requests_->plan().problem,
                            hello.device);
}

}  // namespace tune::exec
