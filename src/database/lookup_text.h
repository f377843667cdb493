#pragma once
#include <string>

#include "database/lookup.h"

namespace tune::database {

/// What was found in a database as YAML: how it matches, what it is, and its configuration.
std::string write_found(const Found& found);

}  // namespace tune::database
