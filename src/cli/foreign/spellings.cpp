#include "cli/foreign/spellings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "model/values/error.h"
#include "model/values/text.h"

namespace tune::cli {
namespace {

using Treatment = Spelling::Treatment;

constexpr std::string_view kKbench = "kbench";
constexpr std::string_view kTuneGemm = "tune_gemm";

std::string as_it_is(const std::string&, const std::string& value) { return value; }

/// 3 as 0,1,2.
std::string first_devices(const std::string& name, const std::string& value) {
  constexpr int kMost = 1024;
  const int count = number_from<int>(value).value_or(0);
  if (count < 1 || count > kMost)
    throw Error(ExitCode::bad_input,
                fmt::format("{}: '{}' is not a number of GPUs; write a whole number above 0", name, value));
  std::string devices = "0";
  for (int i = 1; i < count; ++i) devices += fmt::format(",{}", i);
  return devices;
}

template <std::size_t size>
std::string renamed(const std::array<std::pair<std::string_view, std::string_view>, size>& names,
                    const std::string& value) {
  const auto found = std::ranges::find(names, value, &std::pair<std::string_view, std::string_view>::first);
  return found == names.end() ? value : std::string(found->second);
}

std::string type_name(const std::string&, const std::string& value) {
  return renamed<7>({{{"fp32", "f32"},
                      {"fp16", "f16"},
                      {"bf16", "bf16"},
                      {"fp8", "e4m3"},
                      {"bf8", "e5m2"},
                      {"int8", "s8"},
                      {"int32", "s32"}}},
                    value);
}

std::string init_name(const std::string&, const std::string& value) {
  return renamed<2>({{{"randn", "normal"}, {"trig_float", "trig"}}}, value);
}

constexpr std::string_view kCompilerOptions =
    "give the compiler's options in the tuning file: build: {flags: [...]}, or build: {command: ...} for a program";

constexpr auto kSpellings = std::to_array<Spelling>({
    {kTuneGemm, "--o", Treatment::same, "--tuning_results_file", as_it_is},
    {kTuneGemm, "--num_threads", Treatment::same, "--jobs", as_it_is},
    {kTuneGemm, "--ngpus", Treatment::same, "--devices", first_devices},
    {kTuneGemm, "--gpu_ids", Treatment::same, "--devices", as_it_is},
    {kTuneGemm, "-dtype_a", Treatment::same, "--problem a=", type_name},
    {kTuneGemm, "-dtype_b", Treatment::same, "--problem b=", type_name},
    {kTuneGemm, "-dtype_c", Treatment::same, "--problem c=", type_name},
    {kTuneGemm, "-col_a", Treatment::same, "--problem rowMajorA=N"},
    {kTuneGemm, "-col_b", Treatment::same, "--problem rowMajorB=N"},
    {kTuneGemm, "--init_type", Treatment::same, "--problem init=", init_name},
    {kTuneGemm, "--bias_vector", Treatment::same, "--problem bias=col"},
    {kTuneGemm, "--time_breakdown", Treatment::implied, "a run always says how long builds, checks and timing took"},
    {kTuneGemm, "--benchmark", Treatment::refused,
     "without --tune, the configurations of a results file are timed in full: tune --yaml FILE --gemm_size_file "
     "RESULTS "
     "--output NAME.csv"},
    {kTuneGemm, "--rotating_tensor", Treatment::refused,
     "the data caches are emptied before every launch; measure: {cold_cache: false} in the tuning file leaves them "
     "warm"},
    {kTuneGemm, "--icache_flush", Treatment::refused,
     "only data caches are emptied (measure: {cold_cache: true}, the default); the instruction cache is left as it is"},
    {kTuneGemm, "--iters", Treatment::refused,
     "launches are timed until the median is known well enough; measure: {min_launches: N} in the tuning file is the "
     "least number"},
    {kTuneGemm, "--no_warmup", Treatment::refused,
     "there is no compilation stage to skip: builds run beside the measurements (--jobs says how many); measure: "
     "{warmup: 0} in the tuning file leaves out the launches before those that are timed"},
    {kTuneGemm, "--hack_triton_compiler", Treatment::refused,
     "no compiler is changed; --arch NAME with --build-only builds without a GPU"},

    {kKbench, "-dryrun", Treatment::same, "--dry-run"},
    {kKbench, "-cc", Treatment::same, "--clear-cache"},
    {kKbench, "--cache-dir", Treatment::same, "--store", as_it_is},
    {kKbench, "--num-gpu", Treatment::same, "--devices", first_devices},
    {kKbench, "-c", Treatment::implied,
     "what was built is always taken from the build store, unless its source has changed"},
    {kKbench, "--cached", Treatment::implied,
     "what was built is always taken from the build store, unless its source has changed"},
    {kKbench, "--skip-clock-check", Treatment::implied,
     "no clock is demanded; the table has a warning if the times are noisy"},
    {kKbench, "-f", Treatment::implied, "no clock is demanded; the table has a warning if the times are noisy"},
    {kKbench, "--force", Treatment::implied, "no clock is demanded; the table has a warning if the times are noisy"},
    {kKbench, "--output-dir", Treatment::refused, "write the folder in front of the name: --output DIR/NAME"},
    {kKbench, "--plot", Treatment::refused,
     "the table is always printed; --kt-cache FILE writes what ktdashboard shows"},
    {kKbench, "--target-accelerator", Treatment::refused,
     "builds are for the device of this machine; --arch NAME with --build-only names another"},
    {kKbench, "--march", Treatment::refused, kCompilerOptions},
    {kKbench, "--build-opts", Treatment::refused, kCompilerOptions},
    {kKbench, "--debug-level", Treatment::refused, kCompilerOptions},
    {kKbench, "-O", Treatment::refused, kCompilerOptions},
    {kKbench, "--optimization-level", Treatment::refused, kCompilerOptions},
    {kKbench, "--use-experimental-kernels", Treatment::refused, kCompilerOptions},
    {kKbench, "--disable-warnings", Treatment::refused, kCompilerOptions},
});

/// `--dtype_a` too is understood, which its own tool writes with one dash.
const Spelling* find(std::string_view name) {
  const auto named = [&](std::string_view wanted) { return std::ranges::find(kSpellings, wanted, &Spelling::name); };
  auto found = named(name);
  if (found == kSpellings.end() && name.size() > 3 && name.starts_with("--")) found = named(name.substr(1));
  return found == kSpellings.end() ? nullptr : &*found;
}

/// The words of ours, with the value at the end.
void append(std::vector<std::string>& words, const Spelling& spelling, const std::string& name,
            const std::optional<std::string>& value) {
  const std::size_t blank = spelling.ours.find(' ');
  words.emplace_back(spelling.ours.substr(0, blank));
  std::string last(blank == std::string_view::npos ? "" : spelling.ours.substr(blank + 1));
  if (value && spelling.value != nullptr) last += spelling.value(name, *value);
  if (!last.empty()) words.push_back(std::move(last));
}

}  // namespace

std::span<const Spelling> spellings() { return kSpellings; }

std::vector<std::string> in_our_spelling(int argc, const char* const* argv) {
  std::vector<std::string> words;
  int i = 0;
  for (; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.starts_with('-') ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const Spelling* spelling = find(name);
    if (spelling == nullptr) {
      words.push_back(word);
      continue;
    }
    if (spelling->treatment == Treatment::refused)
      throw Error(ExitCode::bad_input,
                  fmt::format("{} is an option of {} and not of tune: {}", name, spelling->tool, spelling->ours));
    if (spelling->treatment == Treatment::implied) continue;
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    if (!value && spelling->value != nullptr && i + 1 < argc) value = argv[++i];
    append(words, *spelling, name, value);
  }
  words.insert(words.end(), argv + i, argv + argc);
  return words;
}

}  // namespace tune::cli
