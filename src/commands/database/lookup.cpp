#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/database/recorded_slowdowns.h"
#include "commands/database/selection.h"
#include "commands/database/tuned_plan.h"
#include "commands/installation.h"
#include "commands/print_messages.h"
#include "database/database_file.h"
#include "model/settings.h"
#include "model/values/escaped_text.h"
#include "platform/files/streams.h"

namespace tune::commands {
namespace {

using Rounding = std::function<void(const database::Sizes& given, database::Sizes& key)>;

void round_up(const database::Sizes& given, database::Sizes& key) {
  for (std::size_t i = 0; i < given.size(); ++i)
    key[i].second = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(given[i].second)));
}

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Error(ExitCode::bad_input, fmt::format("--key {}: {}", text, why));
}

Rounding parse_change(const std::string& text, const database::Sizes& names) {
  if (text == "pow2") return round_up;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) refuse(text, "it must be pow2 or NAME=EXPRESSION, such as m=ceil_div(m,64)*64");
  const auto place = std::ranges::find(names, text.substr(0, equals), &database::Sizes::value_type::first);
  if (place == names.end())
    refuse(text,
           fmt::format("there is no size '{}'; the sizes are {}", text.substr(0, equals), database::to_text(names)));
  Names known;
  for (const auto& [name, size] : names) known.declare(name);
  try {
    const Expression expression = Expression::parse(text.substr(equals + 1), known);
    return [text, expression, index = place - names.begin()](const database::Sizes& given, database::Sizes& key) {
      std::vector<Value> values;
      for (const auto& [name, size] : given) values.emplace_back(size);
      EvalFailure failure;
      key[static_cast<std::size_t>(index)].second = expression.integer(values, failure);
      if (failure) refuse(text, expression.explain(failure, values));
    };
  } catch (const ExpressionError& error) {
    refuse(text, error.what());
  }
}

/// The function by which sizes without a result of their own become those of another one, from what a user wrote:
/// `pow2` makes each size the next power of two that is not smaller, and `m=ceil_div(m, 64)*64` computes one of them
/// from all. The function is empty without a text, and throws Error(bad_input) where an expression has no value.
/// Throws Error(bad_input).
std::function<database::Sizes(const database::Sizes&)> size_key(const std::vector<std::string>& texts,
                                                                const database::Sizes& names) {
  std::vector<Rounding> changes;
  for (const std::string& text : texts) changes.push_back(parse_change(text, names));
  if (changes.empty()) return {};
  return [changes = std::move(changes)](const database::Sizes& given) {
    database::Sizes key = given;
    for (const Rounding& change : changes) change(given, key);
    return key;
  };
}

/// `tune lookup`: prints the best configuration that a database has for some sizes. none_valid: it has none.
struct LookupOptions {
  std::filesystem::path database;
  SelectionOptions selection;
  std::vector<std::filesystem::path> yaml;  ///< says whether what was timed for other sizes may be used
  std::optional<std::int64_t> m, n, k;
  std::vector<std::string> sizes;               ///< NAME=N: those of other problems
  std::vector<std::string> keys;                ///< pow2, or NAME=EXPRESSION
  std::vector<std::filesystem::path> validate;  ///< runs whose times tell the loss
};

void bind(cli::Command& command, LookupOptions& options) {
  command.path("--db", options.database, "FILE", "The database").required().files(kYamlFiles);
  command.whole("-m", options.m, 1, "M", "Rows of C");
  command.whole("-n", options.n, 1, "N", "Columns of C");
  command.whole("-k", options.k, 1, "K", "Length of the products");
  command.list("--size", options.sizes, "NAME=N", "Another size; may be repeated");
  bind_selection(command, options.selection, "Results of this device or architecture (default: this machine's)");
  command
      .several("--yaml", options.yaml, "FILE",
               "The tuning file of the results, which says whether what was timed for other sizes may be used")
      .files(kYamlFiles);
  command.list("--key", options.keys, "pow2|NAME=EXPR",
               "What sizes without a result become: pow2, or a size as an expression");
  command
      .several("--validate", options.validate, "FILE",
               "Print what --key costs, by the times in these journals, instead of a result")
      .needs("--key")
      .files(kRecordings);
}

using Groups = std::vector<const database::ResultGroup*>;

database::Sizes sizes_of(const LookupOptions& options) {
  database::Sizes sizes;
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

/// The sizes in the order in which results have them. Throws Error(bad_input) if none has sizes of these names.
database::Sizes in_order_of_results(const database::Database& database, const Groups& groups,
                                    const database::Sizes& sizes) {
  std::string names;
  for (const auto& each : database.results) {
    const database::ResultKey& key = each.first;
    if (std::ranges::none_of(groups, [&](const database::ResultGroup* group) { return *group == key.group; })) continue;
    const auto same_name = [](const auto& x, const auto& y) { return x.first == y.first; };
    if (std::ranges::is_permutation(key.sizes, sizes, same_name)) {
      database::Sizes ordered = key.sizes;
      for (auto& [name, size] : ordered)
        size = std::ranges::find(sizes, name, &database::Sizes::value_type::first)->second;
      return ordered;
    }
    names = database::to_text(key.sizes);
  }
  throw Error(ExitCode::bad_input,
              fmt::format("the results are of sizes such as {}; give all of them and no others, with -m, -n, -k and "
                          "--size NAME=N",
                          names.empty() ? "none at all" : names));
}

void note(const std::string& text) { print_wrapped("note: " + line_with_escapes(text)); }

void note_what_differs(const database::Found& found, const database::Wanted& wanted) {
  const database::TunedDevice& has = found.group->device;
  if (found.how == database::Found::How::key)
    note(fmt::format("there is no result of {}; by the key it is that of {}", database::to_text(wanted.sizes),
                     database::to_text(found.sizes)));
  if (found.how == database::Found::How::rule)
    note(fmt::format("there is no result of {}; it is the rule's choice, and was not timed for these sizes",
                     database::to_text(wanted.sizes)));
  if (found.device == database::DeviceMatch::alias)
    note(fmt::format("'{}' is an alias; the result is of '{}'", wanted.device.name, has.name));
  if (found.device == database::DeviceMatch::architecture)
    note(fmt::format("there is no result of '{}'; this one is of '{}', which has the same architecture, {}",
                     wanted.device.name, has.name, has.arch));
  for (const std::string& text : database::differences(has, wanted.device)) note(text);
}

[[noreturn]] void fail_to_find(const database::Database& database, const Groups& groups,
                               const database::Wanted& wanted) {
  const bool any = std::ranges::any_of(groups, [&](const database::ResultGroup* group) {
    return database::match_device(database, group->device, wanted.device) != database::DeviceMatch::other;
  });
  if (!any)
    throw Error(ExitCode::none_valid,
                fmt::format("there is no result of the device '{}' or its architecture, but of {}; if it is one of "
                            "these by another name, say so with tune merge --alias",
                            wanted.device.name, devices_of(groups)));
  throw Error(ExitCode::none_valid, fmt::format("there is no result of {} on '{}', and no rule for other sizes; tune "
                                                "these, or make a rule with tune cover",
                                                database::to_text(wanted.sizes), wanted.device.name));
}

/// Finds a binary of the same parameters in which everything compiled in is as it would be for these sizes: that of the
/// result, or one of those that the rule names.
bool take_binary(database::Found& found, const database::Database& database, const TunedPlan& plan,
                 const database::Sizes& sizes) {
  const std::vector<Setting> params = found.configuration.params;
  if (found.how == database::Found::How::key) return plan.share_binary(params, found.timed, sizes);
  const database::SizeRule& rule = database.rules.at(*found.group);
  std::set<std::string> seen;
  for (const auto& [timed, use] : rule.table) {
    const database::Configuration& each = rule.configurations[use];
    if (to_text(each.params) != to_text(params) || !seen.insert(each.artifact_hash).second) continue;
    if (!plan.share_binary(params, timed, sizes)) continue;
    found.configuration = each;
    return true;
  }
  return false;
}

/// What was timed for other sizes is only given if the tuning file allows it for these; what was compiled for others is
/// not given at all. Throws Error(none_valid) with the reason.
void allow_other_sizes(database::Found& found, const database::Database& database, const database::Wanted& wanted,
                       const LookupOptions& options) {
  if (found.how == database::Found::How::exact || found.timed == wanted.sizes) return;
  const std::string sizes = database::to_text(wanted.sizes);
  if (!database::launches_are_known(database, *found.group))
    throw Error(
        ExitCode::none_valid,
        fmt::format("there is no result of {}, and those of other sizes cannot be used for it, because some have no "
                    "code:, the hash of how they were launched; tune retime writes it",
                    sizes));
  if (options.yaml.empty() && is_program(backend_of(*found.group))) return;
  if (options.yaml.empty())
    throw Error(ExitCode::none_valid,
                fmt::format("there is no result of {}; there is one that was timed for {}, and whether it may be used "
                            "for other sizes only the tuning file can say: name it with --yaml",
                            sizes, database::to_text(found.timed)));
  exec::Workers workers = find_workers();
  const TunedPlan plan(options.yaml, *found.group, wanted.device.name, workers);
  const auto& params = found.configuration.params;
  if (const auto reason = plan.misfit(params, wanted.sizes))
    throw Error(ExitCode::none_valid, fmt::format("there is no result of {}, and {} is not valid for it: {}", sizes,
                                                  to_text(params), *reason));
  if (!plan.has_their_source(wanted.sizes))
    note("the source is not the one that was tuned; its constraints may be others than those of the binary");
  if (take_binary(found, database, plan, wanted.sizes)) return;
  found.configuration.artifact_hash.clear();
  found.configuration.store_path.clear();
  note(
      fmt::format("no binary that was timed is for {}: values that are compiled in differ; build one with these "
                  "parameters",
                  sizes));
}

/// How much slower each size that is not its own key is with the result of its key than with its own.
void validate(const database::Database& database, const LookupOptions& options) {
  const database::ResultGroup& group = the_group(database, options.selection);
  const commands::RecordedSlowdowns recorded = commands::read_slowdowns(database, group, options.validate, {});
  for (const std::string& text : recorded.notes) note(text);
  const database::Slowdowns& table = recorded.table;
  if (table.sizes.empty())
    throw Error(ExitCode::bad_input,
                "--validate: none of the runs has times of the database's sizes; give the journals (PREFIX.jsonl) of "
                "their tunings");
  const auto key = size_key(options.keys, table.sizes.front());
  std::string text = "slowdown  sizes -> by the key\n";
  std::vector<double> slowdowns;
  std::size_t own = 0;
  for (std::size_t size = 0; size < table.sizes.size(); ++size) {
    const database::Sizes other = key(table.sizes[size]);
    if (other == table.sizes[size]) {
      ++own;
      continue;
    }
    const auto result = database.results.find({group, other});
    const double slowdown =
        result != database.results.end() ? database::slowdown_of(table, size, result->second.params) : 0;
    if (std::isfinite(slowdown) && slowdown > 0) slowdowns.push_back(slowdown);
    text += fmt::format("{:>8}  {} -> {}\n", slowdown > 0 ? fmt::format("{:.3f}", slowdown) : "-",
                        database::to_text(table.sizes[size]), database::to_text(other));
  }
  text += fmt::format("{} of {} sizes that are not their own key find a result by it", slowdowns.size(),
                      table.sizes.size() - own);
  if (!slowdowns.empty())
    text +=
        fmt::format(": mean slowdown {:.3f}, worst {:.3f}",
                    std::accumulate(slowdowns.begin(), slowdowns.end(), 0.0) / static_cast<double>(slowdowns.size()),
                    std::ranges::max(slowdowns));
  platform::print(with_escapes(text) + "\n");
}

ExitCode lookup(const LookupOptions& options) {
  const database::Database database = database::read_database(options.database);
  if (!options.validate.empty()) {
    validate(database, options);
    return ExitCode::ok;
  }
  const Groups groups = database::select_groups(database, selection_of(options.selection));
  const database::Sizes sizes = in_order_of_results(database, groups, sizes_of(options));
  const database::Wanted wanted{wanted_device(options.selection, groups), sizes, size_key(options.keys, sizes)};
  auto found = database::look_up(database, groups, wanted);
  if (!found) fail_to_find(database, groups, wanted);
  allow_other_sizes(*found, database, wanted, options);
  note_what_differs(*found, wanted);
  platform::print(database::write_found(*found));
  return ExitCode::ok;
}

}  // namespace

extern const cli::CommandSpec kLookup = cli::command_spec<LookupOptions, bind, lookup>(
    "lookup", "Print the best configuration that a database has for some sizes");

}  // namespace tune::commands
