#pragma once
#include <string>

#include "package/package.h"

namespace tune::package {

/// The text of table.cpp, in which words between @ are still to be filled in: the entries, the functions that plan the
/// launches of the variants, the rule's tree, and what follows from the problem. Adds to `numbers` what it uses, which
/// has sizes and operands already. Throws NotPackaged.
std::string table_text(const Package& package, Numbers& numbers);

}  // namespace tune::package
