#include "config/shapes.h"

#include <fmt/format.h>

#include "config/node.h"
#include "config/params.h"

namespace tune::config {

std::string to_text(const Shape& shape) {
  std::string text;
  for (const Setting& setting : shape.settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", setting.name, to_text(setting.value));
  }
  return text;
}

std::vector<Shape> read_shapes(const std::filesystem::path& path) {
  Problems problems;
  const Node root = read_yaml(path, problems);
  if (!root.is_list() || root.items.empty()) {
    problems.add(root.place, "shapes must be a list of mappings such as - {M: 4096, N: 4096, K: 4096}");
  }
  std::vector<Shape> shapes;
  for (const Node& item : root.items) {
    Shape& shape = shapes.emplace_back(Shape{item.place, read_settings(item, "a shape", {}, problems), {}});
    for (const Entry& entry : item.entries) shape.places.push_back(entry.key.place);
  }
  problems.throw_if_any();
  return shapes;
}

}  // namespace tune::config
