// Prints what the driver itself costs: per spec with a worker that does nothing, and to read a long journal.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>

#include "platform/process/process.h"
#include "recording/journal.h"
#include "support/cli.h"

namespace {

using namespace tune;

constexpr int kSpecs = 1'000;
constexpr int kRecords = 100'000;

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

double seconds_of(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Peak memory of a process that does this and nothing else, in MiB.
double peak_mebibytes_of(const std::function<void()>& action) {
  const pid_t process = ::fork();
  if (process == 0) {
    action();
    ::_exit(0);
  }
  int status = 0;
  rusage usage{};
  ::wait4(process, &status, 0, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void bench_starting() {
  platform::Command command;
  command.argv = {TUNE_FAKE_WORKER};
  const double seconds = seconds_of([&] {
    for (int i = 0; i < kSpecs; ++i) tune::platform::run(command);
  });
  std::printf("%-28s %6.2f ms\n", "one worker process alone", seconds * 1e3 / kSpecs);
}

/// `parameter` with a `$`: all specs share one build.
void bench_specs(const char* what, const std::string& parameter) {
  const cli::Sandbox sandbox;
  sandbox.write("gemm.cpp", "");
  sandbox.write("gemm.yaml",
                "{name: gemm, file: gemm.cpp, kernel: gemm, problem: {gemm: {m: 8, n: 8, k: 8}},\nparams: {" +
                    parameter + ": {range: [1, " + std::to_string(kSpecs) +
                    "]}}, launch: {args: [A, B, C, m, n, k]}}\n");
  const std::filesystem::path bin = sandbox.copy_binaries_with_fake_worker();
  const auto run = [&] {
    const cli::Result result = sandbox.tune_from(bin, {"--yaml", "gemm.yaml", "--output", "out", "--quiet"});
    if (result.code != 0) std::fprintf(stderr, "%s", result.err.c_str());
  };
  const double first = seconds_of(run), again = seconds_of(run);
  std::printf("%-28s %6.2f ms per spec, %6.3f ms from the journal\n", what, first * 1e3 / kSpecs, again * 1e3 / kSpecs);
}

wire::TrialRecord record(int index) {
  Measurement measurement;
  measurement.timing = {100, 1.2345678e-4 + index * 1e-9, 1.21e-4, 1.24e-4, 1.3e-4, 1.23e-4, 1.24e-4, false};
  measurement.checked = true;
  measurement.max_error = 0.0123456789;
  measurement.build = {std::string(32, 'a'), std::string(32, 'b'), 0.87654321, {{"code", 4096.0}, {"stack", 512.0}}};
  wire::TrialRecord result;
  char id[33];
  std::snprintf(id, sizeof id, "%032x", static_cast<unsigned>(index));
  result.id = id;
  result.trial.spec.mesh_idx = index;
  for (const char* name : {"BM", "BN", "BK", "TM", "TN", "STAGES"})
    result.trial.spec.params.push_back({name, Value(std::int64_t{128}), false});
  result.trial.seconds = 0.123456;
  result.trial.outcome = measurement;
  if (index % 4 == 0)
    result.trial.outcome =
        Failure{Stage::build, Cause::reported, "gemm.cpp:12:3: error: static assertion failed", std::string(1000, 'x')};
  return result;
}

void bench_journal() {
  const cli::Sandbox sandbox;
  const std::filesystem::path path = sandbox.folder() / "long.jsonl";
  const double append = seconds_of([&] {
    recording::Journal journal(path);
    for (int i = 0; i < kRecords; ++i) journal.append(record(i));
  });
  std::printf("%-28s %6.3f ms per record, %ju MiB in all\n", "appending to the journal", append * 1e3 / kRecords,
              static_cast<std::uintmax_t>(std::filesystem::file_size(path) >> 20));
  const auto load = [&] { recording::Journal journal(path); };
  const double cpu = cpu_seconds(), seconds = seconds_of(load);
  std::printf("%-28s %6.2f s (%.2f s of CPU), %.0f MiB peak\n", "reading 100,000 trials", seconds, cpu_seconds() - cpu,
              peak_mebibytes_of(load));
}

/// What each spec costs beside its trial.
void bench_started() {
  const cli::Sandbox sandbox;
  const std::filesystem::path path = sandbox.folder() / "started.jsonl";
  double cpu = cpu_seconds();
  {
    recording::Journal journal(path);
    journal.append(wire::RunRecord{});
    for (int i = 0; i < kRecords; ++i) journal.append(wire::StartedRecord{record(i).id, i, 0});
  }
  std::printf("%-28s %6.2f us of CPU, %ju bytes", "noting that a spec starts", (cpu_seconds() - cpu) * 1e6 / kRecords,
              static_cast<std::uintmax_t>(std::filesystem::file_size(path) / kRecords));
  cpu = cpu_seconds();
  const recording::Journal journal(path);
  std::printf("; %.2f us to read it\n", (cpu_seconds() - cpu) * 1e6 / kRecords);
}

}  // namespace

int main() {
  bench_starting();
  bench_specs("a build each", "X");
  bench_specs("one build for all", "$X");
  bench_journal();
  bench_started();
}
