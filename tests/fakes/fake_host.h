#pragma once
// Workers that are not there, and a clock that only moves when something happens: what real processes do by chance is
// done here when a test asks for it.
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "exec/device/measure_service.h"
#include "platform/process/process.h"
#include "support/tuning_folder.h"

namespace tune {

/// A measure process of FakeHost.
struct FakeWorker {
  platform::ProcessHost::Id id = 0;
  std::int64_t spec = 0;  ///< the value of the parameter N of what it measures
  int process = 1;        ///< which of the processes that have loaded this spec it is, from 1 on
  int served = 0;         ///< specs that it has measured before
  int device = 0;
  int rounds = 0;        ///< times that it has measured this spec
  std::string artifact;  ///< empty: none
};

/// What a worker does, and how long it takes.
struct FakeConduct {
  using Duration = std::chrono::milliseconds;
  Duration open{10}, check{2}, time{5}, close{20};
  double seconds = 1e-3;  ///< what it says that a launch takes
  bool stops_early = false;
  bool finds_no_device = false;
  bool fails_to_load = false;
  bool fails = false;             ///< its check does
  bool ends_after_check = false;  ///< killed once it has said that it waits
  bool ends_while_timed = false;  ///< killed before it has said what it measured
  bool ends_after_time = false;   ///< killed once it has said what it measured
};

/// Builds, makes each reference in 1 ms, loads an artifact if it is there, and measures as it is told.
class FakeHost : public platform::ProcessHost {
 public:
  struct Interval {
    enum class What { opens, times, closes } what;
    int device;
    Id process;
    Clock::time_point begin, end;
  };

  std::function<FakeConduct(const FakeWorker&)> behave = [](const FakeWorker&) { return FakeConduct(); };
  std::vector<Interval> intervals;
  std::map<std::int64_t, int> processes_of;  ///< how many measure processes each spec has had, shared ones too
  std::vector<std::string> modes;            ///< of all processes, in their order
  int references = 0;                        ///< that were made
  bool fails_second_reference = false;       ///< that a process is asked for
  Clock::duration build_time{};              ///< of each build
  std::vector<std::string> reads;            ///< files that each build says it read
  std::string reference;                     ///< the file that the last measure process was to compare with

  Id start(const platform::Command& command) override;
  void send(Id id, std::string_view line) override;
  void set_deadline(Id, std::optional<Clock::duration>) override {}
  void kill(Id id) override;
  std::vector<Id> running() const override;
  /// Throws std::logic_error if nothing is ever going to happen.
  std::optional<Event> wait(std::optional<Clock::time_point> until) override;
  Clock::time_point now() const override { return now_; }

  /// How often something was timed on a device while another process opened or closed it.
  int disturbed_times() const;

 private:
  struct Process {
    std::string mode;  ///< build, reference, measure, hold
    bool has_request = false, paused = false;
    int references = 0;
    FakeWorker worker;               ///< of the spec that came last
    std::vector<FakeWorker> beside;  ///< of those before it that stay loaded
  };
  void begin(Process& process, const wire::Request& request);
  void build(Id id, const wire::BuildRequest& request);
  void obey(Process& process, const wire::Command& command);
  void load(const FakeWorker& worker);
  void go(Process& process, FakeWorker& worker, const wire::Go& go);
  void say(Id id, const wire::Event& event, Clock::duration after = {});
  void end(Id id, int signal, Clock::duration after = {});
  void note(Interval::What what, const FakeWorker& worker, Clock::duration length);

  Clock::time_point now_{std::chrono::hours(1)};
  Id last_ = 0;
  std::map<Id, Process> processes_;
  std::multimap<Clock::time_point, Event> coming_;
};

/// A tuning of a GEMM on fake devices, with a spec for each N from 1 on.
class FakeTuning {
 public:
  explicit FakeTuning(int specs, Backend backend = Backend::cuda);

  Spec spec(std::int64_t number) const { return std::get<Spec>(plan_.space.at(number - 1)); }
  const exec::RequestFactory& requests() const { return *requests_; }
  const std::filesystem::path& folder() const { return path_; }
  /// `devices` of one model, which take no turns with other runs. All services have one pool.
  std::unique_ptr<exec::MeasureService> service(int devices = 1, bool share_processes = false, bool one_process = false,
                                                bool keeps_processes = false);
  /// That of the service.
  FakeHost& host() { return *host_; }
  /// As the command does at its end. There is no host any more.
  void end_processes() { pool_.reset(); }

 private:
  TuningFolder folder_;
  std::filesystem::path path_ = folder_.path();
  Plan plan_;
  std::unique_ptr<exec::RequestFactory> requests_;
  std::unique_ptr<FakeHost> next_host_ = std::make_unique<FakeHost>();
  FakeHost* host_ = next_host_.get();
  std::shared_ptr<exec::WorkerPool> pool_;
};

}  // namespace tune
