#include "config/shapes/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "config/shapes/gemm_call.h"
#include "model/values/error.h"
#include "model/values/escaped_text.h"

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

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
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

/// PyTorch's name of an element type, as aiter writes it: `torch.bfloat16`.
std::optional<Type> type_of_torch(const std::string& text) {
  constexpr std::pair<std::string_view, Type> kNames[] = {
      {"torch.float64", Type::f64},      {"torch.float32", Type::f32},          {"torch.float16", Type::f16},
      {"torch.bfloat16", Type::bf16},    {"torch.float8_e4m3fn", Type::e4m3},   {"torch.float8_e4m3fnuz", Type::e4m3},
      {"torch.float8_e5m2", Type::e5m2}, {"torch.float8_e5m2fnuz", Type::e5m2}, {"torch.int8", Type::s8},
      {"torch.int32", Type::s32}};
  const auto* found = std::ranges::find(kNames, text, &std::pair<std::string_view, Type>::first);
  return found == std::end(kNames) ? std::nullopt : std::optional(found->second);
}

/// What the columns of a table are.
struct TableColumns {
  std::optional<std::size_t> m, n, k, batch, calls, type, type_of_c;
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

  bool any_size() const { return m || n || k; }

 private:
  std::optional<std::size_t>* target(const std::string& name) {
    if (name == "m") return &m;
    if (name == "n") return &n;
    if (name == "k") return &k;
    if (name == "b" || name == "batch" || name == "batch_count") return &batch;
    if (name == "calls" || name == "count" || name == "call_count" || name == "weight") return &calls;
    if (name == "dtype" || name == "q_dtype_w") return &type;
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
    std::optional<double> calls = columns_.of_devices ? std::nullopt : std::optional(1.0);
    if (columns_.calls) calls = calls_in(cells[*columns_.calls]);
    counter.add(std::move(settings), calls, number);
  }

  ShapeCounter counter;
  std::int64_t unreadable = 0;

 private:
  std::int64_t size(const std::string& cell, const char* what) const {
    const auto number = number_of<std::int64_t>(cell);
    if (number && *number >= 1 && *number <= kMostOfSize) return *number;
    refuse_shapes(place_, fmt::format("{} is '{}'; it must be a whole number from 1 to {}", what,
                                      line_with_escapes(cell), kMostOfSize));
  }

  double calls_in(const std::string& cell) const {
    const auto number = number_of<double>(cell);
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
      if (!column)
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
  std::optional<std::int64_t> n, k;
  for (const std::string& word : cells_of(name, ',')) {
    if (word.starts_with("N=")) n = number_of<std::int64_t>(word.substr(2));
    if (word.starts_with("K=")) k = number_of<std::int64_t>(word.substr(2));
  }
  if (!n || !k || *n < 1 || *k < 1)
    throw Error(ExitCode::bad_input,
                fmt::format("{}: the name does not say N and K, as N=1024,K=2048,device_name=....json does; files of "
                            "fused experts (E=...) do not tell them",
                            path.string()));
  ShapeCounter counter(path);
  for (const Entry& entry : root.entries)
    if (const auto m = number_of<std::int64_t>(entry.key.text); m && *m >= 1)
      counter.add({{"M", *m}, {"N", *n}, {"K", *k}}, std::nullopt, entry.key.place.line);
  if (counter.list.shapes.empty())
    throw Error(ExitCode::bad_input, path.string() + ": there is no value of M among the keys");
  return std::move(counter.list);
}

}  // namespace tune::config
