#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/program.h"

namespace tune::worker {

/// The words of a command, or what a placeholder stands for.
using Words = std::vector<std::string>;
/// What `{name}` stands for in a command: any number of words.
using Placeholders = std::map<std::string, Words, std::less<>>;

/// The argv of a command. A list is argv already: a word that is a placeholder becomes its words, one inside a longer
/// word its words with blanks between them; no shell sees them. A shell string goes to /bin/sh, each word of a
/// placeholder quoted, so a placeholder must stand outside the string's own quotes. `${name}` and unknown names in
/// braces are left alone.
Words expand_command(const Words& command, bool is_shell, const Placeholders& placeholders);

/// Whether a command uses the placeholder `name`.
bool uses(const Words& command, std::string_view name);

/// The rule for a language: $CC, $CXX, nvcc or hipcc, optimizing. `arch` is a GPU architecture; "native" or empty: this
/// machine's. `flags` may name an architecture instead.
Words default_build_command(Language language, const std::string& arch, const Words& flags);

/// How a program runs if `run:` does not say: what was built as it is, a Python file by python3, any other as it is.
Words default_run_command(const std::filesystem::path& source, bool built);

/// The words of $NAME, or `fallback` if it is unset or blank: "ccache g++" is two.
Words command_from_environment(const char* name, const std::string& fallback);

}  // namespace tune::worker
