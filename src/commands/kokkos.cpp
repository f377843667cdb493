#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/print_messages.h"
#include "database/database_file.h"
#include "kokkos/results.h"
#include "kokkos/settings.h"
#include "model/values/escaped_text.h"
#include "platform/files/file.h"
#include "platform/files/shared_file.h"
#include "platform/files/streams.h"
#include "platform/files/user_folders.h"
#include "platform/process/process.h"

namespace tune::commands {
namespace {

namespace fs = std::filesystem;

/// `tune kokkos`: runs a program that tunes itself until all is decided, and compares runs without and with the result.
struct KokkosOptions {
  std::optional<fs::path> database;                ///< unset: by the program's name
  std::optional<search::StrategyChoice> strategy;  ///< unset: the library's own choice
  std::optional<std::int64_t> max_evals;           ///< of each region
  int max_runs = 100;
  int pairs = 5;  ///< of runs without and with the result
  std::vector<std::string> program;
};

void bind(cli::Command& command, KokkosOptions& options) {
  command.path("--db", options.database, "FILE", "The database of results (default: PROGRAM.db.yaml)")
      .files(kYamlFiles);
  bind_strategy(command, options.strategy, "How to search, as for a run (default: auto)");
  command.whole("--max-evals", options.max_evals, 1, "N",
                "Configurations to try for each region (default: all of up to 100, else 100 or 40 per variable)");
  command.whole("--max-runs", options.max_runs, 1, "N", "Runs of the program before it gives up").shows_default();
  command.whole("--pairs", options.pairs, 0, "N", "Runs without and with the result, in turns, to compare them")
      .shows_default();
  command.behind_dashes(options.program);
  command.check([&options] {
    if (options.program.empty())
      cli::refuse("tune kokkos needs the program behind --:\n\ttune kokkos -- ./app ARGUMENTS");
  });
}

constexpr const char *kLibraries = "KOKKOS_TOOLS_LIBS", *kOldLibraries = "KOKKOS_PROFILE_LIBRARY";

fs::path library() {
  const fs::path prefix = platform::folder_of_executable().parent_path();
  for (const char* folder : {"lib", TUNE_LIBRARY_FOLDER})
    if (fs::exists(prefix / folder / "libtune_kokkos.so")) return prefix / folder / "libtune_kokkos.so";
  throw Error(ExitCode::environment,
              fmt::format("libtune_kokkos.so is not in {}; build or install it with tune", (prefix / "lib").string()));
}

std::string printed_text(const platform::Finished& program) {
  return program.captured.empty() ? "" : "; it printed on stderr:\n" + program.captured;
}

class KokkosTuning {
 public:
  explicit KokkosTuning(const KokkosOptions& options) : options_(options), library_(library()) {
    database_ = options.database.value_or(fs::path(options.program.front()).filename().string() + ".db.yaml");
    messages_ = fs::absolute(database_.string() + ".messages");
    database::parse_database(platform::SharedFile(database_).read(), database_.string());
    platform::find_program(options.program.front());
  }

  ~KokkosTuning() {
    std::error_code ignored;
    fs::remove(messages_, ignored);
  }
  KokkosTuning(const KokkosTuning&) = delete;
  KokkosTuning& operator=(const KokkosTuning&) = delete;

  ExitCode run() {
    search();
    if (regions_.empty())
      throw Error(ExitCode::none_valid,
                  "the program asked for no values. Kokkos must be built with KOKKOS_ENABLE_TUNING, and a program with "
                  "tune/tuning.h must reach a request" +
                      printed_text(last_));
    if (options_.pairs > 0) compare();
    print();
    return open() == 0 ? ExitCode::ok : ExitCode::none_valid;
  }

 private:
  std::map<std::string, std::string> environment(bool only_known) const {
    std::map<std::string, std::string> all = {{kLibraries, library_},
                                              {kOldLibraries, library_},
                                              {kokkos::kDatabaseVariable, fs::absolute(database_)},
                                              {kokkos::kReplayVariable, only_known ? "1" : "0"}};
    if (!only_known) all.insert({{kokkos::kVerboseVariable, "1"}, {kokkos::kMessagesVariable, messages_}});
    if (std::getenv("KOKKOS_TUNE_INTERNALS") == nullptr) all["KOKKOS_TUNE_INTERNALS"] = "1";
    if (options_.strategy) all[kokkos::kStrategyVariable] = text_of(*options_.strategy);
    if (options_.max_evals) all[kokkos::kEvaluationsVariable] = std::to_string(*options_.max_evals);
    return all;
  }

  static std::string text_of(const search::StrategyChoice& choice) {
    std::string text = choice.name;
    for (const search::StrategyOption& option : choice.options)
      text += fmt::format("{}{}={}", text == choice.name ? ":" : ",", option.key, option.value);
    return text;
  }

  platform::Finished run_program(std::map<std::string, std::string> environment) {
    platform::Command command;
    command.argv = options_.program;
    command.environment = std::move(environment);
    command.capture_limit = 4 << 20;
    platform::Finished finished = platform::run(command);
    read_what_it_said();
    if (!finished.exit.clean())
      throw Error(ExitCode::none_valid,
                  fmt::format("{} ended with {}{}{}", options_.program.front(), to_text(finished.exit),
                              turns() > 0 ? "; the same command goes on from what is known so far" : "",
                              printed_text(finished)));
    return finished;
  }

  std::size_t turns() const {
    std::size_t count = 0;
    for (const auto& [id, record] : kokkos::read_turns(database_)) count += record.turns.size();
    return count;
  }

  /// What the last run said of each region, and complained of. Several processes may have said different things.
  void read_what_it_said() {
    const std::string text = platform::read_file(messages_);
    if (text.empty()) return;  // it was to say nothing, or has ended too early
    regions_.clear();
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != text.npos; begin = end + 1, end = text.find('\n', begin)) {
      const std::string line = text.substr(begin, end - begin);
      if (line.starts_with(kokkos::kRegion)) regions_.insert(line.substr(std::string_view(kokkos::kRegion).size()));
      if (line.starts_with(kokkos::kComplains) && complaints_.insert(line).second)
        print_wrapped("warning: " + line.substr(std::string_view(kokkos::kComplains).size()));
    }
  }

  std::size_t open() const {
    std::size_t count = 0;
    for (const std::string& region : regions_)
      count += region.ends_with(kokkos::kDecided) || region.ends_with(kokkos::kNotTuned) ? 0 : 1;
    return count;
  }

  void search() {
    for (int run = 1; run <= options_.max_runs; ++run) {
      const std::size_t before = turns();
      platform::write_file(messages_, "");
      last_ = run_program(environment(false));
      const std::size_t now = turns();
      platform::print_to_stderr(fmt::format("tune: run {}: {:.4g} s, {} of {} regions are decided, {} turns so far",
                                            run, last_.use.seconds, regions_.size() - open(), regions_.size(), now));
      if (open() == 0 || (run > 2 && now == before)) return;
    }
  }

  /// Runs as without this tool, and with what was found, in turns.
  void compare() {
    const std::map<std::string, std::string> none = {{kLibraries, ""}, {kOldLibraries, ""}};
    std::vector<double> before, now, ratios;
    for (int i = 0; i < options_.pairs; ++i) {
      for (const bool is_first : {true, false}) {
        const bool with = (i % 2 == 0) != is_first;
        const platform::Finished finished = run_program(with ? environment(true) : none);
        (with ? now : before).push_back(finished.use.seconds);
      }
      ratios.push_back(before.back() / now.back());
    }
    const Interval interval = median_interval(ratios);
    slower_ = interval.high < 1;
    comparison_ =
        fmt::format("before: {:.4g} s, after: {:.4g} s, {:.4g} times as fast ({:.4g} to {:.4g}), {} runs each\n",
                    median(before), median(now), median(ratios), interval.low, interval.high, options_.pairs);
  }

  void print() const {
    if (slower_)
      print_wrapped(
          "warning: with the result the program is slower than without this tool: either requests cost more than they "
          "gain, or the program does something slow while it is tuned");
    std::string text;
    for (const std::string& region : regions_) text += region + "\n";
    platform::print(text + comparison_ + "database: " + line_with_escapes(database_.string()) + "\n");
    if (open() > 0)
      print_wrapped(
          fmt::format("note: {} of {} regions are not decided; the same command continues, and "
                      "longer runs of the program decide sooner",
                      open(), regions_.size()));
  }

  const KokkosOptions& options_;
  fs::path library_, database_, messages_;
  platform::Finished last_;
  std::set<std::string> regions_, complaints_;
  std::string comparison_;
  bool slower_ = false;
};

ExitCode kokkos(const KokkosOptions& options) { return KokkosTuning(options).run(); }

}  // namespace

extern const cli::CommandSpec kKokkos = cli::command_spec<KokkosOptions, bind, kokkos>(
    "kokkos", "Tune a program that uses Kokkos or tune/tuning.h, by running it: tune kokkos -- ./app ARGUMENTS");

}  // namespace tune::commands
