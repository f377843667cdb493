#include "results/outputs.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "model/values/error.h"
#include "platform/files/user_folders.h"
#include "platform/store/store.h"
#include "report/csv.h"

namespace tune::results {
namespace fs = std::filesystem;
namespace {

fs::path with_ending(const fs::path& prefix, const std::string& suffix, const std::string& ending) {
  return prefix.string() + suffix + ending;
}

/// out/cache.json as out/cache-M64.json.
fs::path with_suffix(const fs::path& path, const std::string& suffix) {
  return path.parent_path() / (path.stem().string() + suffix + path.extension().string());
}

bool same_file(const fs::path& x, const fs::path& y) {
  std::error_code error;
  // A file that is not there yet is resolved only where its path says which folder it is in.
  const auto resolved = [&](const fs::path& path) { return fs::weakly_canonical(fs::absolute(path, error), error); };
  const fs::path first = resolved(x);
  return !error && !first.empty() && first == resolved(y);
}

/// `text` as a part of a file's name: other texts get other names, and none leads to another folder.
std::string safe_name(const std::string& text) {
  constexpr std::size_t kLongest = 100;
  std::string name = text.substr(0, kLongest);
  for (char& c : name)
    if (c <= ' ' || c > '~' || c == '/') c = c == ' ' ? ' ' : '_';
  return name == text ? name : name + "-" + platform::Hash().add(text).hex().substr(0, 12);
}

/// Of a command, without its folder.
std::string first_word(const std::string& command) {
  return fs::path(command.substr(0, command.find(' '))).filename().string();
}

/// A CSV of more rows takes seconds to write, and is hardly read.
constexpr std::int64_t kListedPoints = 100'000;

/// The points that the filters keep and that were pruned before the build; none of a grid of more points than that.
std::vector<Rejection> pruned_points(const Space& space, std::span<const config::Filter> filters) {
  std::vector<Rejection> pruned;
  const std::int64_t points = space.product_size().value_or(kListedPoints + 1);
  for (std::int64_t i = 0; i < points && points <= kListedPoints; ++i)
    if (auto point = space.at(i); auto* rejection = std::get_if<Rejection>(&point))
      if (config::matches(filters, rejection->point)) pruned.push_back(std::move(*rejection));
  return pruned;
}

std::map<std::int64_t, report::CsvPlace> places_of(const report::Summary& summary) {
  std::map<std::int64_t, report::CsvPlace> places;
  std::size_t place = 0;
  for (const Ranked& row : summary.ranking.rows)
    places[row.trial->spec.mesh_idx] = {++place, row.finals_result ? row.finals_result->time.seconds : 0};
  return places;
}

// The journal has the beginning and the end of a log; the file of the run that has failed has more.
bool has_it(const fs::path& file, const Failure& failure) try {
  return platform::read_file(file).starts_with(failure.headline() + "\n");
} catch (const Error&) {
  return false;
}

bool write_log(const fs::path& file, const Trial& trial) try {
  const Failure& failure = *trial.failure();
  if (trial.recorded && has_it(file, failure)) return true;
  platform::write_file(file, failure.headline() + "\n" + failure.log);
  return true;
} catch (const Error&) {
  return false;
}

}  // namespace

Outputs::Outputs(const OutputSettings& settings, const OutputRules& rules) {
  const std::string suffix = safe_name(rules.suffix);
  const std::string of_journal = rules.journal_of_all ? rules.part : suffix;
  if (settings.kt_cache) kt_cache = with_suffix(*settings.kt_cache, suffix);
  if (settings.t4) t4 = with_suffix(*settings.t4, suffix);
  if (settings.tuning_results) tuning_results = *settings.tuning_results;
  if (rules.prefix) {
    csv = with_ending(*rules.prefix, suffix, ".csv");
    if (rules.journal) journal = with_ending(*rules.prefix, of_journal, ".jsonl");
    if (rules.journal_of_all && rules.best) database = with_ending(*rules.prefix, rules.part, ".db.yaml");
    if (rules.journal) logs = with_ending(*rules.prefix, suffix, ".logs");
    if (rules.best) best = with_ending(*rules.prefix, suffix, settings.best_ending);
    if (settings.kbench) {
      text = with_ending(*rules.prefix, suffix, ".txt");
      failures = with_ending(*rules.prefix, suffix, ".failures.json");
    }
    return;
  }
  const bool is_command = !rules.command.empty();
  if (!rules.journal || (rules.yamls.empty() && !is_command) || platform::state_folder().empty()) return;
  // One journal per tuning file, or per command and the folder that its words refer to, so that the same command finds
  // what was tried.
  platform::Hash names;
  std::error_code ignored;  // whoever reads the file says why it cannot
  for (const fs::path& yaml : rules.yamls) names.add(fs::weakly_canonical(yaml, ignored).string());
  for (const std::string& word : rules.command) names.add(word);
  if (is_command) names.add(fs::current_path(ignored).string());
  const fs::path input = is_command ? fs::path(safe_name(first_word(rules.command.front()))) : rules.yamls.front();
  const std::string name = input.stem().string() + "-" + names.hex().substr(0, 12);
  journal = platform::state_folder() / (name + of_journal + ".jsonl");
  logs = platform::state_folder() / (name + suffix + ".logs");
}

void Outputs::must_not_be(const std::vector<fs::path>& inputs) const {
  struct Output {
    const fs::path& path;
    const char* option;
  };
  const Output outputs[] = {{csv, "--output PREFIX"},
                            {journal, "--output PREFIX"},
                            {best, "--output PREFIX"},
                            {kt_cache, "--kt-cache FILE"},
                            {t4, "--t4 FILE"},
                            {artifact, "--artifact DIR"},
                            {text, "--output PREFIX"},
                            {failures, "--output PREFIX"},
                            {tuning_results, "--tuning_results_file FILE"},
                            {database, "--output PREFIX"}};
  const auto refuse = [](const Output& output, const std::string& why) {
    throw Error(ExitCode::bad_input,
                "the output " + output.path.string() + " is " + why + "; choose another " + output.option);
  };
  for (const Output& output : outputs) {
    if (output.path.empty()) continue;
    // A journal may be appended to a device.
    const std::string kind = platform::kind_of_file(output.path);
    if (!kind.empty() && (output.path != journal || kind != "a device")) refuse(output, kind);
    for (const fs::path& input : inputs)
      if (same_file(input, output.path)) refuse(output, "also an input of this run");
    for (const Output* before = outputs; before != &output; ++before)
      if (!before->path.empty() && same_file(before->path, output.path))
        refuse(output, "also another output of this run");
  }
}

fs::path artifact_file(const fs::path& folder, const Plan& plan, const std::string& suffix, const Device& device) {
  const bool gpu = is_gpu(plan.backend());
  const std::string name = safe_name(plan.name + suffix + (gpu ? "-" + device.arch : ""));
  return folder / (name + fs::path(traits_of(plan.backend()).artifact).extension().string());
}

void write_csv(const fs::path& path, const Space& space, const TuningOutcome& outcome, const report::Summary& summary) {
  std::ostringstream text;
  report::Csv csv(
      text, summary.name, parameter_names(space), summary.columns,
      {report::devices_of(summary.trials) > 1, summary.tuned, report::any_shared(summary.trials),
       outcome.finals.interrupted, report::any_named_otherwise(summary.trials, summary.name), summary.time});
  const std::map<std::int64_t, report::CsvPlace> places = places_of(summary);
  std::vector<const Trial*> trials;
  for (const Trial& trial : summary.trials) trials.push_back(&trial);
  std::sort(trials.begin(), trials.end(),
            [](const Trial* x, const Trial* y) { return x->spec.mesh_idx < y->spec.mesh_idx; });
  for (const Trial* trial : trials) {
    const auto unranked = summary.unranked.find(trial->spec.mesh_idx);
    const auto place = places.find(trial->spec.mesh_idx);
    csv.add(*trial, unranked == summary.unranked.end() ? "" : unranked->second,
            place == places.end() ? report::CsvPlace{} : place->second);
  }
  for (const Rejection& rejection : pruned_points(space, outcome.filters))
    csv.add_pruned(rejection.point, rejection.reason);
  platform::write_file(path, text.str());
}

void write_csv(const fs::path& path, const Space& space, std::span<const config::Filter> filters,
               const std::string& name, std::span<const report::BuildRow> rows) {
  platform::write_file(path, report::build_csv(name, parameter_names(space), rows, pruned_points(space, filters)));
}

report::Logs write_logs(const fs::path& folder, const fs::path& keep, std::span<const Trial> trials) {
  report::Logs logs;
  for (const Trial* trial : report::first_failures(trials)) {
    const std::int64_t mesh_idx = trial->spec.mesh_idx;
    const Failure& failure = *trial->failure();
    if (failure.stage != Stage::build || failure.log.empty()) continue;
    std::error_code ignored;
    const fs::path kept = keep / std::to_string(mesh_idx) / "log.txt";
    const fs::path file = folder / (std::to_string(mesh_idx) + ".txt");
    if (!keep.empty() && !trial->recorded && fs::exists(kept, ignored))
      logs[mesh_idx] = kept.string();
    else if (!folder.empty() && write_log(file, *trial))
      logs[mesh_idx] = file.string();
  }
  return logs;
}

}  // namespace tune::results
