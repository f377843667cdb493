#pragma once
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "exec/runner.h"
#include "exec/workshop.h"

namespace tune {

/// Runs each spec in worker processes of its own: a build, unless its artifact is in the store, then a measure process.
/// On the CPU and for programs the cores are the device, so building and measuring take turns; on a GPU they overlap,
/// with at most two processes loaded beyond the one that measures.
class WorkerRunner : public Runner {
 public:
  explicit WorkerRunner(Workshop& workshop);

  int free_slots() const override;
  void start(const Spec& spec) override;
  std::optional<Trial> wait(Clock::time_point until) override;
  void set_best(double seconds) override { best_seconds_ = seconds; }
  Activity activity() const override;

 private:
  struct Task {
    Spec spec;
    Clock::time_point started;
    BuildInfo build;
    std::string artifact;
    bool built = false;
    bool load_sent = false, go_sent = false;
    Clock::time_point go_at;
    std::optional<wire::Measured> measured;
    std::unique_ptr<WorkerProcess> process;
  };
  using Tasks = std::list<Task>;

  void pump();
  void collect_builds();
  void start_builds();
  void start_measuring();
  void advance(Task& task);
  void dispatch(const Processes::Event& event);
  void measure_ended(Tasks::iterator task);
  void finish(Tasks::iterator task, Outcome outcome);
  std::optional<double> occupancy_of(const Task& task) const;
  void keep(const Task& task, const Failure& failure) const;

  bool building() const;
  int ready() const;
  int in_measure_processes() const;
  bool device_busy() const;

  Workshop* workshop_;
  bool exclusive_;  ///< building would disturb measuring
  int batch_;       ///< built specs that are worth stopping the builds for
  bool measuring_phase_ = false;
  double best_seconds_ = 0;
  Tasks tasks_;
  std::deque<Trial> finished_;
};

}  // namespace tune
