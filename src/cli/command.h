#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/list.h"
#include "model/values/error.h"
#include "platform/address.h"

// How a command of tune declares what it takes. Only the two files behind this face know CLI11.

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tune::cli {

/// Refuses the value of an option. The text says what is wrong with it: `'x' is not a whole number above 0`.
struct Refused {
  std::string text;
};
/// Throws Error(bad_input), for options that exclude each other or need another one.
[[noreturn]] void refuse(const std::string& text);
/// Takes a value as it was typed. Throws Refused.
using Read = std::function<void(const std::string& value)>;

/// A whole number of at least this. Throws Refused.
std::int64_t read_whole(const std::string& text, std::int64_t least,
                        std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// An address such as node1 or node1:7000. Throws Refused.
platform::Address read_host(const std::string& text);

/// An option that was declared, to say more of it.
class Option {
 public:
  Option& required();
  /// Is in the help that is printed without --help-all.
  Option& common();
  /// The help ends with the default.
  Option& shows_default();
  /// It has a meaning only together with this one.
  Option& needs(const char* other);
  /// Lists what is worth completing, where any text is taken.
  Option& suggests(std::vector<std::string> values);
  /// Takes files with these endings; without this any.
  Option& files(std::vector<std::string> endings);
  /// Is part of what a spec is or of how it is run, and so is in the command that runs it again, and in that of agents.
  Option& repeats_spec();
  /// Is for the processes that build and time specs, and so is in the command of agents.
  Option& for_agents();

 private:
  friend class Command;
  Option(OptionText& text, CLI::Option& parsed, CLI::App& app) : text_(&text), parsed_(&parsed), app_(&app) {}

  OptionText* text_;
  CLI::Option* parsed_;
  CLI::App* app_;
  std::string default_;
};

/// An option, and how it was given.
struct GivenOption {
  std::string name;  ///< as the help shows it first: --output
  bool is_path = false;
  OptionText::Repeated repeated = OptionText::Repeated::no;
  bool given = false;
  std::vector<std::string> values = {};  ///< of a flag none
};

/// What was given, in the order of the declarations. Whoever changes what an option has set, says so here, too.
class Given {
 public:
  void add(GivenOption option) { options_.push_back(std::move(option)); }
  bool operator()(const std::string& name) const;
  /// As if the option had been given so, or not at all. Does nothing if the command has no such option.
  void set(const std::string& name, std::vector<std::string> values = {});
  void unset(const std::string& name);
  /// Changes a value, or leaves the option out.
  using Rewrite = std::function<std::optional<std::string>(const GivenOption& option, const std::string& value)>;
  /// The words of those that are to be repeated: for a spec, or on an agent those of a spec too.
  std::vector<std::string> words(OptionText::Repeated where, const Rewrite& rewrite = {}) const;

 private:
  std::vector<GivenOption> options_;
};

/// Declares what a command takes, and binds it to what it sets. All that is bound must outlive the parsing. Errors of
/// values are thrown as Error(bad_input) that names the option.
///
/// `names` are as in `--output,-o`; one without dashes is an argument, which needs no name. `value` is what the help
/// calls the value, and says its kind: FILE, DIR and PREFIX are paths, `a|b` are all the values there are.
class Command {
 public:
  Command(CLI::App& app, CommandText& text) : app_(&app), text_(&text) {}

  /// The heading of those that follow.
  void group(const char* heading) { group_ = heading; }

  Option flag(const char* names, bool& set, const char* help);
  Option flag(const char* names, std::function<void()> set, const char* help);
  Option text(const char* names, std::string& text, const char* value, const char* help);
  Option text(const char* names, std::optional<std::string>& text, const char* value, const char* help);
  Option path(const char* names, std::filesystem::path& path, const char* value, const char* help);
  Option path(const char* names, std::optional<std::filesystem::path>& path, const char* value, const char* help);
  /// Any text, which `read` understands or refuses.
  Option value(const char* names, Read read, const char* value, const char* help);
  /// One of the words of `value`, as `a|b`, or of `more`, which the help does not name.
  Option choice(const char* names, Read read, const char* value, const char* help,
                std::initializer_list<const char*> more = {});

  /// A value each time the option is given.
  Option list(const char* names, std::vector<std::string>& list, const char* value, const char* help);
  Option list(const char* names, std::vector<std::filesystem::path>& list, const char* value, const char* help);
  /// Several values behind the option, or instead of it.
  Option several(const char* names, std::vector<std::string>& list, const char* value, const char* help);
  Option several(const char* names, std::vector<std::filesystem::path>& list, const char* value, const char* help);
  /// Several with commas between them.
  Option comma_list(const char* names, std::vector<std::string>& list, const char* value, const char* help);

  /// A whole number from `least` on.
  template <class Number>
  Option whole(const char* names, Number& number, std::int64_t least, const char* value, const char* help) {
    using Value = typename Whole<Number>::type;
    const auto set = [&number](std::int64_t read) { number = static_cast<Value>(read); };
    const auto most = static_cast<std::int64_t>(
        std::min<std::uint64_t>(std::numeric_limits<Value>::max(), std::numeric_limits<std::int64_t>::max()));
    Option option = this->number(names, set, least, most, value, help);
    if constexpr (!Whole<Number>::optional) option.default_ = std::to_string(number);
    return option;
  }
  Option whole_between(const char* names, int& number, int low, int high, const char* value, const char* help);
  Option number_between(const char* names, double& number, double low, double high, const char* value,
                        const char* help);
  /// 90s, 10m, 1.5h, or a number, in seconds. The first two show the default.
  Option seconds(const char* names, double& seconds, const char* help);
  Option seconds(const char* names, std::chrono::duration<double>& seconds, const char* help);
  Option duration(const char* names, std::optional<double>& seconds, const char* help);
  /// 1% or 0.01. `kind` says in an error what the refused text is not.
  Option share(const char* names, std::optional<double>& share, const char* help,
               const char* kind = "share from 0 to below 1, such as 1% or 0.01");
  /// 500M or 12G, in bytes.
  Option bytes(const char* names, std::optional<std::int64_t>& bytes, const char* help);

  /// Takes the words behind `--`, which other commands refuse.
  void behind_dashes(std::vector<std::string>& words);
  /// Gets the command line as it was typed, the program's name first.
  void typed(std::vector<std::string>& words) { typed_ = &words; }
  /// Gets what was given.
  void given(Given& given) { given_ = &given; }
  /// Sets what follows from what was given: is called when all is read, in the order of these calls.
  void then(std::function<void()> step) { steps_.push_back(std::move(step)); }
  /// Refuses what was given, see refuse(): is called after all steps, in the order of these calls.
  void check(std::function<void()> check) { checks_.push_back(std::move(check)); }

 private:
  friend class CommandLine;
  friend void read_words(const std::function<void(Command&)>& bind, const std::vector<std::string>& words);

  template <class Number>
  struct Whole {
    using type = Number;
    static constexpr bool optional = false;
  };
  template <class Number>
  struct Whole<std::optional<Number>> {
    using type = Number;
    static constexpr bool optional = true;
  };
  Option seconds_into(const char* names, std::function<void(double)> set, double now, const char* help);
  struct Declared {
    OptionText* text;
    const CLI::Option* parsed;
    bool given = false;  ///< CLI11 counts a flag that is given as --flag=false
  };
  enum class Takes { one, one_each_time, several, comma_list };

  Option number(const char* names, std::function<void(std::int64_t)> set, std::int64_t least, std::int64_t most,
                const char* value, const char* help);
  Option add(const char* names, Takes takes, Read read, const char* value, const char* help);
  Option declare(const char* names, const char* help, CLI::Option& parsed, const char* value = "");
  /// Throws Error(bad_input) for an empty path, and for an option in the place of one.
  void refuse_unlikely_paths() const;
  /// Once the words are read.
  void finish(const std::vector<std::string>& typed, const std::vector<std::string>& behind_dashes);
  /// Throws Error(bad_input).
  void check_given() const;

  CLI::App* app_;
  CommandText* text_;
  std::string group_ = "Options";
  std::deque<Declared> declared_;
  std::vector<std::function<void()>> steps_, checks_;
  std::vector<std::string>* behind_dashes_ = nullptr;
  std::vector<std::string>* typed_ = nullptr;
  Given* given_ = nullptr;
};

}  // namespace tune::cli
