#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/reader/problem_reader.h"
#include "config/reader/sections.h"
#include "config/yaml/fields.h"
#include "config/yaml/node.h"
#include "model/expression/expression.h"
#include "model/plan.h"
#include "model/values/text.h"

namespace tune::config {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

Argument make_argument(Argument::Kind kind, const std::string& buffer = "") {
  Argument argument;
  argument.kind = kind;
  argument.buffer = buffer;
  return argument;
}

class LaunchReader {
 public:
  /// `fixed`: expressions must not depend on the spec.
  LaunchReader(const LaunchContext& context, bool fixed, SymbolTable& scope, Diagnostics& diagnostics)
      : context_(context), fixed_(fixed), scope_(&scope), diagnostics_(&diagnostics) {}

  Launch read_launch(const Fields& fields) {
    Launch launch;
    launch.kernel = context_.kernel.name;
    if (const Node* node = fields.find("kernel")) launch.kernel = read_kernel_name(*node, *diagnostics_);
    launch.condition = read_gpu_only(fields, "if");
    read_dimensions(fields, "grid", launch.grid);
    read_dimensions(fields, "block", launch.block);
    read_dimensions(fields, "cluster", launch.cluster);
    launch.shared = read_gpu_only(fields, "shared");
    launch.programmatic = read_gpu_only(fields, "programmatic");
    if (const Node* node = fields.require("args")) launch.args = read_arguments(*node);
    if (const Node* node = fields.find("repeat")) launch.repeat = read_chain(*node);
    if (is_gpu(context_.kernel.backend)) {
      fields.require("grid");
      fields.require("block");
    }
    return launch;
  }

  void read_extras(const Fields& fields, KernelPlan& kernel) {
    if (const Node* node = fields.find("workspace")) read_workspace(*node, kernel.workspace);
    if (const Node* node = fields.find("c_init")) {
      kernel.zero_c = read_choice(*node, "c_init", Choices{"zero"}, *diagnostics_).has_value();
    }
  }

 private:
  /// Reads an expression. Returns nullopt if it is invalid; this is reported, with `what` as its name.
  std::optional<Expression> read(const Node& node, std::string_view what) {
    return fixed_ ? scope_->read_fixed(node, what) : scope_->read_for_all(node, what);
  }

  std::optional<Expression> read_gpu_only(const Fields& fields, std::string_view key) {
    const Node* node = gpu_only(fields, key);
    return node != nullptr ? read(*node, fmt::format("{}.{}", context_.section, key)) : std::nullopt;
  }

  /// The entry if it has a meaning for this backend; reports it if it has none for any backend of this file.
  const Node* gpu_only(const Fields& fields, std::string_view key) {
    const Node* node = fields.find(key);
    if (node == nullptr) return nullptr;
    const auto has = [&](Backend backend) {
      return key == "cluster" || key == "programmatic" ? traits_of(backend).has_clusters : is_gpu(backend);
    };
    if (has(context_.kernel.backend)) return node;
    if (std::ranges::none_of(context_.others, has)) {
      diagnostics_->add(node->place, fmt::format("{}.{} means nothing on the {} backend; remove it", context_.section,
                                                 key, to_text(context_.kernel.backend)));
    }
    return nullptr;
  }

  void read_dimensions(const Fields& fields, std::string_view key, std::vector<Expression>& dimensions) {
    const Node* node = gpu_only(fields, key);
    if (node == nullptr) return;
    const std::string what = fmt::format("{}.{}", context_.section, key);
    for (const Node* item : as_list(*node)) {
      for (const Node& part : split_pair(*item)) {
        if (auto expression = read(part, what)) dimensions.push_back(std::move(*expression));
      }
    }
    if (node->is_list() && (node->items.empty() || dimensions.size() > 3)) {
      diagnostics_->add(node->place, fmt::format("{} must have one to three entries", what));
    }
  }

  /// `CLUSTER` as `CLUSTER[0]` and `CLUSTER[1]` if its values are pairs.
  std::vector<Node> split_pair(const Node& node) const {
    if (!node.is_scalar() || !contains(context_.pairs, node.text)) return {node};
    std::vector<Node> parts{node, node};
    parts[0].text += "[0]";
    parts[1].text += "[1]";
    return parts;
  }

  std::optional<Argument> read_scalar(const Node& node, Argument::Scalar type) {
    Argument argument = make_argument(Argument::Kind::scalar);
    argument.type = type;
    argument.expression = read(node, context_.section + ".args");
    return argument.expression ? std::optional(argument) : std::nullopt;
  }

  std::optional<Argument> read_name(const Node& node) {
    if (context_.gemm && node.text == "alpha") return make_argument(Argument::Kind::alpha);
    if (context_.gemm && node.text == "beta") return make_argument(Argument::Kind::beta);
    if (node.text == "workspace" || contains(context_.buffers, node.text)) {
      return make_argument(Argument::Kind::buffer, node.text);
    }
    const std::string why = context_.gemm ? why_absent(node.text) : "";
    if (why.empty()) return read_scalar(node, Argument::Scalar::i32);
    diagnostics_->add(node.place, fmt::format("{}.args names {}, and {}, or write {{optional: {}}}", context_.section,
                                              node.text, why, node.text));
    return std::nullopt;
  }

  /// Why a gemm has no such buffer, where others have; empty: none has. In other expressions these names are texts.
  std::string why_absent(const std::string& name) const {
    if (name == "scale_a" || name == "scale_b")
      return fmt::format("the problem has none; give it one, such as {}: tensor", name);
    if (name != "group_offsets" && name != "group_rows") return "";
    if (contains(context_.buffers, "group_rows"))
      return "the problem has max_rows, with which kernels get group_rows; write that";
    return name == "group_rows"
               ? "the problem has no groups with max_rows; give it some, such as groups: 8 and max_rows: 64"
               : "the problem has no groups; give it some, such as groups: 8";
  }

  /// What depends on parameters is checked for each spec.
  std::optional<Expression> read_bytes(const Node* node, const char* what, std::span<const std::int64_t> choices) {
    if (node == nullptr) return std::nullopt;
    const std::optional<Expression> bytes = read(*node, what);
    if (!bytes || !bytes->used_slots().empty()) return bytes;
    EvalFailure failure;
    const std::int64_t value = bytes->integer({}, failure);
    if (failure)
      diagnostics_->add(node->place, fmt::format("{}: {}", what, bytes->explain(failure, {})));
    else if (std::ranges::find(choices, value) == choices.end())
      diagnostics_->add(node->place,
                        fmt::format("{} must be one of {}, not {}", what, fmt::join(choices, ", "), value));
    return bytes;
  }

  std::optional<Argument> read_tensor_map(const Node& node) {
    Fields fields(node, "tma", {"tma", "box", "swizzle", "l2"}, *diagnostics_);
    if (!traits_of(context_.kernel.backend).has_tensor_maps) {
      diagnostics_->add(
          node.place, fmt::format("tma exists on the cuda backend only, not on {}", to_text(context_.kernel.backend)));
    }
    Argument argument = make_argument(Argument::Kind::tensor_map);
    if (const Node* buffer = fields.require("tma")) {
      argument.buffer = buffer->text;
      if (!contains(context_.buffers, buffer->text)) {
        diagnostics_->add(buffer->place, fmt::format("unknown buffer {} in tma{}", describe(*buffer),
                                                     did_you_mean(buffer->text, context_.buffers)));
      }
    }
    if (const Node* box = fields.require("box")) {
      for (const Node* item : as_list(*box)) {
        if (auto expression = read(*item, "tma.box")) argument.box.push_back(std::move(*expression));
      }
    }
    argument.swizzle = read_bytes(fields.find("swizzle"), "swizzle", kSwizzles);
    argument.l2 = read_bytes(fields.find("l2"), "l2", kL2Promotions);
    return argument;
  }

  /// Reads one of a launch's args: a buffer, alpha, beta, an expression (passed as int), {i64: m} or i32, f32, f64,
  /// {tma: A, box: [...], swizzle: 128, l2: 128}. Returns nullopt if it is invalid, which is reported.
  std::optional<Argument> read_argument(const Node& node) {
    if (node.is_scalar()) return read_name(node);
    if (node.find("tma") != nullptr) return read_tensor_map(node);
    if (node.is_mapping() && node.entries.size() == 1)
      if (const auto type = enumerator<Argument::Scalar>(Argument::kScalars, node.entries[0].key.text))
        return read_scalar(node.entries[0].value, *type);
    diagnostics_->add(node.place,
                      "an argument must be a buffer, an expression, {i64: m} (or i32, f32, f64), "
                      "{optional: bias} or {tma: A, box: [...]}");
    return {};
  }

  std::vector<Argument> read_arguments(const Node& node) {
    if (!node.is_list())
      diagnostics_->add(node.place, fmt::format("args must be a list such as [A, B, C], not {}", describe(node)));
    std::vector<Argument> arguments;
    for (const Node& item : node.items) {
      if (!item.is_scalar() && item.find("optional") != nullptr) {
        if (auto argument = read_optional(item)) arguments.push_back(std::move(*argument));
        continue;
      }
      if (auto argument = read_argument(item)) arguments.push_back(std::move(*argument));
    }
    return arguments;
  }

  /// A buffer that only some products have; a kernel for the others has no such argument.
  std::optional<Argument> read_optional(const Node& node) {
    const Fields fields(node, "an argument", {"optional"}, *diagnostics_);
    const Node* named = fields.find("optional");
    if (named == nullptr) return std::nullopt;
    const Node& name = *named;
    const std::array<std::string_view, 6> names = {"bias",    "residual",      "scale_a",
                                                   "scale_b", "group_offsets", "group_rows"};
    if (!context_.gemm || std::ranges::find(names, name.text) == names.end())
      diagnostics_->add(name.place, fmt::format("optional is for buffers that a gemm may have, {}, not {}",
                                                fmt::join(names, ", "), describe(name)));
    if (!contains(context_.buffers, name.text)) return std::nullopt;
    Argument argument;
    argument.buffer = name.text;
    return argument;
  }

  std::optional<Chain> read_chain(const Node& node) {
    Fields fields(node, "repeat", {"times", "from", "to", "through"}, *diagnostics_);
    const Node* times = fields.require("times");
    auto expression = times != nullptr ? read(*times, "repeat.times") : std::nullopt;
    std::vector<std::string> names;
    for (const char* key : {"from", "to", "through"}) names.push_back(read_buffer(fields, key, names));
    if (!expression) return {};
    return Chain{std::move(*expression), names[0], names[1], names[2]};
  }

  std::string read_buffer(const Fields& fields, const char* key, const std::vector<std::string>& others) {
    const Node* node = fields.require(key);
    if (node == nullptr) return "";
    std::vector<std::string> known = context_.buffers;
    known.push_back("workspace");
    if (!contains(known, node->text)) {
      diagnostics_->add(node->place, fmt::format("unknown buffer {} in repeat.{}{}", describe(*node), key,
                                                 did_you_mean(node->text, known)));
    } else if (contains(others, node->text)) {
      diagnostics_->add(node->place, fmt::format("repeat needs three buffers, and '{}' is named twice", node->text));
    }
    return node->text;
  }

  void read_workspace(const Node& node, std::optional<Workspace>& workspace) {
    if (workspace) {
      diagnostics_->add(node.place, "only one launch may declare a workspace; all of them may use it");
      return;
    }
    if (node.is_scalar()) {
      if (auto bytes = read(node, "workspace")) workspace = Workspace{std::move(*bytes), false};
      return;
    }
    Fields fields(node, "workspace", {"bytes", "zero"}, *diagnostics_);
    const Node *bytes = fields.require("bytes"), *zero = fields.find("zero");
    auto expression = bytes != nullptr ? read(*bytes, "workspace.bytes") : std::nullopt;
    const bool zeroed = zero != nullptr && read_bool(*zero, "workspace.zero", *diagnostics_).value_or(false);
    if (expression) workspace = Workspace{std::move(*expression), zeroed};
  }

  const LaunchContext& context_;
  bool fixed_;
  SymbolTable* scope_;
  Diagnostics* diagnostics_;
};

}  // namespace

LaunchContext launch_context(const Plan& plan, std::vector<Backend> others, std::span<const ParameterMapping> params) {
  LaunchContext context{
      *plan.kernel(), std::move(others), buffer_names(plan.problem), std::holds_alternative<Gemm>(plan.problem), {}};
  for (const ParameterMapping& mapping : params)
    for (const Parameter& parameter : mapping.parameters)
      if (has_pairs(parameter)) context.pairs.push_back(parameter.name);
  return context;
}

std::string read_kernel_name(const Node& node, Diagnostics& diagnostics) {
  const std::string name = read_text(node, "kernel", diagnostics).value_or("");
  if (node.is_scalar() && !is_identifier(name))
    diagnostics.add(node.place, fmt::format("kernel '{}' must be the name of an extern \"C\" function", name));
  return name;
}

void read_launches(const Node& node, const LaunchContext& context, SymbolTable& scope, KernelPlan& kernel,
                   Diagnostics& diagnostics) {
  LaunchReader reader(context, false, scope, diagnostics);
  const std::vector<const Node*> entries = as_list(node);
  if (entries.empty()) diagnostics.add(node.place, "launch is an empty list; give at least one launch");
  for (const Node* entry : entries) {
    Fields fields(
        *entry, "launch",
        {"kernel", "if", "grid", "block", "cluster", "shared", "programmatic", "workspace", "args", "c_init", "repeat"},
        diagnostics);
    if (!entry->is_mapping()) continue;
    kernel.launches.push_back(reader.read_launch(fields));
    reader.read_extras(fields, kernel);
  }
  const auto uses_workspace = [](const Launch& launch) {
    if (launch.repeat && launch.repeat->through == "workspace") return true;
    return std::ranges::any_of(launch.args, [](const Argument& argument) { return argument.buffer == "workspace"; });
  };
  if (!kernel.workspace && std::ranges::any_of(kernel.launches, uses_workspace)) {
    diagnostics.add(node.place, "the workspace is named, but launch has none; add workspace: {bytes: ...}");
  }
}

Launch read_reference_launch(const Node& node, LaunchContext context, SymbolTable& scope, Diagnostics& diagnostics) {
  context.section = "reference";
  Fields fields(node, "reference", {"kernel", "grid", "block", "cluster", "shared", "args", "repeat"}, diagnostics);
  if (!node.is_mapping()) return {};
  return LaunchReader(context, true, scope, diagnostics).read_launch(fields);
}

}  // namespace tune::config
