#pragma once
#include <optional>
#include <string>
#include <vector>

#include "wire/messages.h"

namespace tune::wire {

/// A parameter of a kernel or an entry of launch.args, in words.
struct ListedArgument {
  std::string type;       ///< `const float*` or `8 bytes`
  std::string name = {};  ///< empty: not known
};

/// What the tuning file calls an argument.
std::string name_of(const Arg& argument);

/// Why a kernel cannot be called with launch.args. The first line says where they differ first, `at` this index: beyond
/// the end of one list if their lengths differ. Two more lines have both lists, one below the other.
std::string arguments_do_not_fit(const std::string& kernel, const std::vector<ListedArgument>& parameters,
                                 const std::vector<ListedArgument>& entries, std::size_t at);
/// That text if types differ or one list is longer; nullopt if the lists fit.
std::optional<std::string> misfit(const std::string& kernel, const std::vector<ListedArgument>& parameters,
                                  const std::vector<ListedArgument>& entries);

}  // namespace tune::wire
