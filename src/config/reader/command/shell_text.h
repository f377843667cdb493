#pragma once
#include <string_view>
#include <vector>

namespace tune::config {

/// How a POSIX shell reads a byte of a command.
enum class Standing {
  word,           ///< outside of quotes, in `$(...)` too
  single_quotes,  ///< also of `$'...'`, which shells read in several ways
  double_quotes,
  backquotes,     ///< anywhere within: the shell takes backslashes and quotes there for its own
  expansion,      ///< `${...}` and `$((...))`
  here_document,  ///< what follows `<<WORD`
  comment,
  escaped,    ///< behind a backslash
  evaluated,  ///< an argument of `eval`
};

/// The standing of each byte of a command. Syntax that only some shells have (arrays, here-strings) is read as the most
/// similar syntax of sh.
std::vector<Standing> standings(std::string_view command);

/// Whether a byte of a command separates words.
bool separates_words(char c);

}  // namespace tune::config
