#include "exec/cluster/agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>
#include <list>
#include <thread>
#include <utility>

#include "exec/cluster/artifact_files.h"
#include "exec/evaluate/local_executor.h"
#include "model/values/error.h"
#include "platform/files/streams.h"
#include "platform/net/frame_hub.h"

namespace tune::exec {
namespace {

using namespace std::chrono_literals;
using Clock = platform::FrameHub::Clock;

constexpr auto kConnecting = 20s;
constexpr auto kUnwelcome = 20s;       // a driver that has not answered by then is given up
constexpr auto kBetweenOrders = 20ms;  // while specs run; every look costs the kernels that are timed a little
constexpr auto kIdle = 200ms;
constexpr auto kPreparing = 120s;
constexpr auto kLastWords = 1s;
constexpr int kPerDevice = 4;  // specs that wait for a device or are timed on it

void end_without_driver(const std::string& why) {
  platform::print_to_stderr("tune agent: the driver is gone: " + why);
  ::raise(SIGTERM);
}

bool same_spec(const Spec& a, const Spec& b) {
  return a.mesh_idx == b.mesh_idx && a.params.size() == b.params.size() && holds(a, b.params);
}

/// See run_agent().
class Agent : private RunObserver {
 public:
  explicit Agent(AgentRules rules) : rules_(std::move(rules)), hub_(kUnwelcome, end_without_driver) {}

  void run() {
    driver_ = hub_.connect(rules_.host, rules_.port, kConnecting);
    report(rules_.hello);
    try {
      for (;;) work();
    } catch (const Ended&) {
    } catch (const Error& error) {
      report(wire::Unable{static_cast<int>(error.code()), error.what()});
      throw;
    } catch (const std::exception& error) {
      report(wire::Unable{static_cast<int>(ExitCode::environment), error.what()});
      throw;
    }
  }

 private:
  struct Ended {};

  // Waits only for the first.
  void handle_orders(Clock::time_point until) {
    show_that_it_works();
    while (const auto event = hub_.wait(until)) {
      if (const auto* arrived = std::get_if<platform::FrameHub::Arrived>(&*event))
        obey(wire::decode_order(arrived->text));
      until = Clock::now();
    }
  }

  void obey(const wire::AgentOrder& order) {
    if (!welcome_) return be_welcomed(order);
    if (const auto* wanted = std::get_if<wire::ProbeOrder>(&order)) probe(*wanted);
    if (const auto* file = std::get_if<wire::InputFile>(&order)) files_[file->hash] = file->data;
    if (const auto* plan = std::get_if<wire::PlanOrder>(&order)) prepare(*plan);
    if (std::holds_alternative<wire::Rest>(order)) rest();
    if (const auto* spec = std::get_if<wire::SpecOrder>(&order)) take(*spec);
    if (const auto* best = std::get_if<wire::BestOrder>(&order); best && executor_)
      executor_->runner().set_best({}, best->seconds, best->joules);
    if (std::holds_alternative<wire::StopSharing>(order) && executor_) executor_->stop_sharing();
    if (const auto* finals = std::get_if<wire::FinalsOrder>(&order)) finals_ = *finals;
    if (std::holds_alternative<wire::UsageOrder>(order)) tell_usage();
    if (const auto* wanted = std::get_if<wire::ArtifactOrder>(&order)) send_artifact(*wanted);
    if (const auto* files = std::get_if<wire::ArtifactFiles>(&order)) take_artifact(*files);
    if (std::holds_alternative<wire::Farewell>(order)) throw Ended{};
  }

  // If the driver has ended, its port may be another program's.
  void be_welcomed(const wire::AgentOrder& order) {
    if (const auto* refused = std::get_if<wire::Unwelcome>(&order))
      throw Error(ExitCode::environment, "the driver refuses this agent: " + refused->why);
    const auto* welcome = std::get_if<wire::Welcome>(&order);
    if (welcome == nullptr || welcome->token != rules_.drivers_token)
      throw Error(
          ExitCode::environment,
          fmt::format("what answers at {} port {} is not the driver of this agent: it does not have the token of "
                      "the run",
                      rules_.host, rules_.port));
    silence_ = welcome->silence;
    hub_.set_silence(std::chrono::duration<double>(std::max(2 * silence_, 5.0)));
    welcome_ = true;
    look_after_main_loop(kPreparing);
  }

  void probe(const wire::ProbeOrder& order) {
    try {
      report(rules_.probe(order));
    } catch (const Error& error) {
      report(wire::Unable{static_cast<int>(error.code()), error.what()});
    }
  }

  void rest() {
    look_after_main_loop(kPreparing);
    begun_.clear();
    awaiting_.clear();
    executor_.reset();
    work_.reset();
  }

  void prepare(const wire::PlanOrder& order) {
    rest();
    work_ = rules_.prepare(order, files_);
    WorkerRules rules = work_->rules();
    rules.observer = this;
    hub_.watch_owner({}, nullptr);  // clocks that another run holds are waited for
    executor_ = std::make_unique<LocalExecutor>(work_->requests(), std::move(rules));
    look_after_main_loop(executor_->service().rules().deadlines.build);
    report(wire::Ready{slots(), work_->requests().source_hash()});
  }

  // Enough specs to build some while others are measured; with more, other agents would have none at the end.
  int slots() const {
    const MeasureService& service = executor_->service();
    const int room = executor_->runner().free_slots() - wire::kCalibrationSpecs;
    const int busy = service.rules().jobs + kPerDevice * static_cast<int>(service.rules().devices.size());
    return std::max(is_gpu(work_->requests().hello().backend) ? std::min(room, busy) : room, 1);
  }

  void take(const wire::SpecOrder& order) {
    if (!executor_) return;
    const std::string key = work_->requests().has_build() ? work_->requests().build_key(order.spec) : "";
    if (!order.built_elsewhere || executor_->service().builds().builder().find(key) != nullptr) return begin(order);
    std::deque<wire::SpecOrder>& specs = awaiting_[key];
    specs.push_back(order);
    if (specs.size() == 1) report(wire::ArtifactOrder{key});
  }

  void begin(const wire::SpecOrder& order) {
    begun_.push_back(order);
    executor_->runner().start(order.spec);
  }

  // Without files it is built here.
  void take_artifact(const wire::ArtifactFiles& files) {
    if (!executor_) return;
    unpack(files, executor_->service().builds().builder().store());
    if (const auto found = arrived_.find(files.key); found != arrived_.end()) found->second = true;
    for (const wire::SpecOrder& order : std::exchange(awaiting_[files.key], {})) begin(order);
    awaiting_.erase(files.key);
  }

  void send_artifact(const wire::ArtifactOrder& order) {
    if (!executor_) return;
    std::optional<Artifact> artifact;
    if (order.spec) {
      artifact = executor_->artifact(*order.spec);
    } else {
      const Builder::Result* result = executor_->service().builds().builder().find_intact(order.key);
      if (result != nullptr && std::holds_alternative<Artifact>(*result)) artifact = std::get<Artifact>(*result);
    }
    report(pack(order.key, artifact ? &*artifact : nullptr));
  }

  void hold_finals(const wire::FinalsOrder& order) {
    if (!executor_) return;
    await_artifacts(order.built_elsewhere);
    FinalsRules rules{order.settings};
    const auto now = Clock::now();
    rules.end = now + platform::ticks(order.seconds);
    rules.end_of_first_rounds = now + platform::ticks(order.last_seconds);
    const auto finals = executor_->finals(order.contenders, rules);
    std::pair<int, std::size_t> told{-1, 0};
    const auto tick = [&](int round, std::size_t left) {
      handle_orders(Clock::now());
      if (told == std::pair(round, left)) return;
      const bool next_round = told.first != round && round > 1;
      told = {round, left};
      report(wire::FinalsReport{round, static_cast<int>(left),
                                next_round ? std::optional(finals->so_far()) : std::nullopt});
    };
    Finals result = finals->run(tick);
    report(wire::FinalsReport{told.first, static_cast<int>(told.second), std::move(result), true});
  }

  void await_artifacts(const std::vector<std::string>& keys) {
    arrived_.clear();
    for (const std::string& key : keys)
      if (executor_->service().builds().builder().find(key) == nullptr && arrived_.try_emplace(key, false).second)
        report(wire::ArtifactOrder{key});
    while (std::ranges::any_of(arrived_, [](const auto& one) { return !one.second; })) {
      handle_orders(Clock::now() + kIdle);
      executor_->look_after_processes();
    }
  }

  void work() {
    if (begun_.empty()) {
      handle_orders(Clock::now() + kIdle);
      if (executor_) executor_->look_after_processes();
    } else {
      handle_orders(Clock::now());
    }
    if (finals_) hold_finals(*std::exchange(finals_, std::nullopt));
    if (begun_.empty()) return;
    if (auto trial = executor_->runner().wait(Clock::now() + kBetweenOrders)) finish(std::move(*trial));
  }

  void finish(Trial trial) {
    const auto order =
        std::ranges::find_if(begun_, [&](const wire::SpecOrder& begun) { return same_spec(begun.spec, trial.spec); });
    if (order == begun_.end()) return;
    const std::int64_t ticket = order->ticket;
    begun_.erase(order);
    report(wire::TrialReport{ticket, std::move(trial)});
  }

  void started(const Spec& spec, std::size_t device) override {
    const auto order =
        std::ranges::find_if(begun_, [&](const wire::SpecOrder& begun) { return same_spec(begun.spec, spec); });
    if (order != begun_.end()) report(wire::StartedReport{order->ticket, static_cast<int>(device)});
  }

  void news(const std::string& text) override { report(wire::Said{text}); }
  void warning(const std::string& text) override { report(wire::Said{"warning: " + text}); }
  void distrusts(const std::string& why) override { report(wire::Distrust{why}); }

  void tell_usage() {
    wire::UsageReport usage;
    if (const auto spent = executor_ ? executor_->usage() : std::nullopt) {
      usage.stages.assign(spent->stages.seconds.begin(), spent->stages.seconds.end());
      usage.idle = spent->idle_seconds;
      usage.sweep = spent->sweep_seconds;
      usage.devices = spent->devices;
      usage.opening_at_once = spent->opening_at_once;
    }
    report(usage);
  }

  // The hub's thread says that this process lives even if it can do nothing, such as when a file system does not
  // answer. A build, which may be waited for, is the longest that it can be busy with.
  void look_after_main_loop(std::chrono::duration<double> longest_step) {
    const std::chrono::duration<double> limit = longest_step + std::chrono::duration<double>(3 * silence_);
    hub_.watch_owner(limit, [this, limit] {
      report(wire::Unable{
          static_cast<int>(ExitCode::environment),
          fmt::format("it did nothing for {:.3g} s; does a file system that it uses answer?", limit.count())});
      std::thread([] {
        std::this_thread::sleep_for(kLastWords);
        ::raise(SIGKILL);
      }).detach();
    });
  }

  void report(const wire::AgentReport& report) { hub_.send(driver_, wire::encode_report(report)); }

  // The connection lives as long as the hub's thread does. The driver ignores a usage that it did not ask for.
  void show_that_it_works() {
    const auto now = Clock::now();
    if (!welcome_ || now - shown_ < std::chrono::duration<double>(silence_)) return;
    shown_ = now;
    tell_usage();
  }

  AgentRules rules_;
  platform::FrameHub hub_;
  platform::FrameHub::Id driver_ = 0;
  bool welcome_ = false;  ///< the driver has shown that it is ours
  AgentFiles files_;
  std::unique_ptr<AgentWork> work_;
  std::unique_ptr<LocalExecutor> executor_;
  std::list<wire::SpecOrder> begun_;
  std::map<std::string, std::deque<wire::SpecOrder>> awaiting_;  ///< specs whose artifacts come from others
  std::map<std::string, bool> arrived_;                          ///< artifacts that the finals wait for
  std::optional<wire::FinalsOrder> finals_;
  double silence_ = 0;                             ///< seconds after which the driver gives an agent up
  platform::FrameHub::Clock::time_point shown_{};  ///< when the driver was told that this one works
};

}  // namespace

void run_agent(AgentRules rules) { Agent(std::move(rules)).run(); }

}  // namespace tune::exec
