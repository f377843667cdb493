#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "exec/device/measure_service.h"
#include "exec/evaluate/finals_entry.h"
#include "exec/evaluate/finals_run.h"
#include "exec/process/runner.h"

namespace tune::exec {

/// The contenders, in the order in which they were given.
using FinalsEntries = std::vector<std::unique_ptr<FinalsEntry>>;

/// The processes of the contenders, all of which are loaded before the first is timed, on the run's first device; one
/// at a time computes. It knows neither rounds nor who is ahead.
///
/// Each contender has a fresh process. But many specs on a GPU share one at first, because a turn in another process
/// takes several times as long. What they share may have measured the sweep and rest on the device. If the shared
/// process ends, nobody is blamed, and its contenders are without a process.
class FinalsProcesses {
 public:
  /// `tick` is called between events. All must outlive this.
  FinalsProcesses(MeasureService& service, const FinalsRules& rules, FinalsEntries& entries,
                  std::function<void()> tick);

  /// Loads all contenders that have not failed, and once more those that then fail. If the user has set the end, those
  /// that half of the time does not suffice to load are left out, and are no entries any more.
  void load_all();
  /// Loads these, each in a process of its own.
  void load(const std::vector<FinalsEntry*>& entries);
  /// Those that are to take part and have no process.
  std::vector<FinalsEntry*> without_process() const;
  /// Loads those that share a process again, each in one of its own.
  void separate();

  /// Times a contender when the device is free. nullopt: its process has ended, or could not be timed at its clocks;
  /// its result says why, unless a failure is forgiven.
  std::optional<wire::Measured> time(FinalsEntry& entry, wire::Go go, bool forgives = false);
  /// Loads again what FinalsEntry::may_try_again().
  void try_again(FinalsEntry& entry);
  /// What it has measured does not count.
  void drop(FinalsEntry& entry, const std::string& why);
  /// Ends the processes of these; the last of those that share one ends it.
  void leave(std::span<FinalsEntry* const> entries);
  /// Ends all. What they share to the end rests on the device for the next finals, if that keeps it.
  void end_all();

  std::ptrdiff_t active_specs() const;
  std::size_t active_count() const;

 private:
  /// What a contender's process is asked to measure, and the artifact that it loads.
  struct Prepared {
    wire::MeasureRequest request;
    std::string artifact = {};
  };

  void load_beside(const std::vector<FinalsEntry*>& entries);
  std::shared_ptr<WorkerProcess> first_process(const wire::MeasureRequest& request);
  bool load_next_to(std::shared_ptr<WorkerProcess>& process, FinalsEntry& entry, wire::MeasureRequest request);
  std::vector<FinalsEntry*> in_order_of_loading() const;
  bool is_late(FinalsRules::Clock::time_point begin) const;
  std::variant<Prepared, Failure> prepare(const wire::Contender& contender);
  std::variant<Prepared, Failure> prepare_stored(const wire::Contender::Stored& stored) const;
  std::optional<wire::MeasureRequest> request_of(FinalsEntry& entry);
  void rest_shared_process();
  /// Handles events until `reached` holds or the entry's process has ended.
  template <typename Condition>
  void await(FinalsEntry& entry, Condition reached);
  template <typename Condition>
  void wait_for_other_runs(Condition free);
  void build_for_next_tunings();
  void handle_next();

  MeasureService* service_;
  MeasureDevice* device_;
  const FinalsRules* rules_;
  FinalsEntries* entries_;
  std::function<void()> tick_;
  platform::ProcessHost::Id rested_ = 0;  ///< the process that had measured for others before the finals
  bool may_leave_out_ = false;            ///< those that half of the time does not suffice to load
};

}  // namespace tune::exec
