#include "commands/init/draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "commands/init/indexing.h"
#include "commands/init/names_and_types.h"
#include "commands/init/values.h"
#include "model/expression/expression.h"
#include "model/values/error.h"

namespace tune::commands {
namespace {

bool is_leading_dimension(const std::string& name) {
  const std::string text = in_lower_case(name);
  return text == "ld" || text == "lda" || text == "ldb" || text == "ldc" || text == "ldd" ||
         text.find("stride") != std::string::npos || text.find("pitch") != std::string::npos;
}

/// A whole number that says how much is done rather than how large the data is.
bool is_small(const std::string& name) {
  static const std::set<std::string> kSmall = {"radius", "pad",  "steps",   "iterations", "iters",
                                               "taps",   "halo", "repeats", "order",      "window"};
  return kSmall.contains(in_lower_case(name));
}

/// Memory that a kernel needs beside its operands.
bool is_workspace(const KernelArgument& argument) {
  static const std::set<std::string> kNames = {"workspace", "scratch", "partial", "partials", "partial_sums"};
  return argument.is_pointer && !argument.is_const && kNames.contains(in_lower_case(argument.name));
}

/// The name of a file as a value in YAML, where `$` begins a variable.
std::string as_yaml(const std::string& file) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '/' || c == '-';
  };
  if (std::ranges::all_of(file, is_plain)) return file;
  std::string text = "'";
  for (const char c : file) text += c == '\'' ? "''" : c == '$' ? "$$" : std::string(1, c);
  return text + "'";
}

class Writer {
 public:
  Writer(const KernelSource& source, const Kernel& kernel, const DraftRequest& request)
      : source_(&source), kernel_(&kernel), request_(&request), indexing_(source, kernel) {
    for (const KernelArgument& argument : kernel.arguments) {
      require_passable(argument);
      if (argument.is_pointer) {
        if (!is_workspace(argument) && !is_map_of_another(argument)) buffers_.push_back(&argument);
      } else if (scalar_of(argument.type)[0] == 'i' && !is_leading_dimension(argument.name) &&
                 !is_thread_count(argument.name)) {
        sizes_.push_back(argument.name);
      }
    }
    if (buffers_.empty())
      throw Error(ExitCode::bad_input, fmt::format("{}:{}: {} has no pointer among its arguments, so that there is "
                                                   "nothing that it computes and that could be checked",
                                                   request.file, kernel.line, kernel.name));
    is_gemm_ = find_gemm();
    if (is_gemm_)
      for (const std::string& size : sizes_)
        if (size.size() > 1) counts_.push_back(size);
    choose_block();
    find_constraints();
  }

  Draft write() {
    line("# Written by tune init. What the source does not say is guessed: check each \"guess:\".");
    line("name: {}", request_->name);
    line("file: {}", as_yaml(request_->file));
    line("kernel: {}", kernel_->name);
    write_problem();
    write_params();
    write_default();
    write_constraints();
    write_launch();
    write_build();
    if (!is_gemm_) line("metrics: {{\"GB/s\": {{expr: bytes/time/1e9, maximize: true}}}}");
    return std::move(draft_);
  }

 private:
  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    draft_.yaml += fmt::format(text, std::forward<Arguments>(arguments)...) + "\n";
  }

  /// A line with a comment that marks it as guessed.
  void guessed(const std::string& text, const std::string& why) {
    ++draft_.guesses;
    draft_.yaml += fmt::format("{:<50}  # guess: {}\n", text, why);
  }

  /// Throws Error(bad_input) for an argument that no tuning file can give.
  void require_passable(const KernelArgument& argument) const {
    const auto fail = [&](const std::string& why) {
      throw Error(ExitCode::bad_input, fmt::format("{}:{}: {}", request_->file, argument.line, why));
    };
    if (argument.name.empty()) fail(fmt::format("an argument of {} has no name; give it one", kernel_->name));
    if (argument.is_reference)
      fail(fmt::format("the argument {} is a reference, and a kernel is called with pointers and numbers",
                       argument.name));
    if (argument.is_pointer && has_other_width(argument.type))
      fail(fmt::format("the elements of {} are of type '{}', which tuning files have no type for", argument.name,
                       argument.type));
    if (!argument.is_pointer && scalar_of(argument.type) == nullptr)
      fail(
          fmt::format("the argument {} is of type '{}', which a tuning file cannot pass; whole numbers of 32 and 64 "
                      "bits, float and double can be passed",
                      argument.name, argument.type));
  }

  const std::array<Indexing::Dimension, 3>& dimensions() const { return indexing_.dimensions(); }

  /// Whether it is the tensor map of an operand whose address is an argument as well: `c_map` beside `c`.
  bool is_map_of_another(const KernelArgument& argument) const {
    return argument.is_tensor_map && argument.name.ends_with("_map") &&
           has_argument(in_lower_case(argument.name.substr(0, argument.name.size() - 4)));
  }

  // --- the problem

  bool has_tensor_maps() const {
    return std::ranges::any_of(kernel_->arguments, [](const KernelArgument& each) { return each.is_tensor_map; });
  }

  /// Those of a GEMM with tensor maps are as wide as tensor cores like them.
  Elements elements_of_buffer(const KernelArgument& buffer) const {
    Elements elements = elements_of(buffer.type);
    if (elements.is_guess && is_gemm_ && has_tensor_maps()) elements.type = "bf16";
    return elements;
  }

  std::string size_named(char letter) const {
    for (const std::string& size : sizes_)
      if (in_lower_case(size) == std::string(1, letter)) return size;
    return "";
  }

  bool find_gemm() {
    if (buffers_.size() != 3) return false;
    for (const char letter : {'m', 'n', 'k'})
      if (size_named(letter).empty()) return false;
    return buffers_[0]->is_const && buffers_[1]->is_const && !buffers_[2]->is_const;
  }

  /// The layout of one operand, by the size that its first index is multiplied by.
  const char* layout(std::size_t buffer, char of_columns) const {
    return indexing_.stride_of(buffers_[buffer]->name) == size_named(of_columns) ? "col" : "row";
  }

  void write_gemm() {
    std::array<Elements, 3> types;
    for (std::size_t i = 0; i < 3; ++i) types[i] = elements_of_buffer(*buffers_[i]);
    line("problem:");
    guessed(fmt::format("  gemm: {{m: 1024, n: 1024, k: 1024, a: {}, b: {}, c: {}, layout: {{a: {}, b: {}, c: {}}}{}}}",
                        types[0].type, types[1].type, types[2].type, layout(0, 'm'), layout(1, 'k'), layout(2, 'm'),
                        has_argument("beta") ? ", alpha: 1, beta: 1" : ""),
            "the sizes, and C = A B; put what you run");
  }

  bool has_argument(const std::string& name) const {
    return std::ranges::any_of(kernel_->arguments,
                               [&](const KernelArgument& each) { return in_lower_case(each.name) == name; });
  }

  std::int64_t default_size(const std::string& name) const {
    if (is_small(name)) return 8;
    if (in_lower_case(name).find("bins") != std::string::npos) return 256;
    const auto large = std::ranges::count_if(sizes_, [](const std::string& each) { return !is_small(each); });
    if (large <= 1) return request_->for_gpu ? 1 << 24 : 1 << 18;
    if (large == 2) return request_->for_gpu ? 4096 : 512;
    return large == 3 && request_->for_gpu ? 256 : 64;
  }

  std::string count_of(const KernelArgument& buffer) const {
    std::vector<std::string> factors;
    std::set<std::string> of_it = indexing_.sizes_of(buffer.name);
    for (const std::string& size : sizes_)
      if (of_it.contains(size)) factors.push_back(size);
    if (factors.empty())
      for (const std::string& size : sizes_)
        if (!is_small(size)) factors.push_back(size);
    const int lanes = elements_of_buffer(buffer).lanes;
    if (lanes > 1) factors.insert(factors.begin(), std::to_string(lanes));
    return factors.empty() ? "1048576" : fmt::format("{}", fmt::join(factors, "*"));
  }

  static const char* role_of(const KernelArgument& buffer, const Indexing& indexing) {
    if (buffer.is_const) return "in";
    return indexing.is_read(buffer.name) ? "inout" : "out";
  }

  void write_problem() {
    if (is_gemm_) return write_gemm();
    line("problem:");
    line("  custom:");
    std::vector<std::string> sizes;
    for (const std::string& size : sizes_) sizes.push_back(fmt::format("{}: {}", size, default_size(size)));
    if (sizes_.empty()) sizes.emplace_back("n: 1048576");
    guessed(fmt::format("    sizes: {{{}}}", fmt::join(sizes, ", ")), "put the sizes that you run");
    line("    buffers:");
    std::vector<std::pair<int, std::string>> bytes;  // of elements that are as many
    static const std::map<std::string, int> kBytes = {{"f64", 8},  {"f32", 4}, {"s32", 4},  {"f16", 2},
                                                      {"bf16", 2}, {"s8", 1},  {"e4m3", 1}, {"e5m2", 1}};
    for (const KernelArgument* buffer : buffers_) {
      const Elements elements = elements_of_buffer(*buffer);
      const std::string count = count_of(*buffer), role = role_of(*buffer, indexing_);
      guessed(
          fmt::format("      - {{name: {}, type: {}, count: {}, role: {}}}", buffer->name, elements.type, count, role),
          elements.is_guess ? fmt::format("the count, and the type of {}", buffer->type) : "the count");
      const auto same = std::ranges::find_if(bytes, [&](const auto& each) { return each.second == count; });
      const int moved = kBytes.at(elements.type) * (role == "inout" ? 2 : 1);
      if (same == bytes.end())
        bytes.emplace_back(moved, count);
      else
        same->first += moved;
    }
    std::vector<std::string> terms;
    for (const auto& [factor, count] : bytes) terms.push_back(fmt::format("{}*{}", factor, count));
    guessed(fmt::format("    bytes: {}", fmt::join(terms, " + ")), "each buffer is read or written once");
    write_reference();
  }

  /// Whether it is another variant to tune rather than a simple kernel.
  bool uses_parameters(const Kernel& kernel) const {
    return std::ranges::any_of(kernel.body, [&](const Token& token) { return has_macro(token.text); });
  }

  const Kernel* reference_kernel() const {
    const auto same = [&](const Kernel& each) {
      return each.name != kernel_->name && each.has_c_linkage && !uses_parameters(each) &&
             std::ranges::equal(each.arguments, kernel_->arguments,
                                [](const KernelArgument& a, const KernelArgument& b) {
                                  return a.name == b.name && a.is_pointer == b.is_pointer;
                                });
    };
    const auto found = std::ranges::find_if(source_->kernels, same);
    return found == source_->kernels.end() ? nullptr : &*found;
  }

  void write_reference() {
    const Kernel* reference = reference_kernel();
    if (reference == nullptr)
      return guessed("    reference: {spec: " + first_values() + "}",
                     "this spec is right; a simple kernel would be surer");
    if (!request_->for_gpu)
      return guessed(fmt::format("    reference: {{kernel: {}, args: {}}}", reference->name, arguments("1")),
                     "it computes the same");
    const Indexing indexing(*source_, *reference);
    std::vector<std::string> grid, block;
    const int used = dimensions_of(indexing);
    for (int d = 0; d < used; ++d) {
      const Indexing::Dimension& dimension = indexing.dimensions()[static_cast<std::size_t>(d)];
      const std::string threads = used == 1 ? "256" : d == 0 ? "32" : d == 1 ? "8" : "1";
      block.push_back(dimension.has_threads
                          ? (dimension.threads.empty() || !is_number(dimension.threads) ? threads : dimension.threads)
                          : "1");
      grid.push_back(grid_of(dimension, d, block.back()));
    }
    guessed(fmt::format("    reference: {{kernel: {}, grid: [{}], block: [{}], args: {}}}", reference->name,
                        quoted(grid), fmt::join(block, ", "), arguments()),
            "it computes the same, and its launch");
  }

  /// The first values that satisfy the constraints, as far as these are about parameters alone.
  std::string first_values() const {
    std::vector<std::vector<std::string>> lists;
    for (const auto& [name, list] : params_) lists.push_back(values_in(list));
    const std::vector<Expression> conditions = conditions_of_params();
    std::vector<std::size_t> chosen(lists.size(), 0);
    constexpr int kMostTries = 100'000;
    for (int i = 0; i < kMostTries && !satisfies(conditions, lists, chosen); ++i) {
      std::size_t next = 0;
      while (next < chosen.size() && ++chosen[next] == lists[next].size()) chosen[next++] = 0;
      if (next == chosen.size()) break;  // none does
    }
    std::vector<std::string> values;
    for (std::size_t i = 0; i < lists.size(); ++i) values.push_back(params_[i].first + ": " + lists[i][chosen[i]]);
    return fmt::format("{{{}}}", fmt::join(values, ", "));
  }

  /// Of `[1, 2, 4]` and `{pow2: [64, 1024]}`, of which the first is taken.
  static std::vector<std::string> values_in(const std::string& list) {
    std::vector<std::string> values;
    std::size_t begin = list.find('[') + 1;
    while (begin < list.size()) {
      const std::size_t end = std::min(list.find_first_of(",]", begin), list.size());
      values.push_back(list.substr(begin, end - begin));
      begin = list.find_first_not_of(" ,", end);
      if (list[0] == '{' || end >= list.size() || list[end] == ']') break;
    }
    return values;
  }

  /// The constraints that name nothing but parameters, whose slots are their places in `params_`.
  std::vector<Expression> conditions_of_params() const {
    Names names;
    for (const auto& [name, list] : params_) names.declare(name.starts_with('$') ? name.substr(1) : name);
    std::vector<Expression> conditions;
    for (const std::string& constraint : constraints_) try {
        conditions.push_back(Expression::parse(constraint.substr(0, constraint.find("  #")), names));
      } catch (const ExpressionError&) {  // it names a size or the device, too
      }
    return conditions;
  }

  static bool satisfies(const std::vector<Expression>& conditions, const std::vector<std::vector<std::string>>& lists,
                        const std::vector<std::size_t>& chosen) {
    std::vector<Value> slots;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const std::string& text = lists[i][chosen[i]];
      const auto number = whole_number(text);
      slots.push_back(number ? Value(*number) : Value(text));
    }
    return std::ranges::all_of(conditions, [&](const Expression& condition) {
      EvalFailure failure;
      return condition.holds(slots, failure);
    });
  }

  // --- the launch

  static int dimensions_of(const Indexing& indexing) {
    int used = 1;
    for (int d = 0; d < 3; ++d) {
      const Indexing::Dimension& dimension = indexing.dimensions()[static_cast<std::size_t>(d)];
      if (dimension.has_threads || dimension.has_blocks) used = d + 1;
    }
    return used;
  }

  bool has_macro(const std::string& name) const {
    return std::ranges::any_of(source_->macros, [&](const BuildMacro& each) { return each.name == name; });
  }

  /// A macro that is called after the threads of a block along this dimension; empty: none is.
  std::string macro_of_threads(int dimension, int used) const {
    const char axis = "xyz"[dimension];
    for (const BuildMacro& macro : source_->macros) {
      const std::string text = in_lower_case(macro.name);
      const bool of_block = text.starts_with("block") || text.find("threads") != std::string::npos;
      if (!of_block) continue;
      if (text.back() == axis || text.ends_with(fmt::format("_{}", axis))) return macro.name;
      if (used == 1 && text.find("blocks") == std::string::npos) return macro.name;
    }
    // What a thread's index is advanced by in a loop.
    const Tokens& body = kernel_->body;
    for (std::size_t i = 0; used == 1 && i + 2 < body.size(); ++i) {
      if (!body[i].is("+=")) continue;
      Tokens step;
      int depth = 0;
      for (std::size_t j = i + 1; j < body.size() && !body[j].is(";") && depth >= 0; ++j) {
        depth += body[j].is("(") ? 1 : body[j].is(")") ? -1 : 0;
        if (depth >= 0) step.push_back(body[j]);
      }
      if (step.size() > 1 && !loops_over_threads(i)) continue;
      const auto threads = indexing_.expression(step).value_or("");
      if (std::ranges::any_of(source_->macros, [&](const BuildMacro& each) { return mentions(threads, each.name); }))
        return threads;
    }
    return "";
  }

  /// Whether the loop whose variable is advanced at `i` begins with the index of a thread.
  bool loops_over_threads(std::size_t i) const {
    const Tokens& body = kernel_->body;
    for (; i > 0 && !body[i].is("for") && !body[i].is("{") && !body[i].is("}"); --i)
      if (body[i].is("threadIdx")) return true;
    return false;
  }

  void choose_block() {
    if (!request_->for_gpu) return choose_params();
    const int used = dimensions_of(indexing_);
    int with_threads = 0;
    for (int d = 0; d < used; ++d) with_threads += dimensions()[static_cast<std::size_t>(d)].has_threads ? 1 : 0;
    for (int d = 0; d < used; ++d) {
      const Indexing::Dimension& dimension = dimensions()[static_cast<std::size_t>(d)];
      const std::string bounds = with_threads == 1 ? bounds_text() : "";
      std::string threads = is_number(bounds) ? "" : bounds;  // a number is only the most that there may be
      if (threads.empty()) threads = dimension.threads;
      if (!dimension.has_threads) threads = "1";
      if (threads.empty()) threads = macro_of_threads(d, with_threads);
      if (threads.empty() && dimension.asks_launch) {
        const std::string name = with_threads == 1 ? "BLOCK" : fmt::format("BLOCK_{}", "XYZ"[d]);
        run_time_threads_.push_back(name);
        threads = name;
      }
      block_is_guess_ = block_is_guess_ || threads.empty();
      if (threads.empty()) threads = !bounds.empty() ? bounds : with_threads == 1 ? "256" : "16";
      block_.push_back(threads);
    }
    while (block_.size() > 1 && block_.back() == "1") block_.pop_back();
    choose_params();
  }

  /// What the brackets of __launch_bounds__ say of a block's threads; empty: nothing that a tuning file can.
  std::string bounds_text() const {
    const Tokens& bounds = kernel_->launch_bounds;
    int depth = 0;
    const auto end = std::ranges::find_if(bounds, [&](const Token& token) {
      depth += token.is("(") ? 1 : token.is(")") ? -1 : 0;
      return depth == 0 && token.is(",");
    });
    return indexing_.expression(Tokens(bounds.begin(), end)).value_or("");
  }

  std::string grid_of(const Indexing::Dimension& dimension, int d, const std::string& threads) const {
    if (!dimension.has_blocks) return "1";
    std::string size = dimension.size;
    if (size.empty()) {
      const auto at = sizes_.size() - 1 -
                      std::min<std::size_t>(static_cast<std::size_t>(d), sizes_.empty() ? 0 : sizes_.size() - 1);
      size = sizes_.empty() ? "n" : sizes_[at];
    }
    if (is_gemm_ && size.size() > 1)  // no size of the product: the order of its tiles is the kernel's own
      return d > 0 ? "1" : has_macro("BM") && has_macro("BN") ? "ceil_div(m, BM)*ceil_div(n, BN)" : "m";
    if (is_gemm_) size = in_lower_case(size);
    std::string elements = dimension.elements;
    const std::string asked = fmt::format("blockDim.{}", "xyz"[d]);
    for (std::size_t at = elements.find(asked); at != std::string::npos; at = elements.find(asked))
      elements.replace(at, asked.size(), threads);
    for (const char* other : {"blockDim.x", "blockDim.y", "blockDim.z"})
      if (elements.find(other) != std::string::npos) return size;
    if (elements.starts_with('(') && elements.find(')') + 1 == elements.size())
      elements = elements.substr(1, elements.size() - 2);
    return elements.empty() ? size : fmt::format("ceil_div({}, {})", size, elements);
  }

  static std::string quoted(const std::vector<std::string>& expressions) {
    std::vector<std::string> texts;
    for (const std::string& each : expressions)
      texts.push_back(each.find(',') == std::string::npos ? each : "\"" + each + "\"");
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  std::string argument_text(const KernelArgument& argument) const {
    if (is_workspace(argument)) return "workspace";
    if (argument.is_tensor_map) {
      KernelArgument plain = argument;
      plain.is_tensor_map = false;
      if (is_map_of_another(argument)) plain.name.resize(plain.name.size() - 4);
      return fmt::format("{{tma: {}, box: [64, 64], swizzle: 128}}", argument_text(plain));
    }
    if (argument.is_pointer) {
      if (is_gemm_) {
        const auto at =
            std::ranges::find_if(buffers_, [&](const KernelArgument* each) { return each->name == argument.name; });
        return std::string(1, "ABC"[at - buffers_.begin()]);
      }
      return argument.name;
    }
    const std::string type = scalar_of(argument.type);
    std::string value = argument.name;
    if (is_leading_dimension(argument.name)) {
      value = is_gemm_ ? in_lower_case(argument.name) : sizes_.empty() ? "1" : sizes_.back();
      if (is_gemm_ && value != "lda" && value != "ldb" && value != "ldc") value = "n";
    } else if (is_gemm_ && (in_lower_case(value) == "alpha" || in_lower_case(value) == "beta")) {
      return in_lower_case(value);
    } else if (type[0] == 'f') {
      return fmt::format("{{{}: 1.0}}", type);
    } else if (is_gemm_) {
      value = in_lower_case(value);
    }
    return type == "i32" ? value : fmt::format("{{{}: {}}}", type, value);
  }

  /// `threads`: for the argument that says how many there are.
  std::string arguments(const std::string& threads = "THREADS") const {
    std::vector<std::string> texts;
    for (const KernelArgument& argument : kernel_->arguments)
      if (argument.condition.empty() || !without_conditional_)
        texts.push_back(!argument.is_pointer && is_thread_count(argument.name) ? threads : argument_text(argument));
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }

  void write_launch() {
    if (!request_->for_gpu) {
      line("launch:");
      write_arguments("  args: " + arguments());
      return;
    }
    line("launch:");
    const auto conditional =
        std::ranges::find_if(kernel_->arguments, [](const KernelArgument& each) { return !each.condition.empty(); });
    const auto condition =
        conditional == kernel_->arguments.end() ? std::nullopt : indexing_.expression(conditional->condition);
    if (!condition) return write_one_launch();
    for (const bool holds : {true, false}) {
      without_conditional_ = !holds;
      line("  - if: {}", holds ? *condition : "not (" + *condition + ")");
      const std::size_t from = draft_.yaml.size();
      write_one_launch();
      for (std::size_t at = from; at < draft_.yaml.size(); at = draft_.yaml.find('\n', at) + 1)
        draft_.yaml.insert(at, "  ");
    }
  }

  void write_one_launch() {
    std::vector<std::string> grid;
    for (int d = 0; d < dimensions_of(indexing_); ++d) {
      const auto at = static_cast<std::size_t>(d);
      grid.push_back(grid_of(dimensions()[at], d, at < block_.size() ? "(" + block_[at] + ")" : "1"));
    }
    for (std::string& each : grid) {  // brackets around a name alone are not needed
      for (const std::string& threads : block_)
        if (const std::size_t at = each.find("(" + threads + ")");
            at != std::string::npos &&
            threads.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") ==
                std::string::npos)
          each.replace(at, threads.size() + 2, threads);
    }
    while (grid.size() > 1 && grid.back() == "1") grid.pop_back();
    guessed(fmt::format("  grid: [{}]", quoted(grid)), "from how blockIdx is used");
    if (block_is_guess_)
      guessed(fmt::format("  block: [{}]", quoted(block_)), "the source does not say how many threads a block has");
    else
      line("  block: [{}]", quoted(block_));
    write_shared();
    write_arguments("  args: " + arguments());
    for (const KernelArgument& argument : kernel_->arguments)
      if (is_workspace(argument) && !without_conditional_)
        guessed("  workspace: " + workspace_bytes(), "the bytes that it needs");
  }

  /// `extern __shared__ float sums[];`
  void write_shared() {
    const Tokens& body = kernel_->body;
    for (std::size_t i = 0; i + 1 < body.size(); ++i) {
      if (!body[i].is("extern") || !body[i + 1].is("__shared__")) continue;
      const bool is_double = std::any_of(body.begin() + static_cast<std::ptrdiff_t>(i), body.end(),
                                         [](const Token& token) { return token.is("double"); });
      return guessed(fmt::format("  shared: {}*{}", is_double ? 8 : 4, fmt::join(block_, "*")),
                     "an element of dynamic shared memory for each thread");
    }
  }

  /// Marks those with a value that the source does not tell.
  void write_arguments(const std::string& text) {
    std::vector<std::string> guesses;
    for (const KernelArgument& argument : kernel_->arguments) {
      const bool is_factor =
          is_gemm_ && (in_lower_case(argument.name) == "alpha" || in_lower_case(argument.name) == "beta");
      const bool is_real = !argument.is_pointer && scalar_of(argument.type)[0] == 'f' && !is_factor;
      if (is_real || argument.is_tensor_map ||
          (!argument.is_pointer && is_leading_dimension(argument.name) && !is_gemm_))
        guesses.push_back(argument.name);
    }
    if (guesses.empty()) return line("{}", text);
    guessed(text, fmt::format("what {} {}", fmt::join(guesses, ", "), guesses.size() == 1 ? "is" : "are"));
  }

  std::string workspace_bytes() const {
    return is_gemm_ ? "4*m*n" : sizes_.empty() ? "1048576" : fmt::format("4*{}", fmt::join(sizes_, "*"));
  }

  // --- the parameters

  /// Whether the problem's types and layouts define it, as type_a and layout_b_col.
  static bool is_of_problem(const BuildMacro& macro) { return !define_of_problem(macro.name).empty(); }

  void write_build() {
    std::vector<std::string> parts;
    if (!request_->for_gpu && source_->uses_openmp) parts.emplace_back("flags: [-fopenmp]");
    std::set<std::string> defines;
    for (const BuildMacro& macro : source_->macros)
      if (is_gemm_ && is_of_problem(macro)) defines.insert(define_of_problem(macro.name));
    if (!defines.empty()) parts.push_back(fmt::format("defines: [{}]", fmt::join(defines, ", ")));
    if (!parts.empty()) line("build: {{{}}}", fmt::join(parts, ", "));
  }

  void choose_params() {
    const bool counts_threads = std::ranges::any_of(
        kernel_->arguments, [](const KernelArgument& each) { return !each.is_pointer && is_thread_count(each.name); });
    const KnownLaunch launch{request_->for_gpu, has_tensor_maps(), block_, &indexing_};
    for (const BuildMacro& macro : source_->macros)
      if (!is_of_problem(macro)) params_.emplace_back(macro.name, guess_values(macro, *source_, launch));
    for (const std::string& name : run_time_threads_)
      params_.emplace_back("$" + name, run_time_threads_.size() == 1 ? "{pow2: [64, 1024]}"
                                       : name.ends_with("X")         ? "[16, 32, 64]"
                                                                     : "[1, 2, 4, 8, 16]");
    for (const std::string& count : counts_) params_.emplace_back("$" + count, "[1]");
    if (counts_threads) params_.emplace_back("$THREADS", "[1, 2, 4, 8]");
  }

  void write_params() {
    if (params_.empty()) return line("params: {{}}");
    line("params:");
    draft_.parameters = static_cast<int>(params_.size());
    for (const auto& [name, values] : params_)
      guessed(fmt::format("  {}: {}", name, values), name.starts_with('$')
                                                         ? "an argument or the launch has it; it is no macro"
                                                     : has_value(name) ? "around the value in the source"
                                                                       : "the values");
  }

  /// Whether the source defines it where the build does not.
  bool has_value(const std::string& macro) const {
    return std::ranges::any_of(source_->macros,
                               [&](const BuildMacro& each) { return each.name == macro && !each.value.empty(); });
  }

  void write_default() {
    std::vector<std::string> values;
    for (const BuildMacro& macro : source_->macros)
      if (!macro.value.empty() && !is_of_problem(macro))
        values.push_back(fmt::format("{}: {}", macro.name, macro.value));
    if (!values.empty()) line("default: {{{}}}", fmt::join(values, ", "));
  }

  void find_constraints() {
    std::vector<std::string>& lines = constraints_;
    std::vector<std::string> factors;
    for (const std::string& threads : block_)
      if (threads != "1")
        factors.push_back(threads.find_first_of("+-/*") != std::string::npos ? "(" + threads + ")" : threads);
    const bool is_constant = std::ranges::all_of(factors, [](const std::string& each) {
      return std::ranges::all_of(each, [](unsigned char c) { return std::isdigit(c) != 0; });
    });
    if (factors.size() == 1) factors[0] = *std::ranges::find_if(block_, [](const auto& each) { return each != "1"; });
    if (!is_constant && (factors.size() > 1 || factors[0].find_first_of("*/") != std::string::npos))
      lines.push_back(fmt::format("{} <= 1024  # a block's most threads", fmt::join(factors, "*")));
    for (const std::string& threads : block_)
      for (std::size_t at = threads.find("//"); at != std::string::npos; at = threads.find("//", at + 2)) {
        std::size_t begin = at, end = at + 2;
        const auto in_word = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
        while (begin > 0 && in_word(threads[begin - 1])) --begin;
        while (end < threads.size() && in_word(threads[end])) ++end;
        if (begin < at && end > at + 2)
          lines.push_back(fmt::format("{} % {} == 0  # it is divided by it", threads.substr(begin, at - begin),
                                      threads.substr(at + 2, end - at - 2)));
      }
    for (const Indexing::Dimension& dimension : dimensions())
      if (has_macro(dimension.elements) && has_macro(dimension.threads) && dimension.elements != dimension.threads)
        lines.push_back(fmt::format("{} % {} == 0  # a thread's elements", dimension.elements, dimension.threads));
    for (const auto& [name, values] : params_) {
      const std::string plain = name.starts_with("$") ? name.substr(1) : name;
      if (!request_->for_gpu && is_thread_count(plain))
        lines.push_back(fmt::format("{} <= device.cores  # threads beyond the cores wait for each other", plain));
    }
    for (const Assertion& assertion : source_->assertions) {
      const bool of_params = std::ranges::any_of(assertion.condition, [&](const Token& token) {
        return has_macro(token.text) || source_->constants.contains(token.text);
      });
      const auto condition = of_params ? indexing_.expression(assertion.condition) : std::nullopt;
      const bool compares = condition && condition->find_first_of("=<>") != std::string::npos &&
                            (is_gemm_ || condition->find('\'') == std::string::npos);  // a type of the problem
      if (compares && std::ranges::any_of(params_, [&](const auto& each) { return mentions(*condition, each.first); }))
        lines.push_back(
            fmt::format("{}  # {}", *condition, assertion.because.empty() ? "a static_assert" : assertion.because));
    }
  }

  void write_constraints() {
    if (constraints_.empty()) return;
    line("constraints:");
    for (const std::string& each : constraints_) line("  - {}", each);
  }

  const KernelSource* source_;
  const Kernel* kernel_;
  const DraftRequest* request_;
  Indexing indexing_;
  std::vector<const KernelArgument*> buffers_;
  std::vector<std::string> sizes_;   ///< in the order of the arguments
  std::vector<std::string> counts_;  ///< of a GEMM, those of `sizes_` that are none of its sizes
  bool is_gemm_ = false;
  std::vector<std::string> block_;             ///< expressions
  std::vector<std::string> run_time_threads_;  ///< parameters without a macro
  bool block_is_guess_ = false;
  bool without_conditional_ = false;                         ///< arguments that stand in `#if`
  std::vector<std::pair<std::string, std::string>> params_;  ///< names and values
  std::vector<std::string> constraints_;                     ///< with their comments
  Draft draft_;
};

}  // namespace

Draft draft_tuning_file(const KernelSource& source, const Kernel& kernel, const DraftRequest& request) {
  return Writer(source, kernel, request).write();
}

}  // namespace tune::commands
