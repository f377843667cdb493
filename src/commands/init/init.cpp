#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "commands/commands.h"
#include "commands/init/draft.h"
#include "commands/installation.h"
#include "commands/print_messages.h"
#include "exec/workers.h"
#include "model/command.h"
#include "model/values/text.h"
#include "platform/files/file.h"

namespace tune::commands {
namespace {

namespace fs = std::filesystem;

/// `tune init`: writes a tuning file for a kernel from what its source says, counts its specs and builds one, whose end
/// is the exit code.
struct InitOptions {
  fs::path source;
  std::optional<fs::path> output;
  std::optional<std::string> kernel, arch;
};

void bind(cli::Command& command, InitOptions& options) {
  command.path("SOURCE", options.source, "FILE", "The kernel: .cu, .hip or a C++ file").required();
  command.path("--output,-o", options.output, "FILE", "The tuning file to write (default: beside the source)");
  command.text("--kernel", options.kernel, "NAME", "The function to tune, if the source has several");
  command.text("--arch", options.arch, "NAME",
               "The architecture to build for (default: that of the GPU here, else sm_80 or gfx90a)");
}

class Init {
 public:
  explicit Init(const InitOptions& options) : options_(&options), backend_(backend_of(options.source)) {}

  ExitCode run() {
    const fs::path yaml = options_->output.value_or(fs::path(options_->source).replace_extension(".yaml"));
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(yaml, ignored)))
      throw Error(
          ExitCode::bad_input,
          fmt::format("{} exists and is not overwritten; name another file with -o, or continue with it:\n\ttune {} "
                      "--dry-run",
                      yaml.string(), shell_quote(yaml.string())));
    const KernelSource source = read_kernel_source(options_->source, is_gpu(backend_));
    const Kernel& kernel = chosen_kernel(source);
    const fs::path folder = yaml.parent_path().empty() ? fs::path(".") : yaml.parent_path();
    const std::string file = fs::proximate(options_->source, folder).string();
    const Draft draft = draft_tuning_file(source, kernel, {kernel.name, file, is_gpu(backend_)});
    if (draft.parameters == 0) explain_no_parameter(source);
    platform::write_file(yaml, draft.yaml);
    describe(source, kernel, draft, yaml);
    return try_out(yaml);
  }

 private:
  static Backend backend_of(const fs::path& source) {
    const auto backend = backend_of_source(source);
    if (!backend)
      throw Error(ExitCode::bad_input,
                  fmt::format("{}: tune init reads kernels in .cu, .hip and C++ files", source.string()));
    return *backend;
  }

  [[noreturn]] void fail(const std::string& text) const {
    throw Error(ExitCode::bad_input, options_->source.string() + ": " + text);
  }

  const Kernel& chosen_kernel(const KernelSource& source) const {
    std::vector<std::string> names;
    for (const Kernel& kernel : source.kernels)
      if (kernel.has_c_linkage) names.push_back(kernel.name);
    if (names.empty()) explain_missing(source);
    const auto chosen = std::ranges::find_if(source.kernels, [&](const Kernel& kernel) {
      return kernel.has_c_linkage && kernel.name == options_->kernel.value_or(kernel.name) &&
             (options_->kernel || !is_reference(kernel, names));
    });
    if (chosen == source.kernels.end())
      fail(fmt::format("there is no kernel '{}'; the file has {}", *options_->kernel, fmt::join(names, ", ")));
    return *chosen;
  }

  /// Whether it is called after another kernel, as softmax_simple is.
  static bool is_reference(const Kernel& kernel, const std::vector<std::string>& names) {
    return std::ranges::any_of(names, [&](const std::string& other) {
      return other != kernel.name && kernel.name.find(other) != std::string::npos;
    });
  }

  /// One without parameters is a reference, or there is nothing to tune.
  static bool uses_macros(const Kernel& kernel, const KernelSource& source) {
    return std::ranges::any_of(kernel.body, [&](const Token& token) {
      return std::ranges::find(source.macros, token.text, &BuildMacro::name) != source.macros.end();
    });
  }

  [[noreturn]] void explain_missing(const KernelSource& source) const {
    if (source.kernels.empty() && is_gpu(backend_)) fail("there is no __global__ function in it");
    if (source.kernels.empty())
      fail("there is no function that is defined as extern \"C\"; write that before the one to tune");
    const Kernel& kernel = source.kernels.front();
    if (kernel.is_template)
      throw Error(ExitCode::bad_input,
                  fmt::format("{}:{}: '{}' is a template, which has no name to find it by; add an extern \"C\" "
                              "__global__ function that calls it with macros as its arguments",
                              options_->source.string(), kernel.line, kernel.name));
    throw Error(ExitCode::bad_input,
                fmt::format("{}:{}: write extern \"C\" before '{}', so that it is found by its name",
                            options_->source.string(), kernel.line, kernel.name));
  }

  [[noreturn]] void explain_no_parameter(const KernelSource& source) const {
    const std::string lack = source.macros.empty() ? "there is no macro in it that a build could define"
                                                   : "its macros follow from the problem, and none is a parameter";
    fail(lack + ", so there is nothing to choose from; " +
         (source.fixed_numbers.empty()
              ? "write a name such as TILE where a number stands today"
              : fmt::format("candidates, once their definitions are removed or stand behind #ifndef: {}",
                            fmt::join(source.fixed_numbers, ", "))));
  }

  void describe(const KernelSource& source, const Kernel& kernel, const Draft& draft, const fs::path& yaml) const {
    std::vector<std::string> arguments;
    for (const KernelArgument& argument : kernel.arguments) arguments.push_back(argument.name);
    std::string text =
        fmt::format("{}: kernel {}({})\n", options_->source.string(), kernel.name, fmt::join(arguments, ", "));
    std::vector<std::string> macros;
    for (const BuildMacro& macro : source.macros)
      macros.push_back(macro.value.empty() ? macro.name
                                           : fmt::format("{} (in the source {})", macro.name, macro.value));
    if (!macros.empty())
      text += fmt::format("{}: parameters by macros: {}\n", options_->source.string(), fmt::join(macros, ", "));
    if (source.line_of_host_code > 0 && is_gpu(backend_))
      text += fmt::format(
          "note: {}:{}: this is host code, which the compiler of kernels does not accept; put it into "
          "another file, or between #ifndef {} and #endif\n",
          options_->source.string(), source.line_of_host_code,
          backend_ == Backend::cuda ? "__CUDACC_RTC__" : "__HIPCC_RTC__");
    std::vector<std::string> others;
    for (const Kernel& each : source.kernels)
      if (each.has_c_linkage && each.name != kernel.name && uses_macros(each, source)) others.push_back(each.name);
    if (!others.empty())
      text += fmt::format("{}: it also has {}; --kernel NAME tunes another\n", options_->source.string(),
                          fmt::join(others, ", "));
    text += fmt::format("{}: {}, {} to check\n", yaml.string(), plural(draft.parameters, "parameter"),
                        plural(draft.guesses, "guess", "guesses"));
    print_lines(text);
  }

  /// Lists the specs and builds one. What fails is to be repeated when it has been corrected.
  ExitCode try_out(const fs::path& yaml) {
    const std::string name = shell_quote(yaml.string());
    Words words = {"--dry-run", "--quiet"};
    ExitCode code = tune(yaml, words);
    if (code == ExitCode::ok) {
      words = {"--build-only", "--max-evals", "1"};
      arch_ = architecture();
      if (arch_) words.insert(words.end(), {"--arch", *arch_});
      code = tune(yaml, words);
    }
    if (code == ExitCode::ok)
      print_lines(fmt::format("next: check the guesses in {0}, then:\n\ttune {0} {1}\n", name,
                              arch_ ? "--build-only --arch " + *arch_ : "--tune"));
    else
      print_wrapped(fmt::format("note: {0} was written; correct it or the source, then:\n\ttune {0} {1}", name,
                                fmt::join(words, " ")));
    return code;
  }

  /// Where there is no GPU, one has to be named.
  std::optional<std::string> architecture() const {
    if (options_->arch || !is_gpu(backend_)) return options_->arch;
    exec::Workers workers = find_workers();
    if (workers.probe_compiler(backend_).no_device.empty()) return std::nullopt;
    const std::string arch = traits_of(backend_).arch_example;
    print_lines(fmt::format("no GPU is here: a spec is built for {}; --arch names another\n", arch));
    return arch;
  }

  static ExitCode tune(const fs::path& yaml, const Words& options) {
    std::vector<const char*> argv = {"tune", yaml.c_str()};
    for (const std::string& word : options) argv.push_back(word.c_str());
    try {
      return (*read_command_line(static_cast<int>(argv.size()), argv.data()))();
    } catch (const Error& error) {
      print_error(error.what());
      return error.code();
    }
  }

  const InitOptions* options_;
  Backend backend_;
  std::optional<std::string> arch_;  ///< what was built for, unless for the GPU here
};

ExitCode init(const InitOptions& options) { return Init(options).run(); }

}  // namespace

extern const cli::CommandSpec kInit =
    cli::command_spec<InitOptions, bind, init>("init", "Write a tuning file for a kernel from its source, and try it");

}  // namespace tune::commands
