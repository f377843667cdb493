#include "cpu/cpu_shim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "backend.h"
#include "checking/layout.h"
#include "compiler/compiler_output.h"
#include "wire/argument_lists.h"

namespace tune::worker {
namespace {

constexpr const char* kFit = "tune_fit";
constexpr const char* kMisfit = "args do not fit";

const char* scalar_type(Argument::Scalar type) {
  switch (type) {
    case Argument::Scalar::i32:
      return "int";
    case Argument::Scalar::i64:
      return "std::int64_t";
    case Argument::Scalar::f32:
      return "float";
    case Argument::Scalar::f64:
      return "double";
  }
  return "";
}

/// The C++ type of an element in a kernel's parameters.
const char* cpp_type(Type type) {
  switch (type) {
    case Type::f64:
      return "double";
    case Type::f32:
    case Type::tf32:
      return "float";
    case Type::f16:
      return "_Float16";
    case Type::bf16:
      return "std::uint16_t";
    case Type::e4m3:
    case Type::e5m2:
      return "std::uint8_t";
    case Type::s32:
      return "std::int32_t";
    case Type::s8:
      return "std::int8_t";
  }
  return "";
}

std::string buffer_type(const std::string& name, const std::vector<Buffer>& buffers) {
  if (name == "workspace") return "void*";
  const auto found = std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& b) { return b.name == name; });
  if (found == buffers.end()) throw SpecFailure(Stage::build, "launch.args: the problem has no buffer " + name);
  return fmt::format("{}{}*", found->role == Buffer::Role::in ? "const " : "", cpp_type(found->type));
}

wire::ListedArgument typed(const wire::Arg& arg, const Problem& problem, const std::vector<Buffer>& buffers) {
  switch (arg.kind) {
    case Argument::Kind::buffer:
      return {buffer_type(arg.buffer, buffers), wire::name_of(arg)};
    case Argument::Kind::scalar:
      return {scalar_type(arg.type), wire::name_of(arg)};
    case Argument::Kind::alpha:
    case Argument::Kind::beta:
      if (const auto* gemm = std::get_if<Gemm>(&problem)) return {cpp_type(gemm->acc), wire::name_of(arg)};
      throw SpecFailure(Stage::build, "launch.args: only a gemm problem has alpha and beta");
    case Argument::Kind::tensor_map:
      break;
  }
  throw SpecFailure(Stage::build, "launch.args: tensor maps need the cuda backend");
}

std::string launch_function(std::size_t index, const std::string& kernel,
                            const std::vector<wire::ListedArgument>& entries) {
  std::string types, values;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string& type = entries[i].type;
    const char* comma = i == 0 ? "" : ", ";
    types += comma + type;
    values += type.ends_with('*') ? fmt::format("{}static_cast<{}>(tune_arguments[{}])", comma, type, i)
                                  : fmt::format("{}*static_cast<const {}*>(tune_arguments[{}])", comma, type, i);
  }
  return fmt::format(
      "static_assert({4}<{5}, tune_takes<{1}>({0}, 0), decltype({0}), void({1})>::tune_true);\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) void {2}([[maybe_unused]] void* const* tune_arguments) "
      "{{\n"
      "  {0}({3});\n}}\n",
      kernel, types, shim_symbol(index), values, kFit, index);
}

std::vector<wire::ListedArgument> entries_of(const wire::KernelLaunch& launch, const Problem& problem) {
  const std::vector<Buffer> buffers = buffers_of(problem);
  std::vector<wire::ListedArgument> entries;
  for (const wire::Arg& arg : launch.args) entries.push_back(typed(arg, problem, buffers));
  return entries;
}

/// What stands between commas behind the first opening bracket, up to the closing one.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text.substr(std::min(text.find_first_of("(<"), text.size()))) {
    if ((c == ')' || c == '>') && --depth == 0) break;
    if (c == ',' && depth == 1)
      parts.emplace_back();
    else if (depth > 0 && !(c == ' ' && parts.back().empty()))
      parts.back() += c;
    if (c == '(' || c == '<') ++depth;
  }
  // Clang writes `float *`.
  for (std::string& part : parts)
    for (auto at = part.find(" *"); at != part.npos; at = part.find(" *")) part.erase(at, 1);
  if (parts.size() == 1 && (parts[0].empty() || parts[0] == "void")) parts.clear();
  return parts;
}

bool converts(const std::string& from, const std::string& to) {
  const bool pointer = from.ends_with('*') || to.ends_with('*');
  return !pointer || from == to || "const " + from == to;
}

/// The four parameters of the class that the compiler quotes where arguments do not fit; none: it does not.
std::vector<std::string> misfit_in(std::string_view output) {
  for (auto at = output.find(kFit); at != output.npos; at = output.find(kFit, at + 1)) {
    std::vector<std::string> fit = parts_of(output.substr(at));
    // Where it quotes the source, the truth value is still an expression.
    if (fit.size() == 4 && fit[1] == "false") return fit;
  }
  return {};
}

std::size_t first_difference(const std::vector<wire::ListedArgument>& parameters,
                             const std::vector<wire::ListedArgument>& entries) {
  const auto differs = [&](auto fits) {
    const auto found = std::ranges::mismatch(parameters, entries, [&](const auto& parameter, const auto& entry) {
      return fits(entry.type, parameter.type);
    });
    return static_cast<std::size_t>(found.in1 - parameters.begin());
  };
  const std::size_t at = differs(converts);
  return at < parameters.size() ? at : differs(std::equal_to<>());
}

}  // namespace

std::optional<std::string> explain_misfit(const wire::BuildRequest& request, std::string_view output) {
  if (first_error(output).line.find(kMisfit) == std::string_view::npos) return std::nullopt;
  const std::vector<std::string> fit = misfit_in(output);
  const auto index = static_cast<std::size_t>(fit.empty() ? -1 : std::atoi(fit[0].c_str()));
  if (index >= request.launches.size()) return std::nullopt;
  const wire::KernelLaunch& launch = request.launches[index];
  std::vector<wire::ListedArgument> parameters, entries = entries_of(launch, request.problem);
  for (const std::string& type : parts_of(fit[2])) parameters.push_back({type});
  const std::vector<std::string> types = parts_of(fit[3]);
  // As the compiler spells them, like those of the kernel.
  for (std::size_t i = 0; i < std::min(types.size(), entries.size()); ++i) entries[i].type = types[i];
  return wire::arguments_do_not_fit(launch.kernel, parameters, entries, first_difference(parameters, entries));
}

std::string shim_symbol(std::size_t index) { return fmt::format("tune_launch_{}", index); }

std::string shim_source(const wire::BuildRequest& request) {
  // All names begin with tune_, because those of parameters are macros. Where the arguments do not fit, the compiler
  // quotes the class with both types. To read <type_traits> would take half as long as to build a small kernel.
  std::string text = fmt::format(
      "#include <cstdint>\n#include \"{0}\"\n"
      "template <class tune_Type> tune_Type tune_value();\n"
      "template <class... tune_Types, class tune_Kernel>\n"
      "constexpr auto tune_takes(tune_Kernel& tune_kernel, int)\n"
      "    -> decltype(void(tune_kernel(tune_value<tune_Types>()...)), true) {{\n"
      "  return true;\n"
      "}}\n"
      "template <class... tune_Types, class tune_Kernel> constexpr bool tune_takes(tune_Kernel&, long) {{\n"
      "  return false;\n"
      "}}\n"
      "template <int tune_number, bool tune_ok, class tune_Kernel, class tune_Types> struct {1} {{\n"
      "  static_assert(tune_ok, \"{2}\");\n"
      "  static constexpr bool tune_true = true;\n"
      "}};\n",
      request.source, kFit, kMisfit);
  for (std::size_t i = 0; i < request.launches.size(); ++i) {
    const wire::KernelLaunch& launch = request.launches[i];
    text += launch_function(i, launch.kernel, entries_of(launch, request.problem));
  }
  return text;
}

}  // namespace tune::worker
