#pragma once
#include <functional>
#include <set>
#include <string>

#include "commands/init/tokens.h"

namespace tune::commands {

/// Names that need not be given by a build.
using DeclaredNames = std::set<std::string, std::less<>>;

/// Adds the names that the code declares, as far as declarations are told from their looks: a type and a name, a list
/// of names behind it, parameters.
void add_declared(const Tokens& code, DeclaredNames& names);

}  // namespace tune::commands
