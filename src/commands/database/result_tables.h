#pragma once
#include <string>

#include "database/database.h"

namespace tune::commands {

/// What a program needs to choose among configurations by sizes that it learns at run time.
struct DispatchTable {
  database::ResultGroup group;
  database::SizeRule rule;  ///< may have no tree: then there is no answer for sizes beyond its table
};

/// A C++17 header without dependencies: the configurations as constants, and a constexpr function that chooses one.
std::string to_header(const DispatchTable& table);
std::string to_json(const DispatchTable& table);
/// Variables with the -D flags of each configuration, and one for the sizes of each result.
std::string to_cmake(const DispatchTable& table);
/// A row for each of the table's sizes, with the parameters of its configuration.
std::string to_csv(const DispatchTable& table);

/// The text as an identifier of C++ or CMake: other characters become `_`.
std::string identifier_of(const std::string& text);

}  // namespace tune::commands
