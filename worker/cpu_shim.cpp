#include "cpu_shim.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "backend.h"
#include "layout.h"

namespace tune::worker {
namespace {

struct TypedArgument {
  std::string type;
  std::string name;  ///< of a buffer
};

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
  if (found == buffers.end()) throw Refusal(Stage::build, "launch.args: the problem has no buffer " + name);
  return fmt::format("{}{}*", found->role == Buffer::Role::in ? "const " : "", cpp_type(found->type));
}

TypedArgument typed(const wire::Arg& arg, const Problem& problem, const std::vector<Buffer>& buffers) {
  switch (arg.kind) {
    case Argument::Kind::buffer:
      return {buffer_type(arg.buffer, buffers), arg.buffer};
    case Argument::Kind::scalar:
      return {scalar_type(arg.type), ""};
    case Argument::Kind::alpha:
    case Argument::Kind::beta:
      if (const auto* gemm = std::get_if<Gemm>(&problem)) return {cpp_type(gemm->acc), ""};
      throw Refusal(Stage::build, "launch.args: only a gemm problem has alpha and beta");
    case Argument::Kind::tensor_map:
      break;
  }
  throw Refusal(Stage::build, "launch.args: tensor maps need the cuda backend");
}

std::string launch_function(std::size_t index, const std::string& kernel,
                            const std::vector<TypedArgument>& parameters) {
  std::string types, names, values;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& [type, name] = parameters[i];
    const char* comma = i == 0 ? "" : ", ";
    types += ", " + type;
    names += comma + type + (name.empty() ? "" : " " + name);
    values += type.ends_with('*') ? fmt::format("{}static_cast<{}>(tune_arguments[{}])", comma, type, i)
                                  : fmt::format("{}*static_cast<const {}*>(tune_arguments[{}])", comma, type, i);
  }
  return fmt::format(
      "static_assert(std::is_invocable_v<decltype(({0})){1}>,\n"
      "              \"launch.args do not fit the parameters of kernel '{0}': they are ({2})\");\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) void {3}([[maybe_unused]] void* const* tune_arguments) "
      "{{\n"
      "  {0}({4});\n}}\n",
      kernel, types, names, shim_symbol(index), values);
}

}  // namespace

std::string shim_symbol(std::size_t index) { return fmt::format("tune_launch_{}", index); }

std::string shim_source(const wire::BuildRequest& request) {
  const std::vector<Buffer> buffers = buffers_of(request.problem);
  std::string text = fmt::format("#include <cstdint>\n#include <type_traits>\n#include \"{}\"\n", request.source);
  for (std::size_t i = 0; i < request.launches.size(); ++i) {
    std::vector<TypedArgument> parameters;
    for (const wire::Arg& arg : request.launches[i].args) parameters.push_back(typed(arg, request.problem, buffers));
    text += launch_function(i, request.launches[i].kernel, parameters);
  }
  return text;
}

}  // namespace tune::worker
