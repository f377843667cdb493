#include "config/t1/t1.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/yaml/fields.h"
#include "config/yaml/python_list.h"

namespace tune::config {
namespace {

constexpr std::array<std::string_view, 3> kAxes = {"X", "Y", "Z"};

class T1Reader {
 public:
  T1Reader(const Node& root, Diagnostics& diagnostics)
      : root_(&root),
        diagnostics_(&diagnostics),
        tuning_(block()),
        params_(block()),
        sizes_(mapping()),
        default_(mapping()),
        trusted_(mapping()),
        buffers_(make_list(root.place)),
        args_(make_list(root.place)) {}

  Node read() {
    const Node& space = *root_->find("ConfigurationSpace");
    kernel_ = root_->find("KernelSpecification");
    read_heading();
    read_problem_sizes();
    read_parameters(space);
    read_arguments();
    finish_problem();
    tuning_.set("params", std::move(params_));
    read_conditions(space);
    read_launch();
    if (const Node* options = kernel_->find("CompilerOptions"); options != nullptr && !options->items.empty()) {
      Node build = block();
      build.set("flags", *options);
      tuning_.set("build", std::move(build));
    }
    return std::move(tuning_);
  }

 private:
  /// Complaints about what is made up here name the document.
  Node mapping() const { return make_mapping(root_->place); }

  Node block() const {
    Node node = mapping();
    node.flow = false;
    return node;
  }

  void complain(const Node& node, const std::string& text) { diagnostics_->add(node.place, text); }

  const Node* require(const Node& node, std::string_view key) {
    const Node* found = node.find(key);
    if (found == nullptr) complain(node, fmt::format("{} is missing", key));
    return found;
  }

  void read_heading() {
    const Node* name = require(*kernel_, "KernelName");
    const Node* file = require(*kernel_, "KernelFile");
    const Node* language = require(*kernel_, "Language");
    if (language != nullptr && language->text != "CUDA")
      complain(*language,
               fmt::format("the kernel's language is {}; of this format tune runs CUDA alone", language->text));
    if (name == nullptr || file == nullptr) return;
    tuning_.set("name", *name);
    tuning_.set("file", *file);
    tuning_.set("kernel", *name);
    tuning_.set("backend", make_scalar("cuda", kernel_->place));
  }

  /// Expressions call them ProblemSize[0]; here they are problem_size_x.
  static std::string size_name(std::size_t axis) {
    constexpr std::array<const char*, 3> kNames = {"problem_size_x", "problem_size_y", "problem_size_z"};
    return kNames[axis];
  }

  void read_problem_sizes() {
    const Node* sizes = kernel_->find("ProblemSize");
    if (sizes == nullptr) return;
    std::size_t axis = 0;
    for (const Node* size : as_list(*sizes))
      if (axis < kAxes.size()) sizes_.set(size_name(axis++), *size);
  }

  static std::string translated(std::string text) {
    for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
      const std::string theirs = fmt::format("ProblemSize[{}]", axis);
      for (auto at = text.find(theirs); at != std::string::npos; at = text.find(theirs))
        text.replace(at, theirs.size(), size_name(axis));
    }
    return text;
  }

  static Node expression(const Node& node) { return make_text(translated(node.text), node.place); }

  void read_parameters(const Node& space) {
    const Node* parameters = require(space, "TuningParameters");
    if (parameters == nullptr) return;
    for (const Node* parameter : as_list(*parameters)) {
      const Node *name = require(*parameter, "Name"), *values = require(*parameter, "Values");
      if (name == nullptr || values == nullptr) continue;
      Node list = values->is_list() && !values->items.empty() ? *values : read_python_list(*values, *diagnostics_);
      const Node* initial = parameter->find("Default");
      if (initial != nullptr) default_.set(name->text, *initial);
      if (initial != nullptr || !list.items.empty())
        trusted_.set(name->text, initial != nullptr ? *initial : list.items.front());
      params_.set(name->text, std::move(list));
    }
    if (!default_.entries.empty()) tuning_.set("default", default_);
  }

  void read_conditions(const Node& space) {
    const Node* conditions = space.find("Conditions");
    if (conditions == nullptr || conditions->items.empty()) return;
    Node list = make_list(conditions->place);
    list.flow = false;
    for (const Node* condition : as_list(*conditions))
      if (const Node* text = require(*condition, "Expression")) list.items.push_back(expression(*text));
    tuning_.set("constraints", std::move(list));
  }

  void read_arguments() {
    const Node* arguments = kernel_->find("Arguments");
    if (arguments == nullptr) return;
    for (const Node* argument : as_list(*arguments)) {
      const Node *type = require(*argument, "Type"), *memory = require(*argument, "MemoryType");
      if (type == nullptr || memory == nullptr) continue;
      if (memory->text == "Vector") {
        read_buffer(*argument, *type);
      } else if (memory->text == "Scalar") {
        read_scalar(*argument, *type);
      } else {
        complain(*memory, fmt::format("tune has no arguments in {} memory", memory->text));
      }
    }
  }

  void read_buffer(const Node& argument, const Node& type) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTypes = {
        {{"float", "f32"}, {"double", "f64"}, {"half", "f16"}, {"int32", "s32"}, {"int8", "s8"}, {"uint32", "s32"}}};
    const std::string base = type.text.substr(0, type.text.find_first_of("0123456789"));
    const bool vector = base == "float" || base == "double" || base == "half";
    const std::string lanes = vector ? type.text.substr(base.size()) : "";
    const auto known =
        std::ranges::find(kTypes, vector ? base : type.text, &std::pair<std::string_view, std::string_view>::first);
    const Node* count = require(argument, "Size");
    if (known == kTypes.end()) return complain(type, fmt::format("tune has no buffers of type {}", type.text));
    if (count == nullptr) return;
    Node buffer = make_mapping(argument.place);
    const Node* name = argument.find("Name");
    const std::string called =
        name != nullptr && is_identifier(name->text) ? name->text : fmt::format("arg{}", args_.items.size());
    buffer.set("name", make_scalar(called, argument.place));
    buffer.set("type", make_scalar(std::string(known->second), type.place));
    const std::string size = translated(count->text);
    buffer.set("count", make_text(lanes.empty() ? size : fmt::format("({})*{}", size, lanes), count->place));
    read_fill(argument, buffer);
    const Node* access = argument.find("AccessType");
    const std::string role = access == nullptr || access->text == "ReadWrite" ? "inout"
                             : access->text == "WriteOnly"                    ? "out"
                                                                              : "in";
    buffer.set("role", make_scalar(role, argument.place));
    buffers_.items.push_back(std::move(buffer));
    args_.items.push_back(make_scalar(called, argument.place));
  }

  void read_fill(const Node& argument, Node& buffer) {
    const Node *fill = argument.find("FillType"), *value = argument.find("FillValue");
    const bool zeros =
        fill != nullptr && fill->text == "Constant" && (value == nullptr || value->text == "0" || value->text == "0.0");
    if (fill != nullptr && fill->text != "Random" && !zeros)
      complain(*fill, fmt::format("tune fills buffers at random or with zeros, not by FillType {}", fill->text));
    buffer.set("init", make_scalar(zeros ? "zeros" : "uniform", argument.place));
  }

  void read_scalar(const Node& argument, const Node& type) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTypes = {{{"int32", "i32"},
                                                                                      {"uint32", "i32"},
                                                                                      {"int64", "i64"},
                                                                                      {"uint64", "i64"},
                                                                                      {"float", "f32"},
                                                                                      {"double", "f64"}}};
    const auto known = std::ranges::find(kTypes, type.text, &std::pair<std::string_view, std::string_view>::first);
    if (known == kTypes.end()) return complain(type, fmt::format("tune has no scalar arguments of type {}", type.text));
    const Node* value = require(argument, "FillValue");
    if (value == nullptr) return;
    if (known->second == "i32") {
      args_.items.push_back(expression(*value));
      return;
    }
    Node scalar = make_mapping(argument.place);
    scalar.set(std::string(known->second), expression(*value));
    args_.items.push_back(std::move(scalar));
  }

  void finish_problem() {
    Node custom = block(), reference = mapping();
    if (!sizes_.entries.empty()) custom.set("sizes", sizes_);
    custom.set("buffers", std::move(buffers_));
    reference.set("spec", trusted_);
    custom.set("reference", std::move(reference));
    Node problem = block();
    problem.set("custom", std::move(custom));
    tuning_.set("problem", std::move(problem));
  }

  void read_launch() {
    const Node *global = require(*kernel_, "GlobalSize"), *local = require(*kernel_, "LocalSize");
    if (global == nullptr || local == nullptr) return;
    const Node* type = kernel_->find("GlobalSizeType");
    const bool in_threads = type != nullptr && type->text == "OpenCL";
    Node grid = make_list(global->place), sizes = make_list(local->place);
    for (const std::string_view axis : kAxes) {
      const Node *blocks = global->find(axis), *threads = local->find(axis);
      if (threads != nullptr) sizes.items.push_back(expression(*threads));
      if (blocks == nullptr) continue;
      std::string size = translated(blocks->text);
      const std::string divisor = divisor_of(axis);
      if (!divisor.empty()) {
        size = fmt::format("ceil_div({}, {})", size, divisor);
      } else if (in_threads && threads != nullptr) {
        size = fmt::format("ceil_div({}, {})", size, translated(threads->text));
      }
      grid.items.push_back(make_text(size, blocks->place));
    }
    Node launch = block();
    launch.set("grid", std::move(grid));
    launch.set("block", std::move(sizes));
    if (const Node* shared = kernel_->find("SharedMemory")) launch.set("shared", *shared);
    launch.set("args", std::move(args_));
    tuning_.set("launch", std::move(launch));
  }

  /// GridDivX and so on: what a block covers, as a list of factors.
  std::string divisor_of(std::string_view axis) const {
    const Node* factors = kernel_->find(fmt::format("GridDiv{}", axis));
    if (factors == nullptr) return "";
    std::string product;
    for (const Node* factor : as_list(*factors))
      product += fmt::format("{}({})", product.empty() ? "" : "*", translated(factor->text));
    return product;
  }

  const Node* root_;
  Diagnostics* diagnostics_;
  const Node* kernel_ = nullptr;
  Node tuning_, params_, sizes_, default_, trusted_, buffers_, args_;
};

}  // namespace

bool is_t1(const Node& root) {
  return root.is_mapping() && root.find("ConfigurationSpace") != nullptr && root.find("KernelSpecification") != nullptr;
}

Node from_t1(const Node& root, Diagnostics& diagnostics) { return T1Reader(root, diagnostics).read(); }

}  // namespace tune::config
