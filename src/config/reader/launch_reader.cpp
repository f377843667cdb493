#include "config/reader/launch_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "config/reader/argument_reader.h"
#include "config/reader/problem_reader.h"
#include "config/yaml/fields.h"

namespace tune::config {
namespace {

class LaunchReader {
 public:
  LaunchReader(const LaunchContext& context, ExpressionReader read, Diagnostics& diagnostics)
      : context_(context), read_(std::move(read)), diagnostics_(&diagnostics) {}

  Launch read_launch(const Fields& fields) {
    Launch launch;
    launch.kernel = context_.kernel;
    if (const Node* node = fields.find("kernel")) launch.kernel = read_kernel(*node);
    if (const Node* node = gpu_only(fields, "if")) launch.condition = read_(*node, "launch.if");
    read_dimensions(fields, "grid", launch.grid);
    read_dimensions(fields, "block", launch.block);
    read_dimensions(fields, "cluster", launch.cluster);
    if (const Node* node = gpu_only(fields, "shared")) launch.shared = read_(*node, "launch.shared");
    if (const Node* node = fields.require("args")) launch.args = read_arguments(*node);
    if (const Node* node = fields.find("repeat")) launch.repeat = read_chain(*node);
    if (is_gpu(context_.backend)) {
      fields.require("grid");
      fields.require("block");
    }
    return launch;
  }

  void read_extras(const Fields& fields, LaunchSection& section) {
    if (const Node* node = fields.find("workspace")) read_workspace(*node, section);
    if (const Node* node = fields.find("c_init")) {
      section.zero_c = read_choice(*node, "c_init", {"zero"}, *diagnostics_).has_value();
    }
  }

 private:
  std::string read_kernel(const Node& node) {
    const std::string name = read_text(node, "kernel", *diagnostics_).value_or("");
    if (node.is_scalar() && !is_identifier(name)) {
      diagnostics_->add(node.place, fmt::format("kernel '{}' must be the name of an extern \"C\" function", name));
    }
    return name;
  }

  /// The entry if it has a meaning for this backend; reports it if it has none for any backend of this file.
  const Node* gpu_only(const Fields& fields, std::string_view key) {
    const Node* node = fields.find(key);
    if (node == nullptr) return nullptr;
    const auto has = [&](Backend backend) {
      return key == "cluster" ? traits_of(backend).has_clusters : is_gpu(backend);
    };
    if (has(context_.backend)) return node;
    if (std::ranges::none_of(context_.others, has)) {
      diagnostics_->add(node->place, fmt::format("launch.{} means nothing on the {} backend; remove it", key,
                                                 to_text(context_.backend)));
    }
    return nullptr;
  }

  void read_dimensions(const Fields& fields, std::string_view key, std::vector<Expression>& dimensions) {
    const Node* node = gpu_only(fields, key);
    if (node == nullptr) return;
    const std::string what = fmt::format("launch.{}", key);
    for (const Node* item : as_list(*node)) {
      for (const Node& part : split_pair(*item)) {
        if (auto expression = read_(part, what)) dimensions.push_back(std::move(*expression));
      }
    }
    if (node->is_list() && (node->items.empty() || dimensions.size() > 3)) {
      diagnostics_->add(node->place, fmt::format("{} must have one to three entries", what));
    }
  }

  /// `CLUSTER` as `CLUSTER[0]` and `CLUSTER[1]` if its values are pairs.
  std::vector<Node> split_pair(const Node& node) const {
    if (!node.is_scalar() || std::ranges::find(context_.pairs, node.text) == context_.pairs.end()) return {node};
    std::vector<Node> parts{node, node};
    parts[0].text += "[0]";
    parts[1].text += "[1]";
    return parts;
  }

  std::vector<Argument> read_arguments(const Node& node) {
    const ArgumentContext context{context_.backend, context_.buffers, context_.gemm};
    if (!node.is_list())
      diagnostics_->add(node.place, fmt::format("args must be a list such as [A, B, C], not {}", describe(node)));
    std::vector<Argument> arguments;
    for (const Node& item : node.items) {
      if (!item.is_scalar() && item.find("optional") != nullptr) {
        if (auto argument = read_optional(item)) arguments.push_back(std::move(*argument));
        continue;
      }
      if (auto argument = read_argument(item, context, read_, *diagnostics_)) arguments.push_back(std::move(*argument));
    }
    return arguments;
  }

  /// A buffer that only some products have; a kernel for the others has no such argument.
  std::optional<Argument> read_optional(const Node& node) {
    const Fields fields(node, "an argument", {"optional"}, *diagnostics_);
    const Node& name = *fields.find("optional");
    const std::array<std::string_view, 6> names = {"bias",    "residual",      "scale_a",
                                                   "scale_b", "group_offsets", "group_rows"};
    if (!context_.gemm || std::ranges::find(names, name.text) == names.end())
      diagnostics_->add(name.place, fmt::format("optional is for buffers that a gemm may have, {}, not {}",
                                                fmt::join(names, ", "), describe(name)));
    if (std::ranges::find(context_.buffers, name.text) == context_.buffers.end()) return std::nullopt;
    Argument argument;
    argument.buffer = name.text;
    return argument;
  }

  std::optional<Chain> read_chain(const Node& node) {
    Fields fields(node, "repeat", {"times", "from", "to", "through"}, *diagnostics_);
    const Node* times = fields.require("times");
    auto expression = times != nullptr ? read_(*times, "repeat.times") : std::nullopt;
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
    if (std::ranges::find(known, node->text) == known.end()) {
      diagnostics_->add(node->place, fmt::format("unknown buffer {} in repeat.{}{}", describe(*node), key,
                                                 did_you_mean(node->text, known)));
    } else if (std::ranges::find(others, node->text) != others.end()) {
      diagnostics_->add(node->place, fmt::format("repeat needs three buffers, and '{}' is named twice", node->text));
    }
    return node->text;
  }

  void read_workspace(const Node& node, LaunchSection& section) {
    if (section.workspace) {
      diagnostics_->add(node.place, "only one launch may declare a workspace; all of them may use it");
      return;
    }
    if (node.is_scalar()) {
      if (auto bytes = read_(node, "workspace")) section.workspace = Workspace{std::move(*bytes), false};
      return;
    }
    Fields fields(node, "workspace", {"bytes", "zero"}, *diagnostics_);
    const Node *bytes = fields.require("bytes"), *zero = fields.find("zero");
    auto expression = bytes != nullptr ? read_(*bytes, "workspace.bytes") : std::nullopt;
    const bool zeroed = zero != nullptr && read_bool(*zero, "workspace.zero", *diagnostics_).value_or(false);
    if (expression) section.workspace = Workspace{std::move(*expression), zeroed};
  }

  const LaunchContext& context_;
  ExpressionReader read_;
  Diagnostics* diagnostics_;
};

}  // namespace

LaunchContext launch_context(const Plan& plan, std::vector<Backend> others, std::span<const ParameterMapping> params) {
  LaunchContext context{plan.backend,
                        std::move(others),
                        plan.kernel,
                        buffer_names(plan.problem),
                        std::holds_alternative<Gemm>(plan.problem),
                        {}};
  const auto is_pair = [](const Value& value) { return std::holds_alternative<Pair>(value); };
  for (const ParameterMapping& mapping : params)
    for (const Parameter& parameter : mapping.parameters)
      if (!parameter.values.empty() && std::ranges::all_of(parameter.values, is_pair))
        context.pairs.push_back(parameter.name);
  return context;
}

LaunchSection read_launches(const Node& node, const LaunchContext& context, SymbolTable& scope,
                            Diagnostics& diagnostics) {
  const auto read = [&](const Node& text, std::string_view what) { return scope.read_for_all(text, what); };
  LaunchReader reader(context, read, diagnostics);
  LaunchSection section;
  const std::vector<const Node*> entries = as_list(node);
  if (entries.empty()) diagnostics.add(node.place, "launch is an empty list; give at least one launch");
  for (const Node* entry : entries) {
    Fields fields(*entry, "launch",
                  {"kernel", "if", "grid", "block", "cluster", "shared", "workspace", "args", "c_init", "repeat"},
                  diagnostics);
    if (!entry->is_mapping()) continue;
    section.launches.push_back(reader.read_launch(fields));
    reader.read_extras(fields, section);
  }
  const auto uses_workspace = [](const Launch& launch) {
    if (launch.repeat && launch.repeat->through == "workspace") return true;
    return std::ranges::any_of(launch.args, [](const Argument& argument) { return argument.buffer == "workspace"; });
  };
  if (!section.workspace && std::ranges::any_of(section.launches, uses_workspace)) {
    diagnostics.add(node.place, "the workspace is named, but launch has none; add workspace: {bytes: ...}");
  }
  return section;
}

Launch read_reference_launch(const Node& node, const LaunchContext& context, SymbolTable& scope,
                             Diagnostics& diagnostics) {
  const auto read = [&](const Node& text, std::string_view what) { return scope.read_fixed(text, what); };
  Fields fields(node, "reference", {"kernel", "grid", "block", "cluster", "shared", "args", "repeat"}, diagnostics);
  if (!node.is_mapping()) return {};
  return LaunchReader(context, read, diagnostics).read_launch(fields);
}

}  // namespace tune::config
