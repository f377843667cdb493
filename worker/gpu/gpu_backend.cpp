#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <limits>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "backend.h"
#include "capabilities.h"
#include "checking/reference_file.h"
#include "checking/verifier.h"
#include "gpu/gpu_blas.h"
#include "gpu/gpu_blas_library.h"
#include "gpu/gpu_build.h"
#include "gpu/gpu_kernel.h"
#include "gpu/gpu_memory.h"
#include "gpu/gpu_probe.h"
#include "gpu/gpu_reference.h"
#include "gpu/gpu_shared_reference.h"
#include "gpu/gpu_timer.h"
#include "gpu/vendor_race.h"
#include "measuring/energy.h"
#include "measuring/measure.h"
#include "measuring/roofline.h"
#include "platform/store/store.h"

namespace tune::worker {
namespace {

constexpr double kStepOfEvents = 33e-9;  // seconds; those of an H200 tell times in steps of 32 ns
constexpr double kLoadingCode = 0.001;   // seconds that loading a kernel's code may add to its first launch
constexpr double kMostOfOthers = 0.1;    // seconds that a launch may wait for other programs' turns on the device
constexpr double kDisturbance = 1.25;    // processes that open the device made launches up to 1.17 times as long (H200)
constexpr int kCheckedLaunches = 2;      // of each spec before the first that is timed
constexpr int kVendorAlgorithms = 100;
constexpr double kBetweenLooks = 2;  // seconds between two questions to the management library, which take some ms each
constexpr double kLongBesideVariation = 200e-6;    // seconds; to change the inputs takes less than 10 us
constexpr std::size_t kLargeReference = 64 << 20;  // bytes; the file of a larger one takes longer than to make it
constexpr double kPlaceMatters = 1e-3;             // seconds; the place of code and data matters to shorter kernels

/// What the reference process left, or else compiled now: a worker that is run by hand may have no reference.
std::string helpers_code(const std::string& reference, const std::string& arch) {
  const auto file = helpers_beside(reference);
  return !reference.empty() && std::filesystem::exists(file) ? platform::read_file(file) : compile_gpu_helpers(arch);
}

/// A spec that is loaded, and what is known of it.
struct LoadedSpec {
  std::int64_t workspace_bytes = 0;
  bool zero_workspace = false;
  EnergyRounds energy_rounds;
  std::optional<GpuKernel> kernel = {};
  std::unique_ptr<GpuBlas> vendor = {};
  std::optional<wire::Checked> checked = {};
  std::int64_t moves = 0;  ///< of all buffers, before it was timed last
};

/// Kernels that are compiled at run time and launched on the first device.
class GpuBackend final : public WorkerBackend {
 public:
  Backend kind() const override { return gpu::kBackend; }
  wire::Hello probe() override { return probe_gpu(kind()); }
  void hold() override { GpuHandle::open(); }
  wire::Built build(const wire::BuildRequest& request) override;
  void reference(const wire::ReferenceRequest& request) override;
  bool keeps_reference() const override { return shared_reference_.bytes() > 0; }
  void load(const wire::MeasureRequest& request, bool beside) override;
  std::optional<wire::Measured> measure(const wire::Go& go, const Report& report) override;

 private:
  void open_for_references(bool of_gemms);
  std::vector<double> outputs() const;
  void provide_memory(const wire::MeasureRequest& request);
  AddressOf addresses() const;
  void choose(std::size_t number);
  void use();
  void lay(GpuMemory::Place place);
  void move();
  void choose_fastest_algorithm();
  void launch_otherwise();
  wire::Checked check(const wire::Go& go);
  Observer& observer();
  wire::Go limited(const wire::Go& go);
  double sample();
  Sampler sampler(const wire::Go& go, double cutoff);
  std::optional<Timing> hopeless(const wire::Go& go);
  Timing time(const wire::Go& go, double first, double deadline);
  void refuse_impossible(const Timing& timing) const;
  void add_remarks(const wire::Go& go, wire::Measured& measured) const;
  void add_energy(const wire::Go& go, wire::Measured& measured);
  std::size_t others();

  MeasureRules rules_;
  std::string memory_of_;  ///< wire::load_group_of the specs that it is for
  bool in_finals_ = false;
  bool gauges_ = false;  ///< are also read in the sweep
  /// Other programs that have the device open, and when that was asked.
  struct Others {
    std::size_t count;
    double when;
  };
  std::optional<Others> others_;
  std::optional<Gpu> gpu_;
  std::optional<GpuHelpers> helpers_;
  std::optional<Verifier> verifier_;
  std::optional<GpuMemory> memory_;
  std::vector<std::unique_ptr<LoadedSpec>> loaded_;  ///< beside each other
  LoadedSpec* spec_ = nullptr;                       ///< the one that is launched
  std::int64_t moves_ = 0;                           ///< of all buffers
  std::optional<GpuTimer> timer_;
  GpuLimits limits_;
  DeviceMemory shared_reference_;
  std::string helpers_code_, multiply_code_;  ///< of a process that makes references
  std::unique_ptr<Monitor> monitor_;
  std::optional<Observer> observer_;
};

wire::Built GpuBackend::build(const wire::BuildRequest& request) {
  require_supported(request.problem, kind(), Stage::build);
  return build_gpu_code(request);
}

void GpuBackend::open_for_references(bool of_gemms) {
  GpuHandle handle = GpuHandle::open();
  // While the context is made.
  auto helpers = std::async(std::launch::async, compile_gpu_helpers, handle.arch());
  std::future<std::string> multiply;
  if (of_gemms) multiply = std::async(std::launch::async, compile_gpu_multiply, handle.arch());
  gpu_.emplace(std::move(handle));
  helpers_code_ = helpers.get();
  helpers_.emplace(*gpu_, helpers_code_);
  if (of_gemms) multiply_code_ = multiply.get();
}

void GpuBackend::reference(const wire::ReferenceRequest& request) {
  require_supported(request.problem, kind(), Stage::start);
  const auto* gemm = std::get_if<Gemm>(&request.problem);
  shared_reference_ = {};
  if (!gpu_) open_for_references(gemm != nullptr);
  platform::write_file(helpers_beside(request.output), helpers_code_);
  const std::string identity = reference_identity(request.problem, request.seed);
  if (gemm) {
    DeviceMemory values = compute_reference_on(*gpu_, *helpers_, multiply_code_, *gemm, request.seed);
    const bool shared = request.share && SharedReference::offer(request.output, *gpu_, values, *helpers_);
    if (!shared || values.bytes() <= kLargeReference)
      write_reference(request.output, request.problem, identity, reference_on_host(values));
    if (shared) shared_reference_ = std::move(values);
    return;
  }
  load(measure_request(request), false);
  lay(GpuMemory::Place::first);
  timer_->first();
  memory_->verify_surroundings();
  write_reference(request.output, request.problem, identity, outputs());
}

/// All outputs of a custom problem as doubles, one after the other.
std::vector<double> GpuBackend::outputs() const {
  std::vector<double> values;
  for (const Buffer& buffer : verifier_->buffers()) {
    if (buffer.role == Buffer::Role::in) continue;
    const DeviceMemory wide(*gpu_, static_cast<std::size_t>(buffer.count) * sizeof(double), "the reference");
    helpers_->widen({buffer.type, memory_->address(buffer.name), {1, 1, buffer.count, 0, 0, 1}}, wide.address());
    const std::size_t start = values.size();
    values.resize(start + static_cast<std::size_t>(buffer.count));
    wide.copy_to(std::as_writable_bytes(std::span(values).subspan(start)));
  }
  return values;
}

void GpuBackend::load(const wire::MeasureRequest& request, bool beside) {
  require_supported(request.problem, kind(), Stage::load);
  if (!beside) {
    spec_ = nullptr;
    loaded_.clear();
    if (observer_) observer_->start();
  }
  rules_ = request.measure;
  gauges_ = request.gauges;
  provide_memory(request);
  LoadedSpec& spec = *loaded_.emplace_back(std::make_unique<LoadedSpec>());
  spec.workspace_bytes = request.workspace_bytes();
  spec.zero_workspace = request.kernel() != nullptr && request.kernel()->zero_workspace;
  spec.energy_rounds = EnergyRounds(rules_.energy);
  spec.moves = moves_;
  spec_ = &spec;
  memory_->set_workspace(spec.workspace_bytes, spec.zero_workspace);
  if (const wire::VendorRun* vendor = request.vendor())
    spec.vendor =
        open_gpu_blas(*gpu_, std::get<Gemm>(request.problem), addresses(), vendor->best ? kVendorAlgorithms : 1);
  else
    spec.kernel.emplace(*gpu_, request.artifact, kernel_run(request).launches, request.problem, addresses());
}

AddressOf GpuBackend::addresses() const {
  return [this](const std::string& name) { return memory_->address(name); };
}

/// Specs of one run differ in little; what one leaves behind is made anew, and verified, for each. Memory that serves
/// the next one too saves it most of its load.
void GpuBackend::provide_memory(const wire::MeasureRequest& request) {
  if (memory_ && wire::load_group_of(request) == memory_of_) return;
  if (!loaded_.empty()) throw SpecFailure(Stage::load, "it needs other memory than what is loaded beside it");
  timer_.reset();
  memory_.reset();
  verifier_.emplace(request);
  if (!gpu_) gpu_.emplace();
  if (!helpers_) helpers_.emplace(*gpu_, helpers_code(request.reference, gpu_->arch()));
  memory_.emplace(*gpu_, *helpers_, request, *verifier_, std::random_device()());
  timer_.emplace(*gpu_, *helpers_, *memory_, *verifier_);
  if (const auto* gemm = std::get_if<Gemm>(&verifier_->problem())) limits_ = GpuLimits::of(*gpu_, *gemm);
  memory_of_ = wire::load_group_of(request);
}

/// From now on, launches the spec that was loaded as this one of those beside each other.
void GpuBackend::choose(std::size_t number) {
  LoadedSpec& spec = *loaded_.at(number);
  if (spec_ == &spec) return;
  spec_ = &spec;
  memory_->set_workspace(spec.workspace_bytes, spec.zero_workspace);
  if (spec.checked) use();
}

/// Has what is launched use the buffers where they are.
void GpuBackend::use() {
  LoadedSpec& spec = *spec_;
  if (spec.vendor)
    timer_->use({[&spec] { spec.vendor->launch(); }, 1, [this, &spec] { spec.vendor->bind(addresses()); }},
                rules_.cold_cache);
  else
    timer_->use({[&spec] { spec.kernel->launch(); }, spec.kernel->launches(),
                 [this, &spec] { spec.kernel->bind(addresses()); }},
                rules_.cold_cache);
}

/// Makes all buffers at a place, and has what is launched use them there.
void GpuBackend::lay(GpuMemory::Place place) {
  memory_->lay(place);
  use();
}

/// Each round of the finals of short kernels is held elsewhere on the device: their times depend on where their code
/// and data happen to lie (from process to process by up to 8 % at 50 us on an H200, of kernels of 200 us by 0.3 %).
/// Specs beside each other have their turns of a round with the same buffers.
void GpuBackend::move() {
  if (spec_->moves == moves_) {
    memory_->move();
    memory_->lay(GpuMemory::Place::first);
    ++moves_;
  }
  spec_->moves = moves_;
  if (spec_->kernel) spec_->kernel->move();
  use();
}

// Algorithms that fail or multiply wrongly are not chosen.
void GpuBackend::choose_fastest_algorithm() {
  const auto launch = [this](int algorithm, bool first) -> std::optional<double> {
    spec_->vendor->choose(algorithm);
    try {
      return first ? timer_->first() : timer_->next(0);
    } catch (const SpecFailure&) {
      return std::nullopt;
    } catch (const blas::NotSupported&) {
      return std::nullopt;
    }
  };
  const auto fastest = fastest_of(spec_->vendor->algorithms(), {launch, seconds_now});
  if (!fastest) throw SpecFailure(Stage::check, "all algorithms of the vendor's library fail");
  spec_->vendor->choose(*fastest);
}

/// The first launch of a kernel in the finals has other inputs than all that follow, if these have the same: what it
/// keeps of them is wrong there. It is not verified.
void GpuBackend::launch_otherwise() {
  if (!verifier_->has_other_inputs()) return;
  memory_->fill_otherwise();
  timer_->launch_unverified(1, false);
  lay(GpuMemory::Place::second);
}

/// A kernel's first launch is at other addresses than the ones that are timed. No launch rules a kernel out alone,
/// unless it is longer than what another program's turn on the device can have added.
wire::Checked GpuBackend::check(const wire::Go& go) {
  wire::Checked checked;
  const auto finish = [&](double seconds) {
    checked.seconds = seconds;
    checked.max_error = timer_->max_error();
    return checked;
  };
  double first = 0;
  if (spec_->kernel) {
    lay(GpuMemory::Place::second);
    if (in_finals_) launch_otherwise();
    first = timer_->first();
    checked.max_error = timer_->max_error();
    if (spec_->kernel->is_programmatic()) {
      spec_->kernel->launch_programmatically(true);
      timer_->launch_late();
      spec_->kernel->launch_programmatically(false);
    }
    memory_->verify_surroundings();
    MeasureRules disturbed = rules_;
    disturbed.cutoff *= kDisturbance;
    const auto rules_out = [&](double seconds) { return decides_alone(disturbed, limited(go), seconds); };
    if (rules_out(first - kLoadingCode) && first < kMostOfOthers) first = std::min(first, timer_->next());
    if (rules_out(first - kLoadingCode)) return finish(first);
  }
  lay(GpuMemory::Place::first);
  if (spec_->vendor && spec_->vendor->algorithms() > 1)
    choose_fastest_algorithm();
  else if (spec_->vendor)
    timer_->first();
  timer_->enter_state(first);
  for (std::size_t i = 1; i < verifier_->patterns().size(); ++i) timer_->next();
  const double second = timer_->next();
  return finish(first > 0 ? std::min(first, second) : second);
}

/// Opened when it is first needed: it takes 5 ms of the driver's lock (H200), and what the check rules out needs none.
Observer& GpuBackend::observer() {
  if (!observer_) {
    monitor_ = open_monitor(gpu_->handle());
    observer_.emplace(monitor_.get(), seconds_now);
  }
  return *observer_;
}

wire::Go GpuBackend::limited(const wire::Go& go) {
  if (go.best_joules > 0) observer();
  return with_time_limit(go, rules_.cutoff, monitor_.get());
}

double GpuBackend::sample() {
  const double seconds = in_finals_ ? timer_->sample() : timer_->next();
  if (observer_ && !in_finals_) observer_->look();
  return seconds;
}

Sampler GpuBackend::sampler(const wire::Go& go, double cutoff) {
  MeasureRules rules = rules_;
  rules.cutoff = cutoff;
  if (timer_->state() == PowerState::sustained) rules.warmup = 0;  // its load is one
  const Sampler::First first = {
      .short_seconds = 0, .launches = kCheckedLaunches, .loading = kLoadingCode, .step = kStepOfEvents};
  return {rules, limited(go), [this] { return sample(); }, seconds_now, first};
}

/// What rules a kernel out while others open the device; nullopt: it has to be timed in quiet.
std::optional<Timing> GpuBackend::hopeless(const wire::Go& go) {
  return sampler(go, rules_.cutoff * kDisturbance).run_if_hopeless(spec_->checked->seconds);
}

/// `first` is the time of the launch that was checked; 0: there was none. `deadline`: when the driver gives up.
Timing GpuBackend::time(const wire::Go& go, double first, double deadline) {
  const auto sleep = [](double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); };
  if (in_finals_) return sampler(go, rules_.cutoff).run(first);
  if (rules_.energy != MeasureRules::Energy::never) deadline -= EnergyMeter::kWindow + EnergyMeter::kPatience;
  return CoolTimer(observer(), seconds_now, sleep).run(rules_.max_seconds, deadline, [&] {
    return sampler(go, rules_.cutoff).run(std::exchange(first, 0));
  });
}

void GpuBackend::add_energy(const wire::Go& go, wire::Measured& measured) {
  if (!spec_->energy_rounds.begin(go, measured)) return;
  if (verifier_->needs_restoring()) return spec_->energy_rounds.do_without(kNeedsRestoring, measured);
  const GpuEvent events[] = {GpuEvent(*gpu_), GpuEvent(*gpu_)};
  const GpuEvent *before = &events[0], *last = &events[1];
  before->record();
  const bool vary_each = measured.timing.median >= kLongBesideVariation;
  const auto start_launches = [&](std::int64_t count) {
    timer_->launch_unverified(count, vary_each);
    last->record();
    before->wait();
    std::swap(before, last);
  };
  const auto counter = [this] { return monitor_ ? monitor_->joules() : std::nullopt; };
  const auto energy =
      EnergyMeter(start_launches, counter, seconds_now).run(measured.timing.median, rules_.cutoff * go.best_joules);
  // While the last batch still runs: a power limit may have held it back only now that it ran without a pause.
  const double clock = monitor_ ? monitor_->conditions().clock_mhz.value_or(0) : 0;
  timer_->verify_last();
  if (!energy) return spec_->energy_rounds.do_without(kCounterStands, measured);
  spec_->energy_rounds.note(*energy, clock, measured);
}

/// A custom problem's operations and bytes are what its file calls so.
void GpuBackend::refuse_impossible(const Timing& timing) const {
  const auto* gemm = std::get_if<Gemm>(&verifier_->problem());
  if (gemm == nullptr) return;
  const double bandwidth = rules_.cold_cache ? limits_.bandwidth : 0;
  const auto reason = faster_than_possible(*gemm, timing.median, limits_.flops, bandwidth, limits_.cache_bytes);
  if (reason) throw SpecFailure(Stage::measure, *reason);
}

/// Adds remarks in the finals, because only theirs are reported.
void GpuBackend::add_remarks(const wire::Go& go, wire::Measured& measured) const {
  if (!in_finals_ || !go.checks()) return;
  if (spec_->vendor) measured.remarks.push_back(spec_->vendor->library());
  const std::vector<int> foreign = monitor_ ? foreign_processes(monitor_->processes()) : std::vector<int>();
  if (!foreign.empty())
    measured.remarks.push_back(
        fmt::format("other programs had the device open during the finals: process {}", fmt::join(foreign, ", ")));
}

/// Each may have had the device for as long as a launch of ours. To ask takes some ms, so it is done now and then.
std::size_t GpuBackend::others() {
  const double now = seconds_now();
  if (monitor_ && !in_finals_ && (!others_ || now - others_->when > kBetweenLooks))
    others_ = {foreign_processes(monitor_->processes()).size(), now};
  return others_ ? others_->count : 0;
}

std::optional<wire::Measured> GpuBackend::measure(const wire::Go& go, const Report& report) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const double deadline = go.answer_within > 0 ? seconds_now() + go.answer_within : kNever;
  in_finals_ = go.launches > 0;
  if (observer_ && !in_finals_) observer_->start();
  choose(go.spec);
  timer_->set_state(go.state.value_or(rules_.state));
  std::optional<Timing> verdict;
  if (!spec_->checked) {
    spec_->checked = check(go);
    if (go.checks_alone()) verdict = hopeless(go);
    spec_->checked->waits = go.checks_alone() && !verdict;
    if (go.checks() && (spec_->checked->waits || verifier_->has_reference())) report(*spec_->checked);
    if (spec_->checked->waits) {
      observer();
      return std::nullopt;
    }
  } else {
    if (in_finals_ && spec_->checked->seconds < kPlaceMatters) move();
    if (loaded_.size() == 1 || !timer_->is_awake()) {  // others had the device since
      timer_->enter_state();
      timer_->next();
    }
  }
  wire::Measured measured;
  measured.timing = verdict ? *verdict : time(go, go.checks() ? spec_->checked->seconds : 0, deadline);
  refuse_impossible(measured.timing);
  measured.clean_seconds = measured.timing.min / static_cast<double>(1 + others());
  measured.checked = verifier_->has_reference();
  if (in_finals_ || gauges_) observer().look(kBetweenLooks);
  if (observer_) measured.metrics = observer_->metrics();
  if (const double clock = timer_->take_clock_mhz(); clock > 0) measured.metrics["clock_mhz"] = clock;
  add_remarks(go, measured);
  add_energy(go, measured);
  memory_->verify_surroundings();
  timer_->note_work();
  return measured;
}

}  // namespace

std::unique_ptr<WorkerBackend> make_backend() { return std::make_unique<GpuBackend>(); }

}  // namespace tune::worker
