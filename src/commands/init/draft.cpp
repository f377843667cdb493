#include <algorithm>
#include <cctype>

#include "commands/init/draft_writer.h"
#include "model/values/error.h"
#include "model/values/text.h"

namespace tune::commands {
namespace {

/// The name of a file as a value in YAML, where `$` begins a variable.
std::string as_yaml(const std::string& file) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '/' || c == '-';
  };
  if (std::ranges::all_of(file, is_plain)) return file;
  std::string text = "'";
  for (const char c : file) text += c == '\'' ? "''" : c == '$' ? "$$" : std::string(1, c);
  return text + "'";
}

}  // namespace

DraftWriter::DraftWriter(const KernelSource& source, const Kernel& kernel, const DraftRequest& request)
    : source_(&source), kernel_(&kernel), request_(&request), indexing_(source, kernel) {
  for (const KernelArgument& argument : kernel.arguments) {
    require_passable(argument);
    if (argument.is_pointer) {
      if (!is_workspace(argument) && !is_map_of_another(argument)) buffers_.push_back(&argument);
    } else if (scalar_of(argument.type)[0] == 'i' && !is_leading_dimension(argument.name) &&
               !source.counts_threads(argument.name)) {
      sizes_.push_back(argument.name);
    }
  }
  if (buffers_.empty())
    throw Error(ExitCode::bad_input, fmt::format("{}:{}: {} has no pointer among its arguments, so that there is "
                                                 "nothing that it computes and that could be checked",
                                                 request.file, kernel.line, kernel.name));
  is_gemm_ = find_gemm();
  if (is_gemm_)
    for (const std::string& size : sizes_)
      if (size.size() > 1) counts_.push_back(size);
  choose_block();
  find_constraints();
}

Draft DraftWriter::write() {
  line("# Written by tune init. What the source does not say is guessed: check each \"guess:\".");
  line("name: {}", request_->name);
  line("file: {}", as_yaml(request_->file));
  line("kernel: {}", kernel_->name);
  write_problem();
  write_params();
  write_default();
  write_constraints();
  write_launch();
  write_build();
  if (!is_gemm_) line("metrics: {{\"GB/s\": {{expr: bytes/time/1e9, maximize: true}}}}");
  return std::move(draft_);
}

bool DraftWriter::is_workspace(const KernelArgument& argument) {
  static const std::set<std::string> kNames = {"workspace", "scratch", "partial", "partials", "partial_sums"};
  return argument.is_pointer && !argument.is_const && kNames.contains(lower_case(argument.name));
}

void DraftWriter::guessed(const std::string& text, const std::string& why) {
  ++draft_.guesses;
  draft_.yaml += fmt::format("{:<50}  # guess: {}\n", text, why);
}

void DraftWriter::require_passable(const KernelArgument& argument) const {
  const auto fail = [&](const std::string& why) {
    throw Error(ExitCode::bad_input, fmt::format("{}:{}: {}", request_->file, argument.line, why));
  };
  if (argument.name.empty()) fail(fmt::format("an argument of {} has no name; give it one", kernel_->name));
  if (argument.is_reference)
    fail(
        fmt::format("the argument {} is a reference, and a kernel is called with pointers and numbers", argument.name));
  if (argument.is_pointer && has_other_width(argument.type))
    fail(fmt::format("the elements of {} are of type '{}', which tuning files have no type for", argument.name,
                     argument.type));
  if (!argument.is_pointer && scalar_of(argument.type) == nullptr)
    fail(
        fmt::format("the argument {} is of type '{}', which a tuning file cannot pass; whole numbers of 32 and 64 "
                    "bits, float and double can be passed",
                    argument.name, argument.type));
}

bool DraftWriter::is_map_of_another(const KernelArgument& argument) const {
  return argument.is_tensor_map && argument.name.ends_with("_map") &&
         has_argument(lower_case(argument.name.substr(0, argument.name.size() - 4)));
}

bool DraftWriter::has_tensor_maps() const {
  return std::ranges::any_of(kernel_->arguments, [](const KernelArgument& each) { return each.is_tensor_map; });
}

Elements DraftWriter::elements_of_buffer(const KernelArgument& buffer) const {
  Elements elements = elements_of(buffer.type);
  if (elements.is_guess && is_gemm_ && has_tensor_maps()) elements.type = "bf16";
  return elements;
}

std::string DraftWriter::size_named(char letter) const {
  for (const std::string& size : sizes_)
    if (lower_case(size) == std::string(1, letter)) return size;
  return "";
}

bool DraftWriter::find_gemm() {
  if (buffers_.size() != 3) return false;
  for (const char letter : {'m', 'n', 'k'})
    if (size_named(letter).empty()) return false;
  return buffers_[0]->is_const && buffers_[1]->is_const && !buffers_[2]->is_const;
}

bool DraftWriter::has_argument(const std::string& name) const {
  return std::ranges::any_of(kernel_->arguments,
                             [&](const KernelArgument& each) { return lower_case(each.name) == name; });
}

bool DraftWriter::has_macro(const std::string& name) const {
  return std::ranges::any_of(source_->macros, [&](const BuildMacro& each) { return each.name == name; });
}

Draft draft_tuning_file(const KernelSource& source, const Kernel& kernel, const DraftRequest& request) {
  return DraftWriter(source, kernel, request).write();
}

}  // namespace tune::commands
