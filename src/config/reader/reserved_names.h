#pragma once
#include <span>
#include <string>
#include <string_view>

#include "model/plan.h"

namespace tune::config {

/// The names that have a meaning in tuning files, which no parameter and no derived value may have.

/// What already bears a name in a tuning file of this backend, problem and these constants; or nothing.
std::string owner_of(std::string_view name, const Plan& plan);
/// What is measured of every spec.
std::span<const std::string_view> figure_names();

}  // namespace tune::config
