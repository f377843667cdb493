#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include "backend.h"
#include "capabilities.h"
#include "checking/elements.h"
#include "checking/reference.h"
#include "checking/verifier.h"
#include "cpu/cpu_build.h"
#include "cpu/cpu_memory.h"
#include "cpu/cpu_probe.h"
#include "cpu/sandbox/kernel_process.h"
#include "cpu/sandbox/kernel_runner.h"
#include "host/core_settings.h"
#include "measuring/energy.h"
#include "measuring/measure.h"
#include "measuring/roofline.h"
#include "platform/process/taken_cores.h"
#include "sensors/cpu_monitor.h"

namespace tune::worker {
namespace {

// The limits on time count the launches themselves; everything around them may take at most this many times as long.
constexpr double kMostForJudging = 4;
constexpr double kShareOfDeadline = 0.8;

constexpr double kEnergyBatch = 0.02;           // seconds; between two batches the process is stopped for some 100 us
constexpr std::size_t kEnoughLaunches = 10;     // to tell a false clock from a disturbance
constexpr double kShareForMoreAttempts = 0.25;  // of the time until the answer
constexpr int kAttempts = 3;                    // to do so
constexpr double kLongestTrial = 20e-3;         // seconds

constexpr const char* kChangedArithmetic =
    "a kernel returns with another rounding mode or treatment of denormal numbers than it was called with, which its "
    "caller then computes with; every launch here began with the usual ones";

/// Kernels in shared objects, compiled with the system's C++ compiler and called in a process of their own, which this
/// one judges: it has the reference and the clock, and never loads a kernel.
class CpuBackend final : public WorkerBackend {
 public:
  Backend kind() const override { return Backend::cpu; }
  wire::Hello probe() override;
  wire::Built build(const wire::BuildRequest& request) override { return build_shared_object(request); }
  void reference(const wire::ReferenceRequest& request) override;
  void load(const wire::MeasureRequest& request, bool beside) override;
  std::optional<wire::Measured> measure(const wire::Go& go, const Report& report) override;
  int run_kernel() override { return tune::worker::run_kernel(); }

 private:
  std::vector<double> outputs() const;
  double launch(const LaunchSetting& setting, bool foul_heap = false);
  void require_lasting_result();
  void release_pages();
  void take_pages();
  CpuMemory& memory(const LaunchSetting& setting);
  LaunchSetting surprise();
  void launch_otherwise();
  wire::Checked check();
  double clock(const wire::Go& go, double start) const;
  std::optional<std::string> doubt(double spent, bool is_early);
  Timing sample(const wire::Go& go, double first, double start);
  std::vector<CoreUse> core_uses() const;
  void refuse_impossible(const Timing& timing);
  bool looks_at_gauges() const;
  void add_energy(const wire::Go& go, wire::Measured& measured);

  wire::MeasureRequest request_;
  std::optional<Verifier> verifier_;
  std::unique_ptr<KernelSharedMemory> shared_;
  std::unique_ptr<KernelProcess> process_;
  std::vector<CpuMemory> memories_;  ///< one, or for each set of addresses its own
  std::vector<std::string> remarks_;
  std::random_device random_;
  double allowance_ = 0;  ///< see KernelProcess
  double excusable_ = 0;  ///< see clock_contradiction
  double max_error_ = 0;
  bool has_pages_ = true;  ///< for the buffers
  LaunchSetting last_;     ///< of the last launch
  std::array<LaunchSetting, KernelSharedMemory::kAddresses> left_ =
      {};                              ///< what the last launch in each memory left there
  std::vector<LaunchSetting> states_;  ///< of outputs, that come next
  std::vector<TimedLaunch> launches_;  ///< of this `go`
  std::optional<CpuMonitor> monitor_;  ///< if its gauges matter
  std::optional<Observer> observer_;
  EnergyRounds energy_rounds_;
  double spent_ = 0;             ///< seconds in them
  bool believes_judge_ = false;  ///< and not the clock of the kernel's process
};

wire::Hello CpuBackend::probe() {
  wire::Hello hello;
  hello.backend = kind();
  const CpuMonitor monitor(0);
  hello.device = probe_cpu(monitor);
  hello.compiler = cpp_compiler_version();
  hello.cores = core_settings();
  return hello;
}

void CpuBackend::reference(const wire::ReferenceRequest& request) {
  require_supported(request.problem, kind(), Stage::start);
  const std::string identity = reference_identity(request.problem, request.seed);
  if (const auto* gemm = std::get_if<Gemm>(&request.problem))
    return write_reference(request.output, request.problem, identity, compute_reference(*gemm, request.seed));
  load(measure_request(request), false);
  LaunchSetting setting;
  for (; setting.addresses < memories_.size(); ++setting.addresses) launch(setting);
  write_reference(request.output, request.problem, identity, outputs());
}

/// All outputs of a custom problem as doubles, one after the other.
std::vector<double> CpuBackend::outputs() const {
  std::vector<double> values;
  for (std::size_t i = 0; i < verifier_->buffers().size(); ++i) {
    const Buffer& buffer = verifier_->buffers()[i];
    if (buffer.role == Buffer::Role::in) continue;
    with_type(buffer.type, [&](auto tag) {
      const auto* elements = static_cast<const typename decltype(tag)::type*>(memories_.front().data(i));
      std::transform(elements, elements + buffer.count, std::back_inserter(values),
                     [](auto element) { return to_double(element); });
    });
  }
  return values;
}

void CpuBackend::load(const wire::MeasureRequest& request, bool /*beside*/) {
  require_supported(request.problem, kind(), Stage::load);
  process_.reset();
  memories_.clear();
  shared_.reset();
  request_ = request;
  has_pages_ = true;
  last_ = {};
  left_ = {};
  states_.clear();
  verifier_.emplace(request);
  shared_ = std::make_unique<KernelSharedMemory>(request);
  for (std::uint32_t i = 0; i < (request.measure.strict ? KernelSharedMemory::kAddresses : 1); ++i)
    memories_.emplace_back(shared_->map(i), *verifier_);
  process_ = std::make_unique<KernelProcess>(*shared_);
  allowance_ = process_->allowance();
  energy_rounds_ = EnergyRounds(request.measure.energy);
  observer_.reset();
  monitor_.reset();
  if (looks_at_gauges()) observer_.emplace(&monitor_.emplace(process_->id()), seconds_now);
  std::istringstream remarks(process_->load());
  remarks_.clear();
  for (std::string line; std::getline(remarks, line);) remarks_.push_back(line);
}

CpuMemory& CpuBackend::memory(const LaunchSetting& setting) { return memories_[setting.addresses % memories_.size()]; }

/// Returns the launch's seconds.
double CpuBackend::launch(const LaunchSetting& setting, bool foul_heap) {
  memory(setting).prepare(setting);
  if (request_.measure.cold_cache)
    memory(setting).flush();
  else
    memory(setting).warm();
  launches_.push_back(process_->launch(setting.addresses, foul_heap));
  if (observer_) observer_->look();
  if (believes_judge_) {
    TimedLaunch& launched = launches_.back();
    launched.claimed = launched.use.seconds = std::max(launched.claimed, launched.seen);
  }
  spent_ += launches_.back().claimed;
  max_error_ = std::max(max_error_, memory(setting).verify(setting));
  process_->require_stopped();
  last_ = setting;
  left_[setting.addresses % memories_.size()] = setting;
  return launches_.back().claimed;
}

/// What the kernel has left behind may go on for a while, and must change nothing.
void CpuBackend::require_lasting_result() {
  process_->rest();
  try {
    memory(last_).verify(last_);
  } catch (const SpecFailure& refusal) {
    throw SpecFailure(refusal.stage(), std::string("changed after the kernel had returned: ") + refusal.what());
  }
}

void CpuBackend::release_pages() {
  for (CpuMemory& memory : memories_) memory.release();
  has_pages_ = false;
}

/// Which pages the buffers have changes a kernel's time by several per cent for as long as it has them. So each turn of
/// the finals has others, from those that all contenders gave back after theirs. The kernel's process reads them while
/// they hold zeros, because it could compute a result while it runs untimed.
void CpuBackend::take_pages() {
  if (has_pages_) return;
  process_->touch();
  for (CpuMemory& memory : memories_) memory.refill();
  last_ = {};
  left_ = {};
  has_pages_ = true;
}

/// A setting that no kernel can foresee. Within a few launches, outputs have had all possible initial states.
LaunchSetting CpuBackend::surprise() {
  const bool rotated = can_be_rotated(verifier_->problem());
  if (states_.empty()) {
    states_ = {{Poison::nan, false, {}, 0}, {Poison::other, false, {}, 0}};
    if (rotated) states_.push_back({Poison::nan, true, {}, 0});
    std::ranges::shuffle(states_, random_);
  }
  LaunchSetting setting = states_.back();
  states_.pop_back();
  setting.addresses = random_() % KernelSharedMemory::kAddresses;
  if (!rotated) return setting;
  const auto below = [this](std::int64_t size) { return static_cast<std::int64_t>(random_()) % size; };
  setting.rotation = draw_rotation(std::get<Gemm>(verifier_->problem()), below);
  if (!setting.stale) return setting;
  const LaunchSetting& left = left_[setting.addresses % memories_.size()];
  setting.pattern = left.pattern;
  const Rotation &now = setting.rotation, &before = left.rotation;
  // A group of one row stays where it is.
  const bool moves_rows = std::get<Gemm>(verifier_->problem()).groups() == 0 && now.rows != before.rows;
  setting.stale = moves_rows || now.cols != before.cols;
  return setting;
}

/// The first launch of a process has other inputs than all that follow, if these have the same: what a kernel keeps of
/// them is wrong there. It is not verified.
void CpuBackend::launch_otherwise() {
  if (!verifier_->has_other_inputs()) return;
  CpuMemory& memory = memories_.front();
  memory.fill_otherwise();
  process_->launch(0, true);
  process_->require_stopped();
  memory.refill();
}

/// The first launches have the inputs that are documented. There is one at least with each end protected.
wire::Checked CpuBackend::check() {
  wire::Checked checked;
  max_error_ = 0;
  std::vector<LaunchSetting> settings;
  for (const Poison pattern : verifier_->patterns())
    for (std::uint32_t memory = 0; memory < memories_.size(); ++memory)
      settings.push_back({pattern, false, {}, memory});
  for (const LaunchSetting& setting : settings) {
    const double seconds = launch(setting, true);
    checked.seconds = checked.seconds > 0 ? std::min(checked.seconds, seconds) : seconds;
  }
  checked.max_error = max_error_;
  return checked;
}

/// The seconds that were spent in launches, or a part of all the seconds since `start` if that is more, so that the
/// answer comes in time.
double CpuBackend::clock(const wire::Go& go, double start) const {
  double most = kMostForJudging;
  if (go.answer_within > 0 && request_.measure.max_seconds > 0)
    most = std::clamp(kShareOfDeadline * go.answer_within / request_.measure.max_seconds, 1.0, most);
  return std::max(spent_, (seconds_now() - start) / most);
}

/// What speaks against the clock of the kernel's process; nullopt: nothing. `spent` is what launches had taken before
/// those in question. `is_early`: there is time to look for what excuses the process.
std::optional<std::string> CpuBackend::doubt(double spent, bool is_early) {
  const auto contradiction = [this] {
    return clock_contradiction(launches_, allowance_ + process_->allowance_for_threads(), excusable_);
  };
  // Before each trial we do what we do around launches, which counts where processes have a share of the cores.
  const auto work = [this] { memory(last_).verify(last_); };
  if (is_early && contradiction()) {
    // A process that computes as long as this one waits longer for a core than one that does nothing.
    const double seconds = std::min(kLongestTrial, std::ranges::min(launches_, {}, &TimedLaunch::claimed).claimed);
    const Disturbance disturbance = disturbance_without_kernel(kEnoughLaunches, seconds, work);
    excusable_ = std::max(excusable_, disturbance.wait);
    allowance_ = std::max(allowance_, disturbance.allowance);
  }
  // If there are only a few launches, all of them may have been disturbed.
  const double most = spent + 0.1 + 2 * request_.measure.max_seconds;
  while (contradiction() && launches_.size() < kEnoughLaunches && spent_ < most) launch(surprise());
  return contradiction();
}

/// What disturbed all launches of an honest process may be over when we look for it: they are timed again then. Where
/// there are too few cores for the kernel's threads, which may spin beside the one that launches and beside its judge,
/// they are timed once more by the judge's clock, which says rather too much.
Timing CpuBackend::sample(const wire::Go& go, double first, double start) {
  const platform::StolenTime stolen;
  const auto next = [this] { return launch(surprise()); };
  const auto now = [&] { return clock(go, start); };
  const auto is_early = [&] {
    return go.answer_within <= 0 || seconds_now() - start < kShareForMoreAttempts * go.answer_within;
  };
  std::optional<std::string> doubts;
  bool lacks_cores = false;
  for (int attempt = 0; attempt == 0 || (attempt < kAttempts && is_early()); ++attempt) {
    const double spent = spent_;
    const Timing timing = Sampler(request_.measure, go, next, now, {}).run(attempt == 0 ? first : 0);
    doubts = timing.stopped_early ? std::nullopt : doubt(spent, is_early());
    if (!doubts) return timing;
    lacks_cores = threads_lacked_cores(core_uses(), std::thread::hardware_concurrency(), stolen.so_far());
    launches_.clear();
  }
  if (!lacks_cores) throw SpecFailure(Stage::measure, *doubts);
  believes_judge_ = true;
  return Sampler(request_.measure, go, next, now, {}).run(0);
}

std::vector<CoreUse> CpuBackend::core_uses() const {
  std::vector<CoreUse> uses;
  for (const TimedLaunch& launch : launches_) uses.push_back(launch.use);
  return uses;
}

void CpuBackend::refuse_impossible(const Timing& timing) {
  const Problem& problem = verifier_->problem();
  const double bandwidth = request_.measure.cold_cache ? cpu_most_bandwidth() : 0;
  if (const auto reason = faster_than_possible(problem, timing.median, cpu_most_flops(problem), bandwidth))
    throw SpecFailure(Stage::measure, *reason);
}

bool CpuBackend::looks_at_gauges() const {
  return request_.measure.energy != MeasureRules::Energy::never || request_.gauges;
}

/// The last launch is compared as every other one is.
void CpuBackend::add_energy(const wire::Go& go, wire::Measured& measured) {
  if (!energy_rounds_.begin(go, measured)) return;
  if (verifier_->needs_restoring()) return energy_rounds_.do_without(kNeedsRestoring, measured);
  if (const std::string why = monitor_->why_no_energy(); !why.empty()) return energy_rounds_.do_without(why, measured);
  launch(surprise());
  double clock = 0;
  const auto again = [&](std::int64_t count) {
    process_->launch_again(count);
    clock = monitor_->conditions().clock_mhz.value_or(0);
  };
  const auto counter = [this] { return monitor_->joules(); };
  const auto energy = EnergyMeter(again, counter, seconds_now, kEnergyBatch)
                          .run(measured.timing.median, request_.measure.cutoff * go.best_joules);
  max_error_ = std::max(max_error_, memory(last_).verify(last_));
  process_->require_stopped();
  if (!energy) return energy_rounds_.do_without(kCounterStands, measured);
  energy_rounds_.note(*energy, clock, measured);
}

std::optional<wire::Measured> CpuBackend::measure(const wire::Go& go, const Report& report) {
  launches_.clear();
  take_pages();
  const bool begins_finals = go.launches > 0 && go.checks();
  const double start = seconds_now();
  if (go.checks()) launch_otherwise();
  if (observer_) observer_->start();
  spent_ = 0;
  believes_judge_ = false;
  const platform::StolenTime stolen;
  const wire::Checked checked = go.checks() ? check() : wire::Checked();
  const bool compared = go.checks() && verifier_->has_reference();
  if (compared) report(checked);
  const wire::Go limited = with_time_limit(go, request_.measure.cutoff, monitor_ ? &*monitor_ : nullptr);
  wire::Measured measured;
  measured.timing = sample(limited, checked.seconds, start);
  measured.clean_seconds = clean_seconds(core_uses(), std::thread::hardware_concurrency(), stolen.so_far(), go);
  measured.checked = compared;
  refuse_impossible(measured.timing);
  if (observer_) {
    observer_->look(0);
    measured.metrics = observer_->metrics();
  }
  add_energy(go, measured);
  if (begins_finals) require_lasting_result();
  if (begins_finals && process_->changed_arithmetic()) remarks_.push_back(kChangedArithmetic);
  measured.remarks.insert(measured.remarks.begin(), remarks_.begin(), remarks_.end());
  if (go.launches > 0) release_pages();
  return measured;
}

}  // namespace

std::unique_ptr<WorkerBackend> make_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace tune::worker
