#include "cli/options.h"

#include <algorithm>

#include "cli/groups.h"
#include "cli/inspect_options.h"
#include "cli/kinds.h"
#include "cli/repeat_options.h"
#include "cli/spellings.h"
#include "cli/texts.h"
#include "cli/undashed_command.h"
#include "model/values/error.h"
#include "platform/files/streams.h"

namespace tune {
namespace {

constexpr const char* kVersion = "tune " TUNE_VERSION;

/// Refuses an empty path, and an option in the place of one, in every option that takes a path, for the command and its
/// subcommand.
void refuse_unlikely_paths(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    const bool is_path = type == "FILE" || type == "DIR" || type == "PREFIX";
    for (const std::string& path : option->results())
      if (is_path && (path.empty() || path.starts_with("--")))
        throw Error(ExitCode::bad_input, option->get_name() + " is given " +
                                             (path.empty() ? "an empty path" : "the option " + path) +
                                             "; give the name of a " + (type == "DIR" ? "folder" : "file"));
  }
  for (const CLI::App* command : app.get_subcommands()) refuse_unlikely_paths(*command);
}

/// `, did you mean '--tune'?` for the first word that is no option.
std::string nearest_option(const CLI::App& app) {
  const CLI::App& command = app.get_subcommands().empty() ? app : *app.get_subcommands().front();
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  const std::vector<std::string> unknown = app.remaining(true);
  return unknown.empty() ? "" : did_you_mean(unknown.front().substr(0, unknown.front().find('=')), known);
}

/// The command that is tuned.
std::vector<std::string> words_behind_dashes(int argc, const char* const* argv) {
  const std::ptrdiff_t dashes = std::find(argv, argv + argc, std::string_view("--")) - argv;
  if (dashes == argc) return {};
  std::vector<std::string> words(argv + dashes + 1, argv + argc);
  if (words.empty() || words.front().empty())
    throw Error(ExitCode::bad_input,
                "there is no command behind --; write tune --tune --param LEVEL:[1,9] -- xz "
                "-{LEVEL} -k -c FILE");
  return words;
}

/// The command line: what it accepts, and what it then says.
class CommandLineParser {
 public:
  CommandLineParser() {
    add_what_to_tune(app_, options_);
    add_programs(app_, options_);
    add_how(app_, options_);
    add_several_machines(app_, options_.cluster);
    add_what_comes_out(app_, options_);
    add_convert(app_, convert_);
    add_diff(app_, diff_, options_.exit_undecided);
    add_list_shapes(app_, shapes_);
    add_report(app_, report_);
    add_database_commands(app_, database_);
    add_show(app_, show_);
    add_cache(app_, cache_);
    add_kokkos(app_, kokkos_);
    add_agent(app_, agent_);
    add_audit(app_, audited_, audit_);
    add_text_options(app_, kVersion);
  }

  /// Nullopt if a text was asked for, which is printed.
  std::optional<Options> parse(int argc, const char* const* argv) {
    options_.command.assign(argv, argv + argc);
    if (!read(in_our_spelling(argc, argv))) return std::nullopt;
    const std::vector<std::string> tuned_command = words_behind_dashes(argc, argv);
    if (!tuned_command.empty() && !app_.get_subcommands().empty() && !is("audit") && !is("kokkos"))
      throw Error(ExitCode::bad_input, "this command runs nothing; drop what stands behind --");
    if (take_kokkos_command(app_, kokkos_, tuned_command, options_)) return std::move(options_);
    options_.tuned_command = audited_.tuned_command = tuned_command;
    if (const auto text = text_of_command(app_, kVersion)) {
      platform::print(*text);
      return std::nullopt;
    }
    if (is("audit")) return audited();
    if (take_command()) return std::move(options_);
    add_consequences(options_);
    refuse_conflicts(options_);
    return std::move(options_);
  }

 private:
  bool is(const char* command) const { return app_.got_subcommand(command); }

  // Returns false if it printed what was asked for.
  bool read(const std::vector<std::string>& ours) {
    std::vector<const char*> words;
    for (const std::string& word : ours) words.push_back(word.c_str());
    words.erase(std::ranges::find(words, std::string_view("--")), words.end());
    refuse_former_command(app_, ours);
    try {
      app_.parse(static_cast<int>(words.size()), words.data());
    } catch (const CLI::Success& asked) {
      platform::print(help_or_version(app_, asked));
      return false;
    } catch (const CLI::ParseError& error) {
      refuse_command_without_dashes(app_, ours);
      const std::string advice = nearest_option(app_);
      const std::string called = app_.get_subcommands().empty() ? "" : app_.get_subcommands().front()->get_name() + " ";
      throw Error(ExitCode::bad_input, error.what() + (advice.empty() ? "; see tune " + called + "--help" : advice));
    }
    refuse_unlikely_paths(app_);
    refuse_command_without_dashes(app_, ours);
    return true;
  }

  Options audited() {
    audited_.command = options_.command;
    audited_.tune = true;
    add_consequences(audited_);
    audited_.audit = std::move(audit_);
    if (!audited_.audit->recordings.empty()) audited_.simulate = audited_.audit->recordings.front();
    refuse_conflicts(audited_);
    return std::move(audited_);
  }

  // Returns whether there is one.
  bool take_command() {
    const auto take = [this](const char* name, auto& given, auto& taken) {
      if (is(name)) taken = std::move(given);
    };
    take("convert", convert_, options_.convert);
    take("diff", diff_, options_.diff);
    take("report", report_, options_.report);
    take("shapes", shapes_, options_.list_shapes);
    take("show", show_, options_.show);
    take("cache", cache_, options_.cache);
    take("agent", agent_, options_.agent);
    take_database_command(app_, database_, options_);
    if (options_.report) require_a_page(*options_.report);
    return !app_.get_subcommands().empty();
  }

  CLI::App app_{
      "Finds the fastest parameters of a CUDA, HIP or CPU kernel or of a program: builds, checks and times every "
      "combination of their values, and ranks them.",
      "tune"};
  Options options_, audited_;
  AuditOptions audit_;
  ConvertOptions convert_;
  DiffOptions diff_;
  ListShapesOptions shapes_;
  ReportOptions report_;
  DatabaseOptions database_;
  ShowOptions show_;
  CacheOptions cache_;
  KokkosOptions kokkos_;
  AgentOptions agent_;
};

}  // namespace

std::optional<Options> parse_options(int argc, const char* const* argv) {
  return CommandLineParser().parse(argc, argv);
}

}  // namespace tune
