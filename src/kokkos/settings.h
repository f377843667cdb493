#pragma once
#include <filesystem>
#include <string>

#include "kokkos/region.h"

namespace tune::kokkos {

/// What the user asks of the library, by environment or by --kokkos-tools-args.
struct Settings {
  std::filesystem::path database;  ///< empty: nothing is kept
  SearchRules search;
  bool verbose = false;  ///< says at the end what was found
};

inline constexpr const char* kDatabaseVariable = "TUNE_KOKKOS_DB";
inline constexpr const char* kStrategyVariable = "TUNE_KOKKOS_STRATEGY";
inline constexpr const char* kEvaluationsVariable = "TUNE_KOKKOS_EVALS";
inline constexpr const char* kReplayVariable = "TUNE_KOKKOS_REPLAY";
inline constexpr const char* kVerboseVariable = "TUNE_KOKKOS_VERBOSE";
/// Of `tune kokkos`: the file that all processes of the application add to what they would else say on stderr.
inline constexpr const char* kMessagesVariable = "TUNE_KOKKOS_MESSAGES";

/// What the library says begins with one of these; the state of a region ends with one of the others.
inline constexpr const char *kComplains = "tune: kokkos: ", *kRegion = "tune: region: ";
inline constexpr const char *kDecided = ", decided", *kNotTuned = "not tuned";

/// Changes a setting: `db=FILE`, `strategy=NAME`, `evals=N`, `replay`, `verbose`; dashes before it do not count. Throws
/// Error(bad_input) for anything else.
void set(Settings& settings, const std::string& argument);
/// The settings of the environment. Throws Error(bad_input).
Settings settings_of_environment();
/// What is printed for --kokkos-tools-help.
std::string help();

}  // namespace tune::kokkos
