#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Commands of tuning files: words with placeholders in braces, and what stands in their places. Starts nothing.
namespace tune {

/// The words of a command, or what a placeholder stands for.
using Words = std::vector<std::string>;
/// What `{name}` stands for in a command: any number of words.
using Placeholders = std::map<std::string, Words, std::less<>>;

/// A command as it is written: argv, or one string for /bin/sh; both may have placeholders.
struct CommandLine {
  Words words;
  bool is_shell = false;
  bool empty() const { return words.empty(); }
};

/// A `{name}` in a text.
struct Placeholder {
  std::size_t at;  ///< of its opening brace
  std::string name;
};

/// All that could be placeholders, known or not. `${name}` is the shell's, and `{{name}}` is the text `{name}`.
std::vector<Placeholder> placeholders_of(std::string_view text);

/// Whether a text can be the name of a placeholder, and so of a parameter that is put into a command: letters, digits,
/// `_`, and behind a letter or `_` also `- . + / @ %`.
bool is_placeholder_name(std::string_view text);

/// Whether a command uses the placeholder `name`.
bool uses(const Words& command, std::string_view name);

/// The argv of a command. A list is argv already: a word that is a placeholder becomes its words, one inside a longer
/// word its words with blanks between them; no shell sees them. A shell string goes to /bin/sh, each word of a
/// placeholder quoted, so a placeholder must stand outside the string's own quotes. Unknown names are left alone.
Words expand_command(const Words& command, bool is_shell, const Placeholders& placeholders);

/// A word as a POSIX shell reads it back, quoted only where it must be.
std::string shell_quote(std::string_view word);
/// The line that a user would type for these words.
std::string typed_line(const Words& argv);
/// The command with its placeholders, as a user would write it.
std::string shown_command(const CommandLine& command);

}  // namespace tune
