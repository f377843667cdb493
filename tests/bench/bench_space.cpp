// How fast spaces are counted, against recorded times of others. Arguments: JSON files with `params` (name: values, or
// {"range": [first, last]}), `constraints` (plain Python expressions), and what is known of the space: `valid` (its
// true count), `kernel_tuner_seconds`, `compiled_loops_seconds` (null: none). Without arguments: those in spaces/, of
// which each says under `needs` which part of the machinery it would be slow or uncounted without. Each space is built
// by a process of its own, many times, or once if that takes over a second; seconds are the median of the whole
// process, its start included, and ratios are of them. CPU seconds are what it takes on a machine that has nothing else
// to do. A space that cannot be counted has an interval, which is right if the true count is in it. Exit status 1 if a
// count is wrong.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/constraints/spec_sample.h"
#include "model/constraints/valid_specs.h"
#include "model/values/error.h"
#include "wire/json.h"

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr int kSamples = 10'000;
constexpr int kRuns = 15;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

tune::Value value_of(const Json& json) {
  if (json.is_boolean()) return tune::Bool{json.get<bool>()};
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  return json.get<std::string>();
}

tune::Space space_of(const Json& file) {
  tune::Names names;
  tune::Space::Mapping mapping;
  for (const auto& [name, values] : file.at("params").items()) {
    names.declare(name);
    tune::Parameter parameter{name, false, tune::Kind::ordinal, {}};
    if (values.is_object()) {
      const Json& range = values.at("range");
      for (auto value = range.at(0).get<std::int64_t>(); value <= range.at(1).get<std::int64_t>(); ++value)
        parameter.values.emplace_back(value);
    } else {
      for (const Json& value : values) parameter.values.push_back(value_of(value));
    }
    mapping.parameters.push_back(std::move(parameter));
  }
  for (const Json& constraint : file.at("constraints")) {
    const auto text = constraint.get<std::string>();
    mapping.constraints.push_back({tune::Expression::parse(text, names), text});
  }
  return {names, {}, {mapping}};
}

Json read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  return Json::parse(file);
}

bool is_known(const Json& file) { return file.contains("valid") && file["valid"].is_number(); }

void print_one(const std::string& count, double build, double sample, bool right) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  fmt::print("{} {} {} {} {}\n", count, build, sample, usage.ru_maxrss, right ? "right" : "wrong");
}

/// What one process does: prints the count, the seconds of its parts and the memory it took. A sample is one random
/// spec, looked up again.
void build_one(const std::string& path, int samples) try {
  const Json file = read(path);
  const tune::Space space = space_of(file);
  const auto start = Clock::now();
  const tune::ValidSpecs specs(space);
  const double build = seconds_since(start);
  const auto sampling = Clock::now();
  tune::Random random(1);
  bool right = !is_known(file) || specs.exact_size().text() == file["valid"].dump();
  for (int i = 0; i < samples && specs.size() > 0; ++i) {
    const std::int64_t index = specs.sample(random);
    right = specs.index_of(specs.at(index)) == index && right;
  }
  const double sample = samples > 0 ? seconds_since(sampling) / samples : 0;
  print_one(specs.exact_size().text(), build, sample, right);
} catch (const tune::TooEntangled&) {
  const Json file = read(path);
  const auto start = Clock::now();
  const tune::SpecSample sample = tune::sample_specs(space_of(file), {});
  const bool right =
      !is_known(file) || (sample.least <= file["valid"].get<double>() && file["valid"].get<double>() <= sample.most);
  print_one(fmt::format("{:.0f}..{:.0f}", sample.least, sample.most), seconds_since(start), 0, right);
}

struct Built {
  double seconds = 0;  ///< of the whole process
  double cpu_seconds = 0;
  std::string count;
  double build = 0, sample = 0, kibibytes = 0;
  bool right = false;
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// The first line that a command prints, and what it took.
std::string line_of(const std::vector<std::string>& command, rusage& usage) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe can be made");
  const pid_t child = ::vfork();
  if (child < 0) throw std::runtime_error("no process can be started");
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl(command[0].c_str(), command[0].c_str(), command[1].c_str(), command[2].c_str(), command[3].c_str(),
            nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  std::array<char, 256> line{};
  const ssize_t size = ::read(ends[0], line.data(), line.size() - 1);
  ::close(ends[0]);
  int status = 0;
  ::wait4(child, &status, 0, &usage);
  if (size <= 0 || status != 0) throw std::runtime_error(command[2] + ": the process failed");
  return line.data();
}

Built run_one(const std::string& program, const std::string& path, int samples) {
  const auto start = Clock::now();
  rusage usage{};
  const std::string line = line_of({program, "--one", path, std::to_string(samples)}, usage);
  Built built;
  built.seconds = seconds_since(start);
  built.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  std::array<char, 128> count{};
  std::array<char, 16> right{};
  std::sscanf(line.c_str(), "%127s %lf %lf %lf %15s", count.data(), &built.build, &built.sample, &built.kibibytes,
              right.data());
  built.count = count.data();
  built.right = std::string(right.data()) == "right";
  return built;
}

/// The median of each time by itself.
Built median(std::vector<Built> runs) {
  Built middle = runs.front();
  for (double Built::*const time : {&Built::seconds, &Built::cpu_seconds, &Built::build}) {
    std::ranges::nth_element(runs, runs.begin() + std::ssize(runs) / 2, {}, time);
    middle.*time = runs[runs.size() / 2].*time;
  }
  return middle;
}

std::string ratio(double recorded, double ours) { return recorded > 0 ? fmt::format("{:.1f}", recorded / ours) : "-"; }

double recorded(const Json& file, const char* name) {
  return file.contains(name) && file[name].is_number() ? file[name].get<double>() : 0;
}

int compare_all(const std::string& program, const std::vector<std::string>& paths) {
  fmt::print(
      "| space | valid specs | right | seconds | CPU s | of which building | sample (us) | MB | Kernel Tuner s | ratio "
      "| "
      "compiled loops s | ratio |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  double logs = 0, cpu_logs = 0;
  int compared = 0;
  bool all_right = true;
  for (const std::string& path : paths) {
    const Json file = read(path);
    const Built sampled = run_one(program, path, kSamples);
    std::vector<Built> runs;
    for (int i = sampled.seconds < 1 ? 0 : kRuns - 1; i < kRuns; ++i) runs.push_back(run_one(program, path, 0));
    const Built built = median(runs);
    const bool right = sampled.right;
    all_right = all_right && right;
    const double tuner = recorded(file, "kernel_tuner_seconds");
    const double loops = recorded(file, "compiled_loops_seconds");
    fmt::print("| {} | {} | {} | {:.4f} | {:.4f} | {:.6f} | {:.2f} | {:.0f} | {} | {} | {} | {} |\n",
               file.value("name", path), built.count,
               !right           ? "NO"
               : is_known(file) ? "yes"
                                : "?",
               built.seconds, built.cpu_seconds, built.build, sampled.sample * 1e6, built.kibibytes / 1024,
               tuner > 0 ? fmt::format("{}", tuner) : "-", ratio(tuner, built.seconds),
               loops > 0 ? fmt::format("{}", loops) : "-", ratio(loops, built.seconds));
    if (tuner <= 0.1) continue;
    logs += std::log(tuner / built.seconds);
    cpu_logs += std::log(tuner / built.cpu_seconds);
    ++compared;
  }
  if (compared > 0)
    fmt::print(
        "\nGeometric mean of Kernel Tuner's seconds over ours, where it needs more than 0.1 s: {:.1f}; over our "
        "CPU seconds: {:.1f}\n",
        std::exp(logs / compared), std::exp(cpu_logs / compared));
  return all_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.empty()) {
      for (const auto& entry : std::filesystem::directory_iterator(TUNE_SPACES)) arguments.push_back(entry.path());
      std::ranges::sort(arguments);
    }
    if (arguments.size() == 3 && arguments[0] == "--one") {
      build_one(arguments[1], std::stoi(arguments[2]));
      return 0;
    }
    return compare_all(argv[0], arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_space: {}\n", error.what());
    return 2;
  }
}
