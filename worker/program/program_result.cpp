#include "program/program_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "model/values/text.h"
#include "program/google_benchmark.h"
#include "wire/json.h"
#include "wire/messages.h"

namespace tune::worker {
namespace {

using nlohmann::json;
using wire::Malformed;

constexpr std::size_t kLongestJsonLine = 1 << 20;  // of a program's output, as platform/process/child.cpp reads it

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (const auto line = trimmed(text.substr(0, end)); !line.empty()) lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool names_no_number(std::string_view text) {
  for (const std::string_view word : {"NaN", "nan", "Infinity", "inf"})
    for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1))
      if (at > 0 && std::string_view(": ,-[").find(text[at - 1]) != text.npos) return true;
  return false;
}

/// Why a text is not JSON, in the library's words, but without its positions and quotations.
std::string fault_of_text(std::string_view text) try {
  if (is_too_deep(text)) return "it is nested too deeply";
  return json::parse(text).is_array() ? "a list, not an object" : "not an object";
} catch (const json::exception& error) {
  const std::string_view what = error.what();
  if (what.find("UTF-8") != what.npos) return "it is not UTF-8";
  if (what.find("unexpected end of input") != what.npos || what.find("missing closing quote") != what.npos)
    return "it ends in the middle";
  if (what.find("number overflow") != what.npos) return "it has a number beyond all doubles";
  if (what.find("invalid literal") != what.npos && names_no_number(text)) return "NaN and Infinity are not JSON";
  const auto from = what.find(" - "), to = what.find("; last read");
  return from == what.npos ? "it cannot be parsed" : std::string(what.substr(from + 3, to - from - 3));
}

/// Which of two values counts, nobody says: the library takes the last one.
void refuse_repeated_keys(std::string_view text, const char* where) {
  std::set<std::string> keys;
  std::string repeated;
  const auto note = [&](int depth, json::parse_event_t event, json& value) {
    if (depth == 1 && event == json::parse_event_t::key && !keys.insert(value.get<std::string>()).second)
      repeated = value.get<std::string>();
    return true;
  };
  if (json::parse(text, note, false).is_object() && !repeated.empty())
    throw Malformed(fmt::format("the result {} has '{}' twice", where, repeated));
}

bool has_time(const json& row) { return row.is_object() && (row.contains("time") || row.contains("met (ms)")); }

json single(const std::vector<json>& rows, const char* where) {
  if (rows.size() > 1)
    throw Malformed(fmt::format("{} results {}: a program must run exactly one case", rows.size(), where));
  if (rows.empty()) throw Malformed(fmt::format("no result {}", where));
  return rows.front();
}

// --- CSV ---

// The cell that starts the line, which is cut off with its comma; doubled quotes inside a quoted cell stand for one.
std::string take_cell(std::string_view& line) {
  std::string cell;
  bool quoted = false;
  std::size_t i = 0;
  for (; i < line.size() && (quoted || line[i] != ','); ++i) {
    if (line[i] != '"') {
      cell += line[i];
    } else if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cell += line[++i];
    } else {
      quoted = !quoted;
    }
  }
  if (quoted) throw Malformed("the result file ends inside a quoted cell");
  line.remove_prefix(i);
  return std::string(trimmed(cell));
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells = {take_cell(line)};
  while (!line.empty()) {
    line.remove_prefix(1);
    cells.push_back(take_cell(line));
  }
  return cells;
}

json cell_value(const std::string& cell) {
  if (cell == "true" || cell == "True") return true;
  if (cell == "false" || cell == "False") return false;
  const auto number = number_from<double>(cell);
  return number ? json(*number) : json(cell);
}

json csv_row(const std::vector<std::string>& header, std::string_view line) {
  const auto cells = cells_of(line);
  if (cells.size() != header.size())
    throw Malformed(fmt::format("the result file has {} columns but a row with {} cells", header.size(), cells.size()));
  json row = json::object();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (row.contains(header[i])) throw Malformed("the result file has the column '" + header[i] + "' twice");
    row[header[i]] = cell_value(cells[i]);
  }
  return row;
}

// --- where the row is ---

json row_of_csv(std::string_view text) {
  const auto lines = lines_of(text);
  const auto header = cells_of(lines.front());
  std::vector<json> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) rows.push_back(csv_row(header, lines[i]));
  return single(rows, "in the result file");
}

json row_of_json(std::string_view text) {
  constexpr const char* kWhere = "in the result file";
  if (json row = parse_json(text); row.is_object()) {
    refuse_repeated_keys(text, kWhere);
    return is_google_benchmark(row) ? row_of_google_benchmark(row) : row;
  }
  std::vector<json> rows;
  for (const auto line : lines_of(text))
    if (json row = parse_json(line); row.is_object()) rows.push_back(std::move(row));
  if (rows.size() < 2) throw Malformed("the result file is not one valid JSON object: " + fault_of_text(text));
  return single(rows, kWhere);
}

json row_of_file(std::string_view file) {
  const auto text = trimmed(file);
  if (text.empty()) throw Malformed("the result file is empty");
  return text.front() == '{' || text.front() == '[' ? row_of_json(text) : row_of_csv(text);
}

// A line that looks like a result but does not parse must not make way for an older one.
void refuse_broken_row(std::string_view line) {
  if (!may_be_result(line)) return;
  if (line.size() >= kLongestJsonLine)
    throw Malformed(
        "a line of JSON on stdout is longer than 1 MiB, and is cut; write the result to the file that "
        "TUNE_RESULT names");
  throw Malformed("the result on stdout is not valid JSON: " + fault_of_text(line));
}

// For messages; a program's text need not be UTF-8, or short.
std::string quoted(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 60);
}

/// What the last line that may have been meant as the result lacks; empty if there is none.
std::string fault_of_lines(const std::vector<std::string_view>& lines) {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const json row = parse_json(*line);
    if (row.is_object()) return "the result on stdout has neither 'time' (seconds) nor 'met (ms)': " + quoted(row);
    if (row.is_array()) return "the result on stdout is a list, not an object: " + quoted(row);
    if (line->front() == '{') return "the result on stdout is not valid JSON: " + fault_of_text(*line);
  }
  return "";
}

/// Whether a line and the one after it are the header of CSV with a time, and a row.
bool is_csv(std::string_view header, std::string_view row) try {
  const auto cells = cells_of(header);
  const bool names_time = std::ranges::any_of(cells, [](const auto& c) { return c == "time" || c == "met (ms)"; });
  return names_time && cells.size() > 1 && cells_of(row).size() == cells.size();
} catch (const Malformed&) {
  return false;
}

std::optional<json> find_row(std::string_view output) {
  std::vector<json> rows;
  for (const auto line : lines_of(output)) {
    json row = parse_json(line);
    if (row.is_discarded()) refuse_broken_row(line);
    if (!has_time(row)) continue;
    refuse_repeated_keys(line, "on stdout");
    rows.push_back(std::move(row));
  }
  return rows.empty() ? std::nullopt : std::optional(single(rows, "on stdout"));
}

/// A line of JSON.
struct JsonLine {
  std::string_view line;
  json row;
};

/// The last line that is an object with anything in it.
std::optional<JsonLine> last_object(const std::vector<std::string_view>& lines) {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    if (json row = parse_json(*line); row.is_object() && !row.empty()) return JsonLine{*line, std::move(row)};
  return std::nullopt;
}

json row_of_output(std::string_view output) {
  if (auto row = find_row(output)) return *std::move(row);
  const std::string fault = fault_of_lines(lines_of(output));
  throw Malformed(fault.empty()
                      ? "the program wrote no result: neither the file named by TUNE_RESULT nor a JSON line on "
                        "stdout"
                      : fault);
}

// --- what the row says ---

double positive(const json& row, const char* key) {
  const json& value = row.at(key);
  if (!value.is_number()) throw Malformed(fmt::format("'{}' of the result is {}, not a number", key, quoted(value)));
  const double number = value.get<double>();
  if (!std::isfinite(number) || !(number > 0))
    throw Malformed(fmt::format("'{}' of the result is {}, not a finite positive number", key, number));
  return number;
}

/// Ratios of times that are no times would not be finite.
double possible_time(double seconds) {
  constexpr double kLeast = 1e-12, kMost = 1e9;
  if (seconds >= kLeast && seconds <= kMost) return seconds;
  throw Malformed(fmt::format("the result says that the time is {} seconds, and no program takes that", seconds));
}

double time_of(const json& row) {
  if (row.contains("time")) return possible_time(positive(row, "time"));
  if (row.contains("met (ms)")) return possible_time(positive(row, "met (ms)") * 1e-3);
  throw Malformed("the result has neither 'time' (seconds) nor 'met (ms)'");
}

std::int64_t iterations_of(const json& row) {
  if (!row.contains("iters")) return 1;
  const double iterations = positive(row, "iters");
  constexpr double kLargestExact = 9007199254740992;  // 2^53
  if (iterations != std::floor(iterations) || iterations > kLargestExact)
    throw Malformed(fmt::format("'iters' of the result is {}, not a count", iterations));
  return static_cast<std::int64_t>(iterations);
}

Timing timing_of(const json& row) {
  const double time = time_of(row);
  const auto optional = [&](const char* key) { return row.contains(key) ? positive(row, key) : time; };
  Timing timing;
  timing.count = iterations_of(row);
  timing.median = time;
  timing.min = optional("min");
  timing.mean = optional("mean");
  timing.p95 = optional("p95");
  return timing;
}

std::optional<bool> ok_of(const json& row) {
  if (!row.contains("ok")) return std::nullopt;
  const json& ok = row.at("ok");
  if (ok.is_boolean()) return ok.get<bool>();
  if (ok == 1 || ok == 0) return ok == 1;  // CSV has no booleans
  throw Malformed(fmt::format("'ok' of the result is {}, not true or false", quoted(ok)));
}

std::map<std::string, double> metrics_of(json row) {
  for (const char* key : {"name", "time", "met (ms)", "iters", "min", "mean", "p95", "ok"}) row.erase(key);
  std::map<std::string, double> metrics;
  for (const auto& [name, value] : row.items())
    if (value.is_number() && std::isfinite(value.get<double>())) metrics[name] = value.get<double>();
  return metrics;
}

std::string name_of(const json& row) {
  return row.contains("name") && row.at("name").is_string() ? row.at("name").get<std::string>() : "";
}

ProgramResult result_of(const json& row) { return {timing_of(row), ok_of(row), metrics_of(row), name_of(row)}; }

/// By its name, such as `elapsed`, `ms` or `wall (us)`.
bool is_like_a_time(const std::string& column) {
  const std::string lower = lower_case(column);
  for (const char* part : {"time", "elapsed", "latency", "second"})
    if (lower.find(part) != lower.npos) return true;
  const std::size_t end = lower.find_last_not_of(") ") + 1;
  const std::string head = lower.substr(0, end);
  const std::string unit = head.substr(head.find_last_not_of("abcdefghijklmnopqrstuvwxyz") + 1);
  return unit == "s" || unit == "ms" || unit == "us" || unit == "ns" || unit == "sec";
}

}  // namespace

bool may_be_result(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('{')) return false;
  return line.size() >= kLongestJsonLine || line.find("\"time\"") != line.npos ||
         line.find("\"met (ms)\"") != line.npos;
}

ProgramResult read_program_result(const std::optional<std::string>& file, std::string_view output) {
  return result_of(file ? row_of_file(*file) : row_of_output(output));
}

std::string why_no_result(std::string_view output) {
  const auto lines = lines_of(output);
  if (const auto object = last_object(lines)) {
    const std::map<std::string, double> columns = metrics_of(object->row);
    const bool is_meant =
        !columns.empty() && std::ranges::none_of(columns, is_like_a_time, [](const auto& c) { return c.first; });
    if (is_meant) return "";
    return "the JSON on its standard output has neither 'time' (seconds) nor 'met (ms)': " + quoted(object->row);
  }
  for (const std::string_view line : lines)
    if (line.starts_with("{\"") && line.ends_with('}') && !parse_json(line).is_object())
      return "a line on its standard output is not valid JSON: " + fault_of_text(line);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i)
    if (is_csv(lines[i], lines[i + 1]))
      return "CSV is read from the file that TUNE_RESULT names ({output}), and not from standard output";
  return "";
}

ProgramResult find_program_result(const std::optional<std::string>& file, std::string_view output) {
  if (file) return result_of(row_of_file(*file));
  if (const std::optional<json> row = find_row(output)) return result_of(*row);
  const auto object = last_object(lines_of(output));
  if (!object) return {};
  refuse_repeated_keys(object->line, "on stdout");
  return {std::nullopt, ok_of(object->row), metrics_of(object->row), name_of(object->row)};
}

}  // namespace tune::worker
