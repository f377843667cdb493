// How fast constraints are evaluated, against the same constraint as the C++ compiler builds it, and how fast a space
// is walked. Prints; checks nothing.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <ctime>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/grid_scan.h"
#include "model/space.h"

namespace {

using tune::EvalFailure;
using tune::Expression;
using tune::Names;
using tune::Value;

constexpr const char* kConstraint = "BM*BN <= 16384 and K % (SPLIT_K*BK) == 0";
constexpr std::int64_t kRounds = 20'000'000;

double seconds_since(std::clock_t start) { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; }

/// BM BN K SPLIT_K BK; BM takes another value each round.
constexpr std::array<std::int64_t, 5> kPoint = {64, 128, 4096, 2, 32};

/// Not inlined: what a point's values are is not known when a constraint is compiled.
[[gnu::noinline]] bool native_holds(std::span<const std::int64_t> slots) {
  return slots[0] * slots[1] <= 16384 && slots[2] % (slots[3] * slots[4]) == 0;
}

/// Calls of `holds(slots)` per second.
template <class Slot, class Holds>
double rate(std::vector<Slot> slots, Holds holds) {
  volatile std::int64_t held = 0;
  const std::clock_t start = std::clock();
  for (std::int64_t i = 0; i < kRounds; ++i) {
    slots[0] = 64 + (i & 127);
    held = held + (holds(slots) ? 1 : 0);
  }
  return static_cast<double>(kRounds) / seconds_since(start);
}

double native_rate() { return rate(std::vector<std::int64_t>(kPoint.begin(), kPoint.end()), native_holds); }

double expression_rate() {
  Names names;
  for (const char* name : {"BM", "BN", "K", "SPLIT_K", "BK"}) names.declare(name);
  const Expression expression = Expression::parse(kConstraint, names);
  return rate(std::vector<Value>(kPoint.begin(), kPoint.end()), [&](const std::vector<Value>& slots) {
    EvalFailure failure;
    return expression.holds(slots, failure);
  });
}

/// Points per second and valid specs of a grid of 8 parameters whose constraints depend on all of them.
std::pair<double, std::int64_t> walk_rate() {
  Names names;
  tune::Space::Mapping mapping;
  for (const char* name : {"A", "B", "C", "D", "E", "F", "G", "H"}) {
    names.declare(name);
    tune::Parameter parameter{name, false, tune::Kind::ordinal, {}};
    for (std::int64_t value = 1; value <= 8; ++value) parameter.values.emplace_back(value);
    mapping.parameters.push_back(std::move(parameter));
  }
  for (const char* text : {"(A + B + C + D + E + F + G + H) % 4 == 0", "H * G <= 32", "A * H != 7"}) {
    mapping.constraints.push_back({Expression::parse(text, names), text});
  }
  const tune::Space space(names, {}, {mapping});
  tune::GridScan scan(space);
  std::int64_t valid = 0;
  const std::clock_t start = std::clock();
  while (scan.next()) ++valid;
  return {static_cast<double>(scan.position()) / seconds_since(start), valid};
}

}  // namespace

int main() {
  const double native = native_rate();
  const double expression = expression_rate();
  fmt::print("{}\n  expression {:7.1f} M/s\n  native     {:7.1f} M/s\n  ratio      {:7.1f}\n", kConstraint,
             expression / 1e6, native / 1e6, native / expression);
  const auto [points, valid] = walk_rate();
  fmt::print("walk of 8^8 points, {} valid\n  points     {:7.1f} M/s\n", valid, points / 1e6);
}
