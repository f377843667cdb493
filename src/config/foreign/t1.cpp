#include "config/foreign/t1.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>

#include "config/foreign/python_list.h"
#include "config/yaml/fields.h"
#include "config/yaml/values.h"
#include "model/expression/expression.h"

namespace tune::config {
namespace {

constexpr std::array<std::string_view, 3> kAxes = {"X", "Y", "Z"};

class T1Reader {
 public:
  T1Reader(const Node& root, bool launched, Diagnostics& diagnostics)
      : root_(&root),
        launched_(launched),
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
    const bool is_kernel = read_heading();
    read_problem_sizes();
    read_parameters(space);
    read_conditions(space);
    if (is_kernel) {
      read_arguments();
      finish_problem();
    }
    tuning_.set("params", std::move(params_));
    if (!is_kernel) return std::move(tuning_);
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

  /// Whether it is a kernel for which there is a backend here.
  bool read_heading() {
    const Node* name = require(*kernel_, "KernelName");
    const Node* file = require(*kernel_, "KernelFile");
    const Node* language = require(*kernel_, "Language");
    const bool known = language == nullptr || language->text == "CUDA" || language->text == "HIP";
    if (!known && launched_)
      complain(*language,
               fmt::format("the kernel's language is {}; of this format tune runs CUDA and HIP. --dry-run lists its "
                           "specs, and --simulate answers them from a recording",
                           language->text));
    if (name == nullptr || file == nullptr || language == nullptr) return known;
    tuning_.set("name", *name);
    tuning_.set("file", *file);
    if (!known) return false;
    tuning_.set("kernel", *name);
    tuning_.set("backend", make_scalar(language->text == "HIP" ? "hip" : "cuda", kernel_->place));
    return true;
  }

  /// Expressions call them ProblemSize[0]; here they are problem_size_x. A fourth is problem_size_3.
  static std::string size_name(std::size_t axis) {
    constexpr std::array<const char*, 3> kNames = {"problem_size_x", "problem_size_y", "problem_size_z"};
    return axis < kNames.size() ? kNames[axis] : fmt::format("problem_size_{}", axis);
  }

  void read_problem_sizes() {
    const Node* sizes = kernel_->find("ProblemSize");
    if (sizes == nullptr) return;
    std::size_t axis = 0;
    for (const Node* size : as_list(*sizes)) sizes_.set(size_name(axis++), *size);
  }

  std::string translated(std::string text) const {
    for (std::size_t axis = 0; axis < sizes_.entries.size(); ++axis) {
      const std::string theirs = fmt::format("ProblemSize[{}]", axis);
      for (auto at = text.find(theirs); at != std::string::npos; at = text.find(theirs))
        text.replace(at, theirs.size(), size_name(axis));
    }
    return text;
  }

  /// `max(NAME)` of a parameter is the largest of its values.
  std::string with_extremes(std::string text) const {
    static const std::regex kExtreme(R"(\b(max|min)\(\s*(\w+)\s*\))");
    for (std::smatch match; std::regex_search(text, match, kExtreme);) {
      const Node* values = params_.find(match.str(2));
      if (values == nullptr) break;
      std::string all;
      for (const Node& value : values->items) all += (all.empty() ? "" : ", ") + value.text;
      const bool one = values->items.size() == 1;
      text.replace(static_cast<std::size_t>(match.position()), static_cast<std::size_t>(match.length()),
                   one ? "(" + all + ")" : match.str(1) + "(" + all + ")");
    }
    return text;
  }

  Node expression(const Node& node) const { return make_text(translated(node.text), node.place); }

  void read_parameters(const Node& space) {
    const Node* parameters = require(space, "TuningParameters");
    if (parameters == nullptr) return;
    for (const Node* parameter : as_list(*parameters)) {
      const Node *name = require(*parameter, "Name"), *values = require(*parameter, "Values");
      if (name == nullptr || values == nullptr) continue;
      Node list = values->is_list() && !values->items.empty() ? *values : read_python_list(*values, *diagnostics_);
      const Node* initial = parameter->find("Default");
      if (initial != nullptr && initial->is_list() && initial->items.size() == 1) initial = &initial->items.front();
      if (initial != nullptr) default_.set(name->text, *initial);
      const bool is_value = initial != nullptr && std::ranges::any_of(list.items, [&](const Node& value) {
                              return value_of(value) == value_of(*initial);
                            });
      if (!list.items.empty()) trusted_.set(name->text, is_value ? *initial : list.items.front());
      params_.set(name->text, std::move(list));
    }
    if (!default_.entries.empty()) tuning_.set("default", default_);
  }

  static Value value_of(const Node& node) {
    const std::optional<Value> number = node.quoted ? std::nullopt : evaluate_text(node.text);
    return number.value_or(node.text);
  }

  /// Results are checked against the defaults, or, if these are against the conditions, against the first
  /// configuration that is not.
  void choose_trusted(const std::vector<Node>& conditions) try {
    constexpr int kMostTried = 1'000'000;
    Names names;
    std::vector<Value> values;
    for (const Node* mapping : {&trusted_, &sizes_})
      for (const Entry& entry : mapping->entries) {
        if (names.find(entry.key.text)) continue;  // a parameter with the name of a size, which is reported
        names.declare(entry.key.text);
        values.push_back(value_of(entry.value));
      }
    std::vector<Expression> expressions;
    for (const Node& condition : conditions) expressions.push_back(Expression::parse(condition.text, names));
    const auto valid = [&] {
      return std::ranges::all_of(expressions, [&](const Expression& expression) {
        EvalFailure failure;
        return expression.holds(values, failure) && !failure;
      });
    };
    if (valid()) return;
    std::vector<std::size_t> digits(params_.entries.size());
    const auto take = [&](std::size_t i) { values[i] = value_of(params_.entries[i].value.items[digits[i]]); };
    for (std::size_t i = 0; i < digits.size(); ++i) take(i);
    for (int tried = 0; tried < kMostTried && !valid(); ++tried) {
      std::size_t i = digits.size();
      do {
        if (i-- == 0) return;
        digits[i] = (digits[i] + 1) % params_.entries[i].value.items.size();
        take(i);
      } while (digits[i] == 0);
    }
    for (std::size_t i = 0; i < digits.size(); ++i)
      trusted_.set(params_.entries[i].key.text, params_.entries[i].value.items[digits[i]]);
  } catch (const ExpressionError&) {
    // It is reported where the constraints are read.
  }

  void read_conditions(const Node& space) {
    const Node* conditions = space.find("Conditions");
    if (conditions == nullptr || conditions->items.empty()) return;
    Node list = make_list(conditions->place);
    list.flow = false;
    for (const Node* condition : as_list(*conditions))
      if (const Node* text = require(*condition, "Expression")) list.items.push_back(expression(*text));
    if (trusted_.entries.size() == params_.entries.size()) choose_trusted(list.items);
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
    if (const Node* place = argument.find("MemType"); launched_ && place != nullptr && place->text == "Constant")
      complain(*place, "tune copies nothing to constant memory; pass this buffer as an argument of the kernel");
    if (known == kTypes.end()) return complain(type, fmt::format("tune has no buffers of type {}", type.text));
    if (count == nullptr) return;
    Node buffer = make_mapping(argument.place);
    const Node* name = argument.find("Name");
    const std::string called =
        name != nullptr && is_identifier(name->text) ? name->text : fmt::format("arg{}", args_.items.size());
    buffer.set("name", make_scalar(called, argument.place));
    buffer.set("type", make_scalar(std::string(known->second), type.place));
    const std::string size = with_extremes(translated(count->text));
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
      // Kernel Tuner divides the size of the problem, and KTT, which knows no divisors, the global size.
      const Node* problem = sizes_.find(size_name(grid.items.size()));
      if (!divisor.empty()) {
        size = fmt::format("ceil_div({}, {})", problem == nullptr ? size : size_name(grid.items.size()), divisor);
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
  bool launched_;
  Diagnostics* diagnostics_;
  const Node* kernel_ = nullptr;
  Node tuning_, params_, sizes_, default_, trusted_, buffers_, args_;
};

}  // namespace

bool is_t1(const Node& root) {
  return root.is_mapping() && root.find("ConfigurationSpace") != nullptr && root.find("KernelSpecification") != nullptr;
}

Node from_t1(const Node& root, bool launched, Diagnostics& diagnostics) {
  return T1Reader(root, launched, diagnostics).read();
}

}  // namespace tune::config
