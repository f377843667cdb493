#include "cli/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <sstream>

#include "cli/values.h"
#include "model/values/text.h"

namespace tune::cli {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

double needed_duration(const std::string& text) {
  const std::optional<double> seconds = parse_duration(text);
  if (!seconds) throw Refused{"'" + text + "' is no time above 0, such as 90s, 10m or 1.5h"};
  return *seconds;
}

bool is_path(const OptionText& option) {
  return option.value == "FILE" || option.value == "DIR" || option.value == "PREFIX";
}

/// --output of `-o,--output`: the long name first, then the others as they were written.
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  const auto first_long = std::ranges::find_if(names, [](const std::string& name) { return name[1] == '-'; });
  if (first_long != names.end()) std::rotate(names.begin(), first_long, first_long + 1);
  return names;
}

/// FILE and NAME=V of `FILE|NAME=V`, which are not typed as they stand.
bool stands_for_others(const std::string& choice) {
  return std::ranges::none_of(choice, [](unsigned char c) { return std::islower(c) != 0; });
}

}  // namespace

void refuse(const std::string& text) { throw Error(ExitCode::bad_input, text); }

std::int64_t read_whole(const std::string& text, std::int64_t least, std::int64_t most) {
  const auto number = number_from<std::int64_t>(text);
  if (number && *number > most) throw Refused{fmt::format("'{}' is larger than {}", text, most)};
  if (number && *number >= least) return *number;
  throw Refused{"'" + text + "' is not a whole number" +
                (least == 1   ? " above 0"
                 : least == 0 ? " from 0 on"
                              : " of 64 bits")};
}

platform::Address read_host(const std::string& text) {
  if (const auto address = parse_host(text)) return *address;
  throw Refused{"'" + text + "' is no address such as node1 or node1:7000"};
}

Option& Option::required() {
  parsed_->required();
  text_->required = true;
  return *this;
}

Option& Option::common() {
  text_->common = true;
  return *this;
}

Option& Option::shows_default() {
  text_->help += " (default: " + default_ + ")";
  return *this;
}

Option& Option::needs(const char* other) {
  parsed_->needs(app_->get_option(other));
  return *this;
}

Option& Option::suggests(std::vector<std::string> values) {
  text_->choices = std::move(values);
  return *this;
}

Option& Option::files(std::vector<std::string> endings) {
  text_->endings = std::move(endings);
  return *this;
}

Option& Option::repeats_spec() {
  text_->repeated = OptionText::Repeated::for_spec;
  return *this;
}

Option& Option::for_agents() {
  text_->repeated = OptionText::Repeated::on_agents;
  return *this;
}

bool Given::operator()(const std::string& name) const {
  const auto option = std::ranges::find(options_, name, &GivenOption::name);
  return option != options_.end() && option->given;
}

void Given::set(const std::string& name, std::vector<std::string> values) {
  const auto option = std::ranges::find(options_, name, &GivenOption::name);
  if (option == options_.end()) return;
  option->given = true;
  option->values = std::move(values);
}

void Given::unset(const std::string& name) {
  const auto option = std::ranges::find(options_, name, &GivenOption::name);
  if (option != options_.end()) option->given = false;
}

std::vector<std::string> Given::words(OptionText::Repeated where, const Rewrite& rewrite) const {
  using Repeated = OptionText::Repeated;
  std::vector<std::string> words;
  for (const GivenOption& option : options_) {
    if (!option.given || option.repeated == Repeated::no || (where == Repeated::for_spec && option.repeated != where))
      continue;
    if (option.values.empty()) words.push_back(option.name);
    for (const std::string& value : option.values) {
      const std::optional<std::string> written = rewrite ? rewrite(option, value) : value;
      if (written) words.insert(words.end(), {option.name, *written});
    }
  }
  return words;
}

Option Command::declare(const char* names, const char* help, CLI::Option& parsed, const char* value) {
  OptionText& text = text_->options.emplace_back();
  text.names = names_of(parsed);
  text.value = value;
  if (parsed.get_positional()) text.argument = text.names.empty() ? names : value;
  text.group = text.names.empty() ? "Arguments" : group_;
  text.help = help;
  if (std::vector<std::string> choices = split(value, '|'); choices.size() > 1) {
    std::erase_if(choices, stands_for_others);
    text.choices = std::move(choices);
  }
  if (*value != '\0') parsed.type_name(value);
  declared_.push_back({&text, &parsed});
  return {text, parsed, *app_};
}

Option Command::add(const char* names, Takes takes, Read read, const char* value, const char* help) {
  CLI::Option* parsed = nullptr;
  const auto understand = [this, read, at = declared_.size()](const std::string& text) {
    declared_[at].given = true;
    try {
      read(text);
    } catch (const Refused& refused) {
      throw CLI::ValidationError(declared_[at].parsed->get_name(), refused.text);
    }
  };
  if (takes == Takes::one)
    parsed = app_->add_option_function<std::string>(names, understand);
  else
    parsed = app_->add_option_function<std::vector<std::string>>(
        names, [understand](const std::vector<std::string>& values) { std::ranges::for_each(values, understand); });
  if (takes == Takes::one_each_time || takes == Takes::comma_list) parsed->allow_extra_args(false);
  if (takes == Takes::comma_list) parsed->delimiter(',');
  Option option = declare(names, help, *parsed, value);
  option.text_->repeats = takes != Takes::one;
  return option;
}

Option Command::flag(const char* names, bool& set, const char* help) {
  return flag(
      names, [&set] { set = true; }, help);
}

Option Command::flag(const char* names, std::function<void()> set, const char* help) {
  const auto note = [this, set = std::move(set), at = declared_.size()] {
    declared_[at].given = true;
    set();
  };
  return declare(names, help, *app_->add_flag_callback(names, note));
}

Option Command::value(const char* names, Read read, const char* value, const char* help) {
  return add(names, Takes::one, std::move(read), value, help);
}

Option Command::text(const char* names, std::string& text, const char* value, const char* help) {
  return this->value(
      names, [&text](const std::string& read) { text = read; }, value, help);
}

Option Command::text(const char* names, std::optional<std::string>& text, const char* value, const char* help) {
  return this->value(
      names, [&text](const std::string& read) { text = read; }, value, help);
}

Option Command::path(const char* names, std::filesystem::path& path, const char* value, const char* help) {
  return this->value(
      names, [&path](const std::string& read) { path = read; }, value, help);
}

Option Command::path(const char* names, std::optional<std::filesystem::path>& path, const char* value,
                     const char* help) {
  return this->value(
      names, [&path](const std::string& read) { path = read; }, value, help);
}

Option Command::choice(const char* names, Read read, const char* value, const char* help,
                       std::initializer_list<const char*> more) {
  std::vector<std::string> choices = split(value, '|');
  choices.insert(choices.end(), more.begin(), more.end());
  const Read understand = [read, choices](const std::string& text) {
    if (std::ranges::find(choices, text) == choices.end())
      throw Refused{fmt::format("{} not in {{{}}}", text, joined(choices, ","))};
    read(text);
  };
  return add(names, Takes::one, understand, value, help);
}

Option Command::list(const char* names, std::vector<std::string>& list, const char* value, const char* help) {
  return add(
      names, Takes::one_each_time, [&list](const std::string& read) { list.push_back(read); }, value, help);
}

Option Command::list(const char* names, std::vector<std::filesystem::path>& list, const char* value, const char* help) {
  return add(
      names, Takes::one_each_time, [&list](const std::string& read) { list.emplace_back(read); }, value, help);
}

Option Command::several(const char* names, std::vector<std::string>& list, const char* value, const char* help) {
  return add(
      names, Takes::several, [&list](const std::string& read) { list.push_back(read); }, value, help);
}

Option Command::several(const char* names, std::vector<std::filesystem::path>& list, const char* value,
                        const char* help) {
  return add(
      names, Takes::several, [&list](const std::string& read) { list.emplace_back(read); }, value, help);
}

Option Command::comma_list(const char* names, std::vector<std::string>& list, const char* value, const char* help) {
  return add(
      names, Takes::comma_list, [&list](const std::string& read) { list.push_back(read); }, value, help);
}

Option Command::number(const char* names, std::function<void(std::int64_t)> set, std::int64_t least, std::int64_t most,
                       const char* value, const char* help) {
  const Read read = [set = std::move(set), least, most](const std::string& text) {
    set(read_whole(text, least, most));
  };
  return add(names, Takes::one, read, value, help);
}

Option Command::whole_between(const char* names, int& number, int low, int high, const char* value, const char* help) {
  const Read read = [&number, low, high](const std::string& text) {
    if (!CLI::detail::lexical_cast(text, number) || number < low || number > high)
      throw Refused{fmt::format("Value {} not in range {} to {}", text, low, high)};
  };
  Option option = add(names, Takes::one, read, value, help);
  option.default_ = std::to_string(number);
  return option;
}

Option Command::number_between(const char* names, double& number, double low, double high, const char* value,
                               const char* help) {
  const Read read = [&number, low, high](const std::string& text) {
    if (!CLI::detail::lexical_cast(text, number) || !(number >= low) || number > high)
      throw Refused{fmt::format("Value {} not in range {:f} to {:f}", text, low, high)};
  };
  Option option = add(names, Takes::one, read, value, help);
  option.default_ = fmt::format("{}", number);
  return option;
}

Option Command::seconds(const char* names, double& seconds, const char* help) {
  return seconds_into(
      names, [&seconds](double read) { seconds = read; }, seconds, help);
}

Option Command::seconds(const char* names, std::chrono::duration<double>& seconds, const char* help) {
  // No longer than the clock can count.
  const auto set = [&seconds](double read) { seconds = std::chrono::duration<double>(std::min(read, 1e9)); };
  return seconds_into(names, set, seconds.count(), help);
}

Option Command::seconds_into(const char* names, std::function<void(double)> set, double now, const char* help) {
  const Read read = [set = std::move(set)](const std::string& text) { set(needed_duration(text)); };
  Option option = add(names, Takes::one, read, "S", help);
  option.default_ = fmt::format("{}", now);
  return option;
}

Option Command::duration(const char* names, std::optional<double>& seconds, const char* help) {
  const Read read = [&seconds](const std::string& text) { seconds = needed_duration(text); };
  return add(names, Takes::one, read, "TIME", help);
}

Option Command::share(const char* names, std::optional<double>& share, const char* help, const char* kind) {
  const Read read = [&share, kind](const std::string& text) {
    share = parse_share(text);
    if (!share) throw Refused{fmt::format("'{}' is no {}", text, kind)};
  };
  return add(names, Takes::one, read, "SHARE", help);
}

Option Command::bytes(const char* names, std::optional<std::int64_t>& bytes, const char* help) {
  const Read read = [&bytes](const std::string& text) {
    bytes = parse_bytes(text);
    if (!bytes) throw Refused{"'" + text + "' is not a size; write a number followed by M or G, such as 500M or 12G"};
  };
  return add(names, Takes::one, read, "SIZE", help);
}

void Command::behind_dashes(std::vector<std::string>& words) {
  behind_dashes_ = &words;
  text_->tunes = true;
}

void Command::refuse_unlikely_paths() const {
  for (const auto& [text, parsed, given] : declared_)
    for (const std::string& path : parsed->results())
      if (is_path(*text) && (path.empty() || path.starts_with("--")))
        throw Error(ExitCode::bad_input, parsed->get_name() + " is given " +
                                             (path.empty() ? "an empty path" : "the option " + path) +
                                             "; give the name of a " + (text->value == "DIR" ? "folder" : "file"));
}

void Command::finish(const std::vector<std::string>& typed, const std::vector<std::string>& behind_dashes) {
  if (typed_ != nullptr) *typed_ = typed;
  if (behind_dashes_ != nullptr) *behind_dashes_ = behind_dashes;
  if (given_ != nullptr)
    for (const auto& [text, parsed, given] : declared_)
      given_->add({text->name(), is_path(*text), text->repeated, given,
                   text->is_flag() ? std::vector<std::string>() : parsed->results()});
  for (const std::function<void()>& step : steps_) step();
}

void Command::check_given() const {
  for (const std::function<void()>& check : checks_) check();
}

}  // namespace tune::cli
