#include "config/shapes/foreign_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "config/shapes/gemm_call.h"
#include "model/values/error.h"
#include "model/values/escaped_text.h"
#include "model/values/text.h"

namespace tune::config {
namespace {

constexpr std::int64_t kMostOfSize = std::numeric_limits<std::int32_t>::max();

/// Adds up the calls of equal shapes.
class ShapeCounter {
 public:
  explicit ShapeCounter(const std::filesystem::path& path)
      : file_(std::make_shared<const std::string>(path.string())) {}

  Place place(int line) const { return {file_, line, 1}; }

  /// `calls`: unset if the entry only names the shape, however often it does.
  void add(std::vector<Setting> settings, std::optional<double> calls, int line) {
    Shape shape{place(line), std::move(settings), {}, calls.value_or(1)};
    shape.places.assign(shape.settings.size(), shape.place);
    const auto [known, is_new] = index_.emplace(to_text(shape), list.shapes.size());
    if (is_new)
      list.shapes.push_back(std::move(shape));
    else
      list.shapes[known->second].calls += calls.value_or(0);
  }

  ShapeList list{{}, true, {}};

 private:
  std::shared_ptr<const std::string> file_;
  std::unordered_map<std::string, std::size_t> index_;
};

template <class Take>
void for_each_line(std::string_view text, const Take& take) {
  int number = 0;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    take(line, ++number);
  }
}

[[noreturn]] void refuse_shapes(const Place& place, const std::string& why) {
  throw Error(ExitCode::bad_input, fmt::format("{}: {}", to_text(place), why));
}

/// The words of a line, without blanks and quotes around them.
std::vector<std::string> cells_of(std::string_view line, char separator) {
  std::vector<std::string> cells;
  const auto strip = [](std::string_view cell) {
    constexpr std::string_view kAround = " \t\"'";
    const auto begin = cell.find_first_not_of(kAround);
    if (begin == std::string_view::npos) return std::string();
    return std::string(cell.substr(begin, cell.find_last_not_of(kAround) + 1 - begin));
  };
  for (std::size_t begin = 0; begin <= line.size();) {
    const auto end = std::min(line.find(separator, begin), line.size());
    std::string cell = strip(line.substr(begin, end - begin));
    if (separator != ' ' || !cell.empty()) cells.push_back(std::move(cell));
    begin = end + 1;
  }
  return cells;
}

char separator_of(std::string_view header) {
  for (const char separator : {',', ';', '\t'})
    if (header.find(separator) != std::string_view::npos) return separator;
  return ' ';
}

/// PyTorch's name of an element type, as aiter writes it: `torch.bfloat16`, or `dtypes.bf16`.
std::optional<Type> type_of_torch(const std::string& text) {
  constexpr std::pair<std::string_view, Type> kNames[] = {
      {"torch.float64", Type::f64},      {"torch.float32", Type::f32},          {"torch.float16", Type::f16},
      {"torch.bfloat16", Type::bf16},    {"torch.float8_e4m3fn", Type::e4m3},   {"torch.float8_e4m3fnuz", Type::e4m3},
      {"torch.float8_e5m2", Type::e5m2}, {"torch.float8_e5m2fnuz", Type::e5m2}, {"torch.int8", Type::s8},
      {"torch.int32", Type::s32},        {"dtypes.bf16", Type::bf16},           {"dtypes.fp16", Type::f16},
      {"dtypes.fp8", Type::e4m3}};
  const auto* found = std::ranges::find(kNames, text, &std::pair<std::string_view, Type>::first);
  return found == std::end(kNames) ? std::nullopt : std::optional(found->second);
}

/// The scales of aiter's `q_type`, `QuantType.per_Token` and the like: `scale_a` and `scale_b`, both empty if elements
/// have none; nullopt: others.
std::optional<std::pair<const char*, const char*>> scales_of_aiter(const std::string& text) {
  const std::string name = text.substr(text.find('.') + 1);
  if (name == "No") return std::pair("", "");
  if (name == "per_Tensor") return std::pair("tensor", "tensor");
  if (name == "per_Token") return std::pair("row", "col");
  if (name == "per_1x128" || name == "per_128x128") return std::pair("1x128", "128x128");
  return std::nullopt;
}

/// What the columns of a table are. Those behind the types are of aiter's tables of experts, each row of which is two
/// products.
struct TableColumns {
  std::optional<std::size_t> m, n, k, batch, calls, type, type_of_c;
  std::optional<std::size_t> token, model_dim, inter_dim, expert, topk, has_gate, quantised, quantisation;
  bool of_devices = false;  ///< a row for each device, so that the same shape several times is no call
  std::vector<std::string> ignored;

  explicit TableColumns(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string name = lower_case(names[i]);
      std::optional<std::size_t>* column = target(name);
      if (name == "gfx" || name == "cu_num") of_devices = true;
      if (column != nullptr && !*column)
        *column = i;
      else
        ignored.push_back(names[i]);
    }
  }

  bool is_of_experts() const { return token && model_dim && inter_dim && expert && topk; }
  bool any_size() const { return m || n || k || is_of_experts(); }

 private:
  std::optional<std::size_t>* target(const std::string& name) {
    if (name == "m") return &m;
    if (name == "n") return &n;
    if (name == "k") return &k;
    if (name == "b" || name == "batch" || name == "batch_count") return &batch;
    if (name == "calls" || name == "count" || name == "call_count" || name == "weight") return &calls;
    if (name == "q_dtype_w" && type) return &quantised;  // behind the type of what is not quantised
    if (name == "dtype" || name == "q_dtype_w") return &type;
    const std::pair<const char*, std::optional<std::size_t>*> of_experts[] = {
        {"token", &token}, {"model_dim", &model_dim}, {"inter_dim", &inter_dim}, {"expert", &expert},
        {"topk", &topk},   {"use_g1u1", &has_gate},   {"q_type", &quantisation}};
    for (const auto& [of, column] : of_experts)
      if (name == of) return column;
    return name == "outdtype" ? &type_of_c : nullptr;
  }
};

/// Reads the rows of a table.
class TableReader {
 public:
  TableReader(const std::filesystem::path& path, TableColumns columns, std::size_t width, char separator)
      : counter(path), columns_(std::move(columns)), width_(width), separator_(separator) {}

  void read(std::string_view line, int number) {
    const std::vector<std::string> cells = cells_of(line, separator_);
    place_ = counter.place(number);
    if (cells.size() != width_)
      refuse_shapes(place_, fmt::format("the row has {} columns, and the first line names {}", cells.size(), width_));
    if (columns_.is_of_experts()) return read_experts(cells, number);
    std::vector<Setting> settings = {{"M", size(cells[*columns_.m], "M")},
                                     {"N", size(cells[*columns_.n], "N")},
                                     {"K", size(cells[*columns_.k], "K")}};
    if (columns_.batch)
      if (const std::int64_t batch = size(cells[*columns_.batch], "the batch"); batch != 1)
        settings.push_back({"batch", batch});
    if (!add_types(cells, settings)) {
      ++unreadable;
      return;
    }
    counter.add(std::move(settings), calls_of(cells), number);
  }

  ShapeCounter counter;
  std::int64_t unreadable = 0;

 private:
  std::int64_t size(const std::string& cell, const char* what) const {
    const auto number = number_from<std::int64_t>(cell);
    if (number && *number >= 1 && *number <= kMostOfSize) return *number;
    refuse_shapes(place_, fmt::format("{} is '{}'; it must be a whole number from 1 to {}", what,
                                      line_with_escapes(cell), kMostOfSize));
  }

  /// The products that lead into the experts and out of them: each token is a row of `topk` of them.
  void read_experts(const std::vector<std::string>& cells, int number) {
    const auto cell = [&](std::optional<std::size_t> column) { return column ? cells[*column] : std::string(); };
    const std::int64_t tokens = size(cell(columns_.token), "token"), topk = size(cell(columns_.topk), "topk");
    const std::int64_t outer = size(cell(columns_.model_dim), "model_dim");
    const std::int64_t inner = size(cell(columns_.inter_dim), "inter_dim");
    const std::int64_t groups = size(cell(columns_.expert), "expert");
    const bool gate = cell(columns_.has_gate) == "1" || lower_case(cell(columns_.has_gate)) == "true";
    if (tokens > kMostOfSize / topk || inner > kMostOfSize / 2)
      refuse_shapes(place_, fmt::format("the experts have more than {} rows or columns", kMostOfSize));
    const auto scales = columns_.quantisation ? scales_of_aiter(cell(columns_.quantisation)) : std::pair("", "");
    std::vector<Setting> kind = {{"groups", groups}};
    const bool has_scales = scales && *scales->first != '\0';
    const auto given = type_of_torch(cell(columns_.type)),
               type = has_scales ? type_of_torch(cell(columns_.quantised)) : given;
    if ((columns_.type && (!given || !type)) || !scales) {
      unreadable += 2;
      return;
    }
    if (given) {
      for (const char* name : {"a", "b"}) kind.push_back({name, std::string(to_text(*type))});
      kind.push_back({"c", std::string(to_text(*given))});
    }
    if (has_scales)
      kind.insert(kind.end(), {{"scale_a", std::string(scales->first)}, {"scale_b", std::string(scales->second)}});
    for (const auto& [n, k] : {std::pair(gate ? 2 * inner : inner, outer), {outer, inner}}) {
      std::vector<Setting> settings = {{"M", tokens * topk}, {"N", n}, {"K", k}};
      settings.insert(settings.end(), kind.begin(), kind.end());
      counter.add(std::move(settings), calls_of(cells), number);
    }
  }

  std::optional<double> calls_of(const std::vector<std::string>& cells) const {
    if (columns_.calls) return calls_in(cells[*columns_.calls]);
    return columns_.of_devices ? std::nullopt : std::optional(1.0);
  }

  double calls_in(const std::string& cell) const {
    const auto number = number_from<double>(cell);
    if (number && *number > 0 && std::isfinite(*number)) return *number;
    refuse_shapes(place_, fmt::format("the number of calls is '{}'; it must be positive", line_with_escapes(cell)));
  }

  bool add_types(const std::vector<std::string>& cells, std::vector<Setting>& settings) const {
    const auto add = [&](std::optional<std::size_t> column, std::initializer_list<const char*> names) {
      if (!column) return true;
      const auto type = type_of_torch(cells[*column]);
      for (const char* name : names)
        if (type) settings.push_back({name, std::string(to_text(*type))});
      return type.has_value();
    };
    return add(columns_.type, {"a", "b"}) && add(columns_.type_of_c, {"c"});
  }

  TableColumns columns_;
  std::size_t width_;
  char separator_;
  Place place_;
};

void warn_of_unreadable(ShapeList& list, const std::filesystem::path& path, std::int64_t count) {
  if (count > 0)
    list.warnings.push_back(fmt::format("{}: {} GEMM{} left out, whose types or orders a shape cannot say",
                                        path.string(), count, count == 1 ? " is" : "s are"));
}

}  // namespace

std::optional<ShapeList> shapes_of_log(std::string_view text, const std::filesystem::path& path) {
  ShapeCounter counter(path);
  std::int64_t unreadable = 0;
  bool is_log = false;
  for_each_line(text, [&](std::string_view line, int number) {
    const LogLine read = read_log_line(line);
    if (read.kind == LogLine::Kind::call) counter.add(settings_of(read.call), read.call.calls, number);
    if (read.kind == LogLine::Kind::unreadable) ++unreadable;
    is_log = is_log || read.kind != LogLine::Kind::other;
  });
  if (!is_log) return std::nullopt;
  if (counter.list.shapes.empty())
    throw Error(ExitCode::bad_input,
                fmt::format("{}: the log has no GEMM that could be tuned{}; a program logs them if it runs with "
                            "CUBLASLT_LOG_LEVEL=2, or HIPBLASLT_LOG_LEVEL=2 on AMD",
                            path.string(), unreadable == 0 ? "" : fmt::format(" ({} are of other types)", unreadable)));
  warn_of_unreadable(counter.list, path, unreadable);
  return std::move(counter.list);
}

std::optional<ShapeList> shapes_of_table(std::string_view text, const std::filesystem::path& path) {
  std::optional<TableReader> reader;
  bool is_other = false;
  std::vector<std::string> ignored;
  for_each_line(text, [&](std::string_view line, int number) {
    const auto begin = line.find_first_not_of(" \t");
    if (is_other || begin == std::string_view::npos || line[begin] == '#') return;
    if (reader) return reader->read(line, number);
    const char separator = separator_of(line);
    const std::vector<std::string> names = cells_of(line, separator);
    TableColumns columns(names);
    is_other = !columns.any_size() || names.size() < 3;
    if (is_other) return;
    for (const auto& [column, name] : {std::pair{columns.m, "M"}, {columns.n, "N"}, {columns.k, "K"}})
      if (!column && !columns.is_of_experts())
        refuse_shapes({std::make_shared<const std::string>(path.string()), number, 1},
                      fmt::format("the table has no column {}; its first line must name M, N and K", name));
    const bool of_aiter = columns.of_devices || columns.type;
    if (!of_aiter) ignored = columns.ignored;
    reader.emplace(path, std::move(columns), names.size(), separator);
  });
  if (!reader) return std::nullopt;
  ShapeList& list = reader->counter.list;
  if (list.shapes.empty())
    throw Error(ExitCode::bad_input, path.string() + ": the table has no row that could be tuned");
  if (!ignored.empty())
    list.warnings.push_back(fmt::format("{}: the column{} {} {} ignored; M, N, K, batch and calls are read",
                                        path.string(), ignored.size() == 1 ? "" : "s",
                                        line_with_escapes(fmt::format("{}", fmt::join(ignored, ", "))),
                                        ignored.size() == 1 ? "is" : "are"));
  warn_of_unreadable(list, path, reader->unreadable);
  return std::move(list);
}

std::optional<ShapeList> shapes_of_vllm(const Node& root, const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (!root.is_mapping() || path.extension() != ".json" || name.find("device_name=") == std::string::npos)
    return std::nullopt;
  std::optional<std::int64_t> n, k, experts;
  for (const std::string& word : cells_of(name, ',')) {
    if (word.starts_with("N=")) n = number_from<std::int64_t>(word.substr(2));
    if (word.starts_with("K=")) k = number_from<std::int64_t>(word.substr(2));
    if (word.starts_with("E=")) experts = number_from<std::int64_t>(word.substr(2));
  }
  const bool of_experts = experts && *experts >= 1;
  if (!n || *n < 1 || *n > kMostOfSize / 2 || (!of_experts && (!k || *k < 1)))
    throw Error(
        ExitCode::bad_input,
        fmt::format("{}: the name does not say N and K, as N=1024,K=2048,device_name=....json does, or E and N, "
                    "as E=8,N=1024,device_name=....json does",
                    path.string()));
  ShapeCounter counter(path);
  for (const Entry& entry : root.entries)
    if (const auto m = number_from<std::int64_t>(entry.key.text); m && *m >= 1) {
      std::vector<Setting> settings = {{"M", *m}, {"N", of_experts ? 2 * *n : *n}};
      if (of_experts)  // the file tells no K
        settings.push_back({"groups", *experts});
      else
        settings.push_back({"K", *k});
      counter.add(std::move(settings), std::nullopt, entry.key.place.line);
    }
  if (counter.list.shapes.empty())
    throw Error(ExitCode::bad_input, path.string() + ": there is no value of M among the keys");
  return std::move(counter.list);
}

}  // namespace tune::config
