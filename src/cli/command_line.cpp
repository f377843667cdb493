#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>

#include "cli/foreign/spellings.h"
#include "cli/texts/completion.h"
#include "cli/texts/help.h"
#include "cli/texts/manual.h"
#include "model/command.h"
#include "model/values/error.h"
#include "model/values/names.h"
#include "platform/files/streams.h"
#include "platform/process/process.h"
#include "platform/process/terminal.h"

namespace tune::cli {
namespace {

constexpr const char* kVersion = "tune " TUNE_VERSION;
constexpr const char* kVersionAndBuild = "tune " TUNE_VERSION "\nbuilt by: " TUNE_BUILT_BY "\nworkers: " TUNE_WORKERS;
constexpr std::string_view kDashes = "--";

/// The command that is tuned.
std::vector<std::string> words_behind_dashes(int argc, const char* const* argv) {
  const std::ptrdiff_t dashes = std::find(argv, argv + argc, kDashes) - argv;
  if (dashes == argc) return {};
  std::vector<std::string> words(argv + dashes + 1, argv + argc);
  if (words.empty() || words.front().empty())
    throw Error(ExitCode::bad_input,
                "there is no command behind --; write for example:\n\ttune --tune --param LEVEL:[1,9] -- xz "
                "-{LEVEL} -k -c FILE");
  return words;
}

std::vector<const char*> words_before_dashes(const std::vector<std::string>& words) {
  std::vector<const char*> before;
  for (const std::string& word : words) {
    if (word == kDashes) break;
    before.push_back(word.c_str());
  }
  return before;
}

std::size_t help_width() {
  const int columns = platform::terminal_columns(STDOUT_FILENO);
  return static_cast<std::size_t>(columns == 0 ? 80 : std::max(20, columns));
}

/// The place of the first word that is no option, nor the value of one, nor behind `--`.
std::ptrdiff_t first_argument(const CommandText& tune, const std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    if (!words[i].starts_with('-')) return static_cast<std::ptrdiff_t>(i);
    const auto named = std::ranges::find_if(tune.options, [&](const OptionText& option) {
      return std::ranges::find(option.names, words[i]) != option.names.end();
    });
    if (named != tune.options.end() && !named->is_flag()) ++i;
  }
  return std::ssize(words);
}

/// Whether a file of this name, or a tuning file that may be meant, is there.
bool is_file(const std::string& name) {
  std::error_code ignored;
  return std::ranges::any_of(std::array{"", ".yaml", ".yml"},
                             [&](const char* ending) { return std::filesystem::exists(name + ending, ignored); });
}

/// Refuses a command of earlier versions of tune. Throws Error(bad_input), which says what took its place.
void refuse_former_command(const CommandText& tune, const std::vector<std::string>& words) {
  const std::ptrdiff_t first = first_argument(tune, words);
  if (first < std::ssize(words) && words[static_cast<std::size_t>(first)] == "simulate-bench")
    throw Error(ExitCode::bad_input,
                "simulate-bench is no command of tune any more; the program bench_search of tune's sources compares "
                "strategies, see tests/bench/README.md there");
}

/// `--param`, or `--param=NAME:VALUES`.
bool names_parameter(const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  return name == "--param" || name == "--add-param";
}

bool is_mode(const std::string& word) { return word == "--tune" || word == "--dry-run" || word == "--build-only"; }

/// The line that tunes the command at `command` in the words that a user typed, with all the others of them.
/// `--tune` and parameters are ours wherever they stand.
std::string with_dashes(const std::vector<std::string>& typed, std::vector<std::string>::const_iterator command) {
  tune::Words options(typed.begin() + 1, command), own;
  const auto end = std::find(command, typed.end(), kDashes);
  for (auto word = command; word != end; ++word) {
    const auto value = names_parameter(*word) && word->find('=') == word->npos ? word + 1 : word;
    const bool is_parameter = names_parameter(*word) && value != end && value->find(':') != value->npos;
    tune::Words& where = is_parameter || *word == "--tune" ? options : own;
    where.push_back(*word);
    if (is_parameter && value != word) where.push_back(*++word);
  }
  tune::Words line = {"tune"};
  if (std::ranges::none_of(options, is_mode)) line.emplace_back("--tune");
  line.insert(line.end(), options.begin(), options.end());
  if (std::ranges::none_of(options, names_parameter)) line.insert(line.end(), {"--param", "NAME:[1,2]"});
  line.emplace_back(kDashes);
  line.insert(line.end(), own.begin(), own.end());
  return typed_line(line);
}

/// Refuses a command that stands where a tuning file should, as in `tune xz -3`. Throws Error(bad_input), with the line
/// that tunes it. `words` are those that were typed, in our spelling.
void refuse_command_without_dashes(const CommandText& tune, const std::vector<std::string>& words,
                                   const std::vector<std::string>& typed) {
  const auto begin = words.begin() + first_argument(tune, words);
  if (begin == words.end() || is_file(*begin)) return;
  if (std::ranges::find(tune.commands, *begin, &CommandText::name) != tune.commands.end()) return;
  try {
    platform::find_program(*begin);
  } catch (const platform::NoProgram&) {
    return;
  }
  auto command = typed.begin() + first_argument(tune, typed);
  if (command == typed.end() || *command != *begin) command = std::find(typed.begin() + 1, typed.end(), *begin);
  throw Error(ExitCode::bad_input,
              fmt::format("{} is a command and no tuning file; write commands behind --, and {{NAME}} in the place of "
                          "each value to tune:\n\t{}",
                          *begin, with_dashes(typed, command)));
}

/// Throws Error(bad_input) for a word such as `pakage`, where no file of this name is there.
void refuse_misspelled_command(const CommandText& tune, const std::vector<std::string>& words) {
  const auto word = words.begin() + first_argument(tune, words);
  if (word == words.end() || is_file(*word)) return;
  const std::vector<std::string> names = names_of(tune.commands);
  if (std::ranges::find(names, *word) != names.end()) return;
  if (const std::string nearest = did_you_mean(*word, names); !nearest.empty())
    throw Error(ExitCode::bad_input, fmt::format("{} is no command of tune{}", *word, nearest));
}

/// `--top needs a value: N` for `--top: 1 required N missing`, and `--seed is given 2 times` for
/// `--seed: At Most 1 required but received 2`.
std::string text_of(const CLI::ParseError& error) {
  const std::string text = error.what(), needs = ": 1 required ", missing = " missing",
                    received = ": At Most 1 required but received ";
  if (const std::size_t colon = text.find(received); colon != text.npos)
    return fmt::format("{} is given {} times", text.substr(0, colon), text.substr(colon + received.size()));
  const std::size_t colon = text.find(needs);
  if (colon == std::string::npos || !text.ends_with(missing)) return text;
  const std::string value = text.substr(colon + needs.size());
  return text.substr(0, colon) + " needs a value: " + value.substr(0, value.size() - missing.size());
}

/// Prints a text.
Action printing(std::function<std::string()> text) {
  return [text = std::move(text)] {
    platform::print(text());
    return ExitCode::ok;
  };
}

}  // namespace

/// The command line: what it accepts, and what it then says.
class CommandLine {
 public:
  CommandLine(const CommandSpec& tune, std::span<const CommandSpec* const> commands)
      : app_(tune.help, tune.name),
        text_(std::make_shared<CommandText>(CommandText{tune.name, tune.help, false, {}, {}})) {
    add(app_, *text_, tune.bind);
    for (const CommandSpec* spec : commands) add(spec->name, spec->help, spec->bind);
    add_text_commands();
    add_help();
  }

  std::optional<Action> read(int argc, const char* const* argv) {
    if (argc > 1 && argv[1] == std::string_view(kComplete))
      return printing([text = text_, words = tune::Words(argv + 2, argv + argc)] { return completions(*text, words); });
    if (!parse(in_our_spelling(argc, argv), {argv, argv + argc})) return std::nullopt;
    Entry& called = this->called();
    const std::vector<std::string> behind = words_behind_dashes(argc, argv);
    if (!behind.empty() && !called.text->tunes)
      throw Error(ExitCode::bad_input, "this command runs nothing; drop what stands behind --");
    called.command.finish({argv, argv + argc}, behind);
    called.command.check_given();
    return called.action;
  }

 private:
  using Bind = std::function<Action(Command&)>;

  struct Entry {
    CLI::App* app;
    CommandText* text;
    Command command;
    Action action;
  };

  void add(CLI::App& app, CommandText& text, const Bind& bind) {
    Entry& entry = entries_.emplace_back(Entry{&app, &text, {app, text}, {}});
    entry.action = bind(entry.command);
  }

  void add(const char* name, const char* help, const Bind& bind) {
    CommandText& text = text_->commands.emplace_back(CommandText{name, help, false, {}, {}});
    add(*app_.add_subcommand(name, help), text, bind);
  }

  void add_text_commands() {
    add("completion", "Print a script that completes command lines in a shell", [](Command& command) {
      const auto shell = std::make_shared<std::string>();
      const auto read = [shell](const std::string& name) { *shell = name; };
      command.choice("SHELL", read, "bash|zsh|fish", "The shell").required();
      return printing([shell] { return completion_script(*shell); });
    });
    add("man-page", "Print the manual page, which man -l shows",
        [text = text_](Command&) { return printing([text] { return manual_page(*text, kVersion); }); });
  }

  void add_help() {
    for (Entry& entry : entries_) {
      entry.command.group("Help");
      if (&entry == &entries_.front()) continue;
      entry.command.declare("--help,-h,--help-all", "Print this help",
                            *entry.app->set_help_flag("--help,-h,--help-all"));
    }
    Command& tune = entries_.front().command;
    tune.declare("--help,-h", "Print the options that most people need", *app_.set_help_flag("--help,-h"));
    tune.declare("--help-all", "Print all options", *app_.set_help_all_flag("--help-all"));
    tune.declare("--version", "Print the version, and what it was built with",
                 *app_.set_version_flag("--version", kVersionAndBuild));
  }

  std::string help_or_version(const CLI::Success& asked) {
    if (asked.get_name() == "CallForVersion") return std::string(asked.what()) + "\n";
    const CommandText& text = *called().text;
    if (&text != text_.get()) return full_help("tune " + text.name, text, help_width());
    return asked.get_name() == "CallForAllHelp" ? full_help("tune", text, help_width())
                                                : short_help(text, help_width());
  }

  /// `tune` itself unless a command was named.
  Entry& called() {
    const auto named = std::ranges::find_if(
        entries_, [&](const Entry& entry) { return entry.app != &app_ && app_.got_subcommand(entry.app); });
    return named == entries_.end() ? entries_.front() : *named;
  }

  // Returns false if it printed what was asked for. `words` are those that were typed, in our spelling.
  bool parse(const std::vector<std::string>& words, const std::vector<std::string>& typed) {
    refuse_former_command(*text_, words);
    const std::vector<const char*> before = words_before_dashes(words);
    try {
      app_.parse(static_cast<int>(before.size()), before.data());
    } catch (const CLI::Success& asked) {
      platform::print(help_or_version(asked));
      return false;
    } catch (const CLI::ParseError& error) {
      refuse_command_without_dashes(*text_, words, typed);
      refuse_misspelled_command(*text_, words);
      const std::string unknown = unknown_option(), left = fmt::format("{}", fmt::join(app_.remaining(true), " "));
      const std::string what = !unknown.empty() ? "there is no option " + unknown
                               : !left.empty()  ? "too many arguments were given: " + left
                                                : text_of(error);
      throw Error(ExitCode::bad_input, what + advice(unknown));
    }
    for (const Entry& entry : entries_) entry.command.refuse_unlikely_paths();
    refuse_command_without_dashes(*text_, words, typed);
    refuse_misspelled_command(*text_, words);
    return true;
  }

  /// The first word that is meant as an option and is none; empty: all are known.
  std::string unknown_option() {
    const std::vector<std::string> unknown = app_.remaining(true);
    const auto found = std::ranges::find_if(unknown, [](const std::string& word) { return word.starts_with('-'); });
    return found == unknown.end() ? "" : *found;
  }

  /// `, did you mean '--tune'?` for an option that is none, or where help is.
  std::string advice(const std::string& unknown) {
    const Entry& entry = called();
    const bool is_tune = &entry == &entries_.front();
    if (is_tune && unknown == "--continue")
      return "; the same command continues where the last run stopped, without an option";
    std::vector<std::string> known, common;  // without dashes, which would make all options alike
    for (const OptionText& option : entry.text->options)
      for (const std::string& name : option.names)
        if (name.starts_with(kDashes)) (option.common ? common : known).push_back(name.substr(kDashes.size()));
    known.insert(known.begin(), common.begin(), common.end());
    const std::size_t first = std::min(unknown.find_first_not_of('-'), unknown.size());
    const std::string word = unknown.substr(first, unknown.find('=') - first);
    std::string nearest = nearest_name(word, known);
    if (nearest.empty() && !word.empty()) {
      const auto longer = std::ranges::find_if(known, [&](const std::string& each) { return each.starts_with(word); });
      if (longer != known.end()) nearest = *longer;
    }
    const std::string name = is_tune ? "" : entry.text->name + " ";
    return nearest.empty() ? "; see tune " + name + "--help" : fmt::format(", did you mean '--{}'?", nearest);
  }

  CLI::App app_;
  std::shared_ptr<CommandText> text_;
  std::deque<Entry> entries_;  ///< that of `tune` itself is the first
};

std::optional<Action> read_command_line(const CommandSpec& tune, std::span<const CommandSpec* const> commands, int argc,
                                        const char* const* argv) {
  return CommandLine(tune, commands).read(argc, argv);
}

void read_words(const std::function<void(Command&)>& bind, const std::vector<std::string>& words) {
  CLI::App app;
  CommandText text;
  Command command(app, text);
  bind(command);
  const std::vector<const char*> before = words_before_dashes(words);
  try {
    app.parse(static_cast<int>(before.size()), before.data());
  } catch (const CLI::ParseError& error) {
    throw Error(ExitCode::bad_input, error.what());
  }
  std::vector<const char*> all;
  for (const std::string& word : words) all.push_back(word.c_str());
  command.finish(words, words_behind_dashes(static_cast<int>(all.size()), all.data()));
}

}  // namespace tune::cli
