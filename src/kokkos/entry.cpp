#include <pthread.h>

#include <exception>

#include "kokkos/tool.h"

// The functions that Kokkos and tune/tuning.h look for in libtune_kokkos.so. Nothing that happens here may reach the
// application: no exception, and no output but complaints on stderr.

namespace tune::kokkos {
namespace {

/// The tool of this process. It is never destroyed, because threads may call it until the very end.
Tool& process_tool() {
  static Tool* const tool = [] {
    Tool* made = new Tool;
    ::pthread_atfork([] { process_tool().before_fork(); }, [] { process_tool().after_fork(false); },
                     [] { process_tool().after_fork(true); });
    return made;
  }();
  return *tool;
}

template <typename Action>
void contain(Action action) noexcept {
  try {
    action(process_tool());
  } catch (const std::exception& error) {
    try {
      process_tool().complain(error.what());
    } catch (...) {
      return;
    }
  } catch (...) {
    return;
  }
}

}  // namespace
}  // namespace tune::kokkos

#define TUNE_EXPORT extern "C" __attribute__((visibility("default"))) void

using tune::kokkos::contain;
using tune::kokkos::Tool;
namespace tools = tune::tools;

TUNE_EXPORT kokkosp_init_library(int, std::uint64_t, std::uint32_t, void*) {
  contain([](Tool&) {});
}

TUNE_EXPORT kokkosp_parse_args(int count, char** arguments) {
  contain([&](Tool& tool) {
    std::vector<std::string> texts;
    for (int i = 1; i < count; ++i) texts.emplace_back(arguments[i]);
    tool.set_arguments(texts);
  });
}

TUNE_EXPORT kokkosp_print_help(char*) {
  contain([](Tool& tool) { tool.complain(tune::kokkos::help()); });
}

TUNE_EXPORT kokkosp_request_tool_settings(std::uint32_t count, tools::Settings* settings) {
  if (count > 0 && settings != nullptr) settings->requires_global_fencing = false;
}

TUNE_EXPORT kokkosp_provide_tool_programming_interface(std::uint32_t count, tools::Actions actions) {
  if (count > 0) contain([&](Tool& tool) { tool.set_fence(actions.fence); });
}

TUNE_EXPORT kokkosp_declare_output_type(const char* name, std::size_t id, tools::VariableInfo* info) {
  if (info != nullptr) contain([&](Tool& tool) { tool.declare_output(name, id, *info); });
}

TUNE_EXPORT kokkosp_declare_input_type(const char* name, std::size_t id, tools::VariableInfo* info) {
  if (info != nullptr) contain([&](Tool& tool) { tool.declare_input(name, id, *info); });
}

TUNE_EXPORT kokkosp_request_values(std::size_t context, std::size_t inputs, const tools::VariableValue* input_values,
                                   std::size_t outputs, tools::VariableValue* output_values) {
  if (output_values == nullptr || (input_values == nullptr && inputs > 0)) return;
  contain([&](Tool& tool) { tool.request(context, {input_values, inputs}, {output_values, outputs}); });
}

TUNE_EXPORT kokkosp_begin_context(std::size_t context) {
  contain([&](Tool& tool) { tool.begin_context(context); });
}

TUNE_EXPORT kokkosp_end_context(std::size_t context, tools::VariableValue goal) {
  contain([&](Tool& tool) { tool.end_context(context, goal); });
}

TUNE_EXPORT kokkosp_declare_optimization_goal(std::size_t context, tools::Goal goal) {
  contain([&](Tool& tool) { tool.set_goal(context, goal); });
}

TUNE_EXPORT kokkosp_finalize_library() {
  contain([](Tool& tool) { tool.finish(); });
}

// Some versions of Kokkos begin the contexts of kernels only if a tool has these.
TUNE_EXPORT kokkosp_begin_parallel_for(const char*, std::uint32_t, std::uint64_t*) {}
TUNE_EXPORT kokkosp_end_parallel_for(std::uint64_t) {}
TUNE_EXPORT kokkosp_begin_parallel_reduce(const char*, std::uint32_t, std::uint64_t*) {}
TUNE_EXPORT kokkosp_end_parallel_reduce(std::uint64_t) {}
TUNE_EXPORT kokkosp_begin_parallel_scan(const char*, std::uint32_t, std::uint64_t*) {}
TUNE_EXPORT kokkosp_end_parallel_scan(std::uint64_t) {}
