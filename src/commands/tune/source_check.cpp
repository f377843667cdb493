#include "commands/tune/source_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/init/source.h"
#include "model/backend.h"
#include "model/values/error.h"

namespace tune::commands {
namespace {

class SourceCheck {
 public:
  explicit SourceCheck(const Plan& plan) : plan_(&plan), source_(read_kernel_source(plan.file, is_gpu(plan.backend))) {}

  void check(const Launch& launch, const char* key) {
    const auto kernel = std::ranges::find(source_.kernels, launch.kernel, &Kernel::name);
    if (kernel != source_.kernels.end())
      check_arguments(launch, *kernel, key);
    else if (is_absent(launch.kernel))
      complain(fmt::format("there is no function '{}' in {}, which {} names", launch.kernel,
                           plan_->file.filename().string(), key));
  }

  std::vector<std::string> take() { return std::move(texts_); }

 private:
  /// Headers that are elsewhere are not read, and macros are not expanded.
  bool is_absent(const std::string& name) const {
    return plan_->build.include.empty() && std::ranges::find(source_.code, name, &Token::text) == source_.code.end();
  }

  void check_arguments(const Launch& launch, const Kernel& kernel, const char* key) {
    const auto is_plain = [](const KernelArgument& argument) {
      return !argument.name.empty() && !argument.type.empty() && argument.condition.empty();
    };
    if (kernel.is_template || !std::ranges::all_of(kernel.arguments, is_plain) ||
        kernel.arguments.size() == launch.args.size())
      return;
    std::string names;
    for (const KernelArgument& argument : kernel.arguments) names += (names.empty() ? "" : ", ") + argument.name;
    complain(fmt::format("{}: args has {}, and '{}' takes {}: {}", key, launch.args.size(), kernel.name,
                         kernel.arguments.size(), names));
  }

  void complain(const std::string& text) {
    texts_.push_back(fmt::format("{}: {}", plan_->yaml.filename().string(), text));
  }

  const Plan* plan_;
  KernelSource source_;
  std::vector<std::string> texts_;
};

}  // namespace

std::vector<std::string> misfits_of_source(const Plan& plan) try {
  if (plan.is_program() || !plan.candidates.empty()) return {};
  SourceCheck check(plan);
  for (const Launch& launch : plan.launches) check.check(launch, "launch");
  if (plan.reference.kernel) check.check(*plan.reference.kernel, "reference");
  return check.take();
} catch (const Error&) {
  return {};  // whoever builds the source says why it cannot be read
}

}  // namespace tune::commands
