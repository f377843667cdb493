#include <fmt/ranges.h>

#include <algorithm>

#include "commands/init/draft_writer.h"
#include "model/values/text.h"

namespace tune::commands {

int DraftWriter::dimensions_of(const Indexing& indexing) {
  int used = 1;
  for (int d = 0; d < 3; ++d) {
    const Indexing::Dimension& dimension = indexing.dimensions()[static_cast<std::size_t>(d)];
    if (dimension.has_threads || dimension.has_blocks) used = d + 1;
  }
  return used;
}

std::string DraftWriter::macro_of_threads(int dimension, int used) const {
  const char axis = "xyz"[dimension];
  for (const BuildMacro& macro : source_->macros) {
    const std::string text = lower_case(macro.name);
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

bool DraftWriter::loops_over_threads(std::size_t i) const {
  const Tokens& body = kernel_->body;
  for (; i > 0 && !body[i].is("for") && !body[i].is("{") && !body[i].is("}"); --i)
    if (body[i].is("threadIdx")) return true;
  return false;
}

void DraftWriter::choose_block() {
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

std::string DraftWriter::bounds_text() const {
  const Tokens& bounds = kernel_->launch_bounds;
  int depth = 0;
  const auto end = std::ranges::find_if(bounds, [&](const Token& token) {
    depth += token.is("(") ? 1 : token.is(")") ? -1 : 0;
    return depth == 0 && token.is(",");
  });
  return indexing_.expression(Tokens(bounds.begin(), end)).value_or("");
}

std::string DraftWriter::grid_of(const Indexing::Dimension& dimension, int d, const std::string& threads) const {
  if (!dimension.has_blocks) return "1";
  std::string size = dimension.size;
  if (size.empty()) {
    const auto at =
        sizes_.size() - 1 - std::min<std::size_t>(static_cast<std::size_t>(d), sizes_.empty() ? 0 : sizes_.size() - 1);
    size = sizes_.empty() ? "n" : sizes_[at];
  }
  if (is_gemm_ && size.size() > 1)  // no size of the product: the order of its tiles is the kernel's own
    return d > 0 ? "1" : has_macro("BM") && has_macro("BN") ? "ceil_div(m, BM)*ceil_div(n, BN)" : "m";
  if (is_gemm_) size = lower_case(size);
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

std::string DraftWriter::quoted(const std::vector<std::string>& expressions) {
  std::vector<std::string> texts;
  for (const std::string& each : expressions)
    texts.push_back(each.find(',') == std::string::npos ? each : "\"" + each + "\"");
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string DraftWriter::argument_text(const KernelArgument& argument) const {
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
    value = is_gemm_ ? lower_case(argument.name) : sizes_.empty() ? "1" : sizes_.back();
    if (is_gemm_ && value != "lda" && value != "ldb" && value != "ldc") value = "n";
  } else if (is_gemm_ && (lower_case(value) == "alpha" || lower_case(value) == "beta")) {
    return lower_case(value);
  } else if (type[0] == 'f') {
    return fmt::format("{{{}: 1.0}}", type);
  } else if (is_gemm_) {
    value = lower_case(value);
  }
  return type == "i32" ? value : fmt::format("{{{}: {}}}", type, value);
}

bool DraftWriter::is_count_of_threads(const KernelArgument& argument) const {
  return !argument.is_pointer && source_->counts_threads(argument.name);
}

std::string DraftWriter::arguments(const Kernel& kernel, const std::string& threads) const {
  std::vector<std::string> texts;
  for (const KernelArgument& argument : kernel.arguments)
    if (argument.condition.empty() || !without_conditional_)
      texts.push_back(is_count_of_threads(argument) ? threads : argument_text(argument));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

void DraftWriter::write_launch() {
  if (!request_->for_gpu) {
    line("launch:");
    write_arguments("  args: " + arguments(*kernel_));
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

void DraftWriter::write_one_launch() {
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
  write_arguments("  args: " + arguments(*kernel_));
  for (const KernelArgument& argument : kernel_->arguments)
    if (is_workspace(argument) && !without_conditional_)
      guessed("  workspace: " + workspace_bytes(), "the bytes that it needs");
}

void DraftWriter::write_shared() {
  const Tokens& body = kernel_->body;
  for (std::size_t i = 0; i + 1 < body.size(); ++i) {
    if (!body[i].is("extern") || !body[i + 1].is("__shared__")) continue;
    const bool is_double = std::any_of(body.begin() + static_cast<std::ptrdiff_t>(i), body.end(),
                                       [](const Token& token) { return token.is("double"); });
    return guessed(fmt::format("  shared: {}*{}", is_double ? 8 : 4, fmt::join(block_, "*")),
                   "an element of dynamic shared memory for each thread");
  }
}

void DraftWriter::write_arguments(const std::string& text) {
  std::vector<std::string> guesses;
  for (const KernelArgument& argument : kernel_->arguments) {
    const bool is_factor = is_gemm_ && (lower_case(argument.name) == "alpha" || lower_case(argument.name) == "beta");
    const bool is_real = !argument.is_pointer && scalar_of(argument.type)[0] == 'f' && !is_factor;
    if (is_real || argument.is_tensor_map || (!argument.is_pointer && is_leading_dimension(argument.name) && !is_gemm_))
      guesses.push_back(argument.name);
  }
  if (guesses.empty()) return line("{}", text);
  guessed(text, fmt::format("what {} {}", fmt::join(guesses, ", "), guesses.size() == 1 ? "is" : "are"));
}

std::string DraftWriter::workspace_bytes() const {
  return is_gemm_ ? "4*m*n" : sizes_.empty() ? "1048576" : fmt::format("4*{}", fmt::join(sizes_, "*"));
}

}  // namespace tune::commands
