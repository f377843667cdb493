// The code that a package is made of, compiled and run beside what it was made from: the evaluator of expressions, and
// the launches that a worker gets. The driver is a stand-in, which writes down what is launched.
#include "package/package.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <sstream>

#include "exec/request/spec_launches.h"
#include "model/settings.h"
#include "package/expression_text.h"
#include "package/package_sources.h"
#include "platform/files/file.h"
#include "platform/process/process.h"
#include "support/has.h"
#include "support/tuning_folder.h"

namespace tune::package_test {
namespace {

namespace fs = std::filesystem;
using cli::has;
using Sizes = std::vector<std::int64_t>;  // m, n, k, lda, ldb, ldc

constexpr std::int64_t kMultiprocessors = 132, kComputeUnits = 104;

config::Loaded load_at(const fs::path& yaml, const Sizes& sizes, Backend backend = Backend::cuda,
                       const std::vector<std::string>& problem = {}) {
  constexpr const char* kNames[] = {"m", "n", "k", "lda", "ldb", "ldc"};
  config::LoadRules options;
  options.backend = backend;
  options.file_must_exist = false;
  options.problem = problem;
  options.probe = [](Backend its) {
    return its == Backend::hip ? Device{"AMD Instinct MI250X", "", "gfx90a", {{"multiprocessors", kComputeUnits}}}
                               : Device{"NVIDIA H200", "", "sm_90a", {{"multiprocessors", kMultiprocessors}}};
  };
  for (std::size_t i = 0; i < sizes.size(); ++i) options.problem.push_back(fmt::format("{}={}", kNames[i], sizes[i]));
  return config::load(std::vector{yaml}, options);
}

/// The text of a launch, as the program below prints it.
std::string text_of(const std::string& kernel, const std::vector<std::int64_t>& grid,
                    const std::vector<std::int64_t>& block, const std::vector<std::int64_t>& cluster,
                    std::int64_t shared) {
  const auto all = [](std::vector<std::int64_t> extents, std::int64_t fill) {
    extents.resize(3, fill);
    return fmt::format("{}", fmt::join(extents, " "));
  };
  return fmt::format("{} grid {} block {} cluster {} shared {}", kernel, all(grid, 1), all(block, 1),
                     all(cluster, cluster.empty() ? 0 : 1), shared);
}

std::string text_of(const wire::Arg& arg, const std::vector<std::string>& operands) {
  const auto operand = [&] { return std::ranges::find(operands, arg.buffer) - operands.begin(); };
  switch (arg.kind) {
    case Argument::Kind::buffer:
      return arg.buffer == "workspace" ? " workspace" : fmt::format(" operand {}", operand());
    case Argument::Kind::scalar:
      return fmt::format(" {}", arg.integer);
    case Argument::Kind::tensor_map:
      return fmt::format(" map {} box {} swizzle {} l2 {}", operand(), fmt::join(arg.box, ","), arg.swizzle,
                         arg.l2_promotion);
    case Argument::Kind::alpha:
    case Argument::Kind::beta:
      break;
  }
  return fmt::format(" {}", arg.number);
}

// Reads sizes, and prints for each what each variant would launch, or `-`. With --launch it launches what it finds.
constexpr const char* kProgram = R"(
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include "planner.h"
namespace package = tuned::pack;
long allocations = 0;
void* operator new(std::size_t size) { ++allocations; return std::malloc(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void print(const package::Launch& launch) {
  std::printf(" %s grid %u %u %u block %u %u %u cluster %u %u %u shared %u", package::kKernels[launch.kernel],
              launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1], launch.block[2],
              launch.cluster[0], launch.cluster[1], launch.cluster[2], launch.shared);
  for (int i = 0; i < launch.count; ++i) {
    const package::Argument& a = launch.arguments[i];
    if (a.kind == package::Argument::Kind::operand && a.operand == package::kOperands) std::printf(" workspace");
    else if (a.kind == package::Argument::Kind::operand) std::printf(" operand %d", a.operand);
    else if (a.kind == package::Argument::Kind::map) {
      std::printf(" map %d box ", a.operand);
      for (int j = 0; j < a.rank; ++j) std::printf("%s%u", j ? "," : "", a.box[j]);
      std::printf(" swizzle %d l2 %d", a.swizzle, a.promotion);
    } else if (a.kind == package::Argument::Kind::f32 || a.kind == package::Argument::Kind::f64) std::printf(" %g", a.real);
    else std::printf(" %ld", static_cast<long>(a.integer));
  }
}
int main(int argc, char** argv) {
  package::Sizes s;
  const bool launches = argc > 1 && !std::strcmp(argv[1], "--launch");
  package::Operands operands;
  alignas(16) static char memory[16];
  operands.A = operands.B = operands.C = memory;
#ifdef GROUPS
  s.groups = GROUPS, s.max_rows = MAX_ROWS;
  operands.group_rows = memory;
#endif
  while (std::scanf("%ld %ld %ld %ld %ld %ld", &s.m, &s.n, &s.k, &s.lda, &s.ldb, &s.ldc) == 6) {
    if (launches) {
      package::Plan plan = package::find(s);
      if (std::getenv("TUNE_TEST_OTHER_DEVICE") != nullptr) plan.device = 1;
      if (plan) package::prepare(plan);
      const long before = allocations;
      const package::Error error = package::launch(plan, nullptr, operands, memory, std::size_t(1) << 40);
      std::printf("%s; %s; %ld allocations\n", package::text(error), plan.why, allocations - before);
      continue;
    }
    std::int64_t all[package::kSizes];
    package::complete(s, all);
    const char* why = "";
    int device = -1;
    const package::Facts* facts = package::facts_of(device, why);
    for (int i = 0; i < std::atoi(argv[1]); ++i) {
      package::Plan plan;
      package::Planner planner(plan);
      package::kVariants[i].plan(all, facts->values, planner);
      if (planner.valid()) for (int j = 0; j < plan.launches; ++j) print(plan.launch[j]);
      else std::printf(" -");
      std::printf("\n");
    }
  }
  const package::Counters c = package::counters();
  unsigned long sum = 0;
  for (int i = 0; i < package::entries().size; ++i) sum += package::hits(i);
  if (launches) std::printf("exact %lu rule %lu miss %lu failed %lu hits %lu\n", c.exact, c.rule, c.miss, c.failed, sum);
}
)";

constexpr const char* kSources[] = {"main.cpp",    "src/table.cpp",  "src/find.cpp",
                                    "src/gpu.cpp", "src/driver.cpp", "src/binaries.cpp"};

/// A package of specs of a tuning file, each for sizes of its own, whose binaries are not looked at.
class Packages : public testing::Test {
 protected:
  void add(const fs::path& yaml, const Sizes& sizes, const std::vector<Setting>& params, const std::string& artifact) {
    config::Loaded loaded = load_at(yaml, sizes, backend_, problem_);
    auto spec = loaded.plan.space.at(params);
    ASSERT_TRUE(std::holds_alternative<Spec>(spec)) << std::get<Rejection>(spec).reason;
    package_.entries.push_back({package::sizes_of(loaded.plan), package_.variants.size(), to_text(params), 1, 0, 0, 0});
    package_.variants.push_back({std::move(loaded.plan),
                                 std::get<Spec>(spec),
                                 artifact,
                                 folder_.write(artifact + ".cubin", artifact + "\n"),
                                 {},
                                 {}});
    yaml_ = yaml;
  }

  void write_files() {
    package_.name = "pack";
    package_.backend = to_text(backend_);
    package_.device = backend_ == Backend::hip ? "AMD Instinct MI250X" : "NVIDIA H200";
    package_.arch = backend_ == Backend::hip ? "gfx90a" : "sm_90a";
    std::ranges::sort(package_.entries, {}, &package::Entry::sizes);
    for (const auto& [name, text] : package::files_of(package_)) folder_.write(name, text);
    folder_.write("main.cpp", kProgram);
  }

  void compile(const std::vector<std::string>& sources, const std::vector<std::string>& flags = {}) {
    platform::Command command;
    command.argv = {"c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I.", "-Iinclude", "-Isrc", "-o", "program"};
    command.argv.insert(command.argv.end(), sources.begin(), sources.end());
    command.argv.insert(command.argv.end(), {"-ldl", "-lpthread"});
    command.argv.insert(command.argv.end(), flags.begin(), flags.end());
    command.directory = folder_.path();
    const platform::Finished finished = platform::run(command);
    ASSERT_TRUE(finished.exit.clean()) << finished.captured;
  }

  /// All sources are compiled as one, which takes less time.
  void build(const std::vector<std::string>& flags = {}) {
    write_files();
    std::string all;
    for (const char* source : kSources) all += fmt::format("#include \"{}\"\n", source);
    folder_.write("all.cpp", all);
    compile({"all.cpp", "src/binaries.S"}, flags);
  }

  /// The package's own test and benchmark, which need a device to run.
  void compile_its_test() {
    for (const char* source : {"selftest.cpp", "bench.cpp"}) {
      platform::Command command;
      command.argv = {"c++",     "-std=c++17",    "-Wall",
                      "-Wextra", "-Werror",       "-Iinclude",
                      "-Isrc",   "-fsyntax-only", std::string("test/") + source};
      command.directory = folder_.path();
      const platform::Finished finished = platform::run(command);
      EXPECT_TRUE(finished.exit.clean()) << finished.captured;
    }
  }

  std::vector<std::string> run(const std::vector<Sizes>& sizes, const std::string& option = "",
                               std::map<std::string, std::string> environment = {}) {
    std::string lines;
    for (const Sizes& each : sizes) lines += fmt::format("{}\n", fmt::join(each, " "));
    folder_.write("sizes", lines);
    platform::Command command;
    command.argv = {"sh", "-c", "exec ./program " + option + " < sizes > printed"};
    command.directory = folder_.path();
    environment["LD_LIBRARY_PATH"] = TUNE_RECORDING_DRIVER;
    command.environment.insert(environment.begin(), environment.end());
    const platform::Finished finished = platform::run(command);
    EXPECT_TRUE(finished.exit.clean()) << finished.captured;
    std::istringstream text(platform::read_file(folder_.path() / "printed"));
    std::vector<std::string> all;
    for (std::string line; std::getline(text, line);) all.push_back(line);
    if (all.empty()) all.emplace_back();
    return all;
  }

  /// What the program says of a launch for each of these sizes, and of all in its last line.
  std::vector<std::string> launch(const std::vector<Sizes>& sizes,
                                  std::map<std::string, std::string> environment = {}) {
    environment["TUNE_TEST_LAUNCHES"] = folder_.path() / "launches";
    return run(sizes, "--launch", std::move(environment));
  }
  /// What the driver was told to do in all of them.
  std::string launched() const { return platform::read_file(folder_.path() / "launches"); }

  /// What the tuning file says of a variant for these sizes, as the program prints it.
  std::string expected(const package::Variant& variant, const config::Loaded& at) const {
    const auto spec = at.plan.space.at(variant.spec.params);
    if (!std::holds_alternative<Spec>(spec)) return " -";
    const auto compiled = [](const Plan& plan, const Spec& its) {
      std::string text;
      for (const Setting& setting : plan.space.derived(its))
        if (!setting.run_time &&
            std::ranges::find(plan.build.not_compiled, setting.name) == plan.build.not_compiled.end())
          text += setting.name + "=" + to_text(setting.value) + " ";
      return text;
    };
    if (compiled(at.plan, std::get<Spec>(spec)) != compiled(variant.plan, variant.spec)) return " -";
    std::string text;
    std::vector<std::string> operands;
    for (const Buffer& operand : package::operands_of(at.plan)) operands.push_back(operand.name);
    try {
      for (const wire::KernelLaunch& launch :
           exec::launches_of(at.plan, at.plan.kernel()->launches, std::get<Spec>(spec), exec::WhichLaunches::taken)) {
        text += " " + text_of(launch.kernel, launch.grid, launch.block, launch.cluster, launch.shared);
        for (const wire::Arg& arg : launch.args) text += text_of(arg, operands);
      }
    } catch (const exec::Unlaunchable&) {
      return " -";
    }
    return text;
  }

  /// Compares all variants for all sizes. Returns how many plans were valid.
  int compare(const std::vector<Sizes>& sizes) {
    const std::vector<std::string> lines = run(sizes, std::to_string(package_.variants.size()));
    EXPECT_EQ(lines.size(), sizes.size() * package_.variants.size());
    if (HasFailure()) return 0;
    int valid = 0, different = 0;
    for (std::size_t i = 0; i < sizes.size() && different < 5; ++i) {
      const config::Loaded at = load_at(yaml_, sizes[i], backend_, problem_);
      for (std::size_t v = 0; v < package_.variants.size(); ++v) {
        const std::string right = expected(package_.variants[v], at);
        const std::string& line = lines[i * package_.variants.size() + v];
        EXPECT_EQ(line, right) << fmt::format("{}", sizes[i]) << ", " << to_text(package_.variants[v].spec.params);
        different += line != right;
        valid += line != " -";
      }
    }
    return valid;
  }

  TuningFolder folder_;
  Backend backend_ = Backend::cuda;
  std::vector<std::string> problem_;  ///< as --problem
  fs::path yaml_;
  package::Package package_;
};

Sizes tight(std::int64_t m, std::int64_t n, std::int64_t k) { return {m, n, k, k, k, n}; }  // A by rows, B by columns

std::vector<Setting> hopper(const std::string& texts) {
  std::vector<Setting> params;
  std::istringstream words(texts);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    const bool run_time = word[0] == '$';
    params.push_back(
        {word.substr(run_time ? 1 : 0, equals - (run_time ? 1 : 0)), parse_value(word.substr(equals + 1)), run_time});
  }
  return params;
}

constexpr const char* kHopper = TUNE_SOURCE_DIR "/configs/hopper_bf16.yaml";
constexpr const char* kGemv =
    "KERNEL=gemv SWAP=1 BM=64 BN=8 BK=64 CONSUMERS=1 SCHEDULE=coop $CLUSTER_M=1 $CLUSTER_N=1 EPILOGUE=direct "
    "REDUCE=none "
    "$SPLIT_K=1 $GROUP=8 $STAGGER=0 ROWS_PER_WARP=1 UNROLL=2 WARPS=8";
constexpr const char* kFewRows =
    "KERNEL=gemm SWAP=1 BM=128 BN=16 BK=128 CONSUMERS=2 SCHEDULE=coop $CLUSTER_M=2 $CLUSTER_N=1 EPILOGUE=tma "
    "REDUCE=none "
    "$SPLIT_K=1 $GROUP=8 $STAGGER=5 ROWS_PER_WARP=1 UNROLL=1 WARPS=8";
constexpr const char* kLarge =
    "KERNEL=gemm SWAP=0 BM=128 BN=256 BK=64 CONSUMERS=2 SCHEDULE=coop $CLUSTER_M=1 $CLUSTER_N=2 EPILOGUE=tma "
    "REDUCE=none "
    "$SPLIT_K=1 $GROUP=8 $STAGGER=0 ROWS_PER_WARP=1 UNROLL=1 WARPS=8";
constexpr const char* kSplit =
    "KERNEL=gemm SWAP=0 BM=64 BN=64 BK=128 CONSUMERS=1 SCHEDULE=coop $CLUSTER_M=1 $CLUSTER_N=2 EPILOGUE=direct "
    "REDUCE=workspace $SPLIT_K=4 $GROUP=8 $STAGGER=0 ROWS_PER_WARP=1 UNROLL=1 WARPS=8";

TEST_F(Packages, LaunchWhatTheTuningFileSaysForAnySizes) {
  add(kHopper, tight(2, 8192, 8192), hopper(kGemv), "gemv");
  add(kHopper, tight(16, 8192, 8192), hopper(kFewRows), "few");
  add(kHopper, tight(8192, 8192, 8192), hopper(kLarge), "large");
  add(kHopper, tight(64, 2048, 16384), hopper(kSplit), "split");
  build();
  std::mt19937 random(1);
  const auto any_of = [&](std::vector<std::int64_t> values) { return values[random() % values.size()]; };
  std::vector<Sizes> sizes;
  for (const package::Entry& entry : package_.entries)
    sizes.push_back(tight(entry.sizes[0], entry.sizes[1], entry.sizes[2]));
  for (int i = 0; i < 60; ++i) {
    Sizes each = tight(any_of({1, 2, 3, 8, 9, 16, 63, 64, 65, 500, 4096, 8191, 8192}),
                       any_of({1, 64, 100, 2048, 4096, 5000, 8192, 8200, 57344}),
                       any_of({8, 64, 100, 4096, 8192, 16384, 28672}));
    for (std::size_t at = 3; at < 6; ++at) each[at] += any_of({0, 0, 0, 1, 8, 64});
    sizes.push_back(std::move(each));
  }
  EXPECT_GT(compare(sizes), 15);
}

// How far apart scales are depends on the sizes, as do the columns of B of which an epilogue makes one.
TEST_F(Packages, LaunchWhatTheTuningFileSaysWithScalesAndEpilogues) {
  const auto check = [&](const std::string& problem, std::vector<std::string> options) {
    const fs::path file = folder_.write(
        "s.yaml",
        "name: s\nfile: s.cu\nkernel: s\nbackend: cuda\nproblem: {gemm: {m: 64, n: 64, k: 64, layout: {b: col}, " +
            problem +
            "}}\nparams: {E: 1}\nbuild: {defines: [epilogue]}\nlaunch: {grid: [1], block: [32], args: [{tma: B, box: "
            "[64, 8]}, A, B, C, m, n, k, lda, ldb, ldc, ld_scale_a, ld_scale_b, {optional: bias}, {optional: "
            "residual}, "
            "{optional: scale_a}, {optional: scale_b}]}\n");
    problem_ = std::move(options);
    package_ = {};
    add(file, tight(64, 64, 64), {{"E", std::int64_t{1}}}, "s");
    build();
    EXPECT_EQ(compare({tight(64, 64, 64), tight(65, 130, 640), {100, 257, 1040, 1056, 1072, 300}}), 3) << problem;
  };
  check("bias: row, epilogue: swiglu, residual: true", {});
  const std::vector<std::string> fp8 = {"a=e4m3", "b=e4m3", "c=bf16"};
  check("scale_a: 1x128, scale_b: 128x128", fp8);
  check("scale_a: 128x128, scale_b: 1x128", fp8);
  check("scale_a: row, scale_b: tensor", fp8);
}

// Of rows of A in memory there is a tensor map, of the rows that are multiplied the grid.
TEST_F(Packages, LaunchGroupsWithRoomForMoreRows) {
  problem_ = {"groups=8", "routing=uniform", "max_rows=512"};
  const std::string tiles = "SWAP=0 BM=128 BN=128 BK=64 CONSUMERS=2 SCHEDULE=coop $CLUSTER=1 $GROUP=8 EPILOGUE=";
  const fs::path yaml = fs::path(TUNE_SOURCE_DIR) / "configs/hopper_grouped.yaml";
  add(yaml, tight(1024, 4096, 7168), hopper(tiles + "direct"), "direct");
  add(yaml, tight(2048, 4096, 7168), hopper(tiles + "tma"), "tma");
  build({"-DGROUPS=8", "-DMAX_ROWS=512"});
  compile_its_test();
  EXPECT_EQ(compare({tight(1024, 4096, 7168), tight(2048, 4096, 7168), tight(100, 640, 512), tight(7, 512, 64)}), 6);
  const auto lines = launch({tight(1024, 4096, 7168), tight(4096, 4096, 7168), tight(4097, 4096, 7168)});
  EXPECT_EQ(lines[0].substr(0, 5), "ok; ;");
  EXPECT_EQ(lines[1].substr(0, lines[1].rfind(';')), "ok; these sizes were not tuned");
  EXPECT_TRUE(has(lines[2], "; m is more than groups * max_rows;"));
  EXPECT_TRUE(has(launched(), "map of type 9, 2 dimensions, 7168 x 4096, 14336 bytes between rows"));
}

TEST_F(Packages, LaunchGroupsWithRoomOnAmd) {
  backend_ = Backend::hip;
  problem_ = {"groups=4", "max_rows=64"};
  add(fs::path(TUNE_SOURCE_DIR) / "configs/gemm_grouped.yaml", tight(64, 256, 512),
      hopper("block_size_x=16 block_size_y=16 TM=4 TN=4 BK=32"), "tiles");
  build({"-DGROUPS=4", "-DMAX_ROWS=64"});
  compile_its_test();
  EXPECT_EQ(compare({tight(64, 256, 512), tight(10, 256, 512), tight(256, 64, 64), tight(64, 250, 512)}), 3);
}

TEST_F(Packages, ComputeAsTheEvaluatorOfExpressionsDoes) {
  const std::vector<std::string> expressions = {
      "(m - 100)//(n - 50) >= -3",  // negative and zero divisors
      "(m - 100) % (n - 50) in [0, 1, k % 7 - 3]",
      "ceil_div(50 - m, k - 60) <= 2",
      "1 < m % 7 < n % 11 or not k % 2 == 0",
      "min(m, n, k) + max(m % 5, n % 5) > abs(m - n) - 40",
      "(m*n if m > n else n // (m - 3)) % 3 != 0",
      "m*n*k*m*n*k*m*n*k*m*n*k*1000 > 0",  // does not fit 64 bits for most sizes
      "2**(m % 70) > n",
      "(m % 3) ** 2 - -k % 9 >= 0 and +n > 0",
      "(m > n) + (n > k) == 1",
      "m % 4 and n % 4 or k % 8 == 0",
      "device.multiprocessors // (m % 5) > 30",
      "m/n < 1.5 and k/8 in [1, 2.5, 3]"};
  std::string yaml =
      "name: g\nfile: g.cu\nkernel: g\nbackend: cuda\nproblem: {gemm: {m: 64, n: 64, k: 64, layout: {b: col}}}\n"
      "params: {E: {range: [0, 20]}}\nlaunch: {grid: [1], block: [32], args: [A, B, C, m, n, k, lda, ldb, "
      "ldc]}\nconstraints:\n";
  for (std::size_t i = 0; i < expressions.size(); ++i)
    yaml += fmt::format("  - {{if: \"E != {} or ({})\", because: it is so}}\n", i, expressions[i]);
  const fs::path file = folder_.write("expressions.yaml", yaml);
  std::mt19937 random(7);
  const auto size = [&] { return static_cast<std::int64_t>(1 + random() % 200); };
  std::vector<Sizes> sizes;
  for (int i = 0; i < 500; ++i) sizes.push_back(tight(size(), size(), size()));
  // Each expression is a variant of its own, made for sizes for which it holds.
  for (std::size_t i = 0; i < expressions.size(); ++i)
    for (const Sizes& each : sizes) {
      const std::vector<Setting> params = {{"E", static_cast<std::int64_t>(i)}};
      if (!std::holds_alternative<Spec>(load_at(file, each).plan.space.at(params))) continue;
      add(file, each, params, fmt::format("e{}", i));
      break;
    }
  ASSERT_EQ(package_.variants.size(), expressions.size());
  build();
  sizes.resize(250);
  const int valid = compare(sizes);
  EXPECT_GT(valid, 500);
  EXPECT_LT(valid, static_cast<int>(sizes.size() * expressions.size()) - 500);
}

/// Expressions of all operators with up to so many levels, over a, b and c.
class RandomExpressions {
 public:
  std::string of(int levels) {
    if (levels == 0 || draw(8) == 0)
      return pick({"a", "b", "c", "a", "b", "c", "0", "1", "2", "7", "-3", "0.5", "1.25", "1e18", "3037000500"});
    const auto part = [&] { return of(levels - 1); };
    switch (draw(8)) {
      case 0:
        return fmt::format("({}({}))", pick({"-", "+", "not ", "abs"}), part());
      case 1:
        return fmt::format("{}({}, {})", pick({"min", "max", "ceil_div"}), part(), part());
      case 2:
        return fmt::format("({} if {} else {})", part(), part(), part());
      case 3:
        return fmt::format("({} {} {})", part(), pick({"and", "or"}), part());
      case 4:
        return fmt::format("({} in [{}, {}])", part(), part(), part());
      case 5:
        return fmt::format("({} {} {} {} {})", part(), comparison(), part(), comparison(), part());
      default:
        return fmt::format("({} {} {})", part(), pick({"+", "-", "*", "/", "/", "//", "%", "**"}), part());
    }
  }
  std::int64_t point() {
    const auto bits = static_cast<std::int64_t>(random_());
    return draw(10) == 0 ? bits : draw(3) == 0 ? bits >> 30 : bits % 20;
  }

 private:
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }
  std::string pick(const std::vector<std::string>& words) { return words[draw(words.size())]; }
  std::string comparison() { return pick({"<", "<=", ">", ">=", "==", "!="}); }

  std::mt19937_64 random_{3};
};

// 10^5 points, of which many are faults: division by zero, overflow, powers that do not exist.
TEST_F(Packages, HaveTheNumbersOfTheEvaluator) {
  constexpr std::size_t kExpressions = 250, kPoints = 400;
  Names names;
  ExpressionGraph graph;
  std::vector<int> meaning;
  package::ExpressionText texts(graph);
  for (const char* name : {"a", "b", "c"}) {
    meaning.push_back(graph.variable(names.declare(name)));
    texts.name(meaning.back(), name);
  }
  RandomExpressions random;
  std::vector<Expression> expressions;
  std::string program =
      "#include \"number.h\"\n#include <cstdio>\nusing namespace tuned::pack;\n"
      "void print(const Number& x) {\n"
      "  if (!x.valid) std::puts(\"fault\");\n  else if (x.is_real) std::printf(\"%a\\n\", x.real);\n"
      "  else std::printf(\"%ld\\n\", static_cast<long>(x.value));\n}\n";
  std::string calls;  // of a function for each, as compilers take long for a large one
  while (expressions.size() < kExpressions) {
    expressions.push_back(Expression::parse(random.of(4), names));
    try {
      const std::string text = texts.of(graph.add(expressions.back(), meaning));
      const std::string function = "print_" + std::to_string(expressions.size());
      program += "void " + function + "(Number a, Number b, Number c) { print(" + text + "); }\n";
      calls += "    " + function + "(x, y, z);\n";
    } catch (const package::NotPackaged&) {  // a constant part that is not finite
      expressions.pop_back();
    }
  }
  std::string header = package::kNumber;
  for (const auto& word : {"@NAME@", "@CONTENT@"})
    for (auto at = header.find(word); at != std::string::npos; at = header.find(word))
      header.replace(at, std::string(word).size(), "pack");
  folder_.write("number.h", header);
  folder_.write("main.cpp", program + "int main() {\n  long x, y, z;\n" +
                                "  while (std::scanf(\"%ld %ld %ld\", &x, &y, &z) == 3) {\n" + calls + "  }\n}\n");
  const std::string root = folder_.path().string();
  ASSERT_EQ(std::system(
                ("cd " + root +
                 " && c++ -std=c++17 -O1 -Wall -Wextra -Wno-unused-parameter -ffp-contract=off -I. -o program main.cpp")
                    .c_str()),
            0);
  std::vector<Sizes> points;
  while (points.size() < kPoints) points.push_back({random.point(), random.point(), random.point()});
  const std::vector<std::string> printed = run(points);
  ASSERT_EQ(printed.size(), kExpressions * kPoints);
  std::map<std::string, int> kinds;
  for (std::size_t i = 0; i < printed.size(); ++i) {
    const Expression& expression = expressions[i % kExpressions];
    const Sizes& point = points[i / kExpressions];
    EvalFailure failure;
    const Value value = expression.evaluate(std::vector<Value>(point.begin(), point.end()), failure);
    std::string right = "fault";
    if (const auto* integer = std::get_if<std::int64_t>(&value); integer && !failure) right = std::to_string(*integer);
    if (const auto* boolean = std::get_if<Bool>(&value); boolean && !failure) right = boolean->value ? "1" : "0";
    if (const auto* real = std::get_if<double>(&value); real && !failure) right = fmt::format("{:a}", *real);
    ASSERT_EQ(printed[i], right) << expression.text() << " at " << fmt::format("{}", point);
    ++kinds[failure ? "fault" : std::holds_alternative<double>(value) ? "real" : "integer"];
  }
  for (const auto& [kind, count] : kinds) EXPECT_GT(count, 10'000) << kind;
  EXPECT_EQ(kinds.size(), 3u);
}

TEST_F(Packages, CountWhatTheyLaunch) {
  add(kHopper, tight(2, 8192, 8192), hopper(kGemv), "gemv");
  add(kHopper, tight(8192, 8192, 8192), hopper(kLarge), "large");
  build();
  const std::vector<Sizes> sizes = {tight(2, 8192, 8192), tight(8192, 8192, 8192), tight(2, 8192, 4096),
                                    tight(2, 8192, 8191)};
  const auto lines = launch(sizes, {{"TUNE_TEST_INTEGERS", "3 4"}});
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], "ok; ; 0 allocations");
  EXPECT_EQ(lines[1], "ok; ; 0 allocations");
  EXPECT_EQ(lines[2], "ok; these sizes were not tuned; 0 allocations");
  EXPECT_EQ(lines[3].substr(0, lines[3].rfind(';')),
            "nothing that was tuned is valid for these sizes on this device; Plan::why says what is in the way; "
            "A has to fit into shared memory and all of its rows are multiplied at a time");
  EXPECT_EQ(lines[4], "exact 2 rule 1 miss 1 failed 0 hits 3");
  // The kernel of each: `gemv` gets n and k as its arguments 3 and 4, `gemm` its workspace and m.
  std::vector<std::string> right;
  for (const auto& [variant, at_sizes] : {std::pair<std::size_t, Sizes>{0, sizes[0]}, {1, sizes[1]}, {0, sizes[2]}}) {
    const config::Loaded at = load_at(kHopper, at_sizes);
    const Spec spec = std::get<Spec>(at.plan.space.at(package_.variants[variant].spec.params));
    for (const wire::KernelLaunch& launch :
         exec::launches_of(at.plan, at.plan.kernel()->launches, spec, exec::WhichLaunches::taken))
      right.push_back(package_.variants[variant].artifact + ": " +
                      text_of(launch.kernel, launch.grid, launch.block, launch.cluster, launch.shared));
  }
  std::vector<std::string> kernels, others;
  std::istringstream log(launched());
  for (std::string line; std::getline(log, line);)
    (line.find(" grid ") != std::string::npos ? kernels : others).push_back(line);
  ASSERT_EQ(kernels.size(), right.size());
  EXPECT_EQ(kernels[0], right[0] + " 8192 8192");
  EXPECT_EQ(kernels[1].substr(0, right[1].size()), right[1]);
  EXPECT_EQ(kernels[2], right[2] + " 8192 4096");
  // What each kernel may use is asked for once; `large` has three tensor maps, of A, B and C.
  EXPECT_EQ(others, (std::vector<std::string>{
                        "attribute 14 of gemv is 1", "attribute 8 of gemv is 32768", "attribute 14 of large is 1",
                        "attribute 8 of large is " + kernels[1].substr(kernels[1].find("shared ") + 7, 6),
                        "map of type 9, 2 dimensions, 8192 x 8192, 16384 bytes between rows, swizzle 3, promotion 3",
                        "map of type 9, 2 dimensions, 8192 x 8192, 16384 bytes between rows, swizzle 3, promotion 3",
                        "map of type 9, 2 dimensions, 8192 x 8192, 16384 bytes between rows, swizzle 3, promotion 0"}));
}

// Distances that tune refuses would make rows of C overlap; what is zeroed leaves the memory between rows alone.
TEST_F(Packages, KeepRowsApart) {
  const fs::path file = folder_.write(
      "z.yaml",
      "name: z\nfile: z.cu\nkernel: z\nbackend: cuda\nproblem: {gemm: {m: 64, n: 64, k: "
      "64, layout: {b: col}}}\n"
      "params: {E: 1}\nlaunch: {grid: [1], block: [32], c_init: zero, args: [A, B, C, m, n, k, lda, ldb, ldc]}\n");
  add(file, tight(64, 64, 64), {{"E", std::int64_t{1}}}, "e");
  build();
  const auto lines = launch({{16, 32, 64, 64, 64, 40},
                             {16, 32, 64, 63, 64, 32},
                             {16, 32, 64, 64, 63, 32},
                             {16, 32, 64, 64, 64, 31},
                             {INT64_MAX, 32, 64, 64, 64, 32},
                             {0, 32, 64, 64, 64, 32}});
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0].substr(0, 3), "ok;");
  EXPECT_TRUE(has(launched(), "16 rows of 128 bytes become 0, 160 bytes between them\n"));
  EXPECT_TRUE(has(lines[1], "; lda is less than a row of the matrix;"));
  EXPECT_TRUE(has(lines[2], "; ldb is less than a column of the matrix;"));
  EXPECT_TRUE(has(lines[3], "; ldc is less than a row of the matrix;"));
  EXPECT_TRUE(has(lines[4], "; A takes more bytes than 64 bits can count;"));
  EXPECT_TRUE(has(lines[5], "; m is less than 1;"));
}

TEST_F(Packages, LaunchNothingThatTheDeviceExcludes) {
  add(kHopper, tight(64, 2048, 16384), hopper(kSplit), "split");
  build();
  // All parts of all tiles run at the same time, or blocks wait for others for ever.
  const auto few =
      launch({tight(64, 2048, 16384)}, {{"TUNE_TEST_MULTIPROCESSORS", "114"}, {"TUNE_TEST_CARD", "NVIDIA H100 PCIe"}});
  EXPECT_EQ(few.back(), "exact 0 rule 0 miss 1 failed 0 hits 0");
  EXPECT_TRUE(has(few[0], "all parts of all tiles run at the same time"));
  const auto another = launch({tight(64, 2048, 16384)}, {{"TUNE_TEST_OTHER_DEVICE", "1"}});
  EXPECT_EQ(another[0].substr(0, another[0].find(';')), "the current device is not the one that the plan is for");
  const auto older = launch({tight(64, 2048, 16384)}, {{"TUNE_TEST_CAPABILITY", "80"}});
  EXPECT_EQ(older.back(), "exact 0 rule 0 miss 1 failed 0 hits 0");
  EXPECT_TRUE(has(older[0], "for another architecture"));
}

// HIP's runtime is a stand-in, too, which takes the place of a card that is not here.
TEST_F(Packages, LaunchOnAmdWhatTheTuningFileSays) {
  backend_ = Backend::hip;
  const fs::path yaml = folder_.write(
      "a.yaml",
      "name: a\nfile: a.hip\nkernel: a\nbackend: hip\nproblem: {gemm: {m: 64, n: 64, k: 64, layout: {b: col}}}\n"
      "params: {BM: [16, 32], $SPLIT: [1, 2]}\nconstraints: [k % SPLIT == 0]\nlaunch:\n"
      "  - {c_init: zero, grid: [\"min(ceil_div(m, BM)*n, device.multiprocessors)\", SPLIT], block: [64, 4], shared: "
      "BM*256, workspace: {bytes: 4*m*n*SPLIT, zero: true}, args: [A, B, C, workspace, m, n, k, lda, ldb, ldc]}\n"
      "  - {kernel: reduce, if: SPLIT > 1, grid: [m], block: [64], args: [workspace, C, m, n, ldc]}\n");
  add(yaml, tight(64, 64, 64), {{"BM", std::int64_t{16}}, {"SPLIT", std::int64_t{1}, true}}, "one");
  add(yaml, tight(512, 64, 64), {{"BM", std::int64_t{32}}, {"SPLIT", std::int64_t{2}, true}}, "two");
  build();
  EXPECT_TRUE(fs::exists(folder_.path() / "bin/gfx90a/one.hsaco"));
  EXPECT_EQ(compare({tight(64, 64, 64), tight(512, 64, 64), tight(100, 3, 5), {64, 64, 64, 72, 80, 96}}), 7);
  const auto lines = launch({tight(64, 64, 64), {512, 64, 64, 64, 64, 96}}, {{"TUNE_TEST_INTEGERS", "4"}});
  EXPECT_EQ(lines, (std::vector<std::string>{"ok; ; 0 allocations", "ok; these sizes were not tuned; 0 allocations",
                                             "exact 1 rule 1 miss 0 failed 0 hits 2"}));
  EXPECT_EQ(launched(),
            "16384 bytes become 0\n64 rows of 256 bytes become 0, 256 bytes between them\n"
            "one: a grid 104 1 1 block 64 4 1 cluster 0 0 0 shared 4096 64\n"
            "262144 bytes become 0\n512 rows of 256 bytes become 0, 384 bytes between them\n"
            "two: a grid 104 2 1 block 64 4 1 cluster 0 0 0 shared 8192 512\n"
            "two: reduce grid 512 1 1 block 64 1 1 cluster 0 0 0 shared 0 96\n");
  const auto other = launch({tight(64, 64, 64)}, {{"TUNE_TEST_ARCHITECTURE", "gfx908:xnack-"}});
  EXPECT_EQ(other.back(), "exact 0 rule 0 miss 1 failed 0 hits 0");
  EXPECT_TRUE(has(other[0], "for another architecture"));
  EXPECT_EQ(launch({tight(64, 64, 64)}, {{"TUNE_TEST_ARCHITECTURE", "gfx90a0"}}).back(), other.back());
  EXPECT_EQ(launch({tight(64, 64, 64)}, {{"TUNE_TEST_CARD", "AMD Instinct MI210"}}).back(),
            "exact 0 rule 1 miss 0 failed 0 hits 1");
}

TEST_F(Packages, RefuseCodeThatWasChanged) {
  add(kHopper, tight(8192, 8192, 8192), hopper(kLarge), "large");
  write_files();
  std::string table = platform::read_file(folder_.path() / "src/binaries.cpp");
  const auto sum = table.find("_end, ") + 6;
  table[sum] = table[sum] == '1' ? '2' : '1';
  folder_.write("src/binaries.cpp", table);
  std::vector<std::string> sources(std::begin(kSources), std::end(kSources));
  sources.emplace_back("src/binaries.S");
  compile(sources);
  EXPECT_EQ(launch({tight(8192, 8192, 8192)}).back(), "exact 0 rule 0 miss 0 failed 1 hits 0");
}

TEST_F(Packages, KeepWhatTheKernelIsNotTold) {
  const fs::path file =
      folder_.write("b.yaml",
                    "name: b\nfile: b.cu\nkernel: b\nbackend: cuda\n"
                    "problem: {gemm: {m: 64, n: 64, k: 64, batch: 3, layout: {b: col}}}\nparams: {E: 1, P: [[2, 1]]}\n"
                    "launch: {grid: [1], block: [32], cluster: P, programmatic: m > 32,\n"
                    "args: [A, B, C, m, n, k, lda, ldb, ldc]}\n");
  add(file, tight(64, 64, 64), {{"E", std::int64_t{1}}, {"P", Pair{2, 1}}}, "b");
  package_.name = "pack";
  const std::string table = package::files_of(package_).at("src/table.cpp");
  for (const char* line :
       {"planner.cluster({2, 1});\n", "planner.programmatic(greater(size_m, 32));\n",
        "planner.compiled(size_batch, 3, \"the kernel is not told batch\");\n",
        "planner.compiled(size_stride_a, tight_stride_a(sizes), \"the kernel is not told stride_a\");\n"})
    EXPECT_TRUE(has(table, line));
}

TEST_F(Packages, SayHowPyTorchCallsThem) {
  const auto read_me = [&](const std::string& layout_b) {
    const fs::path file = folder_.write(
        "b.yaml",
        "name: b\nfile: b.cu\nkernel: b\nbackend: cuda\nproblem: {gemm: {m: 64, n: 64, k: 64, layout: {b: " + layout_b +
            "}}}\nparams: {E: 1}\nlaunch: {grid: [1], block: [32], args: [A, B, C, m, n, k, lda, ldb, ldc]}\n");
    package_ = {};
    package_.name = "pack";
    package_.backend = "cuda";
    add(file, tight(64, 64, 64), {{"E", std::int64_t{1}}}, "b");
    return package::files_of(package_).at("README.md");
  };
  for (const auto& [layout, product] : {std::pair("col", "a @ b.T"), std::pair("row", "a @ b")}) {
    const std::string text = read_me(layout);
    EXPECT_TRUE(has(text, "PYTHONPATH=build/python python3\n"));
    EXPECT_TRUE(has(text, fmt::format("`tuned_pack.matmul(a, b)` is `{}`. ", product)));
  }
}

TEST_F(Packages, MapTheBuffersOfACustomProblem) {
  const fs::path file = folder_.write(
      "m.yaml",
      "name: m\nfile: m.cu\nkernel: m\nbackend: cuda\nproblem:\n  custom:\n    sizes: {pieces: 64}\n"
      "    buffers: [{name: x, type: bf16, count: 8*pieces}, {name: y, type: f32, count: pieces, role: out}]\n"
      "    reference: {kernel: m, grid: [1], block: [1], args: [x, y, pieces]}\nparams: {E: 16}\n"
      "launch: {grid: [1], block: [32], args: [{tma: x, box: [E], swizzle: 32}, {tma: y, box: [E]}, y, pieces]}\n");
  add(file, {}, {{"E", std::int64_t{16}}}, "m");
  package_.name = "pack";
  const std::string table = package::files_of(package_).at("src/table.cpp");
  for (const char* line : {"planner.map(0, 9, {multiply(8, size_pieces)}, {}, {16}, 32, 0);\n",
                           "planner.map(1, 7, {size_pieces}, {}, {16}, 0, 0);\n"})
    EXPECT_TRUE(has(table, line));
}

TEST_F(Packages, SayWhatTheyCannotCompute) {
  const auto complaint = [&](const std::string& let, const std::string& more = "") {
    const fs::path file = folder_.write(
        "g.yaml",
        "name: g\nfile: g.cu\nkernel: g\nbackend: cuda\nproblem: {gemm: {m: 64, n: 64, k: 64, layout: {b: col}}}\n"
        "params: {E: 1}\nlet: {X: \"" +
            let + "\"}\nlaunch: {grid: [1], block: [32], args: [A, B, C, m, n, k, lda, ldb, ldc]}\n" + more);
    package_ = {};
    add(file, tight(64, 64, 64), {{"E", std::int64_t{1}}}, "e");
    try {
      package::files_of(package_);
      return std::string();
    } catch (const package::NotPackaged& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(complaint("m//2"), "");
  const fs::path custom =
      folder_.write("c.yaml",
                    "name: c\nfile: c.cu\nkernel: c\nbackend: cuda\nproblem: {custom: {buffers: [{name: x, type: f32, "
                    "count: 4, role: "
                    "out}], reference: {kernel: c, grid: [1], block: [1], args: [x]}}}\nparams: {E: 1}\n"
                    "launch: {grid: [1], block: [32], args: [x]}\n");
  package_ = {};
  add(custom, {}, {{"E", std::int64_t{1}}}, "c");
  EXPECT_THROW(package::files_of(package_), package::NotPackaged);
  EXPECT_EQ(complaint("m/2"), "");
  EXPECT_EQ(
      complaint("'a' if m > 5 else 'b'"),
      "let: X: a text or a pair beside values that depend on the sizes or the device is not known to packages; let "
      "numbers depend on them, such as '1 if m > 64 else 2', and nothing else");
  problem_ = {"groups=4", "max_rows=64"};
  const fs::path zeroed = folder_.write(
      "z.yaml",
      "name: z\nfile: z.cu\nkernel: z\nbackend: cuda\nproblem: {gemm: {m: 64, n: 64, k: 64, layout: {b: col}}}\n"
      "params: {E: 1}\nlaunch: {grid: [1], block: [32], c_init: zero, args: [A, B, C, group_rows, max_rows]}\n");
  const auto complaint_of_zeroed = [&] {
    package_ = {};
    add(zeroed, tight(64, 64, 64), {{"E", std::int64_t{1}}}, "z");
    try {
      package::files_of(package_);
      return std::string();
    } catch (const package::NotPackaged& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(complaint_of_zeroed(),
            "launch: c_init: zero would write what lies behind the rows of groups with max_rows; let the kernel zero "
            "their rows, or tune it with padding: any");
  problem_.emplace_back("padding=any");
  EXPECT_EQ(complaint_of_zeroed(), "");
  problem_.clear();
  EXPECT_NE(complaint("device.clock_hz//2", "device_defaults: {clock_hz: 5}\n")
                .find("device.clock_hz is not known to packages"),
            std::string::npos);
}

}  // namespace
}  // namespace tune::package_test
