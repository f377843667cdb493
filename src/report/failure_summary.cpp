#include "report/failure_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/command.h"
#include "report/shown_text.h"

namespace tune::report {
namespace {

using Kind = LossLine::Kind;

constexpr std::size_t kDetailLines = 6;
constexpr std::size_t kMostInCommon = 4;  // settings; more of them explain nothing

/// Specs lost for one cause.
struct Group {
  std::string reason;  ///< the first spec's
  std::string detail;  ///< likewise: lines after the first
  std::int64_t count = 0;
  std::int64_t first_mesh_idx = 0;
  std::vector<const Spec*> specs = {};  ///< all of them; empty: not known
};

/// Groups by cause.
class Groups {
 public:
  /// `message`: only its lines after the first are used, of the spec with the lowest mesh_idx.
  void add(const std::string& cause, std::string reason, std::string_view message, std::int64_t mesh_idx,
           const Spec* spec = nullptr) {
    Group& group = groups_[cause];
    if (group.count == 0 || mesh_idx < group.first_mesh_idx) {
      const std::size_t end = message.find('\n');
      group.detail = end == std::string_view::npos ? "" : message.substr(end + 1);
      group.reason = std::move(reason);
      group.first_mesh_idx = mesh_idx;
    }
    ++group.count;
    if (spec != nullptr) group.specs.push_back(spec);
  }

  std::vector<Group> sorted() const {
    std::vector<Group> groups;
    for (const auto& [cause, group] : groups_) groups.push_back(group);
    std::sort(groups.begin(), groups.end(), [](const Group& x, const Group& y) {
      if (x.count != y.count) return x.count > y.count;
      return x.first_mesh_idx < y.first_mesh_idx;
    });
    return groups;
  }

 private:
  std::map<std::string, Group> groups_;
};

Groups failures_in(std::span<const Trial> trials) {
  Groups failed;
  for (const Trial& trial : trials)
    if (const Failure* failure = trial.failure()) {
      const std::string where = fmt::format("{}, {}: ", to_text(failure->stage), to_text(failure->cause));
      failed.add(where + failure->kind, where + first_line(failure->message), failure->message, trial.spec.mesh_idx,
                 &trial.spec);
    }
  return failed;
}

Groups pruned_in(std::span<const Trial> trials) {
  Groups pruned;
  for (const Trial& trial : trials)
    if (const auto* after_build = std::get_if<PrunedAfterBuild>(&trial.outcome))
      pruned.add(after_build->reason, after_build->reason, "", trial.spec.mesh_idx, &trial.spec);
  return pruned;
}

std::string count_text(std::int64_t count, std::string_view reason) {
  return fmt::format("{:7}  {}", count, printable(reason));
}

/// What belongs to a reason stands below it.
std::string below_reason(std::string_view text) { return fmt::format("{:9}{}", "", text); }

void add_detail(std::string_view detail, LossLines& lines) {
  for (std::size_t i = 0; i < kDetailLines && !detail.empty(); ++i) {
    const std::size_t end = std::min(detail.find('\n'), detail.size());
    lines.push_back({Kind::detail, below_reason(printable(detail.substr(0, end)))});
    detail.remove_prefix(std::min(end + 1, detail.size()));
  }
  if (!detail.empty()) lines.push_back({Kind::detail, below_reason("...")});
}

/// A command that is tuned stands behind `--`, and options before it.
std::string line_with_spec(std::span<const std::string> words, std::int64_t mesh_idx) {
  Words line(words.begin(), words.end());
  const Words option = {"--spec", std::to_string(mesh_idx)};
  line.insert(std::ranges::find(line, "--"), option.begin(), option.end());
  return typed_line(line);
}

bool has(const Spec& spec, const Setting& setting) {
  return std::ranges::any_of(spec.params, [&](const Setting& other) {
    return other.name == setting.name && same(other.value, setting.value);
  });
}

/// `all have VEC=16`: what the specs of a group have in common and not all that were tried; empty: nothing, or much.
std::string common_text(const Group& group, std::span<const Trial> trials) {
  if (group.specs.empty()) return "";
  std::vector<std::string> common;
  for (const Setting& setting : group.specs.front()->params)
    if (std::ranges::all_of(group.specs, [&](const Spec* spec) { return has(*spec, setting); }) &&
        !std::ranges::all_of(trials, [&](const Trial& trial) { return has(trial.spec, setting); }))
      common.push_back(fmt::format("{}={}", setting.name, to_text(setting.value)));
  if (common.empty() || common.size() > kMostInCommon) return "";
  return printable(fmt::format("{} {}", group.count == 1 ? "it has" : "all have", fmt::join(common, ", ")));
}

/// The heading says how many they are; there is none of nothing.
LossLines with_heading(std::string_view heading, std::int64_t total, LossLines lines) {
  if (total > 0) lines.insert(lines.begin(), {Kind::heading, fmt::format("{}: {}", heading, total)});
  return lines;
}

LossLines group_lines(std::string_view heading, const Groups& grouped, std::span<const std::string> command,
                      std::span<const Trial> trials = {}, const Logs& logs = {}) {
  LossLines lines;
  std::int64_t total = 0;
  for (const Group& group : grouped.sorted()) {
    total += group.count;
    lines.push_back({Kind::reason, count_text(group.count, group.reason)});
    add_detail(group.detail, lines);
    if (const std::string common = common_text(group, trials); !common.empty())
      lines.push_back({Kind::detail, below_reason(common)});
    if (const auto log = logs.find(group.first_mesh_idx); log != logs.end())
      lines.push_back({Kind::copied, below_reason("log: " + printable(log->second, log->second.size()))});
    lines.push_back({Kind::copied, below_reason(line_with_spec(command, group.first_mesh_idx))});
  }
  return with_heading(heading, total, std::move(lines));
}

}  // namespace

std::string text_of(const LossLines& lines) {
  std::string text;
  for (const LossLine& line : lines) text += line.text + '\n';
  return text;
}

LossLines pruned_lines(std::span<const GridScan::Pruned> pruned) {
  LossLines lines;
  std::int64_t total = 0;
  for (const GridScan::Pruned& group : pruned) {
    total += group.count;
    lines.push_back({Kind::reason, count_text(group.count, group.reason)});
  }
  return with_heading("pruned before the build", total, std::move(lines));
}

LossLines loss_lines(std::span<const Trial> trials, std::span<const std::string> command, const Logs& logs) {
  LossLines lines = group_lines("pruned after the build", pruned_in(trials), command, trials);
  for (LossLine& line : group_lines("failed", failures_in(trials), command, trials, logs)) {
    line.failed = true;
    lines.push_back(std::move(line));
  }
  return lines;
}

bool any_lost_alike(std::span<const Trial> trials) {
  const auto has_several = [](const Groups& groups) {
    return std::ranges::any_of(groups.sorted(), [](const Group& group) { return group.count > 1; });
  };
  return has_several(pruned_in(trials)) || has_several(failures_in(trials));
}

std::vector<const Trial*> first_failures(std::span<const Trial> trials) {
  std::set<std::int64_t> first;
  for (const Group& group : failures_in(trials).sorted()) first.insert(group.first_mesh_idx);
  std::vector<const Trial*> failed;
  for (const Trial& trial : trials)
    if (trial.failure() != nullptr && first.contains(trial.spec.mesh_idx)) failed.push_back(&trial);
  return failed;
}

LossLines unranked_lines(const std::map<std::int64_t, std::string>& unranked, std::span<const std::string> command) {
  Groups groups;
  for (const auto& [mesh_idx, reason] : unranked) groups.add(first_line(reason), first_line(reason), reason, mesh_idx);
  return group_lines("timed, but not ranked", groups, command);
}

}  // namespace tune::report
