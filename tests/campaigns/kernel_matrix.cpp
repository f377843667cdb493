// Tunes over kernels that go wrong in one way each, between kernels that are right: each faulty one must fail alone and
// say how, the right ones must be ranked, nothing may be left running, and the run must end in time. A person repeats
// it for as long as they like; what is printed in front of an error repeats it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "faults.h"
#include "support/cli.h"

namespace tune::campaigns {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSkipped = 77;
constexpr const char* kUsage =
    "kernel_matrix [--backend cpu|cuda|hip] [--rounds N] [--seed S] [--short] [--only NAME]\n"
    "  --rounds N   how often, each time in another order (default: 1)\n"
    "  --short      a few kernels of each kind, as in continuous integration\n"
    "  --only NAME  the kernels whose name contains this\n";

struct Settings {
  std::string backend = "cpu";
  int rounds = 1;
  std::uint64_t seed = 0;
  bool quick = false;
  std::string only;
};

/// Faulty kernels that are tuned over in one run, and what that run is told besides.
struct Group {
  std::string name;
  std::vector<Fault> faults;
  std::vector<std::string> arguments;
};

struct Broken {
  std::string what;
};

struct Counts {
  int kernels = 0, failed = 0, runs = 0;
};

void require(bool holds, const std::string& what) {
  if (!holds) throw Broken{what};
}

bool is_gpu(const Settings& settings) { return settings.backend != "cpu"; }

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] { return ++i < argc ? argv[i] : throw Broken{kUsage}; };
    if (word == "--backend")
      settings.backend = value();
    else if (word == "--rounds")
      settings.rounds = std::atoi(value());
    else if (word == "--seed")
      settings.seed = std::strtoull(value(), nullptr, 10);
    else if (word == "--only")
      settings.only = value();
    else if (word == "--short")
      settings.quick = true;
    else
      throw Broken{kUsage};
  }
  if (settings.backend != "cpu" && settings.backend != "cuda" && settings.backend != "hip") throw Broken{kUsage};
  return settings;
}

std::vector<Group> groups(const Settings& settings) {
  std::vector<Group> all;
  if (is_gpu(settings)) {
    for (const char* isolation : {"spec", "auto"})
      all.push_back({isolation, gpu_faults(), {"--timeout-run", "5", "--isolation", isolation}});
  } else {
    all.push_back({"faults", cpu_faults(), {"--timeout-run", "2", "--memory", "256M"}});
    all.push_back({"strict", cpu_strict_faults(), {"--timeout-run", "2", "--check", "strict"}});
    all.push_back({"signals", cpu_signals(), {"--timeout-run", "2"}});
  }
  for (Group& group : all)
    std::erase_if(group.faults, [&](const Fault& fault) {
      return (settings.quick && !fault.quick) || std::string(fault.name).find(settings.only) == std::string::npos;
    });
  std::erase_if(all, [](const Group& group) { return group.faults.empty(); });
  return all;
}

/// The grid has a right kernel in front and a slow right one behind: SPEC is 0 and one more than there are faults.
std::string cpu_source(const std::vector<Fault>& faults) {
  std::string source = kCpuHead;
  for (std::size_t i = 0; i < faults.size(); ++i)
    source +=
        fmt::format("    case {}: {{\n      {}\n      usleep(500);\n      break;\n    }}\n", i + 1, faults[i].code);
  return source +
         fmt::format(
             "    case 0:\n      return right();\n    default:\n      right();\n      usleep(3000);\n  }}\n}}\n");
}

std::string gpu_source(const std::vector<Fault>& faults) {
  std::string source = kGpuHead;
  for (std::size_t i = 0; i < faults.size(); ++i)
    source += fmt::format("#if SPEC == {}\n{}\n#endif\n", i + 1, faults[i].before);
  source +=
      "extern \"C\" __global__ void BOUNDS gemm(float* A, const float* B, float* C, int m, int n, int k) {\n"
      "  const int i = threadIdx.x / 16, j = threadIdx.x % 16, before = calls;\n"
      "  __syncthreads();\n  if (threadIdx.x == 0) ++calls;\n"
      "  auto right = [&] {\n    float sum = 0;\n"
      "    for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];\n    C[i * n + j] = sum;\n  };\n";
  for (std::size_t i = 0; i < faults.size(); ++i)
    source += fmt::format("#if SPEC == {}\n  {}\n#endif\n", i + 1, faults[i].code);
  const std::size_t last = faults.size() + 1;
  return source + fmt::format(
                      "#if SPEC == 0 || SPEC == {0}\n  right();\n#endif\n"
                      "#if SPEC != 0\n  const long long until = clock64() + (SPEC == {0} ? 400000 : 100000);\n"
                      "  while (clock64() < until) {{}}\n#endif\n}}\n",
                      last);
}

/// An expression that is this of each fault, by SPEC.
std::string by_spec(const std::vector<Fault>& faults, const char* const Fault::*what) {
  std::string text = "0";
  for (std::size_t i = 0; i < faults.size(); ++i)
    if (std::string(faults[i].*what) != "0")
      text = fmt::format("({} if SPEC == {} else {})", faults[i].*what, i + 1, text);
  return text;
}

void write(const cli::Sandbox& sandbox, const Settings& settings, const std::vector<Fault>& faults) {
  const std::string file = settings.backend == "cpu" ? "gemm.cpp" : settings.backend == "hip" ? "gemm.hip" : "gemm.cu";
  sandbox.write(file, is_gpu(settings) ? gpu_source(faults) : cpu_source(faults));
  const std::string launch =
      is_gpu(settings)
          ? fmt::format("grid: [1], block: [256], shared: '{}', workspace: {{bytes: '{}'}}, args: [A, B, C, m, n, k]",
                        by_spec(faults, &Fault::shared), by_spec(faults, &Fault::workspace))
          : "args: [A, B, C, m, n, k, SPEC]";
  sandbox.write("gemm.yaml",
                fmt::format("name: gemm\nfile: {}\nkernel: gemm\nproblem: {{gemm: {{m: 16, n: 16, k: 16}}}}\n"
                            "params: {{{}: {{range: [0, {}]}}}}\nlaunch: {{{}}}\n"
                            "measure: {{max_seconds: 0.02, cutoff: 0}}\n",
                            file, is_gpu(settings) ? "SPEC" : "$SPEC", faults.size() + 1, launch));
}

/// What the driver says and how it ends; it is killed if it takes longer than this.
cli::Result run(const cli::Sandbox& sandbox, const std::vector<std::string>& arguments, std::chrono::seconds longest) {
  cli::Background tune(sandbox, arguments);
  for (const auto end = Clock::now() + longest; !tune.ended();
       std::this_thread::sleep_for(std::chrono::milliseconds(10)))
    require(Clock::now() < end, fmt::format("the run has not ended within {} s", longest.count()));
  return tune.wait();
}

/// HIP says the same in other words, and some faults of AMD's devices end the process.
bool fits(const std::string& outcome, std::string allowed, bool hip) {
  if (allowed == "?") return true;
  if (allowed == "*" || (hip && allowed.find("measured") == std::string::npos && allowed != "pruned"))
    return outcome != "measured" && outcome != "pruned";
  for (std::size_t end = 0; end != std::string::npos; allowed.erase(0, end + 1)) {
    end = allowed.find('|');
    if (outcome.starts_with(allowed.substr(0, end))) return true;
    if (end == std::string::npos) break;
  }
  return false;
}

void check_outcomes(const cli::Sandbox& sandbox, const Group& group, bool hip, Counts& counts) {
  std::map<std::int64_t, std::string> outcomes;
  for (const wire::TrialRecord& record : sandbox.trials("out.jsonl"))
    outcomes[record.trial.spec.mesh_idx] = cli::outcome_text(record.trial);
  const auto outcome_of = [&](std::size_t spec) {
    const auto found = outcomes.find(static_cast<std::int64_t>(spec));
    return found == outcomes.end() ? std::string("pruned") : found->second;
  };
  std::string unexpected;
  for (std::size_t i = 0; i < group.faults.size(); ++i) {
    const Fault& fault = group.faults[i];
    const std::string outcome = outcome_of(i + 1);
    if (!fits(outcome, fault.outcome, hip))
      unexpected += fmt::format("\n'{}' should be: {}\nbut was: {}", fault.name, fault.outcome, outcome);
    ++counts.kernels;
    counts.failed += outcome != "measured";
  }
  require(unexpected.empty(), unexpected);
  for (const std::size_t right : {std::size_t{0}, group.faults.size() + 1})
    require(outcome_of(right) == "measured", fmt::format("right kernel {} is: {}", right, outcome_of(right)));
}

void run_group(const Settings& settings, const Group& group, Counts& counts) {
  cli::Sandbox sandbox;
  if (is_gpu(settings)) sandbox.environment.erase("TUNE_LOCKS");
  write(sandbox, settings, group.faults);
  std::vector<std::string> arguments = {"gemm.yaml",       "--tune", "--keep-going", "--output", "out",
                                        "--finals-budget", "5"};
  arguments.insert(arguments.end(), group.arguments.begin(), group.arguments.end());
  // Each may take its whole deadline in the sweep and twice more in the finals, and a build on a loaded machine.
  const cli::Result result = run(sandbox, arguments, std::chrono::seconds(60 + 20 * (group.faults.size() + 2)));
  ++counts.runs;
  try {
    require(result.code == 0, fmt::format("the run ended with {}", result.code));
    require(result.out.find("top_spec_idx: 0\n") != std::string::npos, "the best is not the right kernel");
    check_outcomes(sandbox, group, settings.backend == "hip", counts);
    require(cli::eventually([&] { return sandbox.processes().empty(); }),
            "something still runs: " + (sandbox.processes().empty() ? "" : sandbox.processes().front()));
  } catch (const Broken& broken) {
    throw Broken{fmt::format("{}\n--- its output:\n{}\n{}", broken.what, result.out, result.err)};
  }
}

/// Whether the kernels can run. Else they are built at least, where there is a compiler.
bool can_run(const Settings& settings) {
  cli::Sandbox sandbox;
  const cli::Result probe = sandbox.tune({"--probe", "--backend", settings.backend});
  if (probe.code == 0) return true;
  std::vector<Fault> faults = gpu_faults();
  write(sandbox, settings, faults);
  const std::string arch = settings.backend == "hip" ? "gfx90a" : "sm_90a";
  const cli::Result built = sandbox.tune({"gemm.yaml", "--build-only", "--keep-going", "--quiet", "--arch", arch});
  const bool could_build = built.out.find("Number of valid built specs") != std::string::npos;
  require(!could_build || built.out.find(" build, ") == std::string::npos, built.out);
  fmt::print("{}{}{}kernel_matrix: skipped, there is no {} device\n", built.out, could_build ? "" : built.err,
             probe.err, settings.backend);
  return false;
}

int run_all(const Settings& settings) {
  if (is_gpu(settings) && !can_run(settings)) return kSkipped;
  const auto start = Clock::now();
  Counts counts;
  for (int round = 0; round < settings.rounds; ++round) {
    const std::uint64_t seed = settings.seed + static_cast<std::uint64_t>(round);
    for (Group& group : groups(settings)) {
      std::mt19937_64 random(seed);
      std::ranges::shuffle(group.faults, random);
      try {
        run_group(settings, group, counts);
      } catch (const Broken& broken) {
        throw Broken{fmt::format("--backend {} --seed {}{}: group {}: {}", settings.backend, seed,
                                 settings.quick ? " --short" : "", group.name, broken.what)};
      }
    }
  }
  if (counts.runs == 0) throw Broken{"--only " + settings.only + ": no kernel has this in its name"};
  const std::chrono::duration<double> seconds = Clock::now() - start;
  fmt::print(
      "kernel_matrix: {}, {} runs, {} faulty kernels, {} of them failed alone and as expected, the others hurt "
      "nobody; 0 left running; {:.0f} s\n",
      settings.backend, counts.runs, counts.kernels, counts.failed, seconds.count());
  return 0;
}

}  // namespace
}  // namespace tune::campaigns

int main(int argc, char** argv) {
  try {
    return tune::campaigns::run_all(tune::campaigns::parse(argc, argv));
  } catch (const tune::campaigns::Broken& broken) {
    fmt::print(stderr, "kernel_matrix {}\n", broken.what);
    return 1;
  }
}
