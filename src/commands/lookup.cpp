#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/streams.h"
#include "commands/commands.h"
#include "commands/on_stderr.h"
#include "commands/selection.h"
#include "config/database_file.h"
#include "config/lookup_text.h"
#include "flow/recorded_slowdowns.h"
#include "flow/size_keys.h"
#include "model/values/shown.h"

namespace tune::commands {
namespace {

using Groups = std::vector<const ResultGroup*>;

/// The sizes in the order in which results have them.
Sizes sizes_of(const LookupOptions& options) {
  Sizes sizes;
  const std::pair<const char*, std::optional<std::int64_t>> given[] = {
      {"m", options.m}, {"n", options.n}, {"k", options.k}};
  for (const auto& [name, size] : given)
    if (size) sizes.emplace_back(name, *size);
  for (const std::string& text : options.sizes) {
    const auto [name, value] = name_and_value("--size", text);
    const Value size = parse_value(value);
    if (!std::holds_alternative<std::int64_t>(size) || std::get<std::int64_t>(size) < 1)
      throw Error(ExitCode::bad_input, fmt::format("--size: '{}' must be NAME=N with a positive integer", text));
    sizes.emplace_back(name, std::get<std::int64_t>(size));
  }
  return sizes;
}

/// Throws Error(bad_input) if no result has sizes of these names.
void require_all_sizes(const Database& database, const Groups& groups, const Sizes& sizes) {
  std::string names;
  for (const auto& each : database.results) {
    const ResultKey& key = each.first;
    if (std::ranges::none_of(groups, [&](const ResultGroup* group) { return *group == key.group; })) continue;
    const auto same_name = [](const auto& x, const auto& y) { return x.first == y.first; };
    if (std::ranges::equal(key.sizes, sizes, same_name)) return;
    names = to_text(key.sizes);
  }
  throw Error(ExitCode::bad_input,
              fmt::format("the results are of sizes such as {}; give all of them and no others, with -m, -n, -k and "
                          "--size NAME=N",
                          names.empty() ? "none at all" : names));
}

void note(const std::string& text) { print_wrapped("note: " + shown_line(text)); }

void note_what_differs(const Found& found, const Wanted& wanted) {
  const TunedDevice& has = found.group->device;
  if (found.how == Found::How::key)
    note(fmt::format("there is no result of {}; by the key it is that of {}", to_text(wanted.sizes),
                     to_text(found.sizes)));
  if (found.how == Found::How::rule)
    note(fmt::format("there is no result of {}; it is the rule's choice, and was not timed for these sizes",
                     to_text(wanted.sizes)));
  if (found.device == DeviceMatch::alias)
    note(fmt::format("'{}' is an alias; the result is of '{}'", wanted.device.name, has.name));
  if (found.device == DeviceMatch::architecture)
    note(fmt::format("there is no result of '{}'; this one is of '{}', which has the same architecture, {}",
                     wanted.device.name, has.name, has.arch));
  for (const std::string& text : differences(has, wanted.device)) note(text);
}

[[noreturn]] void fail_to_find(const Database& database, const Groups& groups, const Wanted& wanted) {
  const bool any = std::ranges::any_of(groups, [&](const ResultGroup* group) {
    return match_device(database, group->device, wanted.device) != DeviceMatch::other;
  });
  if (!any)
    throw Error(ExitCode::none_valid,
                fmt::format("there is no result of the device '{}' or its architecture, but of {}; if it is one of "
                            "these by another name, say so with tune merge --alias",
                            wanted.device.name, devices_of(groups)));
  throw Error(ExitCode::none_valid, fmt::format("there is no result of {} on '{}', and no rule for other sizes; tune "
                                                "these, or make a rule with tune cover",
                                                to_text(wanted.sizes), wanted.device.name));
}

/// How much slower each size is with the result of its key than with its own.
void validate(const Database& database, const LookupOptions& options) {
  const ResultGroup& group = the_group(database, options.selection);
  const flow::RecordedSlowdowns recorded = flow::read_slowdowns(database, group, options.validate, {});
  for (const std::string& text : recorded.notes) note(text);
  const Slowdowns& table = recorded.table;
  if (table.sizes.empty())
    throw Error(ExitCode::bad_input,
                "--validate: none of the runs has times of the database's sizes; give the journals (PREFIX.jsonl) of "
                "their tunings");
  const auto key = flow::size_key(options.keys, table.sizes.front());
  std::string text = "slowdown  sizes -> by the key\n";
  std::vector<double> slowdowns;
  for (std::size_t size = 0; size < table.sizes.size(); ++size) {
    const Sizes other = key(table.sizes[size]);
    const auto result = database.results.find({group, other});
    const double slowdown = result != database.results.end() ? slowdown_of(table, size, result->second.params) : 0;
    if (std::isfinite(slowdown) && slowdown > 0) slowdowns.push_back(slowdown);
    text += fmt::format("{:>8}  {} -> {}\n", slowdown > 0 ? fmt::format("{:.3f}", slowdown) : "-",
                        to_text(table.sizes[size]), to_text(other));
  }
  text += fmt::format("{} of {} sizes find a result by the key", slowdowns.size(), table.sizes.size());
  if (!slowdowns.empty())
    text +=
        fmt::format(": mean slowdown {:.3f}, worst {:.3f}",
                    std::accumulate(slowdowns.begin(), slowdowns.end(), 0.0) / static_cast<double>(slowdowns.size()),
                    std::ranges::max(slowdowns));
  base::print(shown(text) + "\n");
}

}  // namespace

ExitCode lookup(const Options& all) {
  const LookupOptions& options = *all.lookup;
  const Database database = config::read_database(options.database);
  if (!options.validate.empty()) {
    validate(database, options);
    return ExitCode::ok;
  }
  const Groups groups = select_groups(database, selection_of(options.selection));
  const Sizes sizes = sizes_of(options);
  require_all_sizes(database, groups, sizes);
  const Wanted wanted{wanted_device(all, options.selection, groups), sizes, flow::size_key(options.keys, sizes)};
  const auto found = look_up(database, groups, wanted);
  if (!found) fail_to_find(database, groups, wanted);
  note_what_differs(*found, wanted);
  base::print(config::write_found(*found));
  return ExitCode::ok;
}

}  // namespace tune::commands
