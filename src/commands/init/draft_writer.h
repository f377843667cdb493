#pragma once
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "commands/init/draft.h"
#include "commands/init/indexing.h"
#include "commands/init/names_and_types.h"
#include "model/expression/expression.h"

namespace tune::commands {

/// Understands a kernel as far as its source tells, and writes the tuning file. Each part has a file of its name.
class DraftWriter {
 public:
  DraftWriter(const KernelSource& source, const Kernel& kernel, const DraftRequest& request);
  Draft write();

 private:
  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    draft_.yaml += fmt::format(text, std::forward<Arguments>(arguments)...) + "\n";
  }
  /// Memory that a kernel needs beside its operands.
  static bool is_workspace(const KernelArgument& argument);
  /// A line with a comment that marks it as guessed.
  void guessed(const std::string& text, const std::string& why);
  /// Throws Error(bad_input) for an argument that no tuning file can give.
  void require_passable(const KernelArgument& argument) const;
  const std::array<Indexing::Dimension, 3>& dimensions() const { return indexing_.dimensions(); }
  /// Whether it is the tensor map of an operand whose address is an argument as well: `c_map` beside `c`.
  bool is_map_of_another(const KernelArgument& argument) const;
  bool has_tensor_maps() const;
  /// Those of a GEMM with tensor maps are as wide as tensor cores like them.
  Elements elements_of_buffer(const KernelArgument& buffer) const;
  std::string size_named(char letter) const;
  bool find_gemm();
  bool has_argument(const std::string& name) const;
  bool has_macro(const std::string& name) const;
  /// Whether the problem's types and layouts define it, as type_a and layout_b_col.
  static bool is_of_problem(const BuildMacro& macro) { return !define_of_problem(macro.name).empty(); }

  // draft_problem.cpp: the problem.
  /// The layout of one operand, by the size that its first index is multiplied by.
  const char* layout(std::size_t buffer, char of_columns) const;
  void write_gemm();
  std::int64_t default_size(const std::string& name) const;
  std::string count_of(const KernelArgument& buffer) const;
  void write_problem();
  /// Whether it is another variant to tune rather than a simple kernel.
  bool uses_parameters(const Kernel& kernel) const;
  /// Others of the source that have no parameters.
  std::vector<const Kernel*> simple_kernels() const;
  /// The first of them that has the kernel's arguments; how many threads there are it need not be told.
  const Kernel* reference_kernel() const;
  /// What would be taken for one, and that another has not these arguments.
  std::string wanted_reference() const;
  void write_reference();

  // draft_launch.cpp: the launch.
  static int dimensions_of(const Indexing& indexing);
  /// A macro that is called after the threads of a block along this dimension; empty: none is.
  std::string macro_of_threads(int dimension, int used) const;
  /// Whether the loop whose variable is advanced at `i` begins with the index of a thread.
  bool loops_over_threads(std::size_t i) const;
  void choose_block();
  /// What the brackets of __launch_bounds__ say of a block's threads; empty: nothing that a tuning file can.
  std::string bounds_text() const;
  std::string grid_of(const Indexing::Dimension& dimension, int d, const std::string& threads) const;
  static std::string quoted(const std::vector<std::string>& expressions);
  std::string argument_text(const KernelArgument& argument) const;
  bool is_count_of_threads(const KernelArgument& argument) const;
  /// `threads`: for the argument that says how many there are.
  std::string arguments(const Kernel& kernel, const std::string& threads = "THREADS") const;
  void write_launch();
  void write_one_launch();
  /// `extern __shared__ float sums[];`
  void write_shared();
  /// Marks those with a value that the source does not tell.
  void write_arguments(const std::string& text);
  std::string workspace_bytes() const;

  // draft_parameters.cpp: parameters, their constraints, and what the build defines.
  /// The first values that satisfy the constraints, as far as these are about parameters alone.
  std::string first_values() const;
  /// The constraints that name nothing but parameters, whose slots are their places in `params_`.
  std::vector<Expression> conditions_of_params() const;
  void write_build();
  void choose_params();
  void write_params();
  /// Whether the source defines it where the build does not.
  bool has_value(const std::string& macro) const;
  void write_default();
  void find_constraints();
  void write_constraints();

  const KernelSource* source_;
  const Kernel* kernel_;
  const DraftRequest* request_;
  Indexing indexing_;
  std::vector<const KernelArgument*> buffers_;
  std::vector<std::string> sizes_;   ///< in the order of the arguments
  std::vector<std::string> counts_;  ///< of a GEMM, those of `sizes_` that are none of its sizes
  bool is_gemm_ = false;
  std::vector<std::string> block_;             ///< expressions
  std::vector<std::string> run_time_threads_;  ///< parameters without a macro
  bool block_is_guess_ = false;
  bool without_conditional_ = false;                         ///< arguments that stand in `#if`
  std::vector<std::pair<std::string, std::string>> params_;  ///< names and values
  std::vector<std::string> constraints_;                     ///< with their comments
  Draft draft_;
};

}  // namespace tune::commands
