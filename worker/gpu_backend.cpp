#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "backend.h"
#include "base/store.h"
#include "energy.h"
#include "gpu_blas.h"
#include "gpu_build.h"
#include "gpu_kernel.h"
#include "gpu_memory.h"
#include "gpu_monitor.h"
#include "gpu_probe.h"
#include "gpu_reference.h"
#include "measure.h"
#include "model/stats.h"
#include "reference_file.h"
#include "support.h"
#include "verifier.h"

namespace tune {
namespace {

constexpr double kShortLaunch = 0.005;  // what loading a kernel's code at its first launch may add to matters no more
constexpr double kDisturbance = 1.25;   // processes that open the device made launches up to 1.17 times as long (H200)
constexpr int kVendorAlgorithms = 8;
constexpr int kVendorLaunches = 6;  // of each algorithm, the first of which warms it up
constexpr std::int64_t kPartsHiddenByFlush = 8;
constexpr int kEnergyRounds = 3;  // of the finals that measure energy, a second each

/// What the reference process left, or else compiled now: a worker that is run by hand may have no reference.
std::string helpers_code(const std::string& reference, const std::string& arch) {
  const auto file = helpers_beside(reference);
  return !reference.empty() && std::filesystem::exists(file) ? read_file(file) : compile_gpu_helpers(arch);
}

/// Requests with the same key need the same memory and are verified alike.
std::string memory_key(wire::MeasureRequest request) {
  request.artifact.clear();
  request.launches.clear();
  return wire::encode(wire::Request(request));
}

/// Kernels that are compiled at run time and launched on the first device.
class GpuBackend final : public WorkerBackend {
 public:
  Backend kind() const override { return gpu::kBackend; }
  wire::Hello probe() override { return probe_gpu(kind()); }
  void hold() override { GpuHandle::open(); }
  wire::Built build(const wire::BuildRequest& request) override;
  void reference(const wire::ReferenceRequest& request) override;
  void load(const wire::MeasureRequest& request) override;
  std::optional<wire::Measured> measure(const wire::Go& go, const Report& report) override;

 private:
  std::vector<double> outputs() const;
  void provide_memory(const wire::MeasureRequest& request);
  void launch();
  double timed_launches(std::int64_t count);
  void choose_fastest_algorithm();
  wire::Checked check();
  Observer& observer();
  wire::Go with_time_limit(wire::Go go);
  double sample();
  Sampler sampler(const wire::Go& go, double cutoff);
  std::optional<Timing> hopeless(const wire::Go& go);
  Timing time(const wire::Go& go, double first, double deadline);
  void add_energy(const wire::Go& go, wire::Measured& measured);

  MeasureRules rules_;
  bool filled_ = false;
  std::optional<wire::Checked> checked_;
  std::string memory_key_;
  std::int64_t per_sample_ = 1;  ///< launches that are timed as one
  int energy_rounds_ = 0;
  bool energy_told_ = false;  ///< in one of these rounds
  bool algorithm_chosen_ = false;
  std::optional<Gpu> gpu_;
  std::optional<GpuHelpers> helpers_;
  std::optional<Verifier> verifier_;
  std::optional<GpuMemory> memory_;
  std::optional<GpuKernel> kernel_;
  std::unique_ptr<GpuBlas> vendor_;
  std::optional<GpuEvent> start_, stop_;
  std::unique_ptr<Monitor> monitor_;
  std::optional<Observer> observer_;
};

wire::Built GpuBackend::build(const wire::BuildRequest& request) {
  require_supported(request.problem, kind(), Stage::build);
  return build_gpu_code(request);
}

void GpuBackend::reference(const wire::ReferenceRequest& request) {
  require_supported(request.problem, kind(), Stage::start);
  gpu_.emplace();
  const std::string code = compile_gpu_helpers(gpu_->arch());
  helpers_.emplace(*gpu_, code);
  write_file(helpers_beside(request.output), code);
  const std::string identity = reference_identity(request.problem, request.seed);
  if (const auto* gemm = std::get_if<Gemm>(&request.problem))
    return write_reference(request.output, identity, compute_reference_on(*gpu_, *helpers_, *gemm, request.seed));
  load(measure_request(request));
  memory_->fill();
  memory_->reset(Poison::nan);
  timed_launches(1);
  memory_->verify_guards();
  write_reference(request.output, identity, outputs());
}

/// All outputs of a custom problem as doubles, one after the other.
std::vector<double> GpuBackend::outputs() const {
  std::vector<double> values;
  for (const Buffer& buffer : verifier_->buffers()) {
    if (buffer.role == Buffer::Role::in) continue;
    const DeviceMemory wide(*gpu_, static_cast<std::size_t>(buffer.count) * sizeof(double), "the reference");
    helpers_->widen(buffer.type, memory_->address(buffer.name), {1, 1, buffer.count, 0, 0, 1}, wide.address());
    const std::size_t start = values.size();
    values.resize(start + static_cast<std::size_t>(buffer.count));
    wide.copy_to(std::as_writable_bytes(std::span(values).subspan(start)));
  }
  return values;
}

void GpuBackend::load(const wire::MeasureRequest& request) {
  require_supported(request.problem, kind(), Stage::load);
  rules_ = request.measure;
  per_sample_ = 1;
  energy_rounds_ = 0;
  energy_told_ = false;
  checked_.reset();
  provide_memory(request);
  if (!start_) {
    start_.emplace(*gpu_);
    stop_.emplace(*gpu_);
  }
  const auto address = [this](const std::string& name) { return memory_->address(name); };
  vendor_.reset();
  algorithm_chosen_ = false;
  if (request.vendor)
    vendor_ =
        open_gpu_blas(*gpu_, std::get<Gemm>(request.problem), address, request.vendor_best ? kVendorAlgorithms : 1);
  else
    kernel_.emplace(*gpu_, request.artifact, request.launches, request.problem, address);
}

/// Specs of one run differ in little; what one leaves behind is made anew, and verified, for each. Memory that serves
/// the next one too saves it most of its load.
void GpuBackend::provide_memory(const wire::MeasureRequest& request) {
  if (memory_ && memory_key(request) == memory_key_) return;
  memory_.reset();
  verifier_.emplace(request);
  if (!gpu_) gpu_.emplace();
  if (!helpers_) helpers_.emplace(*gpu_, helpers_code(request.reference, gpu_->arch()));
  memory_.emplace(*gpu_, *helpers_, request, *verifier_);
  memory_key_ = memory_key(request);
  filled_ = false;
}

void GpuBackend::launch() {
  memory_->zero();
  vendor_ ? vendor_->launch() : kernel_->launch();
}

/// Seconds per launch.
double GpuBackend::timed_launches(std::int64_t count) {
  // Either keeps the device busy until everything up to the second event is queued, so that no time of the host counts.
  const std::int64_t parts = vendor_ ? 1 : kernel_->launches();
  if (rules_.cold_cache) memory_->flush();
  if (!rules_.cold_cache || parts > kPartsHiddenByFlush) helpers_->hold(count * parts);
  start_->record();
  for (std::int64_t i = 0; i < count; ++i) launch();
  stop_->record();
  if (observer_) observer_->look();
  stop_->wait();
  return std::max(stop_->since(*start_) / static_cast<double>(count), 1e-9);
}

void GpuBackend::choose_fastest_algorithm() {
  double best = std::numeric_limits<double>::infinity();
  int fastest = 0;
  for (int algorithm = 0; algorithm < vendor_->algorithms(); ++algorithm) {
    vendor_->choose(algorithm);
    std::vector<double> times;
    for (int i = 0; i < kVendorLaunches; ++i) {
      memory_->restore();
      times.push_back(timed_launches(1));
    }
    times.erase(times.begin());
    if (median(times) >= best) continue;
    best = median(times);
    fastest = algorithm;
  }
  vendor_->choose(fastest);
}

wire::Checked GpuBackend::check() {
  wire::Checked checked;
  for (const Poison pattern : verifier_->patterns()) {
    memory_->reset(pattern);
    const double seconds = timed_launches(1);
    checked.seconds = checked.seconds > 0 ? std::min(checked.seconds, seconds) : seconds;
    checked.max_error = std::max(checked.max_error, memory_->verify(pattern));
  }
  return checked;
}

/// Opened when it is first needed: it takes 5 ms of the driver's lock (H200), and what the check rules out needs none.
Observer& GpuBackend::observer() {
  if (!observer_) {
    monitor_ = open_monitor(gpu_->handle());
    observer_.emplace(monitor_.get(), seconds_now);
  }
  return *observer_;
}

/// Where energy decides, slowness alone rules a kernel out only if even the least power would be too much.
wire::Go GpuBackend::with_time_limit(wire::Go go) {
  if (go.best_joules <= 0 || rules_.cutoff <= 0) return go;
  observer();
  const auto limit = monitor_ ? monitor_->power_limit_w() : std::nullopt;
  if (limit) go.best_seconds = hopeless_seconds(go.best_joules, *limit) / rules_.cutoff;
  return go;
}

double GpuBackend::sample() {
  memory_->restore();
  return timed_launches(per_sample_);
}

Sampler GpuBackend::sampler(const wire::Go& go, double cutoff) {
  MeasureRules rules = rules_;
  rules.cutoff = cutoff;
  return {rules, with_time_limit(go), [this] { return sample(); }, seconds_now, kShortLaunch};
}

/// What rules a kernel out while others open the device; nullopt: it has to be timed in quiet.
std::optional<Timing> GpuBackend::hopeless(const wire::Go& go) {
  auto timing = sampler(go, rules_.cutoff * kDisturbance).run_if_hopeless(checked_->seconds);
  if (!timing || timing->count == 1) return timing;
  observer().look();
  if (observer().saw_heat()) return std::nullopt;
  return timing;
}

/// `first` is the time of the launch that was checked; 0: there was none. `deadline`: when the driver gives up.
Timing GpuBackend::time(const wire::Go& go, double first, double deadline) {
  const auto sleep = [](double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); };
  if (rules_.energy != MeasureRules::Energy::never) deadline -= EnergyMeter::kWindow + EnergyMeter::kPatience;
  return CoolTimer(observer(), seconds_now, sleep).run(rules_.max_seconds, deadline, [&] {
    return sampler(go, rules_.cutoff).run(std::exchange(first, 0));
  });
}

void GpuBackend::add_energy(const wire::Go& go, wire::Measured& measured) {
  using Energy = MeasureRules::Energy;
  const bool wanted = rules_.energy == Energy::always || (rules_.energy == Energy::finals && go.launches > 0);
  if (!wanted || measured.timing.stopped_early || energy_rounds_++ >= kEnergyRounds) return;
  const auto do_without = [&](const std::string& why) {
    const std::string text = "energy is not measured: " + why;
    if (rules_.energy == Energy::always) throw Refusal(Stage::measure, text);
    if (energy_rounds_ == kEnergyRounds && !energy_told_) measured.remarks.push_back(text);
  };
  if (memory_->needs_restoring())
    return do_without("it takes launches without a pause, and this kernel reads what it overwrites");
  GpuEvent *before = &*start_, *last = &*stop_;
  before->record();
  const auto start_launches = [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) launch();
    last->record();
    before->wait();
    std::swap(before, last);
  };
  const auto counter = [this] { return monitor_ ? monitor_->joules() : std::nullopt; };
  const auto energy =
      EnergyMeter(start_launches, counter, seconds_now).run(measured.timing.median, rules_.cutoff * go.best_joules);
  gpu_->synchronize();
  if (!energy) return do_without("the device's counter does not answer, or stands still");
  energy_told_ = true;
  measured.metrics["energy"] = energy->joules;
  measured.timing.stopped_early = energy->stopped_early;
}

std::optional<wire::Measured> GpuBackend::measure(const wire::Go& go, const Report& report) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const double deadline = go.answer_within > 0 ? seconds_now() + go.answer_within : kNever;
  if (observer_) observer_->start();
  if (!std::exchange(filled_, true)) memory_->fill();
  if (vendor_ && vendor_->algorithms() > 1 && !std::exchange(algorithm_chosen_, true)) choose_fastest_algorithm();
  std::optional<Timing> verdict;
  if (go.check && !checked_) {
    checked_ = check();
    // In a cold cache every launch needs a flush before it, and is timed by itself.
    if (!rules_.cold_cache && !memory_->needs_restoring()) per_sample_ = launches_per_sample(checked_->seconds);
    if (go.pause) verdict = hopeless(go);
    checked_->waits = go.pause && !verdict;
    if (checked_->waits || verifier_->has_reference()) report(*checked_);
    if (checked_->waits) {
      observer();
      return std::nullopt;
    }
  } else if (go.check) {
    sample();  // to warm up again: others had the device since the check
  }
  wire::Measured measured;
  measured.timing = verdict ? *verdict : time(go, go.check ? checked_->seconds : 0, deadline);
  // A verdict on one launch is on the checked one, which was timed by itself.
  if (measured.timing.count > 1) measured.timing.count *= per_sample_;
  measured.checked = go.check && verifier_->has_reference();
  if (observer_) measured.metrics = observer_->metrics();
  add_energy(go, measured);
  // What was timed must still be right: a kernel may count its launches, or rely on what the one before left behind.
  if (go.check)
    memory_->verify(verifier_->patterns().back());
  else
    memory_->verify_guards();
  return measured;
}

}  // namespace

std::unique_ptr<WorkerBackend> make_backend() { return std::make_unique<GpuBackend>(); }

}  // namespace tune
