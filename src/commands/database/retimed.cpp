#include "commands/database/retimed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "model/settings.h"
#include "model/values/escaped_text.h"
#include "report/fitted_table.h"
#include "report/shown_text.h"

namespace tune::commands {
namespace {

constexpr std::size_t kColumns = 80;

/// The sizes by what is said of them, in lines for a terminal.
std::string text_of(const std::vector<Retimed>& rows, const char* heading, std::string Retimed::*said) {
  std::vector<std::pair<std::string, std::vector<std::string>>> sizes_by_text;
  for (const Retimed& row : rows) {
    if ((row.*said).empty()) continue;
    auto known = std::ranges::find(sizes_by_text, row.*said, [](const auto& each) { return each.first; });
    if (known == sizes_by_text.end()) known = sizes_by_text.insert(known, {row.*said, {}});
    known->second.push_back(row.sizes);
  }
  std::string lines;
  for (const auto& [text, sizes] : sizes_by_text) {
    const std::string of = sizes.size() == rows.size() ? "" : fmt::format("{}: ", fmt::join(sizes, ", "));
    for (const std::string& line : report::wrapped(heading + of + text, kColumns, 2)) lines += line + "\n";
  }
  return lines;
}

/// The place of a spec among the rows of a tuning; null: it is not valid.
const Ranked* row_of(const Tuned& tuned, const Spec& spec) {
  const auto row =
      std::ranges::find_if(tuned.rows, [&](const Ranked& each) { return each.trial->spec.mesh_idx == spec.mesh_idx; });
  return row == tuned.rows.end() ? nullptr : &*row;
}

}  // namespace

std::string text_of(const std::vector<Retimed>& rows, bool timed) {
  std::vector<report::GridColumn> columns = {
      {"sizes", 2, {}}, {"verdict", 2, {}}, {"now/then", 2, {}}, {"interval", 2, {}}};
  for (const Retimed& row : rows) {
    columns[0].cells.push_back(row.sizes);
    columns[1].cells.push_back(row.verdict);
    columns[2].cells.push_back(row.ratio);
    columns[3].cells.push_back(row.interval);
  }
  if (!timed) columns.resize(2);
  return report::grid_text(columns) + text_of(rows, "changed: ", &Retimed::changed) +
         text_of(rows, "", &Retimed::remark);
}

ExitCode judge(const Tuned& tuned, const Spec& spec, const std::string& artifact_then, Retimed& row) {
  const Trial* trial = find_trial(tuned.outcome.trials, spec.mesh_idx);
  const bool was_tried = trial != nullptr;
  const auto& comparison = tuned.outcome.comparison;
  if (comparison) {
    const ComparedSpec& best = best_of(*comparison);
    if (best.ratio) row.ratio = fmt::format("{:.3f}", *best.ratio);
    if (best.interval) row.interval = report::interval_text(*best.interval);
  }
  const Ranked* own = row_of(tuned, spec);
  const Failure* failure = !was_tried ? nullptr : trial->failure();
  if (own != nullptr && own->failed_in_finals != nullptr) failure = own->failed_in_finals;
  if (failure != nullptr) {
    row.verdict = failure->stage == Stage::build ? "does not build"
                  : failure->is_wrong_result()   ? "wrong now"
                                                 : "fails now";
    row.remark = line_with_escapes(failure->headline());
    return ExitCode::check_failed;
  }
  if (own == nullptr || !comparison) {
    row.verdict = "lost";
    return ExitCode::check_failed;
  }
  const Answer answer = is_slower(*comparison);
  const ComparedSpec& best = best_of(*comparison);
  const bool same_bytes = !artifact_then.empty() && own->trial->measurement()->build.artifact_hash == artifact_then;
  const bool is_first = own == &tuned.rows.front() || (own->finals_result && own->finals_result->tie);
  row.verdict = answer == Answer::yes           ? "slower"
                : answer == Answer::open        ? "open"
                : !is_first                     ? "other winner"
                : same_bytes                    ? "same bytes"
                : best.change == Change::faster ? "faster"
                                                : "same";
  if (!is_first) row.remark = "now best: " + line_with_escapes(to_text(tuned.rows.front().trial->spec.params));
  return answer == Answer::yes ? ExitCode::check_failed : answer == Answer::open ? ExitCode::undecided : ExitCode::ok;
}

}  // namespace tune::commands
