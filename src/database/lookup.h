#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "database/database.h"

namespace tune::database {

/// Which results are meant, where a database has those of several kernels or problems. Keys of `properties` are those
/// of a problem, and backend, state, source, driver, compiler and vendor_library.
struct Selection {
  std::optional<std::string> kernel;
  std::map<std::string, std::string> properties;
};

/// How a device that has results is related to the wanted one.
enum class DeviceMatch { same, alias, architecture, other };
/// `wanted.name` may also be an architecture.
DeviceMatch match_device(const Database& database, const TunedDevice& has, const TunedDevice& wanted);

/// The groups that the selection leaves, whatever their device. Throws Error(bad_input) if there is none, or if they
/// are of several kernels or problems; the message says how to choose.
std::vector<const ResultGroup*> select_groups(const Database& database, const Selection& selection);

/// What is looked up: the sizes, and the function by which they become those of a result if there is none of their own.
struct Wanted {
  TunedDevice device;
  Sizes sizes;
  std::function<Sizes(const Sizes&)> key;  ///< may be empty
};

struct Found {
  enum class How { exact, key, rule };
  How how = How::exact;
  DeviceMatch device = DeviceMatch::same;
  const ResultGroup* group = nullptr;
  Sizes sizes;                          ///< of the result; of a rule, the wanted ones
  const TunedResult* result = nullptr;  ///< null: a rule's choice, which was not timed for these sizes
  Configuration configuration;
  Sizes timed;  ///< for which the configuration was built and timed
};

/// Looks for a result of exactly these sizes, then by the key, then by the rule; first all of them on the wanted
/// device, then under its aliases, then on a device of the same architecture. Of several versions of a driver, a
/// compiler or a source, those are preferred that are known to be the wanted ones, then the latest result. nullopt:
/// there is none.
std::optional<Found> look_up(const Database& database, const std::vector<const ResultGroup*>& groups,
                             const Wanted& wanted);

/// `driver 580 instead of 590`, for all that is known of both and differs.
std::vector<std::string> differences(const TunedDevice& has, const TunedDevice& wanted);

/// What was found as YAML: how it matches, what it is, and its configuration.
std::string write_found(const Found& found);

}  // namespace tune::database
