#pragma once
#include <string>
#include <vector>

#include "cli/list.h"

namespace tune::cli {

// Scripts with which a shell completes the command line of `tune`. What stands behind `--` is completed as a command.

/// `shell` is bash, zsh or fish.
std::string completion(const CommandText& tune, const std::string& shell);
std::string bash_completion(const CommandText& tune);
std::string zsh_completion(const CommandText& tune);
std::string fish_completion(const CommandText& tune);

/// The devices whose names --device-file takes.
std::vector<std::string> known_devices();

/// What completes the value of an option.
struct Completed {
  enum class By { nothing, words, files, folders } by = By::nothing;
  std::vector<std::string> words;  ///< the values, or the endings of the files; no endings: any file
  std::vector<std::string> names;  ///< what may stand instead of a file
};
Completed completed(const OptionText& option);
/// The first argument that stands without a name; nullptr if there is none.
const OptionText* argument_of(const CommandText& command);
/// The names that are worth completing: the first one, which is the long one if there is one, and those of one letter.
std::vector<std::string> offered_names(const OptionText& option);

}  // namespace tune::cli
