#include "config/shapes/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/shapes/foreign_shapes.h"
#include "config/yaml/fields.h"
#include "config/yaml/node.h"
#include "config/yaml/params.h"
#include "config/yaml/values.h"
#include "model/values/error.h"
#include "platform/files/file.h"

namespace tune::config {
namespace {

constexpr std::uintmax_t kLongestLog = 1 << 30;

/// What a gemm is called by in every entry.
bool is_size(const std::string& name) {
  constexpr std::array<std::string_view, 8> kSizesAndLayouts = {"M", "N", "K", "m", "n", "k", "rowMajorA", "rowMajorB"};
  return std::ranges::find(kSizesAndLayouts, name) != kSizesAndLayouts.end();
}

void set_sizes(Node& node, const Gemm& gemm) {
  const std::pair<const char*, std::int64_t> sizes[] = {{"M", gemm.m}, {"N", gemm.n}, {"K", gemm.k}};
  for (const auto& [name, size] : sizes) node.set(name, make_scalar(std::to_string(size), {}));
  node.set("rowMajorA", make_scalar(gemm.layout_a == Layout::row ? "T" : "N", {}));
  node.set("rowMajorB", make_scalar(gemm.layout_b == Layout::row ? "T" : "N", {}));
}

/// `- {...}`
std::string list_entry(Node node) {
  Node list = make_list({});
  list.flow = false;
  list.items.push_back(std::move(node));
  std::string line = to_yaml(list);
  line.pop_back();
  return line;
}

/// Every combination of the values, the last parameter's first.
void add_product(const ParameterMapping& mapping, std::vector<Shape>& shapes) {
  std::vector<Shape> product = {{mapping.place, {}, {}}};
  for (const Parameter& parameter : mapping.parameters) {
    std::vector<Shape> longer;
    for (const Shape& shape : product)
      for (const Value& value : parameter.values) {
        longer.push_back(shape);
        longer.back().settings.push_back({parameter.name, value, parameter.run_time});
        longer.back().places.push_back(mapping.place);
      }
    product = std::move(longer);
  }
  shapes.insert(shapes.end(), product.begin(), product.end());
}

/// The shapes of a file as kbench has them: a grid of its own.
std::vector<Shape> kbench_shapes(const Node& params, Diagnostics& diagnostics) {
  std::vector<Shape> shapes;
  const auto mappings = read_params(
      params, [](const std::string&) { return std::string(); }, [](const Parameter&) { return true; },
      Arithmetic::unquoted, diagnostics);
  diagnostics.throw_if_any();
  for (const ParameterMapping& mapping : mappings) add_product(mapping, shapes);
  return shapes;
}

/// The weight is no setting.
Shape listed_shape(Node item, Diagnostics& diagnostics) {
  double calls = 1;
  if (const Node* node = item.find("calls")) {
    calls = read_number(*node, "calls", diagnostics).value_or(1);
    if (calls <= 0) diagnostics.add(node->place, fmt::format("calls is {:g}; it must be positive", calls));
    item.erase("calls");
  }
  Shape shape{item.place, read_settings(item, "a shape", {}, diagnostics), {}, calls};
  for (const Entry& entry : item.entries) shape.places.push_back(entry.key.place);
  return shape;
}

}  // namespace

std::string to_text(const Shape& shape) {
  std::string text;
  for (const Setting& setting : shape.settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", setting.name, to_text(setting.value));
  }
  return text;
}

ShapeList read_shapes(const std::filesystem::path& path) {
  std::string text = platform::read_file(path, kLongestLog);
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);  // spreadsheets begin so
  if (auto log = shapes_of_log(text, path)) return std::move(*log);
  if (auto table = shapes_of_table(text, path)) return std::move(*table);
  Diagnostics diagnostics;
  const Node root = [&] {
    try {
      return parse_yaml(text, path.string(), diagnostics);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}\n{} is no log or table of shapes either; a list has lines such as "
                                            "- {{M: 4096, N: 4096, K: 4096}}",
                                            error.what(), path.string()));
    }
  }();
  if (const Node* params = root.find("params")) return {kbench_shapes(*params, diagnostics)};
  if (auto shapes = shapes_of_vllm(root, path)) return std::move(*shapes);
  if (!root.is_list() || root.items.empty())
    diagnostics.add(root.place, "shapes must be a list of mappings such as - {M: 4096, N: 4096, K: 4096}");
  ShapeList list;
  for (const Node& item : root.items) list.shapes.push_back(listed_shape(item, diagnostics));
  diagnostics.throw_if_any();
  return list;
}

std::string listed_shape(const Shape& shape) {
  Node node = make_mapping({});
  for (const Setting& setting : shape.settings)
    node.set((setting.run_time ? "$" : "") + setting.name, to_node(setting.value, {}));
  node.set("calls", make_scalar(fmt::format("{:.15g}", shape.calls), {}));
  return list_entry(std::move(node));
}

std::string configured_shape(const Plan& plan, const std::optional<Shape>& shape, const Spec& spec) {
  Node node = make_mapping({});
  const Gemm* gemm = std::get_if<Gemm>(&plan.problem);
  if (gemm != nullptr) set_sizes(node, *gemm);
  if (std::holds_alternative<Custom>(plan.problem))
    for (const auto& [name, value] : plan.constants) node.set(name, to_node(value, {}));
  const std::vector<Setting> others = shape ? shape->settings : std::vector<Setting>();
  for (const Setting& setting : others)
    if (spec.find(setting.name) == nullptr && !(gemm != nullptr && is_size(setting.name)))
      node.set(setting.name, to_node(setting.value, {}));
  for (const Setting& setting : spec.params)
    node.set((setting.run_time ? "$" : "") + setting.name, to_node(setting.value, {}));
  return list_entry(std::move(node));
}

}  // namespace tune::config
