#pragma once
// For programs that `tune` runs: time one case, say whether its result was right, report one row. C++17, header only.
//
//   int main(int argc, char** argv) {
//     const tune::bench::Arguments arguments(argc, argv);
//     auto result = tune::bench::measure("transpose", [&] { transpose(arguments.integer("THREADS", 1)); });
//     result.metric("GB/s", bytes / result.seconds * 1e-9);
//     result.ok(matches_reference());
//     return tune::bench::report(result, arguments);
//   }

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace tune::bench {

/// The command line: `--NAME=V` for each run-time parameter, and `-o FILE`.
class Arguments {
 public:
  Arguments(int argc, char** argv) : words_(argv, argv + argc) {}

  std::string text(const std::string& name, const std::string& fallback) const {
    const std::string option = "--" + name + "=";
    for (const auto& word : words_)
      if (word.compare(0, option.size(), option) == 0) return word.substr(option.size());
    return fallback;
  }

  /// Ends the program with a message for a value that is no integer.
  long long integer(const std::string& name, long long fallback) const {
    const std::string value = text(name, std::to_string(fallback));
    char* end = nullptr;
    errno = 0;
    const long long number = std::strtoll(value.c_str(), &end, 10);
    if (errno == 0 && end != value.c_str() && *end == '\0') return number;
    std::fprintf(stderr, "--%s=%s is not an integer\n", name.c_str(), value.c_str());
    std::exit(2);
  }

  /// Where the result goes: `-o FILE`, else $TUNE_RESULT, else empty: stdout.
  std::string output() const {
    for (std::size_t i = 1; i + 1 < words_.size(); ++i)
      if (words_[i] == "-o") return words_[i + 1];
    const char* file = std::getenv("TUNE_RESULT");
    return file ? file : "";
  }

 private:
  std::vector<std::string> words_;
};

/// One row. `seconds` is the median of the timed runs.
struct Result {
  std::string name;
  double seconds = 0, min = 0, mean = 0, p95 = 0;
  long long iterations = 0;

  /// A further column.
  void metric(const std::string& column, double value) { metrics.emplace_back(column, value); }
  /// Whether the case's result is right. Without this call the row says that it was not checked.
  void ok(bool right) { verdict = right ? "true" : "false"; }

  std::vector<std::pair<std::string, double>> metrics;
  const char* verdict = nullptr;
};

struct Effort {
  int warmup = 2;
  int min_iterations = 7;
  int max_iterations = 10000;
  double max_seconds = 1;  ///< of timed runs, once there are min_iterations
};

/// Calls `body` a few times unmeasured, then measured one by one, until the effort is spent. A body that only starts
/// work elsewhere (a GPU) has to wait for it.
template <typename Body>
Result measure(const std::string& name, Body&& body, Effort effort = {}) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < effort.warmup; ++i) body();
  std::vector<double> times;
  double total = 0;
  const auto enough = [&](int done) {
    return done >= effort.max_iterations || (done >= effort.min_iterations && total >= effort.max_seconds);
  };
  do {
    const auto start = Clock::now();
    body();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    total += times.back();
  } while (!enough(static_cast<int>(times.size())));
  std::sort(times.begin(), times.end());
  const std::size_t count = times.size(), middle = count / 2;
  Result result;
  result.name = name;
  result.seconds = count % 2 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
  result.min = times.front();
  result.mean = total / static_cast<double>(count);
  result.p95 = times[(count - 1) * 95 / 100];
  result.iterations = static_cast<long long>(count);
  return result;
}

/// Makes the compiler believe that all memory is read and written here, so that it cannot drop a body's work.
inline void clobber_memory() { asm volatile("" ::: "memory"); }

inline std::string json_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + '"';
}

/// JSON has no NaN and no infinity.
inline std::string json_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return std::isfinite(value) ? text : "null";
}

/// The row as one JSON object.
inline std::string to_json(const Result& result) {
  std::string row = "{\"name\": " + json_text(result.name) + ", \"time\": " + json_number(result.seconds) +
                    ", \"iters\": " + std::to_string(result.iterations) + ", \"min\": " + json_number(result.min) +
                    ", \"mean\": " + json_number(result.mean) + ", \"p95\": " + json_number(result.p95);
  if (result.verdict) row += std::string(", \"ok\": ") + result.verdict;
  for (const auto& [column, value] : result.metrics) row += ", " + json_text(column) + ": " + json_number(value);
  return row + "}";
}

/// Writes the row. Returns what main returns: 0, or 1 if it could not be written.
inline int report(const Result& result, const Arguments& arguments) {
  const std::string path = arguments.output();
  std::FILE* file = path.empty() ? stdout : std::fopen(path.c_str(), "w");
  if (!file) return std::perror(path.c_str()), 1;
  const bool written = std::fprintf(file, "%s\n", to_json(result).c_str()) > 0;
  const bool closed = (path.empty() ? std::fflush(file) : std::fclose(file)) == 0;
  return written && closed ? 0 : 1;
}

}  // namespace tune::bench
