#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/space.h"

/// What the values of the parameters have to do with how good the specs are.
namespace tune::report {

/// A spec, and how good it is; without a merit it failed.
struct Judged {
  const Spec* spec = nullptr;
  std::optional<double> merit;
};

/// The specs with one value of a parameter.
struct ValueEffect {
  Value value;
  std::int64_t judged = 0, failed = 0;
  double best = 0, median = 0;  ///< merits; of no meaning if none was judged
  double top_share = 0;         ///< of the best specs of all, this share has this value
};

struct ParameterEffect {
  std::string name;
  std::vector<ValueEffect> values;
  /// Which share of the variance of the merits the parameter explains alone: what lies between the means of its values.
  /// The merits' logarithms are taken if all are positive.
  double explained = 0;
  double by_chance =
      0;  ///< the share that a parameter with as many values, but without any effect, explains on average
};

struct Effects {
  std::int64_t judged = 0;
  std::int64_t top = 0;                     ///< how many specs are the best 5 %, at least 1
  std::vector<ParameterEffect> parameters;  ///< those with several values, most explained variance first
};

/// Precondition: some spec has a merit.
Effects effects_of(std::span<const Judged> specs, bool maximize);

}  // namespace tune::report
