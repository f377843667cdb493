#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "recording/journal.h"

namespace tune::results {

/// Every note that a run may have for its user, in the order in which they are given. (How sure the best is stands in
/// the verdict.)
class Notices {
 public:
  const std::vector<std::string>& texts() const { return texts_; }
  /// What a user should know before anything is started.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // What a worker, a recording or the build says itself.
  void said(const std::string& text) { texts_.push_back(text); }
  void said(std::span<const std::string> texts) { texts_.insert(texts_.end(), texts.begin(), texts.end()); }

  // The grid.
  void specs_are_sampled(const std::string& count, std::int64_t drawn);
  void default_is_pruned(const std::string& reason);
  void default_is_not_among_the_specs();
  void default_fits_no_spec();
  /// A warning. `place` is the default's in the tuning file.
  void default_is_no_spec(const std::string& place, const std::string& reason);

  // The journal, and what it knows.
  void journal_cannot_be_locked(const std::filesystem::path& journal);
  void trials_are_of_another_version(const std::filesystem::path& journal, const recording::Journal::Foreign& foreign);
  void device_is_the_journals(const std::string& why);
  void times_are_of_another_device(std::int64_t count, const std::string& id);
  void failures_are_of_an_earlier_run(std::int64_t count);
  void journal_is_at(const std::filesystem::path& journal);
  void journal_is_lost(const std::filesystem::path& journal);
  void best_is_of_an_earlier_run(const std::filesystem::path& best);
  /// `when` as in `by the run of 2026-11-21 10:44 UTC`.
  void outcomes_are_recorded(std::int64_t count, std::size_t specs, bool finals, const std::string& when);

  // The result of a best.yaml that was timed again.
  /// `then` and `now` as in `10.4 ms +-0.5 %`; `ratio`: the time of now over that of then.
  void result_is_repeated(const std::string& file, const std::string& then, const std::string& now, double ratio,
                          const std::string& verdict);
  void result_is_of_other_conditions(const std::string& file, const std::string& differences);

  // The sweep.
  /// `why` as in `spec 3 took ...`.
  void sharing_was_distrusted(const std::string& why);
  void specs_were_measured_again(const std::string& distrust, std::int64_t count);
  void all_failed_alike(const std::string& failure);
  void ended_early();
  /// How well a model of cost has ordered so many specs.
  void costs_were_predicted(std::size_t specs, double rank_correlation);
  void parameter_has_no_effect(const std::string& name);
  void command_reports_its_time();

  // The finals, with today's configuration and the baselines.
  void default_failed(const std::string& why);
  void baselines_were_left_out();
  /// `label` as in `vendor`, `old.yaml` or `baseline 2`.
  void baseline_failed(const std::string& label, const std::string& why);
  void baseline_is_pruned(const std::string& label, const std::string& reason);
  void baseline_said(const std::string& label, const std::string& text);
  void finals_need_several_processes();
  void finals_need_memory_for_two();
  void finals_need_time_for_two(double seconds_left);
  void finals_are_cut_to_memory(std::size_t left, std::size_t all);
  void finals_are_cut_to_time(std::size_t left, std::size_t all);
  void spec_was_overlooked(const Trial& trial);
  void spec_failed_in_finals(std::int64_t mesh_idx, const std::string& why);

  // Simulation.
  void recorded_finals_do_not_count();
  void recorded_finals_are_of_an_older_version(const std::string& file);
  void results_are_simulated(std::size_t specs, std::size_t recorded, const std::string& file,
                             const std::string& device);

 private:
  std::vector<std::string> texts_, warnings_;
};

}  // namespace tune::results
