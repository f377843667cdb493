#pragma once
#include <string>
#include <vector>

#include "cli/list.h"

namespace tune::cli {

// Completes the command line of `tune`: a short script for each shell asks `tune __complete WORD ...` at each Tab.

/// The command that the scripts call, which help and manual page do not have.
constexpr const char* kComplete = "__complete";

/// The script; `shell` is bash, zsh or fish.
std::string completion_script(const std::string& shell);

/// What may stand in the place of the last of the words that follow `tune`. The first line is `KIND KEPT ENDING...`:
/// - KIND: what the shell adds to the words that are listed: `words` nothing, `files` folders and the files with these
///   endings, `any` all files, `folders` only these, and `command` what completes the command behind `--`.
/// - KEPT: so many characters of the last word stay in front, as those of `--output=`.
///
/// The second line is the help of the option whose value it is. Each further line is a word, whatever the last one
/// begins with, and behind a tab what it means.
std::string completions(const CommandText& tune, std::vector<std::string> words);

}  // namespace tune::cli
