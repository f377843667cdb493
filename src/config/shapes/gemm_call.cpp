#include "config/shapes/gemm_call.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <map>
#include <utility>

#include "model/values/text.h"

namespace tune::config {
namespace {

using NamedTexts = std::map<std::string, std::string, std::less<>>;

constexpr std::int64_t kMostRows = std::numeric_limits<std::int32_t>::max();

/// The names of element types in cuBLASLt's and hipBLASLt's logs, in hipblaslt-bench and in PyTorch.
std::optional<Type> type_of_library(std::string_view name) {
  constexpr std::pair<std::string_view, Type> kNames[] = {
      {"R_64F", Type::f64},        {"R_32F", Type::f32},           {"R_16F", Type::f16},
      {"R_16BF", Type::bf16},      {"R_8F_E4M3", Type::e4m3},      {"R_8F_E4M3_FNUZ", Type::e4m3},
      {"R_8F_E5M2", Type::e5m2},   {"R_8F_E5M2_FNUZ", Type::e5m2}, {"R_8I", Type::s8},
      {"R_32I", Type::s32},        {"f64_r", Type::f64},           {"f32_r", Type::f32},
      {"f16_r", Type::f16},        {"bf16_r", Type::bf16},         {"f8_r", Type::e4m3},
      {"f8_fnuz_r", Type::e4m3},   {"bf8_r", Type::e5m2},          {"bf8_fnuz_r", Type::e5m2},
      {"i8_r", Type::s8},          {"i32_r", Type::s32},           {"double", Type::f64},
      {"float", Type::f32},        {"tf32", Type::tf32},           {"Half", Type::f16},
      {"BFloat16", Type::bf16},    {"Float8_e4m3fn", Type::e4m3},  {"Float8_e4m3fnuz", Type::e4m3},
      {"Float8_e5m2", Type::e5m2}, {"Float8_e5m2fnuz", Type::e5m2}};
  const auto* found = std::ranges::find(kNames, name, &std::pair<std::string_view, Type>::first);
  return found == std::end(kNames) ? std::nullopt : std::optional(found->second);
}

std::string_view named_text(const NamedTexts& fields, std::string_view key) {
  const auto found = fields.find(key);
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<std::int64_t> size_in(std::string_view text) {
  const auto number = number_from<std::int64_t>(text);
  return number && *number >= 1 && *number <= kMostRows ? number : std::nullopt;
}

bool is_transposed(std::string_view op) {
  constexpr std::array<std::string_view, 4> kOps = {"OP_T", "OP_C", "T", "t"};
  return std::ranges::find(kOps, op) != kOps.end();
}

// Only the inputs are rounded to tf32.
void take_fast_type(std::string_view compute, GemmCall& call) {
  const bool fast = compute.find("TF32") != std::string_view::npos || compute.find("xf32") != std::string_view::npos;
  for (Type* type : {&call.a, &call.b})
    if (fast && *type == Type::f32) *type = Type::tf32;
}

/// `type=R_16F rows=64` as fields, their names in small letters.
NamedTexts named_texts(std::string_view text) {
  NamedTexts fields;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (const auto equals = word.find('='); equals != std::string_view::npos)
      fields[lower_case(word.substr(0, equals))] = std::string(word.substr(equals + 1));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return fields;
}

/// What stands in the brackets behind `name=`.
std::optional<NamedTexts> descriptor(std::string_view line, std::string_view name) {
  const auto begin = line.find(std::string(name) + "=[");
  if (begin == std::string_view::npos) return std::nullopt;
  const auto inside = begin + name.size() + 2;
  const auto end = line.find(']', inside);
  if (end == std::string_view::npos) return std::nullopt;
  return named_texts(line.substr(inside, end - inside));
}

struct LoggedMatrix {
  std::int64_t rows = 0, cols = 0, batch = 1;
  Type type = Type::f32;
};

std::optional<LoggedMatrix> logged_matrix(std::string_view line, std::string_view name) {
  const auto fields = descriptor(line, name);
  if (!fields) return std::nullopt;
  const auto rows = size_in(named_text(*fields, "rows")), cols = size_in(named_text(*fields, "cols"));
  const auto type = type_of_library(named_text(*fields, "type"));
  const std::string_view order = named_text(*fields, "order");
  const bool in_columns = order.empty() || order.ends_with("COL");
  if (!rows || !cols || !type || !in_columns) return std::nullopt;
  const std::string_view batch = named_text(*fields, "batchcount");
  return LoggedMatrix{*rows, *cols, batch.empty() ? 1 : size_in(batch).value_or(0), *type};
}

std::optional<GemmCall> traced_call(std::string_view line) {
  const auto a = logged_matrix(line, "Adesc"), b = logged_matrix(line, "Bdesc"), d = logged_matrix(line, "Ddesc");
  const auto compute = descriptor(line, "computeDesc");
  if (!a || !b || !d || !compute) return std::nullopt;
  GemmCall call;
  call.m = d->rows, call.n = d->cols, call.batch = a->batch;
  call.transposed_a = is_transposed(named_text(*compute, "transa"));
  call.transposed_b = is_transposed(named_text(*compute, "transb"));
  call.k = call.transposed_a ? a->rows : a->cols;
  const bool agree = (call.transposed_a ? a->cols : a->rows) == call.m &&
                     (call.transposed_b ? b->rows : b->cols) == call.n &&
                     (call.transposed_b ? b->cols : b->rows) == call.k && b->batch == a->batch && d->batch == a->batch;
  if (!agree || call.batch == 0) return std::nullopt;
  call.a = a->type, call.b = b->type, call.c = d->type;
  take_fast_type(named_text(*compute, "computetype"), call);
  call.calls = 1;
  return call;
}

/// The options of hipblaslt-bench by their names, and the entries of a profile by theirs.
std::optional<GemmCall> call_of(const NamedTexts& fields, const char* m, const char* n, const char* k) {
  const auto rows = size_in(named_text(fields, m)), cols = size_in(named_text(fields, n)),
             depth = size_in(named_text(fields, k));
  const std::string_view batch = named_text(fields, "batch_count");
  const auto batches = batch.empty() ? 1 : size_in(batch);
  const auto a = type_of_library(named_text(fields, "a_type")), b = type_of_library(named_text(fields, "b_type")),
             d = type_of_library(named_text(fields, "d_type"));
  if (!rows || !cols || !depth || !batches || !a || !b || !d) return std::nullopt;
  GemmCall call;
  call.m = *rows, call.n = *cols, call.k = *depth, call.batch = *batches;
  call.transposed_a = is_transposed(named_text(fields, "transA"));
  call.transposed_b = is_transposed(named_text(fields, "transB"));
  call.a = *a, call.b = *b, call.c = *d;
  take_fast_type(named_text(fields, "compute_type"), call);
  call.calls = 1;
  if (const auto count = size_in(named_text(fields, "call_count"))) call.calls = static_cast<double>(*count);
  return call;
}

std::optional<GemmCall> bench_call(std::string_view line) {
  NamedTexts fields;
  std::string option;
  while (!line.empty()) {
    const std::string word(line.substr(0, line.find(' ')));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    if (word.starts_with('-') && word.size() > 1 && std::isdigit(static_cast<unsigned char>(word[1])) == 0)
      option = word.substr(word.find_first_not_of('-'));
    else if (!word.empty() && !option.empty())
      fields[std::exchange(option, "")] = word;
  }
  return call_of(fields, "m", "n", "k");
}

std::optional<GemmCall> profiled_call(std::string_view line) {
  NamedTexts fields;
  const auto is_blank = [](char c) { return c == ' ' || c == '{' || c == '}' || c == '\''; };
  const auto trimmed = [&](std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return std::string(text);
  };
  line.remove_prefix(line.find('{'));
  while (!line.empty()) {
    const std::string_view entry = line.substr(0, line.find(','));
    if (const auto colon = entry.find(':'); colon != std::string_view::npos)
      fields[trimmed(entry.substr(0, colon))] = trimmed(entry.substr(colon + 1));
    line.remove_prefix(std::min(entry.size() + 1, line.size()));
  }
  return call_of(fields, "M", "N", "K");
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// The types in `BFloat16` or `Float8_e4m3fn_Float8_e4m3fn_BFloat16`: of A, B and C, or one of all.
bool take_types(std::string_view text, GemmCall& call) {
  std::vector<Type> types;
  std::string name;
  for (const std::string_view part : split_at(text, '_')) {
    name += (name.empty() ? "" : "_") + std::string(part);
    if (const auto type = type_of_library(name)) {
      types.push_back(*type);
      name.clear();
    }
  }
  if (!name.empty() || (types.size() != 1 && types.size() != 3)) return false;
  call.a = types.front(), call.b = types[types.size() / 2], call.c = types.back();
  if (call.c == Type::tf32) call.c = Type::f32;
  return true;
}

/// `GemmTunableOp_float_NT,nt_64_32_16[_B_8][_ld_...],...`
std::optional<GemmCall> tuned_call(std::string_view line) {
  const std::vector<std::string_view> columns = split_at(line, ',');
  const auto begin = line.find("TunableOp_") + std::string_view("TunableOp_").size();
  const auto layout = columns[0].rfind('_');
  if (columns.size() < 2 || layout < begin || columns[0].size() != layout + 3) return std::nullopt;
  const std::vector<std::string_view> sizes = split_at(columns[1], '_');
  if (sizes.size() < 4) return std::nullopt;
  const auto m = size_in(sizes[1]), n = size_in(sizes[2]), k = size_in(sizes[3]);
  GemmCall call;
  if (!m || !n || !k || !take_types(columns[0].substr(begin, layout - begin), call)) return std::nullopt;
  call.m = *m, call.n = *n, call.k = *k;
  call.transposed_a = columns[0][layout + 1] == 'T';
  call.transposed_b = columns[0][layout + 2] == 'T';
  if (sizes.size() > 5 && sizes[4] == "B") call.batch = size_in(sizes[5]).value_or(0);
  return call.batch == 0 ? std::nullopt : std::optional(call);
}

LogLine line_with(std::optional<GemmCall> call) {
  return call ? LogLine{LogLine::Kind::call, *call} : LogLine{LogLine::Kind::unreadable, {}};
}

bool mentions(std::string_view line, std::string_view text) { return line.find(text) != std::string_view::npos; }

bool is_trace(std::string_view line) {
  return mentions(line, "[Trace][") && (mentions(line, "atmul]")) && mentions(line, "Adesc=[");
}

bool is_tuned(std::string_view line) {
  return (line.starts_with("Gemm") || line.starts_with("ScaledGemm")) && mentions(line, "TunableOp_") &&
         mentions(line, ",");
}

}  // namespace

std::vector<Setting> settings_of(const GemmCall& call) {
  const auto text = [](Type type) { return std::string(to_text(type)); };
  std::vector<Setting> settings = {{"M", call.n},
                                   {"N", call.m},
                                   {"K", call.k},
                                   {"rowMajorA", std::string(call.transposed_b ? "N" : "T")},
                                   {"rowMajorB", std::string(call.transposed_a ? "N" : "T")},
                                   {"a", text(call.b)},
                                   {"b", text(call.a)},
                                   {"c", text(call.c)}};
  if (call.batch != 1) settings.push_back({"batch", call.batch});
  return settings;
}

LogLine read_log_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (is_trace(line)) return line_with(traced_call(line));
  if (mentions(line, "[cublasLt]") || mentions(line, "[HIPBLASLT]")) return {LogLine::Kind::library, {}};
  if (const auto bench = line.find("hipblaslt-bench "); bench != std::string_view::npos)
    return mentions(line, " -m ") ? line_with(bench_call(line.substr(bench))) : LogLine{LogLine::Kind::library, {}};
  if (mentions(line, "function: matmul,") && mentions(line, "{")) return line_with(profiled_call(line));
  if (is_tuned(line)) return line_with(tuned_call(line));
  if (line.starts_with("Validator,")) return {LogLine::Kind::library, {}};
  return {};
}

}  // namespace tune::config
