#include "exec/request/spec_launches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

namespace tune::exec {
namespace {

constexpr std::int64_t kMostRepeats = 100'000;

/// What the expressions of a section of the tuning file are for one spec. Errors name the entry by `what`.
class Values {
 public:
  Values(const Plan& plan, const Spec& spec, std::string section = "launch")
      : slots_(plan.space.environment(spec)), section_(std::move(section)) {}

  /// What messages call an entry of the section.
  std::string name(const char* entry) const { return section_ + "." + entry; }

  std::int64_t integer(const Expression& expression, const std::string& what) const {
    return value(expression, &Expression::integer, what);
  }
  double number(const Expression& expression, const std::string& what) const {
    return value(expression, &Expression::number, what);
  }
  bool holds(const Expression& condition, const std::string& what) const {
    return value(condition, &Expression::holds, what);
  }

  // An extent may be one expression whose value is a pair (`cluster: CLUSTER`).
  std::vector<std::int64_t> extents(const std::vector<Expression>& expressions, const std::string& what) const {
    std::vector<std::int64_t> values;
    for (const Expression& expression : expressions) {
      EvalFailure failure;
      const Value value = expression.evaluate(slots_, failure);
      if (const auto* pair = std::get_if<Pair>(&value); pair && !failure)
        values.insert(values.end(), {pair->first, pair->second});
      else
        values.push_back(integer(expression, what));
    }
    return values;
  }

  int bytes(const std::optional<Expression>& expression, const std::string& what,
            std::span<const std::int64_t> choices) const {
    if (!expression) return 0;
    const std::int64_t bytes = integer(*expression, what);
    if (std::ranges::find(choices, bytes) == choices.end())
      throw Unlaunchable(fmt::format("{} is {}; it must be one of {}", what, bytes, fmt::join(choices, ", ")));
    return static_cast<int>(bytes);
  }

 private:
  template <typename Result>
  Result value(const Expression& expression, Result (Expression::*evaluate)(std::span<const Value>, EvalFailure&) const,
               const std::string& what) const {
    EvalFailure failure;
    const Result result = (expression.*evaluate)(slots_, failure);
    if (failure) throw Unlaunchable("cannot evaluate " + what + ": " + expression.explain(failure, slots_));
    return result;
  }

  std::vector<Value> slots_;
  std::string section_;
};

// Throws if a kernel cannot be launched with these values; the text is as in `launch.block is [64, 0]`.
void require_least(const std::vector<std::int64_t>& values, std::int64_t least, const std::string& what) {
  if (std::ranges::all_of(values, [&](std::int64_t value) { return value >= least; })) return;
  const bool one = values.size() == 1;
  throw Unlaunchable(fmt::format("{} is {}{}{}; it must be at least {}", what, one ? "" : "[", fmt::join(values, ", "),
                                 one ? "" : "]", least));
}

void require_launchable(const wire::KernelLaunch& launch, const Values& values) {
  require_least(launch.grid, 1, values.name("grid"));
  require_least(launch.block, 1, values.name("block"));
  require_least(launch.cluster, 1, values.name("cluster"));
  require_least({launch.shared}, 0, values.name("shared"));
  for (const wire::Arg& arg : launch.args) {
    require_least(arg.box, 1, values.name("args box"));
    const bool is_int = arg.kind == Argument::Kind::scalar && arg.type == Argument::Scalar::i32;
    if (is_int && arg.integer != static_cast<std::int32_t>(arg.integer))
      throw Unlaunchable(fmt::format("args: {} does not fit an int; write {{i64: ...}}", arg.integer));
  }
}

// nullopt for the buffers of a GEMM.
std::optional<std::int64_t> bytes_of_buffer(const std::string& name, const Problem& problem, std::int64_t workspace) {
  if (name == "workspace") return workspace;
  if (const auto* custom = std::get_if<Custom>(&problem))
    for (const Buffer& buffer : custom->buffers)
      if (buffer.name == name) return buffer.count * size_of(buffer.type);
  return std::nullopt;
}

// A step reads what the one before it wrote, so none of the buffers may be smaller.
void require_same_sizes(const Chain& chain, const Problem& problem, std::int64_t workspace, const std::string& what) {
  const auto wanted = bytes_of_buffer(chain.to, problem, workspace);
  for (const std::string& name : {chain.from, chain.through}) {
    const auto bytes = bytes_of_buffer(name, problem, workspace);
    if (!wanted || !bytes || *bytes == *wanted || (name == "workspace" && *bytes > *wanted)) continue;
    throw Unlaunchable(
        fmt::format("{} goes from {} to {} through {}, which must be of the same size, but {} "
                    "has {} bytes and {} {}",
                    what, chain.from, chain.to, chain.through, name, *bytes, chain.to, *wanted));
  }
}

wire::Arg argument_at(const Argument& rule, const Problem& problem, const Values& values) {
  wire::Arg arg;
  arg.kind = rule.kind;
  arg.buffer = rule.buffer;
  arg.type = rule.type;
  if (rule.kind == Argument::Kind::tensor_map) {
    arg.swizzle = values.bytes(rule.swizzle, "swizzle of the tensor map of " + rule.buffer, kSwizzles);
    arg.l2_promotion = values.bytes(rule.l2, "l2 of the tensor map of " + rule.buffer, kL2Promotions);
  }
  arg.box = values.extents(rule.box, values.name("args box"));
  const auto* gemm = std::get_if<Gemm>(&problem);
  if (rule.kind == Argument::Kind::alpha) arg.number = gemm->alpha;
  if (rule.kind == Argument::Kind::beta) arg.number = gemm->beta;
  if (rule.kind != Argument::Kind::scalar) return arg;
  arg.written = rule.expression->text();
  if (rule.type == Argument::Scalar::i32 || rule.type == Argument::Scalar::i64)
    arg.integer = values.integer(*rule.expression, values.name("args"));
  else
    arg.number = values.number(*rule.expression, values.name("args"));
  return arg;
}

void add_chain(const Chain& chain, const Values& values, wire::KernelLaunch& launch) {
  launch.repeat = values.integer(chain.times, values.name("repeat"));
  if (launch.repeat < 1 || launch.repeat > kMostRepeats)
    throw Unlaunchable(
        fmt::format("{} is {}; it must be between 1 and {}", values.name("repeat"), launch.repeat, kMostRepeats));
  launch.from = chain.from;
  launch.to = chain.to;
  launch.through = chain.through;
}

}  // namespace

std::int64_t workspace_bytes_of(const Plan& plan, const Spec& spec) {
  const KernelPlan* kernel = plan.kernel();
  if (kernel == nullptr || !kernel->workspace) return 0;
  const std::int64_t bytes = Values(plan, spec).integer(kernel->workspace->bytes, "launch.workspace");
  require_least({bytes}, 0, "launch.workspace");
  return bytes;
}

std::vector<wire::KernelLaunch> launches_of(const Plan& plan, const std::vector<Launch>& rules, const Spec& spec,
                                            WhichLaunches which, const std::string& section) {
  const Values values(plan, spec, section);
  const std::int64_t workspace = workspace_bytes_of(plan, spec);
  std::vector<wire::KernelLaunch> all;
  for (const Launch& rule : rules) {
    const bool taken = !rule.condition || values.holds(*rule.condition, values.name("if"));
    if (which == WhichLaunches::taken && !taken) continue;
    wire::KernelLaunch& launch = all.emplace_back();
    launch.kernel = rule.kernel;
    launch.grid = values.extents(rule.grid, values.name("grid"));
    launch.block = values.extents(rule.block, values.name("block"));
    launch.cluster = values.extents(rule.cluster, values.name("cluster"));
    if (rule.shared) launch.shared = values.integer(*rule.shared, values.name("shared"));
    launch.programmatic = rule.programmatic && values.holds(*rule.programmatic, values.name("programmatic"));
    for (const Argument& arg : rule.args) launch.args.push_back(argument_at(arg, plan.problem, values));
    if (rule.repeat) add_chain(*rule.repeat, values, launch);
    if (!taken) continue;
    require_launchable(launch, values);
    if (rule.repeat) require_same_sizes(*rule.repeat, plan.problem, workspace, values.name("repeat"));
  }
  return all;
}

}  // namespace tune::exec
