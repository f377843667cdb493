#include "database/lookup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "database/database_key.h"
#include "model/settings.h"
#include "model/values/error.h"

namespace tune::database {
namespace {

using Groups = std::vector<const ResultGroup*>;

std::map<std::string, std::string> properties_of(const ResultGroup& group) {
  std::map<std::string, std::string> properties = group.problem;
  properties.insert({{"backend", group.backend},
                     {"state", group.state},
                     {"source", group.source},
                     {"driver", group.device.driver},
                     {"compiler", group.device.compiler},
                     {"vendor_library", group.device.vendor_library}});
  const bool is_gemm = properties.contains("layout_a");
  if (is_gemm) properties.insert(gemm_defaults().begin(), gemm_defaults().end());
  return properties;
}

bool is_selected(const ResultGroup& group, const Selection& selection) {
  if (selection.kernel && group.kernel != *selection.kernel) return false;
  const std::map<std::string, std::string> properties = properties_of(group);
  return std::ranges::all_of(selection.properties, [&](const auto& wanted) {
    const auto found = properties.find(wanted.first);
    return found != properties.end() && found->second == wanted.second;
  });
}

/// What results have to share to be results of one thing: all but device, versions and source.
ResultGroup subject_of(ResultGroup group) {
  group.device = {};
  group.source.clear();
  return group;
}

/// `--problem a=bf16 or a=f32`, for the first property in which subjects differ.
std::string how_to_choose(const std::set<ResultGroup>& subjects) {
  std::set<std::string> kernels;
  for (const ResultGroup& subject : subjects) kernels.insert(subject.kernel);
  if (kernels.size() > 1) return fmt::format("choose one with --kernel {}", fmt::join(kernels, " or "));
  std::map<std::string, std::set<std::string>> values;
  for (const ResultGroup& subject : subjects)
    for (const auto& [name, text] : properties_of(subject)) values[name].insert(text);
  for (const auto& [name, texts] : values)
    if (texts.size() > 1) return fmt::format("choose one with --problem {}={}", name, fmt::join(texts, " or "));
  return "choose one with --problem NAME=VALUE, where only one of them has this name";
}

int agreement(const TunedDevice& has, const TunedDevice& wanted) {
  return static_cast<int>(has.name == wanted.name) + static_cast<int>(has.driver == wanted.driver) +
         static_cast<int>(has.compiler == wanted.compiler) +
         static_cast<int>(has.vendor_library == wanted.vendor_library);
}

/// Looks through the groups of one kind of device.
class GroupSearch {
 public:
  GroupSearch(const Database& database, Groups groups, const Wanted& wanted)
      : database_(&database), groups_(std::move(groups)), wanted_(&wanted) {}

  std::optional<Found> find() const {
    if (auto found = of_sizes(wanted_->sizes, Found::How::exact)) return found;
    if (wanted_->key)
      if (auto found = of_sizes(wanted_->key(wanted_->sizes), Found::How::key)) return found;
    return of_rule();
  }

 private:
  bool is_preferred(const ResultGroup& a, const TunedResult& x, const ResultGroup& b, const TunedResult& y) const {
    const int of_a = agreement(a.device, wanted_->device), of_b = agreement(b.device, wanted_->device);
    if (of_a != of_b) return of_a > of_b;
    return x.date != y.date ? x.date > y.date : is_better(x, y);
  }

  std::optional<Found> of_sizes(const Sizes& sizes, Found::How how) const {
    std::optional<Found> best;
    for (const ResultGroup* group : groups_) {
      const auto found = database_->results.find({*group, sizes});
      if (found == database_->results.end()) continue;
      const TunedResult& result = found->second;
      if (best && !is_preferred(*group, result, *best->group, *best->result)) continue;
      best = Found{how, {}, group, sizes, &result, {result.params, result.artifact_hash, result.store_path}, sizes};
    }
    return best;
  }

  std::optional<Found> of_rule() const {
    std::optional<Found> best;
    for (const ResultGroup* group : groups_) {
      const auto rule = database_->rules.find(*group);
      if (rule == database_->rules.end() || !has_sizes(rule->second)) continue;
      if (best && agreement(group->device, wanted_->device) <= agreement(best->group->device, wanted_->device))
        continue;
      const Configuration& choice = *configuration_for(rule->second, wanted_->sizes).first;
      best = Found{Found::How::rule, {}, group, wanted_->sizes, nullptr, choice, timed_with(rule->second, choice)};
    }
    return best;
  }

  static Sizes timed_with(const SizeRule& rule, const Configuration& choice) {
    const std::string params = to_text(choice.params);
    const auto uses = [&](const auto& row) { return to_text(rule.configurations[row.second].params) == params; };
    const auto row = std::ranges::find_if(rule.table, uses);
    return row != rule.table.end() ? row->first : Sizes();
  }

  /// Whether the wanted sizes are those that the rule knows.
  bool has_sizes(const SizeRule& rule) const {
    const auto same_name = [](const auto& x, const auto& y) { return x.first == y.first; };
    return std::ranges::any_of(
        rule.table, [&](const auto& entry) { return std::ranges::equal(entry.first, wanted_->sizes, same_name); });
  }

  const Database* database_;
  Groups groups_;
  const Wanted* wanted_;
};

}  // namespace

DeviceMatch match_device(const Database& database, const TunedDevice& has, const TunedDevice& wanted) {
  if (has.name == wanted.name) return DeviceMatch::same;
  const auto real_name = [&](const std::string& name) {
    const auto alias = database.aliases.find(name);
    return alias != database.aliases.end() ? alias->second : name;
  };
  if (real_name(has.name) == real_name(wanted.name)) return DeviceMatch::alias;
  // Programs are built for whatever is there.
  const bool known = !has.arch.empty() && has.arch != "native";
  return known && (has.arch == wanted.arch || has.arch == wanted.name) ? DeviceMatch::architecture : DeviceMatch::other;
}

std::vector<const ResultGroup*> select_groups(const Database& database, const Selection& selection) {
  std::vector<const ResultGroup*> groups;
  std::set<ResultGroup> subjects;
  std::set<std::string> kernels;
  for (const auto& [key, result] : database.results) {
    kernels.insert(key.group.kernel);
    if (!is_selected(key.group, selection)) continue;
    if (groups.empty() || *groups.back() != key.group) groups.push_back(&key.group);
    subjects.insert(subject_of(key.group));
  }
  if (kernels.empty())
    throw Error(ExitCode::bad_input, "the database has no results; add some:\n\ttune merge best.yaml -o DB.yaml");
  if (groups.empty())
    throw Error(ExitCode::bad_input, fmt::format("no result in the database is of the given --kernel and --problem; "
                                                 "it has those of {}",
                                                 fmt::join(kernels, ", ")));
  if (subjects.size() > 1)
    throw Error(ExitCode::bad_input, fmt::format("the database has results of {} different kernels or problems; {}",
                                                 subjects.size(), how_to_choose(subjects)));
  return groups;
}

std::optional<Found> look_up(const Database& database, const Groups& groups, const Wanted& wanted) {
  for (const DeviceMatch match : {DeviceMatch::same, DeviceMatch::alias, DeviceMatch::architecture}) {
    Groups of_device;
    for (const ResultGroup* group : groups)
      if (match_device(database, group->device, wanted.device) == match) of_device.push_back(group);
    std::optional<Found> found = GroupSearch(database, std::move(of_device), wanted).find();
    if (!found) continue;
    found->device = match;
    return found;
  }
  return std::nullopt;
}

std::vector<std::string> differences(const TunedDevice& has, const TunedDevice& wanted) {
  std::vector<std::string> texts;
  const auto compare = [&](const char* what, const std::string& then, const std::string& today) {
    if (!then.empty() && !today.empty() && then != today)
      texts.push_back(fmt::format("{} {} instead of {}", what, then, today));
  };
  compare("driver", has.driver, wanted.driver);
  compare("compiler", has.compiler, wanted.compiler);
  compare("vendor's library", has.vendor_library, wanted.vendor_library);
  return texts;
}

std::string write_found(const Found& found) {
  constexpr const char* kHow[] = {"exact", "key", "rule"};
  constexpr const char* kDevices[] = {"same", "alias", "architecture", "other"};
  config::Node node = config::make_mapping({});
  node.set("match", config::make_scalar(kHow[static_cast<int>(found.how)], {}));
  node.set("device_match", config::make_scalar(kDevices[static_cast<int>(found.device)], {}));
  set_key(node, *found.group, found.sizes);
  set_configuration(node, found.configuration);
  node.find("params")->flow = false;
  if (found.result != nullptr) {
    node.set("time_ms", config::make_scalar(fmt::format("{:.6g}", found.result->time.seconds * 1e3), {}));
    if (!found.result->checked) node.set("checked", config::make_scalar("no", {}));
    set_text(node, "date", found.result->date);
  }
  return config::to_yaml(node);
}

}  // namespace tune::database
