#include "cli/texts.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "cli/completion.h"
#include "cli/help.h"
#include "cli/manual.h"
#include "platform/process/terminal.h"
#include "search/strategies.h"

namespace tune {
namespace {

constexpr const char* kOwnGroup = "Help";
constexpr const char* kCompletion = "completion";
constexpr const char* kShell = "SHELL";
constexpr const char* kManualPage = "man-page";

std::vector<std::string> parts_of(const std::string& alternatives) {
  std::vector<std::string> parts;
  std::istringstream text(alternatives);
  for (std::string part; std::getline(text, part, '|');) parts.push_back(part);
  return parts;
}

std::vector<std::string> choices_of(const OptionText& option) {
  std::vector<std::string> choices = parts_of(option.value);
  if (choices.size() == 1) choices.clear();
  if (option.name() == "--strategy")
    for (const search::StrategyChoice& choice : search::strategies()) choices.push_back(choice.name);
  return choices;
}

std::string help_of(const CLI::Option& option) {
  std::string standard = option.get_default_str();
  std::erase_if(standard, [](char c) { return c == '[' || c == ']'; });  // around a list
  return option.get_description() + (standard.empty() ? "" : " (default: " + standard + ")");
}

OptionText text_of(const CLI::Option& option) {
  OptionText text;
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  const auto first_long = std::ranges::find_if(text.names, [](const std::string& name) { return name[1] == '-'; });
  if (first_long != text.names.end()) std::rotate(text.names.begin(), first_long, first_long + 1);
  text.value = option.get_items_expected_max() == 0 ? "" : option.get_type_name();
  if (option.get_positional()) text.argument = text.names.empty() ? option.get_name(true) : text.value;
  text.choices = choices_of(text);
  text.group = text.names.empty() ? "Arguments" : option.get_group();
  text.help = help_of(option);
  text.required = option.get_required();
  text.repeats = option.get_items_expected_max() > 1;
  return text;
}

CommandText text_of(const CLI::App& app) {
  CommandText text{app.get_name(), app.get_description(), app.get_option_no_throw("--tune") != nullptr, {}, {}};
  for (const CLI::Option* option : app.get_options()) text.options.push_back(text_of(*option));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    text.commands.push_back(text_of(*command));
  return text;
}

std::size_t help_width() {
  const int columns = platform::terminal_columns(STDOUT_FILENO);
  return static_cast<std::size_t>(columns == 0 ? 80 : std::max(20, columns));
}

}  // namespace

void add_text_options(CLI::App& app, const std::string& version) {
  app.add_subcommand(kCompletion, "Print a script that completes command lines in a shell")
      ->add_option(kShell, "The shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""))
      ->type_name("bash|zsh|fish");
  app.add_subcommand(kManualPage, "Print the manual page, which man -l shows");
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    command->set_help_flag("--help,-h,--help-all", "Print this help")->group(kOwnGroup);
  app.set_help_flag("--help,-h", "Print the options that most people need")->group(kOwnGroup);
  app.set_help_all_flag("--help-all", "Print all options")->group(kOwnGroup);
  app.set_version_flag("--version", version, "Print the version")->group(kOwnGroup);
}

std::string help_or_version(const CLI::App& app, const CLI::Success& asked) {
  if (asked.get_name() == "CallForVersion") return std::string(asked.what()) + "\n";
  const auto commands = app.get_subcommands();
  if (!commands.empty())
    return full_help("tune " + commands.front()->get_name(), text_of(*commands.front()), help_width());
  return asked.get_name() == "CallForAllHelp" ? full_help("tune", text_of(app), help_width())
                                              : short_help(text_of(app), help_width());
}

std::optional<std::string> text_of_command(const CLI::App& app, const std::string& version) {
  if (app.got_subcommand(kManualPage)) return manual_page(text_of(app), version);
  if (!app.got_subcommand(kCompletion)) return std::nullopt;
  const std::string shell = app.get_subcommand(kCompletion)->get_option(kShell)->as<std::string>();
  return shell == "bash"  ? bash_completion(text_of(app))
         : shell == "zsh" ? zsh_completion(text_of(app))
                          : fish_completion(text_of(app));
}

}  // namespace tune
