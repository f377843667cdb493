#include "results/notices.h"

#include <fmt/format.h>

#include "model/values/escaped_text.h"
#include "model/values/text.h"

namespace tune::results {
namespace {

std::string named(const std::string& label) { return label.starts_with("baseline") ? label : "baseline " + label; }

}  // namespace

void Notices::specs_are_sampled(const std::string& count, std::int64_t drawn) {
  said(fmt::format("the valid specs could not be counted, there are {}; the search draws from {} random ones", count,
                   drawn));
}

void Notices::default_is_pruned(const std::string& reason) { said("default is pruned: " + reason); }

void Notices::default_is_not_among_the_specs() { said("default is not tried: it is not among the specs of this run"); }

void Notices::default_fits_no_spec() { said("default is not tried: no spec has its values"); }

void Notices::default_is_no_spec(const std::string& place, const std::string& reason) {
  warnings_.push_back(fmt::format("{}: default is no spec, and is not tried: {}", place, reason));
}

void Notices::journal_cannot_be_locked(const std::filesystem::path& journal) {
  said(journal.string() + ": cannot be locked on its file system; let no other run use it");
}

void Notices::trials_are_of_another_version(const std::filesystem::path& journal,
                                            const recording::Journal::Foreign& foreign) {
  said(fmt::format(
      "{}: {} trials are of another version of tune (protocol {}, not {}); they are kept, and measured again",
      journal.string(), foreign.trials, foreign.protocol, wire::kProtocol));
}

void Notices::device_is_the_journals(const std::string& why) {
  said("the description of the device is from the journal, because " + why);
}

void Notices::times_are_of_another_device(std::int64_t count, const std::string& id) {
  said(fmt::format(
      "{} of the times are from the journal and were measured on another card than this run's, {}; cards of one model "
      "differ by a few per cent: another --output measures all on this one",
      count, id));
}

void Notices::failures_are_of_an_earlier_run(std::int64_t count) {
  said(fmt::format("failures from an earlier run: {}; --retry-failed tries them again", count));
}

void Notices::journal_is_lost(const std::filesystem::path& journal) {
  said(line_with_escapes(journal.string()) +
       ": this journal was removed, replaced or cut while the run wrote to it, so that another run measures again what "
       "is missing");
}

void Notices::journal_is_at(const std::filesystem::path& journal) {
  said("journal: " + line_with_escapes(journal.string()));
}

void Notices::best_is_of_an_earlier_run(const std::filesystem::path& best) {
  said(line_with_escapes(best.string()) + " is of an earlier run: this one has no valid spec, and left it as it was");
}

void Notices::outcomes_are_recorded(std::int64_t count, std::size_t specs, bool finals, const std::string& when) {
  const std::string of_specs = fmt::format("{} of {}", count, plural(specs, "spec"));
  const std::string what = count == 0 ? "the finals" : finals ? of_specs + " and the finals" : of_specs;
  said(fmt::format("{} {} from the journal, measured {}; --fresh measures again", what,
                   count == 1 && !finals ? "is" : "are", when));
}

void Notices::result_is_repeated(const std::string& file, const std::string& then, const std::string& now, double ratio,
                                 const std::string& verdict) {
  said(fmt::format("{} has {}; now it took {}, {:.3f} times as long: {}", line_with_escapes(file), then, now, ratio,
                   verdict));
}

void Notices::result_is_of_other_conditions(const std::string& file, const std::string& differences) {
  said(fmt::format("the result in {} was measured under other conditions: {}", line_with_escapes(file), differences));
}

void Notices::sharing_was_distrusted(const std::string& why) {
  said(fmt::format("every spec had a process of its own, because in an earlier run {}; --fresh shares processes again",
                   why));
}

void Notices::specs_were_measured_again(const std::string& distrust, std::int64_t count) {
  said(fmt::format("{}; from then on every spec had a process of its own, and the specs before were measured again: {}",
                   distrust, count));
}

void Notices::all_failed_alike(const std::string& failure) {
  said(failure + "\n(--keep-going tries the others anyway)");
}

void Notices::ended_early() { said("this run ended early and wrote no CSV or YAML; the same command continues it"); }

void Notices::command_reports_its_time() {
  said("the times are those that the command reports itself; --whole (whole: true) times the command instead");
}

void Notices::costs_were_predicted(std::size_t specs, double rank_correlation) {
  constexpr double kFits = 0.3;
  if (rank_correlation >= kFits)
    return said(
        fmt::format("model: the predicted times of {} specs order them as the measured ones do, with a rank "
                    "correlation of {:.2f}",
                    specs, rank_correlation));
  said(
      fmt::format("model: the predicted times of {} specs do not fit the measured ones (rank correlation {:.2f}); "
                  "--dry-run --top 8 shows what is predicted, and a section 'model:' in the tuning file corrects it",
                  specs, rank_correlation));
}

void Notices::parameter_has_no_effect(const std::string& name) {
  said(fmt::format("{} does not change the code: specs that differ only in it share one measurement", name));
}

void Notices::default_failed(const std::string& why) { said("default failed: " + why); }

void Notices::baselines_were_left_out() { said("no baseline was timed, because --no-finals leaves the finals out"); }

void Notices::baseline_failed(const std::string& label, const std::string& why) {
  said(named(label) + " failed: " + why);
}

void Notices::baseline_is_pruned(const std::string& label, const std::string& reason) {
  said(named(label) + " is pruned: " + reason);
}

void Notices::baseline_said(const std::string& label, const std::string& text) { said(named(label) + ": " + text); }

void Notices::finals_need_several_processes() {
  said(
      "there were no finals, which need several processes at a time: the device is in exclusive-process mode "
      "(nvidia-smi -c DEFAULT ends that)");
}

void Notices::finals_need_memory_for_two() {
  said("there were no finals, which need several processes at a time: the device has memory for one");
}

void Notices::finals_need_time_for_two(double seconds_left) {
  said(
      fmt::format("there were no finals: the {:.1f} s left are too few for a round of two contenders; a longer "
                  "--time-budget or --finals-budget makes room for them",
                  seconds_left));
}

void Notices::finals_are_cut_to_memory(std::size_t left, std::size_t all) {
  said(fmt::format("the finals have {} of {} contenders: the device has memory for no more", left, all));
}

void Notices::finals_are_cut_to_time(std::size_t left, std::size_t all) {
  said(fmt::format("the finals have {} of {} contenders: the time left is enough for no more", left, all));
}

void Notices::spec_was_overlooked(const Trial& trial) {
  said(
      fmt::format("spec {} was not in the finals, and may be faster than the best: it took {:.4g} ms in the sweep; "
                  "--fresh measures all specs again",
                  trial.spec.mesh_idx, trial.measurement()->timing.median * 1e3));
}

void Notices::spec_failed_in_finals(std::int64_t mesh_idx, const std::string& why) {
  said(fmt::format("spec {} failed in the finals and keeps its time of the sweep: {}", mesh_idx, why));
}

void Notices::recorded_finals_do_not_count() {
  said("the recorded finals are ignored: one of their contenders is not among the specs of this simulation");
}

void Notices::recorded_finals_are_of_an_older_version(const std::string& file) {
  said(file + ": its finals are ignored, because an older version of tune recorded them");
}

void Notices::results_are_simulated(std::size_t specs, std::size_t recorded, const std::string& file,
                                    const std::string& device) {
  said(fmt::format("simulated: {} of the {} specs of {}{}; seconds are those of the recording", specs, recorded, file,
                   device.empty() ? "" : " on " + device));
}

}  // namespace tune::results
