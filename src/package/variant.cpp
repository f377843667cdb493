#include "package/variant.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "model/settings.h"
#include "package/cpp_text.h"
#include "package/expression_text.h"
#include "package/product.h"

namespace tune::package {
namespace {

constexpr std::string_view kDevice = "device.";

/// As CUtensorMapDataType numbers them.
int map_type(Type type) {
  switch (type) {
    case Type::f64:
      return 8;
    case Type::f32:
      return 7;
    case Type::tf32:
      return 11;
    case Type::f16:
      return 6;
    case Type::bf16:
      return 9;
    case Type::s32:
      return 3;
    case Type::e4m3:
    case Type::e5m2:
    case Type::s8:
      break;
  }
  return 0;
}

std::size_t number_in(std::vector<std::string>& all, const std::string& name) {
  const auto known = std::ranges::find(all, name);
  const auto number = static_cast<std::size_t>(known - all.begin());
  if (known == all.end()) all.push_back(name);
  return number;
}

class FunctionWriter {
 public:
  FunctionWriter(const Variant& variant, Numbers& numbers)
      : variant_(&variant),
        plan_(&variant.plan),
        gemm_(std::get_if<Gemm>(&plan_->problem)),
        numbers_(&numbers),
        text_(graph_) {}

  std::string write(const std::string& name) try {
    give_names_meaning();
    for (std::size_t i = 0; i < numbers_->sizes.size(); ++i) text_.name(size_term(i), size_name(i));
    take_mapping();
    launches();
    sizes_that_are_not_passed();
    std::string text = fmt::format(
        "// {}\nvoid {}([[maybe_unused]] const std::int64_t* sizes, [[maybe_unused]] const std::int64_t* facts,\n    "
        "{}Planner& planner) {{\n",
        in_comment(to_text(variant_->spec.params)), name, std::string(name.size(), ' '));
    for (const int size : used_) declare(text, size);
    for (const std::string& line : lines_) text += "  " + line + "\n";
    return text + "}\n\n";
  } catch (const NotPackaged& why) {
    throw NotPackaged(where_.empty() ? why.what() : where_ + ": " + why.what());
  }

 private:
  int sizes() const { return static_cast<int>(numbers_->sizes.size()); }
  std::optional<std::size_t> size_number(std::string_view name) const {
    const auto found = std::ranges::find(numbers_->sizes, name);
    return found == numbers_->sizes.end() ? std::nullopt
                                          : std::optional(static_cast<std::size_t>(found - numbers_->sizes.begin()));
  }
  std::string size_name(std::size_t number) const { return "size_" + identifier_of(numbers_->sizes[number]); }
  int size_term(std::size_t number) { return graph_.variable(static_cast<int>(number)); }

  void declare(std::string& text, int variable) const {
    if (variable < sizes())
      text += fmt::format("  const Number {} = sizes[{}];\n", size_name(static_cast<std::size_t>(variable)), variable);
    else
      text += fmt::format("  const Number {} = facts[{}];\n", fact_name(variable - sizes()), variable - sizes());
  }
  std::string fact_name(int fact) const {
    return "device_" + identifier_of(numbers_->facts[static_cast<std::size_t>(fact)]);
  }

  void give_names_meaning() {
    const Names& names = plan_->space.names();
    for (int slot = 0; slot < names.size(); ++slot) {
      const std::string& name = names.at(slot);
      if (const auto size = size_number(name))
        meaning_.push_back(size_term(*size));
      else if (name.starts_with(kDevice))
        meaning_.push_back(fact_term(name.substr(kDevice.size())));
      else if (const Value* value = variant_->spec.find(name))
        meaning_.push_back(graph_.constant(*value));
      else
        meaning_.push_back(graph_.constant(plan_->space.fixed()[static_cast<std::size_t>(slot)]));
    }
    for (const bool of_a : {true, false})
      if (const auto slot = names.find(of_a ? "ld_scale_a" : "ld_scale_b"); slot && gemm_ != nullptr)
        meaning_[static_cast<std::size_t>(*slot)] =
            graph_.add(Expression::parse(ld_of_scales(*gemm_, of_a), names), meaning_);
  }
  int fact_term(const std::string& name) {
    const auto known = std::ranges::find(facts_here_, name, &std::pair<std::string, int>::first);
    if (known != facts_here_.end()) return known->second;
    // Numbered among the package's facts when it is used, and until then among the function's own.
    const int term = graph_.variable(kUnnumbered + static_cast<int>(facts_here_.size()));
    facts_here_.emplace_back(name, term);
    text_.name(term, "device_" + identifier_of(name));
    return term;
  }

  /// The text of a term, whose variables are declared at the beginning of the function.
  std::string write(int term) {
    for (const int variable : graph_[term].support) {
      if (variable >= kUnnumbered)
        used_.insert(sizes() +
                     static_cast<int>(number_in(numbers_->facts,
                                                facts_here_[static_cast<std::size_t>(variable - kUnnumbered)].first)));
      else
        used_.insert(variable);
    }
    return text_.of(term);
  }
  std::string write(const Expression& expression) { return write(graph_.add(expression, meaning_)); }
  /// The same of what the kernel is told.
  std::string pass(int term) {
    passed_.insert(graph_[term].support.begin(), graph_[term].support.end());
    return write(term);
  }
  std::string pass(const Expression& expression) { return pass(graph_.add(expression, meaning_)); }
  std::string pass_all(const std::vector<Expression>& expressions) {
    std::vector<std::string> texts;
    for (const Expression& each : expressions) {
      const int term = graph_.add(each, meaning_);
      const Computed& value = graph_[term].value;
      if (is_constant(term) && !value.fault && value.cell.tag == Cell::Tag::pair)  // stands for two extents
        texts.insert(texts.end(), {std::to_string(value.cell.integer), std::to_string(value.cell.second)});
      else
        texts.push_back(pass(term));
    }
    return fmt::format("{{{}}}", fmt::join(texts, ", "));
  }

  bool is_constant(int term) const { return graph_[term].kind == Term::Kind::constant; }

  const Space::Mapping& mapping() const {
    const auto has_all = [&](const Space::Mapping& mapping) {
      return mapping.parameters.size() == variant_->spec.params.size() &&
             std::ranges::all_of(mapping.parameters,
                                 [&](const Parameter& each) { return variant_->spec.find(each.name) != nullptr; });
    };
    return *std::ranges::find_if(plan_->space.mappings(), has_all);
  }

  void take_mapping() {
    const std::vector<Setting> values = plan_->space.derived(variant_->spec);
    for (const Derived& derived : mapping().derived) {
      const int term = graph_.add(derived.expression, meaning_);
      meaning_[static_cast<std::size_t>(*plan_->space.names().find(derived.name))] = term;
      where_ = "let: " + derived.name;
      if (!is_constant(term)) compute(derived.name, term);
      const Setting& value = *std::ranges::find(values, derived.name, &Setting::name);
      if (!is_constant(term) && is_compiled(value)) compiled(derived.name, write(term), value.value);
    }
    for (const std::string& name : plan_->build.defines)
      if (const auto size = size_number(name); size && name != "groups")
        compiled(name, write(size_term(*size)), plan_->constants.at(name));
    for (const Constraint& constraint : mapping().constraints) {
      const int term = graph_.add(constraint.expression, meaning_);
      if (is_constant(term) && graph_[term].value.is_true()) continue;
      where_ = constraint.place.empty() ? "constraints" : fmt::format("the constraint at {}", constraint.place);
      lines_.push_back(fmt::format("planner.require({}, {});", write(term), literal(constraint.reason)));
    }
  }

  bool is_compiled(const Setting& setting) const {
    return !setting.run_time &&
           std::ranges::find(plan_->build.not_compiled, setting.name) == plan_->build.not_compiled.end();
  }

  /// A derived value gets its name, unless it is only another one for what has a name.
  void compute(const std::string& name, int term) {
    if (graph_[term].kind == Term::Kind::variable || text_.has_name(term)) return;
    const std::string called = "let_" + identifier_of(name);
    lines_.push_back(fmt::format("[[maybe_unused]] const Number {} = {};", called, write(term)));
    text_.name(term, called);
  }

  void compiled(const std::string& name, const std::string& text, const Value& value) {
    const auto* integer = std::get_if<std::int64_t>(&value);
    const auto* boolean = std::get_if<Bool>(&value);
    const auto* real = std::get_if<double>(&value);
    if (integer == nullptr && boolean == nullptr && real == nullptr)
      throw NotPackaged(fmt::format("{} is compiled in, depends on the sizes or the device, and is no number", name));
    const std::string built = real != nullptr      ? ExpressionText::number(*real)
                              : integer != nullptr ? std::to_string(*integer)
                              : boolean->value     ? "1"
                                                   : "0";
    lines_.push_back(fmt::format("planner.compiled({}, {}, {});", text, built,
                                 literal(fmt::format("{} is compiled in as {}", name, to_text(value)))));
  }

  std::size_t operand(const std::string& name) {
    if (name == "workspace") return numbers_->operands.size();
    const auto found = std::ranges::find(numbers_->operands, name);
    if (found == numbers_->operands.end()) throw NotPackaged(fmt::format("there is no operand {}", name));
    return static_cast<std::size_t>(found - numbers_->operands.begin());
  }

  void launches() {
    where_ = "launch";
    const KernelPlan& kernel = *plan_->kernel();
    if (gemm_ == nullptr && kernel.zero_c) throw NotPackaged("c_init of a custom problem is not known to packages");
    if (gemm_ != nullptr && gemm_->max_rows > 0 && !gemm_->any_padding && kernel.zero_c)
      throw NotPackaged(
          "c_init: zero would write what lies behind the rows of groups with max_rows; let the kernel zero their rows, "
          "or tune it with padding: any");
    if (kernel.workspace)
      lines_.push_back(fmt::format("planner.workspace({}, {});", write(kernel.workspace->bytes),
                                   kernel.workspace->zero ? "true" : "false"));
    for (std::size_t i = 0; i < kernel.launches.size(); ++i) {
      const Launch& launch = kernel.launches[i];
      const int condition = launch.condition ? graph_.add(*launch.condition, meaning_) : graph_.constant(Bool{true});
      if (is_constant(condition) && !graph_[condition].value.is_true()) continue;
      // A CPU kernel's launches are functions of its shim, in their order.
      const std::size_t function = kernel.backend == Backend::cpu ? i : number_in(numbers_->kernels, launch.kernel);
      lines_.push_back(fmt::format("if (planner.launch({}, {})) {{", function, write(condition)));
      for (const auto& [what, extents] :
           {std::pair("grid", &launch.grid), {"block", &launch.block}, {"cluster", &launch.cluster}})
        if (!extents->empty()) lines_.push_back(fmt::format("  planner.{}({});", what, pass_all(*extents)));
      if (launch.shared) lines_.push_back(fmt::format("  planner.shared({});", pass(*launch.shared)));
      if (launch.programmatic) lines_.push_back(fmt::format("  planner.programmatic({});", pass(*launch.programmatic)));
      if (launch.repeat) repeat(*launch.repeat);
      for (const Argument& argument : launch.args) add(argument);
      lines_.emplace_back("}");
    }
  }

  void repeat(const Chain& chain) {
    const auto number = [&](const std::string& name) { return name.empty() ? -1 : static_cast<int>(operand(name)); };
    lines_.push_back(fmt::format("  planner.repeat({}, {}, {}, {});", pass(chain.times), number(chain.from),
                                 number(chain.to), number(chain.through)));
  }

  void add(const Argument& argument) {
    switch (argument.kind) {
      case Argument::Kind::buffer:
        if (argument.buffer == "workspace")
          lines_.emplace_back("  planner.workspace_address();");
        else
          lines_.push_back(fmt::format("  planner.operand({});", operand(argument.buffer)));
        return;
      case Argument::Kind::scalar:
        return scalar(argument);
      case Argument::Kind::alpha:
        return factor(gemm_->alpha);
      case Argument::Kind::beta:
        return factor(gemm_->beta);
      case Argument::Kind::tensor_map:
        return map(argument);
    }
  }

  void scalar(const Argument& argument) {
    const int term = graph_.add(*argument.expression, meaning_);
    const bool whole = argument.type == Argument::Scalar::i32 || argument.type == Argument::Scalar::i64;
    if (whole) {
      lines_.push_back(
          fmt::format("  planner.{}({});", argument.type == Argument::Scalar::i32 ? "i32" : "i64", pass(term)));
      return;
    }
    lines_.push_back(
        fmt::format("  planner.{}({});", argument.type == Argument::Scalar::f32 ? "f32" : "f64", pass(term)));
  }

  /// alpha and beta have the accumulator's type.
  void factor(double value) {
    if (gemm_->acc == Type::f16) throw NotPackaged("alpha and beta of type f16 are not known to packages");
    const char* type = gemm_->acc == Type::f64 ? "f64" : gemm_->acc == Type::s32 ? "i32" : "f32";
    if (gemm_->acc == Type::s32)
      lines_.push_back(fmt::format("  planner.i32({});", static_cast<std::int64_t>(value)));
    else
      lines_.push_back(fmt::format("  planner.{}({});", type, ExpressionText::number(value)));
  }

  void map(const Argument& argument) {
    const auto number = [&](const std::optional<Expression>& expression) {
      return expression ? pass(*expression) : "0";
    };
    if (gemm_ == nullptr) {
      const std::size_t buffer = operand(argument.buffer);
      if (buffer >= plan_->counts.size()) throw NotPackaged("a tensor map of the workspace is not known to packages");
      lines_.push_back(fmt::format("  planner.map({}, {}, {{{}}}, {{}}, {}, {}, {});", buffer,
                                   map_type(std::get<Custom>(plan_->problem).buffers[buffer].type),
                                   pass(plan_->counts[buffer]), pass_all(argument.box), number(argument.swizzle),
                                   number(argument.l2)));
      return;
    }
    const MatrixShape matrix = matrix_of(*gemm_, argument.buffer);
    const auto size = [&](const std::string& name) { return pass(size_term(*size_number(name))); };
    const auto bytes = [&](const std::string& name) {
      return fmt::format("multiply({}, {})", size(name), size_of(matrix.type));
    };
    const bool several = argument.box.size() == 3;
    lines_.push_back(fmt::format("  planner.map({}, {}, {{{}, {}{}}}, {{{}{}}}, {}, {}, {});", operand(argument.buffer),
                                 map_type(matrix.type), text_of(matrix.inner, size), text_of(matrix.outer, size),
                                 several ? ", " + (matrix.count.empty() ? "1" : size(matrix.count)) : "",
                                 bytes(matrix.ld()), several ? ", " + bytes(matrix.stride()) : "",
                                 pass_all(argument.box), number(argument.swizzle), number(argument.l2)));
  }

  /// What the kernel does not learn must be as it was: a distance as close as possible, or the value that was tuned.
  void sizes_that_are_not_passed() {
    const std::vector<std::int64_t> built = sizes_of(*plan_);
    const bool has_groups = gemm_ != nullptr && gemm_->groups() > 0;
    const bool batched = gemm_ != nullptr && !has_groups && (built[3] != 1 || passed_.contains(3));
    for (std::size_t i = 0; i < built.size(); ++i) {
      const std::string& name = numbers_->sizes[i];
      const bool is_distance = gemm_ != nullptr && i + kDistances >= built.size(),
                 is_stride = is_distance && name.starts_with("stride");
      if (has_groups && i == 0) continue;  // the kernel has group_offsets or group_rows, which say it
      if (passed_.contains(static_cast<int>(i)) || (is_stride && !batched && !(has_groups && name == "stride_b")))
        continue;
      const std::string because = literal(fmt::format("the kernel is not told {}", name));
      used_.insert(static_cast<int>(i));
      const std::string now = is_distance ? fmt::format("tight_{}(sizes)", name) : std::to_string(built[i]);
      lines_.push_back(fmt::format("planner.compiled({}, {}, {});", size_name(i), now, because));
    }
  }

  static constexpr int kUnnumbered = 1000;

  const Variant* variant_;
  const Plan* plan_;
  const Gemm* gemm_;
  Numbers* numbers_;
  ExpressionGraph graph_;
  ExpressionText text_;
  std::vector<int> meaning_;  ///< of each name's slot: a term
  std::vector<std::pair<std::string, int>> facts_here_;
  std::set<int> used_, passed_;  ///< variables of the function; those that reach the kernel
  std::vector<std::string> lines_;
  std::string where_;  ///< in the tuning file: what is being written
};

}  // namespace

std::vector<std::string> size_names(const Plan& plan) {
  const auto* gemm = std::get_if<Gemm>(&plan.problem);
  if (gemm == nullptr) return std::get<Custom>(plan.problem).sizes;
  std::vector<std::string> names = {"m", "n", "k", gemm->groups() > 0 ? "groups" : "batch"};
  if (gemm->max_rows > 0) names.emplace_back("max_rows");
  names.insert(names.end(), {"lda", "ldb", "ldc", "stride_a", "stride_b", "stride_c"});
  return names;
}

std::vector<std::int64_t> sizes_of(const Plan& plan) {
  std::vector<std::int64_t> sizes;
  for (const std::string& name : size_names(plan)) sizes.push_back(std::get<std::int64_t>(plan.constants.at(name)));
  return sizes;
}

std::vector<Buffer> operands_of(const Plan& plan) {
  if (const auto* custom = std::get_if<Custom>(&plan.problem)) return custom->buffers;
  const Gemm& gemm = std::get<Gemm>(plan.problem);
  std::vector<Buffer> operands = {{"A", gemm.a}, {"B", gemm.b}, {"C", gemm.c, 0, Init::uniform, Buffer::Role::out}};
  if (gemm.bias != Bias::none) operands.push_back({"bias", gemm.c});
  if (gemm.residual) operands.push_back({"residual", gemm.c});
  if (gemm.scale_a != Scale::none) operands.push_back({"scale_a", Type::f32});
  if (gemm.scale_b != Scale::none) operands.push_back({"scale_b", Type::f32});
  if (gemm.groups() > 0) operands.push_back({gemm.max_rows > 0 ? "group_rows" : "group_offsets", Type::s32});
  return operands;
}

std::string plan_function(const Variant& variant, const std::string& name, Numbers& numbers) {
  return FunctionWriter(variant, numbers).write(name);
}

}  // namespace tune::package
