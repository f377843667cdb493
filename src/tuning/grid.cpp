#include "tuning/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "model/constraints/spec_sample.h"
#include "model/values/error.h"

namespace tune::tuning {
namespace {

/// Valid specs of a run that nothing bounds.
constexpr std::int64_t kUnboundedSpecs = 1'000'000;
/// Up to this many specs that have the values of `default:` the first is looked for.
constexpr std::int64_t kMostDefaults = 100'000;
constexpr std::size_t kMostListed = 12;  // values in a message

/// The points that the filters keep, as a grid of its own, in which they have other numbers.
Space kept_by(const std::vector<Restriction>& wanted, const Space& space) {
  std::vector<Space::Mapping> mappings;
  for (Space::Mapping mapping : space.mappings()) {
    const bool kept = std::ranges::all_of(wanted, [&](const Restriction& restriction) {
      const auto parameter = std::ranges::find(mapping.parameters, restriction.name, &Parameter::name);
      if (parameter == mapping.parameters.end()) return false;
      std::erase_if(parameter->values, [&](const Value& value) { return !restriction.admits(value); });
      return !parameter->values.empty();
    });
    if (kept) mappings.push_back(std::move(mapping));
  }
  return {space.names(), {space.fixed().begin(), space.fixed().end()}, std::move(mappings)};
}

/// What the constraints prune of the points that the filters keep.
std::vector<GridScan::Pruned> scan(const Space& space, const std::vector<Restriction>& wanted) {
  if (!space.product_size() || *space.product_size() > GridScan::kShort) return {};
  const Space kept = kept_by(wanted, space);
  GridScan scan(kept);
  while (scan.next()) continue;
  std::vector<GridScan::Pruned> pruned = scan.pruned();
  for (GridScan::Pruned& group : pruned)
    if (const auto first = kept.at(group.first_mesh_idx); const auto* point = std::get_if<Rejection>(&first))
      if (const auto here = space.at(point->point.params); const auto* same_point = std::get_if<Rejection>(&here))
        group.first_mesh_idx = same_point->point.mesh_idx;
  return pruned;
}

/// The valid specs, or a sample, and why it is one.
ValidSpecs specs_of(const Space& space, const std::vector<Restriction>& wanted, bool may_sample,
                    std::optional<Grid::Uncounted>& uncounted) {
  try {
    return ValidSpecs(space, wanted);
  } catch (const TooEntangled& error) {
    SpecSample sample = sample_specs(space, wanted);
    if (!may_sample)
      throw Error(ExitCode::bad_input,
                  fmt::format("{}; a random sample says that there are {}; narrow them with --param, or "
                              "search a random sample of them with --max-evals N or --time-budget T",
                              error.what(), sample.count_text()));
    uncounted = {error.what(), sample.count_text()};
    return {space, std::move(sample.points)};
  }
}

/// The first spec with these values in mesh order; among very many one of them.
std::optional<Spec> find_default(const Plan& plan, std::vector<Restriction> wanted) {
  if (plan.default_settings.empty()) return std::nullopt;
  for (const Setting& setting : plan.default_settings)
    wanted.push_back({setting.name, [&setting](const Value& value) { return same(value, setting.value); }});
  std::optional<Grid::Uncounted> uncounted;
  const ValidSpecs specs = specs_of(plan.space, wanted, true, uncounted);
  if (specs.size() == 0) return std::nullopt;
  ValidSpecs::Point first = specs.at(0);
  for (std::int64_t i = 1; i < specs.size() && specs.size() <= kMostDefaults; ++i) first = std::min(first, specs.at(i));
  return specs.spec(first);
}

void note_missing_default(const Plan& plan, results::Notices& notes) try {
  const auto point = plan.space.at(std::span(plan.default_settings));
  if (const auto* rejection = std::get_if<Rejection>(&point))
    notes.add("default is pruned: " + rejection->reason);
  else
    notes.add("default is not tried: it is not among the specs of this run");
} catch (const std::invalid_argument&) {  // it does not name all parameters
  notes.add("default is not tried: no spec has its values");
}

/// Precondition: no point of the grid is `default:`.
std::string why_no_default(const Plan& plan) {
  for (const Setting& setting : plan.default_settings) {
    std::vector<std::string> values;
    bool is_value = false;
    for (const Space::Mapping& mapping : plan.space.mappings())
      for (const Parameter& parameter : mapping.parameters)
        for (const Value& value : parameter.name == setting.name ? parameter.values : std::vector<Value>()) {
          values.push_back(to_yaml(value));
          is_value = is_value || same(value, setting.value);
        }
    if (values.size() > kMostListed) {
      values.resize(kMostListed);
      values.emplace_back("...");
    }
    if (!is_value)
      return fmt::format("{} is never {}; its values are {}", setting.name, to_yaml(setting.value),
                         fmt::join(values, ", "));
  }
  try {
    const auto point = plan.space.at(std::span(plan.default_settings));
    if (const auto* rejection = std::get_if<Rejection>(&point)) return "it is pruned: " + rejection->reason;
  } catch (const std::invalid_argument&) {  // it does not name all parameters
  }
  return "no valid spec has its values";
}

void note_default(const GridRules& rules, const Plan& plan, const Grid& grid, results::Notices& notes) {
  if (plan.default_settings.empty() || grid.default_spec || rules.one_configuration) return;
  if (rules.wants_default) note_missing_default(plan, notes);
  if (auto fault = default_fault(plan)) notes.warnings.push_back(*std::move(fault));
}

report::LossLines lines_of(const Contradiction& contradiction) {
  using enum report::LossLine::Kind;
  const bool alone = contradiction.derived.size() + contradiction.constraints.size() == 1;
  report::LossLines lines = {{heading, alone                   ? "no point satisfies"
                                       : contradiction.minimal ? "these contradict each other:"
                                                               : "among these are some that contradict each other:"}};
  for (const Derived* derived : contradiction.derived)
    lines.push_back({reason, fmt::format("  let {} = {}", derived->name, derived->expression.text())});
  for (const Constraint* constraint : contradiction.constraints)
    lines.push_back({reason, constraint->place.empty()  // a limit of the device, of which the reason says more
                                 ? "  " + constraint->reason
                                 : fmt::format("  {}: {}", constraint->place, constraint->expression.text())});
  return lines;
}

}  // namespace

Grid::Grid(const Plan& its_plan, std::span<const config::Filter> filters, bool may_sample)
    : plan(&its_plan),
      wanted(config::restrictions(filters)),
      specs(specs_of(its_plan.space, wanted, may_sample, uncounted)),
      pruned(scan(its_plan.space, wanted)),
      default_spec(find_default(its_plan, wanted)) {
  if (!uncounted || !default_spec) return;
  std::vector<ValidSpecs::Point> points = {specs.point(*default_spec)};
  for (std::int64_t i = 0; i < specs.size(); ++i) points.push_back(specs.at(i));
  specs = ValidSpecs(its_plan.space, std::move(points));
}

void Grid::keep_part(std::int64_t part, std::int64_t parts) {
  const std::int64_t size = specs.size();
  if (size > kUnboundedSpecs)
    throw Error(ExitCode::bad_input,
                fmt::format("--partition divides up to 10^6 valid specs, and there are {}; divide the values of a "
                            "parameter with --filter",
                            specs.exact_size().text()));
  if (parts > size)
    throw Error(
        ExitCode::bad_input,
        fmt::format("--partition {}:{}: there are only {} specs; use no more parts than that", part, parts, size));
  std::vector<ValidSpecs::Point> points;
  for (std::int64_t i = 0; i < size; ++i) points.push_back(specs.at(i));
  std::ranges::sort(points);
  points.erase(points.begin() + size * (part + 1) / parts, points.end());
  points.erase(points.begin(), points.begin() + size * part / parts);
  specs = ValidSpecs(plan->space, std::move(points));
  if (default_spec && !specs.contains(specs.point(*default_spec))) default_spec.reset();
}

report::LossLines Grid::why_empty() const {
  report::LossLines lines = report::pruned_lines(pruned);
  std::vector<std::string> said;
  for (const Contradiction& contradiction : contradictions(plan->space, wanted)) {
    if (contradiction.derived.empty() && contradiction.constraints.empty()) continue;
    const report::LossLines reasons = lines_of(contradiction);
    if (std::ranges::find(said, text_of(reasons)) != said.end()) continue;
    lines.insert(lines.end(), reasons.begin(), reasons.end());
    said.push_back(text_of(reasons));
  }
  return lines;
}

void Grid::require_specs(const std::string& file) const {
  if (specs.size() > 0) return;
  throw Error(ExitCode::none_valid, fmt::format("{}: no spec is left of {} points\n{}", file, points_text(plan->space),
                                                text_of(why_empty())));
}

std::optional<std::string> default_fault(const Plan& plan) {
  if (plan.default_settings.empty() || plan.default_place.empty() || find_default(plan, {})) return std::nullopt;
  return fmt::format("{}: default is no spec, and is not tried: {}", plan.default_place, why_no_default(plan));
}

std::string points_text(const Space& space) {
  return space.product_size() ? fmt::format("{}", *space.product_size()) : "more than 2^63";
}

std::optional<Grid> examine_grid(const GridRules& rules, const Plan& plan, std::span<const config::Filter> filters,
                                 results::Notices& notes) {
  const std::optional<std::int64_t> points = plan.space.product_size();
  if (rules.one_spec && !(points && *points <= GridScan::kShort)) return std::nullopt;
  if (!points && !rules.one_spec)
    throw Error(ExitCode::bad_input,
                fmt::format("{}: the grid has more than 2^63 points, and mesh_idx cannot number them; narrow it with "
                            "--param (--dry-run --quiet counts its valid specs)",
                            rules.file));
  std::optional<Grid> grid(std::in_place, plan, filters, rules.one_spec || rules.bounded);
  if (rules.one_spec) return grid;
  if (grid->uncounted && grid->specs.size() == 0)
    throw Error(ExitCode::bad_input, grid->uncounted->why +
                                         ", and a random search found none that is valid; narrow the parameters with "
                                         "--param, or loosen the constraints");
  if (grid->uncounted)
    notes.add(fmt::format("the valid specs could not be counted, there are {}; the search draws from {} random ones",
                          grid->uncounted->count, grid->specs.size()));
  if (!rules.bounded && grid->specs.size() > kUnboundedSpecs)
    throw Error(ExitCode::bad_input,
                fmt::format("{}: the space has {} valid specs, more than 10^6; narrow it with --param, or bound the "
                            "run with --max-evals N or --time-budget T",
                            rules.file, grid->specs.exact_size().text()));
  note_default(rules, plan, *grid, notes);
  if (rules.parts > 1 && grid->specs.size() > 0) grid->keep_part(rules.part, rules.parts);
  return grid;
}

}  // namespace tune::tuning
