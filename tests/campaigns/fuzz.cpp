// Structure-aware fuzzing of what the driver reads. Each input follows from the seed, the reader's name and a number,
// so that what was found is repeated by these three. Readers are called within this process; the real binary gets an
// input now and then.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>

#include "fuzz_expressions.h"
#include "fuzz_mutations.h"
#include "fuzz_readers.h"
#include "model/values/escaped_text.h"
#include "support/cli.h"

// What has more than this is lost in the search for memory.
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:hard_rss_limit_mb=3000:quarantine_size_mb=32:allocator_may_return_null=0";
}
extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));

namespace tune::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kHangSeconds = 10;  // of the processor
constexpr rlim_t kMostMemory = rlim_t{4} << 30;
constexpr std::size_t kBatch = 2000;
constexpr std::size_t kBinaryEvery = 300;
constexpr std::uint64_t kEnough = 200;  // to see some accepted

struct Arguments {
  double seconds = 12;
  std::uint64_t seed = 1;
  std::string reader;       // empty: all
  std::uint64_t from = 0;   // the number of the first input
  std::uint64_t count = 0;  // of inputs of each reader; 0: until the time is over
  bool show = false;        // print the inputs
};

/// What repeats the present input; written by what handles the end of the process.
char repeat[200];

void say_what_repeats() {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, repeat, std::strlen(repeat));
}

extern "C" void end_by_signal(int number) {
  const char* text = number == SIGPROF ? "fuzz: hangs\n" : "fuzz: crashes\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
  say_what_repeats();
  ::_exit(1);
}

void watch() {
  const bool sanitized = __sanitizer_set_death_callback != nullptr;
  const rlimit limit{kMostMemory, kMostMemory};
  if (sanitized) {
    __sanitizer_set_death_callback(say_what_repeats);
  } else {
    ::setrlimit(RLIMIT_AS, &limit);
  }
  for (const int number : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL})
    if (const auto before = ::signal(number, end_by_signal); before != SIG_DFL) ::signal(number, before);
  ::signal(SIGPROF, end_by_signal);
}

void begin(const Arguments& arguments, const std::string& reader, std::uint64_t number) {
  const auto text = fmt::format("repeat with: campaign_fuzz --seed {} --reader {} --from {} --count 1 --show\n",
                                arguments.seed, reader, number);
  std::strncpy(repeat, text.c_str(), sizeof repeat - 1);
  const itimerval limit{{0, 0}, {kHangSeconds, 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

Dice dice_of(const Arguments& arguments, const std::string& reader, std::uint64_t number) {
  std::uint64_t seed = arguments.seed;
  for (const char c : reader) seed = seed * 1099511628211ULL + static_cast<unsigned char>(c);
  Dice first(seed);
  return Dice(first.next() + number * 0xd1342543de82ef95ULL);
}

struct Counts {
  std::uint64_t inputs = 0;
  std::uint64_t accepted = 0;
};

class Campaign {
 public:
  explicit Campaign(const Arguments& arguments) : arguments_(arguments), began_(Clock::now()) {
    for (Reader& reader : readers(sandbox_.folder())) {
      const Mutator mutator(reader.seeds);
      add(reader.name, [reader, mutator, this](Dice& dice) {
        const std::string text = mutator.make(dice);
        if (arguments_.show) std::cout << text << "\n" << std::flush;
        return reader.read(text);
      });
    }
    sandbox_.environment["ASAN_OPTIONS"] = "detect_leaks=0";
    python_ = has_python();
    add("expression", [this](Dice& dice) { return expression(dice); });
    add("expression-text", [](Dice& dice) { return read_mutated_expression(dice); });
    add("binary", [this](Dice& dice) { return binary(dice); });
  }

  void run() {
    watch();
    for (std::uint64_t number = arguments_.from; !over(number); ++number)
      for (const auto& [name, target] : targets_) {
        if (!arguments_.reader.empty() ? name != arguments_.reader : name == "binary" && number % kBinaryEvery != 1)
          continue;
        if (arguments_.count == 0 && seconds() > arguments_.seconds) break;
        begin(arguments_, name, number);
        Dice dice = dice_of(arguments_, name, number);
        counts_[name].accepted += target(dice) ? 1 : 0;
        ++counts_[name].inputs;
      }
    compare();
    for (const auto& [name, counts] : counts_)
      if (counts.inputs >= kEnough && counts.accepted == 0)
        throw Finding(name + " accepts nothing: is its seed valid?");
  }

  std::string summary() const {
    std::uint64_t inputs = 0;
    std::string text;
    for (const auto& [name, counts] : counts_) {
      inputs += counts.inputs;
      text += fmt::format(", {} {} ({} accepted)", name, counts.inputs, counts.accepted);
    }
    return fmt::format(
        "fuzz: {} inputs in {:.1f} s, seed {}, no finding{}; {}\n", inputs, seconds(), arguments_.seed, text,
        python_ ? fmt::format("{} expressions as in Python", compared_) : "no python3: expressions were not compared");
  }

 private:
  using Target = std::function<bool(Dice&)>;

  void add(std::string name, Target target) { targets_.emplace_back(std::move(name), std::move(target)); }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  bool over(std::uint64_t number) const {
    return arguments_.count > 0 ? number >= arguments_.from + arguments_.count : seconds() > arguments_.seconds;
  }

  bool expression(Dice& dice) {
    expressions_.push_back(make_expression(dice));
    if (arguments_.show) std::cout << expressions_.back().text << "\n" << std::flush;
    if (expressions_.size() >= kBatch) compare();
    return expressions_.empty() || expressions_.back().result != "fails";
  }

  void compare() {
    if (python_ && !expressions_.empty()) {
      const std::string found = difference(expressions_, sandbox_.folder().string());
      if (!found.empty()) throw Finding("an expression is not what it is in Python: " + found);
      compared_ += expressions_.size();
    }
    expressions_.clear();
  }

  static std::vector<std::string> command_for(const std::string& reader, Dice& dice) {
    if (reader == "shapes") return {"program.yaml", "--dry-run", "--shapes", "input"};
    if (reader == "device") return {"program.yaml", "--dry-run", "--device-file", "input"};
    if (reader == "yaml" || reader == "t1") return {"input", "--dry-run", "--quiet"};
    const bool converts = dice.once_in(2);
    return converts ? std::vector<std::string>{"convert", "input", "out.json"}
                    : std::vector<std::string>{"--simulate", "input", "--tune", "--quiet"};
  }

  /// A dry run, a simulation or a conversion of a mutated file.
  bool binary(Dice& dice) {
    static const auto kAll = readers(sandbox_.folder());
    const Reader& reader = kAll[dice.below(kAll.size())];
    const std::string text = Mutator(reader.seeds).make(dice);
    if (arguments_.show) std::cout << reader.name << "\n" << text << "\n" << std::flush;
    sandbox_.write("input", text);
    sandbox_.write("program.yaml", "name: x\nfile: x.py\nparams: {TILE: [8, 16]}\n");
    const cli::Result result = sandbox_.tune(command_for(reader.name, dice));
    if (result.code < 0 || result.code > 4) throw Finding(fmt::format("exit code {}: {}", result.code, result.err));
    for (const std::string& said : {result.out, result.err})
      if (!said.empty()) {
        check_message(said);
        if (with_escapes(said) != said) throw Finding("hidden characters reach the terminal: " + with_escapes(said));
      }
    if (result.err.find("unexpected: ") != std::string::npos) throw Finding(result.err);
    return result.code == 0;
  }

  Arguments arguments_;
  Clock::time_point began_;
  cli::Sandbox sandbox_;
  std::vector<std::pair<std::string, Target>> targets_;
  std::map<std::string, Counts> counts_;
  std::vector<Evaluated> expressions_;
  bool python_ = false;
  std::uint64_t compared_ = 0;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--show") {
      arguments.show = true;
      continue;
    }
    ++i;
    if (option == "--seconds")
      arguments.seconds = std::atof(value);
    else if (option == "--seed")
      arguments.seed = std::strtoull(value, nullptr, 10);
    else if (option == "--reader")
      arguments.reader = value;
    else if (option == "--from")
      arguments.from = std::strtoull(value, nullptr, 10);
    else if (option == "--count")
      arguments.count = std::strtoull(value, nullptr, 10);
    else
      throw std::invalid_argument(
          "campaign_fuzz [--seconds S] [--seed N] [--reader NAME] [--from N] [--count N] [--show]");
  }
  return arguments;
}

}  // namespace
}  // namespace tune::fuzz

int main(int argc, char** argv) {
  try {
    tune::fuzz::Campaign campaign(tune::fuzz::parse(argc, argv));
    campaign.run();
    std::cout << campaign.summary();
    return 0;
  } catch (const tune::fuzz::Finding& finding) {
    std::cerr << "fuzz: " << finding.what() << "\n";
  } catch (const std::exception& error) {
    std::cerr << "fuzz: an exception of another type: " << error.what() << "\n";
  }
  tune::fuzz::say_what_repeats();
  return 1;
}
