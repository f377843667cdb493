#include "config/reader/problem_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "config/yaml/fields.h"

namespace tune::config {
namespace {

class CustomReader {
 public:
  CustomReader(const Node& node, SymbolTable& scope, Diagnostics& diagnostics)
      : fields_(node, "custom", {"sizes", "buffers", "flops", "bytes", "tolerance", "reference"}, diagnostics),
        scope_(&scope),
        diagnostics_(&diagnostics) {}

  ProblemSection read() {
    if (const Node* node = fields_.find("sizes")) read_sizes(*node);
    if (const Node* node = fields_.require("buffers")) read_buffers(*node);
    custom_.flops = number("flops");
    custom_.bytes = number("bytes");
    custom_.tolerance = number("tolerance");
    return {custom_, std::move(constants_), std::move(counts_)};
  }

 private:
  double number(std::string_view key) {
    const Node* node = fields_.find(key);
    const double value = node != nullptr ? scope_->read_constant_number(*node, key).value_or(0) : 0;
    if (!(value >= 0)) diagnostics_->add(node->place, fmt::format("{} is {}; it must not be negative", key, value));
    return value;
  }

  void read_sizes(const Node& node) {
    if (!node.is_mapping()) {
      diagnostics_->add(node.place, fmt::format("sizes must be a mapping such as {{w: 2048}}, not {}", describe(node)));
    }
    for (const Entry& entry : node.entries) {
      const std::string& name = entry.key.text;
      if (!is_identifier(name)) {
        diagnostics_->add(entry.key.place, fmt::format("'{}' cannot be a size's name", name));
      } else {
        const auto size = scope_->read_constant_integer(entry.value, fmt::format("size {}", name));
        // After an error the name is declared anyway, so that its uses are not reported too.
        scope_->add_constant(name, size.value_or(1));
        if (size && *size < 1) sizes_[name] = entry.value.place;
        if (constants_.emplace(name, size.value_or(1)).second) custom_.sizes.push_back(name);
      }
    }
  }

  void read_buffers(const Node& node) {
    for (const Node* item : as_list(node)) read_buffer(*item);
    const auto written = [](const Buffer& buffer) { return buffer.role != Buffer::Role::in; };
    if (std::ranges::none_of(custom_.buffers, written)) {
      diagnostics_->add(node.place, "no buffer is written; give the result's buffer `role: out` or `role: inout`");
    }
  }

  void read_buffer(const Node& node) {
    Fields fields(node, "buffer", {"name", "type", "count", "init", "role", "scale"}, *diagnostics_);
    Buffer buffer;
    if (const Node* name = fields.require("name")) read_name(*name, buffer.name);
    const std::string what = fmt::format("of buffer '{}'", buffer.name);
    if (const Node* type = fields.require("type")) {
      buffer.type = read_type(*type, "type " + what, *diagnostics_).value_or(buffer.type);
    }
    if (const Node* count = fields.require("count")) {
      const std::optional<std::int64_t> value = scope_->read_constant_integer(*count, "count " + what);
      buffer.count = value.value_or(1);
      if (value) counts_.push_back(*scope_->read_fixed(*count, "count " + what));
      if (buffer.count < 1) {
        diagnostics_->add(place_of_sizes(*count, counts_.back()),
                          fmt::format("count {} is {}; it must be positive", what, buffer.count));
      }
    }
    if (const Node* init = fields.find("init")) {
      buffer.init = read_init(*init, "init " + what, *diagnostics_).value_or(buffer.init);
    }
    if (const Node* role = fields.find("role")) {
      // Of an unknown one, no second error says that nothing is written.
      buffer.role = read_enumerator<Buffer::Role>(*role, "role " + what, Buffer::kRoles, *diagnostics_)
                        .value_or(Buffer::Role::inout);
    }
    if (const Node* scale = fields.find("scale")) read_scale(*scale, what, buffer);
    custom_.buffers.push_back(std::move(buffer));
  }

  void read_scale(const Node& node, const std::string& of_buffer, Buffer& buffer) {
    buffer.scale = scope_->read_constant_number(node, "scale " + of_buffer).value_or(1);
    const int most = most_doublings(buffer.type);
    int exponent = 0;  // of twice the scale
    if (most == 0 || buffer.init == Init::iota || buffer.init == Init::zeros || buffer.role == Buffer::Role::out)
      diagnostics_->add(node.place,
                        fmt::format("scale {} has no effect: integers, iota, zeros and outputs have none", of_buffer));
    else if (std::frexp(buffer.scale, &exponent) != 0.5 || std::abs(exponent - 1) > most)
      diagnostics_->add(node.place, fmt::format("scale {} is {}; for {} it is a power of two from 2**-{} to 2**{}",
                                                of_buffer, buffer.scale, to_text(buffer.type), most, most));
  }

  /// Where a size was given that is not positive and that this count depends on, if not in the same file: there it can
  /// be mended. Else the place of the count.
  Place place_of_sizes(const Node& count, const Expression& expression) const {
    for (const int slot : expression.used_slots()) {
      const auto size = sizes_.find(scope_->names().at(slot));
      if (size != sizes_.end() && *size->second.file != *count.place.file) return size->second;
    }
    return count.place;
  }

  void read_name(const Node& node, std::string& name) {
    name = read_text(node, "name of a buffer", *diagnostics_).value_or("");
    const auto same_name = [&](const Buffer& other) { return other.name == name; };
    if (!is_identifier(name) || name == "workspace") {
      diagnostics_->add(node.place, fmt::format("'{}' cannot be a buffer's name", name));
    } else if (std::ranges::any_of(custom_.buffers, same_name) || scope_->declares(name)) {
      diagnostics_->add(node.place, fmt::format("'{}' is already the name of a buffer or size", name));
    }
  }

  Fields fields_;
  SymbolTable* scope_;
  Diagnostics* diagnostics_;
  std::map<std::string, Place> sizes_;  ///< that are not positive
  Custom custom_;
  std::map<std::string, Value> constants_;
  std::vector<Expression> counts_;
};

}  // namespace

ProblemSection read_problem(const Node& node, SymbolTable& scope, Diagnostics& diagnostics) {
  Fields fields(node, "problem", {"gemm", "custom"}, diagnostics);
  const Node *gemm = fields.find("gemm"), *custom = fields.find("custom");
  if (node.is_mapping() && (gemm != nullptr) == (custom != nullptr)) {
    diagnostics.add(node.place, "problem must be one of gemm: {m, n, k, ...} and custom: {sizes, buffers, ...}");
  }
  // Every other section may name its buffers and sizes.
  if (gemm == nullptr && custom == nullptr) diagnostics.throw_if_any();
  if (gemm == nullptr) {
    ProblemSection section = CustomReader(*custom, scope, diagnostics).read();
    section.reference = custom->find("reference");
    return section;
  }
  const Gemm read = read_gemm(*gemm, diagnostics);
  ProblemSection section{read, constants_of(read)};
  for (const auto& [name, value] : section.constants) scope.add_constant(name, value);
  return section;
}

std::vector<std::string> buffer_names(const Problem& problem) {
  std::vector<std::string> names;
  if (const Gemm* gemm = std::get_if<Gemm>(&problem)) {
    names = {"A", "B", "C"};
    if (gemm->bias != Bias::none) names.push_back("bias");
    if (gemm->residual) names.push_back("residual");
    if (gemm->scale_a != Scale::none) names.push_back("scale_a");
    if (gemm->scale_b != Scale::none) names.push_back("scale_b");
    if (gemm->groups() > 0) names.push_back(gemm->max_rows > 0 ? "group_rows" : "group_offsets");
  }
  if (const Custom* custom = std::get_if<Custom>(&problem)) {
    for (const Buffer& buffer : custom->buffers) names.push_back(buffer.name);
  }
  return names;
}

}  // namespace tune::config
