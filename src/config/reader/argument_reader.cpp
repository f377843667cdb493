#include "config/reader/argument_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "config/yaml/fields.h"
#include "model/expression/expression.h"

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

std::optional<Argument> read_scalar(const Node& node, Argument::Scalar type, const ExpressionReader& read) {
  Argument argument = make_argument(Argument::Kind::scalar);
  argument.type = type;
  argument.expression = read(node, "launch.args");
  return argument.expression ? std::optional(argument) : std::nullopt;
}

std::optional<Argument> read_name(const Node& node, const ArgumentContext& context, const ExpressionReader& read,
                                  Diagnostics& diagnostics) {
  if (context.gemm && node.text == "alpha") return make_argument(Argument::Kind::alpha);
  if (context.gemm && node.text == "beta") return make_argument(Argument::Kind::beta);
  if (node.text == "workspace" || contains(context.buffers, node.text)) {
    return make_argument(Argument::Kind::buffer, node.text);
  }
  // In other expressions these name texts.
  if (context.gemm && (node.text == "scale_a" || node.text == "scale_b")) {
    diagnostics.add(node.place,
                    fmt::format("launch.args names {0}, and the problem has none; give it one, such as {0}: "
                                "tensor, or write {{optional: {0}}}",
                                node.text));
    return std::nullopt;
  }
  if (context.gemm && (node.text == "group_offsets" || node.text == "group_rows")) {
    const bool is_masked = contains(context.buffers, "group_rows"), is_of_masked = node.text == "group_rows";
    const std::string_view why =
        is_masked      ? "the problem has max_rows, with which kernels get group_rows; write that"
        : is_of_masked ? "the problem has no groups with max_rows; give it some, such as groups: 8 and max_rows: 64"
                       : "the problem has no groups; give it some, such as groups: 8";
    diagnostics.add(node.place,
                    fmt::format("launch.args names {0}, and {1}, or write {{optional: {0}}}", node.text, why));
    return std::nullopt;
  }
  return read_scalar(node, Argument::Scalar::i32, read);
}

// What depends on parameters is checked for each spec.
std::optional<Expression> read_bytes(const Node* node, const char* what, std::span<const std::int64_t> choices,
                                     const ExpressionReader& read, Diagnostics& diagnostics) {
  if (node == nullptr) return std::nullopt;
  const std::optional<Expression> bytes = read(*node, what);
  if (!bytes || !bytes->used_slots().empty()) return bytes;
  EvalFailure failure;
  const std::int64_t value = bytes->integer({}, failure);
  if (failure)
    diagnostics.add(node->place, fmt::format("{}: {}", what, bytes->explain(failure, {})));
  else if (std::ranges::find(choices, value) == choices.end())
    diagnostics.add(node->place, fmt::format("{} must be one of {}, not {}", what, fmt::join(choices, ", "), value));
  return bytes;
}

std::optional<Argument> read_tensor_map(const Node& node, const ArgumentContext& context, const ExpressionReader& read,
                                        Diagnostics& diagnostics) {
  Fields fields(node, "tma", {"tma", "box", "swizzle", "l2"}, diagnostics);
  if (!traits_of(context.backend).has_tensor_maps) {
    diagnostics.add(node.place,
                    fmt::format("tma exists on the cuda backend only, not on {}", to_text(context.backend)));
  }
  Argument argument = make_argument(Argument::Kind::tensor_map);
  if (const Node* buffer = fields.require("tma")) {
    argument.buffer = buffer->text;
    if (!contains(context.buffers, buffer->text)) {
      diagnostics.add(buffer->place, fmt::format("unknown buffer {} in tma{}", describe(*buffer),
                                                 did_you_mean(buffer->text, context.buffers)));
    }
  }
  if (const Node* box = fields.require("box")) {
    for (const Node* item : as_list(*box)) {
      if (auto expression = read(*item, "tma.box")) argument.box.push_back(std::move(*expression));
    }
  }
  argument.swizzle = read_bytes(fields.find("swizzle"), "swizzle", kSwizzles, read, diagnostics);
  argument.l2 = read_bytes(fields.find("l2"), "l2", kL2Promotions, read, diagnostics);
  return argument;
}

}  // namespace

std::optional<Argument> read_argument(const Node& node, const ArgumentContext& context, const ExpressionReader& read,
                                      Diagnostics& diagnostics) {
  if (node.is_scalar()) return read_name(node, context, read, diagnostics);
  if (node.find("tma") != nullptr) return read_tensor_map(node, context, read, diagnostics);
  const std::vector<std::string> types = {"i32", "i64", "f32", "f64"};
  if (node.is_mapping() && node.entries.size() == 1) {
    const auto type = std::ranges::find(types, node.entries[0].key.text);
    if (type != types.end()) {
      return read_scalar(node.entries[0].value, static_cast<Argument::Scalar>(type - types.begin()), read);
    }
  }
  diagnostics.add(node.place,
                  "an argument must be a buffer, an expression, {i64: m} (or i32, f32, f64), "
                  "{optional: bias} or {tma: A, box: [...]}");
  return {};
}

}  // namespace tune::config
