// Stands in for tune-worker-cpu, or by its file's name for tune-worker-cuda or -hip, and breaks the protocol on demand.
// A spec asks for it with its parameter BEHAVIOUR, the probe is asked by the variable FAKE_PROBE; `right` does nothing,
// at once, and says that it went well. FAKE_DEVICES (`model:id,model:id:file`) are the devices of the probe, one with a
// file admits one process at a time; a spec takes a tenth longer on each than on the one before. With
// FAKE_REFUSED_REFERENCE the first two references find no device. FAKE_MEMORY is the device's, in bytes. FAKE_REMARKS
// are remarks of the probe and of the vendor's library. `runs_at_the_clock` takes as long as the clock of fake_nvml
// says, and waits before it answers while there is a file FAKE_PAUSE. Measure processes append their number and what
// they do to the file FAKE_LOG.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "wire/messages.h"

namespace {

using namespace tune;
using Action = std::function<void()>;

constexpr const char* kArtifact = "artifact";
constexpr const char* kLoaded = R"({"event": "loaded"})";
constexpr const char* kChecked = R"({"event": "checked", "max_error": 0.5, "seconds": 0.001})";
constexpr const char* kNoDevice = R"({"event": "failed", "stage": "load", "message": "no device", "no_device": true})";
constexpr const char* kFailed = R"({"event": "failed", "stage": "check", "message": "said to have failed"})";

int served = 0;       ///< specs this process has measured
double pace = 1;      ///< what its times are multiplied by
bool vendor = false;  ///< stands in for the vendor's library
wire::Go go;          ///< the present one

int device() {
  const char* device = std::getenv("CUDA_VISIBLE_DEVICES");
  return device == nullptr ? 0 : std::atoi(device);
}

struct FakeDevice {
  std::string model, id, file;
};

std::vector<FakeDevice> devices() {
  const char* text = std::getenv("FAKE_DEVICES");
  std::istringstream entries(text == nullptr ? "" : text);
  std::vector<FakeDevice> devices;
  for (std::string entry; std::getline(entries, entry, ',');) {
    std::istringstream parts(entry);
    FakeDevice& device = devices.emplace_back();
    for (std::string* part : {&device.model, &device.id, &device.file}) std::getline(parts, *part, ':');
  }
  return devices;
}

FakeDevice this_device() {
  const auto all = devices();
  return all.empty() ? FakeDevice{"fake", "", ""} : all.at(static_cast<std::size_t>(device()));
}

std::string measured(bool stopped_early = false, double times = 1) {
  const double seconds = times * pace * 0.001 * (1 + 0.1 * device());
  wire::Measured measured;
  measured.timing = {7, seconds, seconds, seconds, seconds, seconds, seconds, stopped_early};
  measured.checked = true;
  if (vendor && std::getenv("FAKE_REMARKS")) measured.remarks = {"its library is old"};
  return wire::encode(wire::Event(measured));
}

void note(const std::string& what) {
  if (const char* file = std::getenv("FAKE_LOG"))
    std::ofstream(file, std::ios::app) << std::to_string(::getpid()) + ' ' + what + '\n';
}

void say(const std::string& line) { std::cout << line << std::endl; }
[[noreturn]] void leave() { ::_exit(0); }
[[noreturn]] void hang() {
  for (;;) ::pause();
}
wire::Hello hello() {
  wire::Hello hello;
  const std::string name = program_invocation_short_name;
  hello.backend = name == "tune-worker-cuda" ? Backend::cuda : name == "tune-worker-hip" ? Backend::hip : Backend::cpu;
  return hello;
}
void say_hello() { say(wire::encode(wire::Event(hello()))); }
void say_loaded() { say(kLoaded); }
void measure() {
  if (go.checks()) say(kChecked);
  say(measured());
}
void measure_by_state() {
  if (go.checks()) say(kChecked);
  const double of_so_many = go.launches == 1 ? 2 : 20;  // each is a sample, which takes a tenth of a second
  say(measured(false, go.state == PowerState::sustained ? of_so_many : 1));
}
void leave_after_three_rounds() {
  static int rounds = 0;
  measure();
  if (go.launches > 0 && ++rounds == 3) leave();
}
void wait_for_the_end_of_stdin() {
  for (std::string line; std::getline(std::cin, line);) {
  }
  leave();
}
void say_deadline() { say(wire::encode(wire::Event(wire::Failed{Stage::check, std::to_string(go.answer_within)}))); }
void measure_slowly() {
  if (go.launches > 0) return measure();  // the finals have many rounds
  note("begins");
  ::usleep(30'000);
  note("ends");
  measure();
}
void say_that_it_waits() {
  wire::Checked checked;
  checked.waits = true;
  say(wire::encode(wire::Event(checked)));
}
void pause_before_timing() {
  if (go.checks_alone()) return say_that_it_waits();
  note("begins");
  ::usleep(3'000);
  note("ends");
  say(measured());
}
/// What the stand-in for the management library says.
template <typename Value, typename... Kind>
double told_by_nvml(const char* symbol, Kind... kind) {
  static void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW);
  Value value = 0;
  reinterpret_cast<int (*)(void*, Kind..., Value*)>(::dlsym(library, symbol))(nullptr, kind..., &value);
  return static_cast<double>(value);
}
// Takes 1 ms at 1980 MHz.
void measure_at_the_clock() {
  static bool waited = false;
  if (go.checks_alone()) {
    waited = true;
    return say_that_it_waits();
  }
  if (go.checks() && !std::exchange(waited, false)) say(kChecked);
  note("runs");
  const double clock = told_by_nvml<unsigned>("nvmlDeviceGetClockInfo", 1);
  const double memory = told_by_nvml<unsigned>("nvmlDeviceGetClockInfo", 2);
  const double watts = 1e-3 * told_by_nvml<unsigned>("nvmlDeviceGetPowerUsage");
  const double seconds = 1e-3 * 1980 / clock;
  wire::Measured measured;
  measured.timing = {7, seconds, seconds, seconds, seconds, seconds, seconds, false};
  measured.checked = true;
  measured.metrics = {{"clock_mhz", clock},
                      {"memory_clock_mhz", memory},
                      {"power_w", watts},
                      {"energy", watts * seconds},
                      {"throttle", told_by_nvml<unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons")}};
  if (const char* file = std::getenv("FAKE_PAUSE"))
    while (::access(file, F_OK) == 0) ::usleep(1'000);
  say(wire::encode(wire::Event(measured)));
}
void measure_a_slow_one() {
  ::usleep(30'000);
  say(kChecked);
  say(measured(go.best_seconds > 0));
}
int noted(const std::string& what) {
  std::ifstream log(std::getenv("FAKE_LOG"));
  int times = 0;
  for (std::string line; std::getline(log, line);) times += line.ends_with(what);
  return times;
}
// The first device measures, but the later specs only once the second has begun with the common one, which it never
// ends; the finals hang.
void outlive_the_sweep() {
  if (go.launches > 0) note("finals"), hang();
  if (device() > 0) note("common"), hang();
  while (noted("measured") > 0 && noted("common") == 0) ::usleep(1000);
  note("measured");
  measure();
}
// Whether this is a process of the finals: two specs have been measured.
bool in_finals() { return noted("measured") >= 2; }
// The first two processes of this kind find no device.
bool refused(const std::string& kind) {
  const bool refused = noted("refused " + kind) < 2;
  if (refused) note("refused " + kind);
  return refused;
}
void refuse() {
  note("refuses");
  say(kNoDevice);
  leave();
}
void leave_a_grandchild() {
  if (::fork() == 0) {
    ::setsid();
    ::sleep(2);
    leave();
  }
}

// Until this process ends. False: another has it.
bool has_device() {
  const std::string file = this_device().file;
  if (file.empty()) return true;
  static const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (::flock(lock, LOCK_EX | LOCK_NB) == 0) return true;
  note("refused");
  return false;
}

/// What a measure process does at its start and at each command.
struct Behaviour {
  Action start = say_hello, load = say_loaded, go = measure, done = leave;
};

const std::map<std::string, Behaviour> kBehaviours = {
    {"right", {}},
    {"takes_a_while", {.go = measure_slowly}},
    {"outlives_the_sweep", {.go = outlive_the_sweep}},
    {"runs_at_the_clock", {.go = measure_at_the_clock}},
    {"is_slow", {.go = measure_a_slow_one}},
    {"pauses",
     {.load = [] { ::usleep(3'000), note("opened"), say_loaded(); },
      .go = pause_before_timing,
      .done = [] { note("leaves"), ::usleep(100'000), note("left"), leave(); }}},
    {"is_ruled_out_by_its_check", {.go = [] { say(kChecked), say(measured(true)); }}},
    {"crashes_after_its_pause", {.go = [] { go.checks_alone() ? say_that_it_waits() : (::raise(SIGKILL), leave()); }}},
    {"crashes_in_its_pause", {.go = [] { say_that_it_waits(), ::usleep(3'000), ::raise(SIGKILL); }}},
    {"waits_for_the_end_of_stdin", {.go = wait_for_the_end_of_stdin}},
    {"waits_unasked", {.go = say_that_it_waits}},
    {"fails_if_reused", {.load = [] { served > 0 ? (say(kFailed), leave()) : say_loaded(); }}},
    {"crashes_if_reused", {.load = [] { served > 0 ? (::raise(SIGKILL), leave()) : say_loaded(); }}},
    {"hangs_if_reused", {.load = [] { served > 0 ? hang() : say_loaded(); }}},
    {"fails_unless_reused", {.load = [] { served > 0 ? say_loaded() : (say(kFailed), leave()); }}},
    {"is_twice_as_fast_if_reused", {.go = [] { pace = served > 0 ? 0.5 : 1, measure(); }}},
    {"opens_slowly", {.load = [] { ::usleep(served > 0 ? 0 : 250'000), say_loaded(); }}},
    {"fails", {.go = [] { say(kFailed), leave(); }}},
    {"says_its_deadline", {.go = [] { say_deadline(), leave(); }}},
    {"crashes", {.go = [] { ::raise(SIGKILL); }}},
    {"finds_no_device", {.load = [] { say(kNoDevice), leave(); }}},
    {"is_refused_twice", {.load = [] { refused("load") ? (say(kNoDevice), leave()) : say_loaded(); }}},
    {"is_refused_every_other_time",
     {.load = [] { noted("refuses") > noted("opens") ? (note("opens"), say_loaded()) : refuse(); }}},
    {"is_refused_twice_in_finals",
     {.load = [] { in_finals() && refused("load") ? (say(kNoDevice), leave()) : say_loaded(); },
      .go = [] { note("measured"), measure(); }}},
    {"loses_the_device_in_finals",
     {.load = [] { in_finals() ? (say(kNoDevice), leave()) : say_loaded(); },
      .go = [] { note("measured"), measure(); }}},
    {"fails_in_finals",
     {.load = [] { in_finals() ? (say(kFailed), leave()) : say_loaded(); }, .go = [] { note("measured"), measure(); }}},
    {"is_slow_in_finals", {.go = [] { ::usleep(go.launches > 0 ? 20'000 : 0), measure(); }}},
    {"leaves_between_rounds", {.go = leave_after_three_rounds}},
    {"is_slower_sustained", {.go = measure_by_state}},
    {"crashes_sustained", {.go = [] { go.state == PowerState::sustained ? std::abort() : measure(); }}},
    {"hangs_at_start", {.start = hang}},
    {"leaves_at_start", {.start = leave}},
    {"speaks_another_protocol", {.start = [] { say(R"({"event": "hello", "protocol": 99, "backend": "cpu"})"); }}},
    {"greets_twice", {.load = say_hello}},
    {"loads_too_early", {.start = say_loaded}},
    {"closes_stdin", {.start = [] { say_hello(), ::close(0), ::usleep(100'000), leave(); }}},
    {"measures_before_go", {.load = [] { say(measured()); }}},
    {"measures_twice", {.go = [] { measure(), say(measured()); }}},
    {"checks_twice", {.go = [] { say(kChecked), measure(); }}},
    {"fails_after_measuring", {.go = [] { measure(), say(kFailed); }}},
    {"measures_after_failing", {.go = [] { say(kFailed), say(measured()), leave(); }}},
    {"leaves_without_result", {.go = [] { say(kChecked), leave(); }}},
    {"says_garbage", {.go = [] { say("garbage"); }}},
    {"says_an_unknown_event", {.go = [] { say(R"({"event": "melted"})"); }}},
    {"says_an_endless_line", {.go = [] { std::cout << std::string(10 << 20, 'x') << std::flush, leave(); }}},
    {"closes_stdout", {.go = [] { ::close(1), hang(); }}},
    {"ignores_done", {.done = hang}},
    {"exits_3_at_the_end", {.done = [] { ::_exit(3); }}},
    {"crashes_at_the_end", {.done = [] { ::raise(SIGKILL); }}},
    {"leaves_a_grandchild", {.done = [] { leave_a_grandchild(), leave(); }}},
};

const std::map<std::string, Action> kProbes = {
    {"right",
     [] {
       wire::Hello hello = ::hello();
       hello.compiler = "fake";
       if (const char* bytes = std::getenv("FAKE_MEMORY")) hello.device.properties["memory_bytes"] = std::atoll(bytes);
       if (std::getenv("FAKE_CARD")) hello.device.properties["energy_counter"] = std::int64_t{1};
       if (std::getenv("FAKE_REMARKS")) hello.remarks = {"its gauges are hidden"};
       for (const FakeDevice& device : devices())
         hello.devices.push_back({device.model, device.id, !device.file.empty()});
       hello.device.name = this_device().model;
       say(wire::encode(wire::Event(hello)));
     }},
    {"fails", [] { say(R"({"event": "failed", "stage": "start", "message": "no device"})"); }},
    {"fails_on_the_second", [] { kProbes.at(device() > 0 ? "fails" : "right")(); }},
    {"hangs", hang},
    {"says_garbage", [] { say("garbage"); }},
    {"says_nothing", [] {}},
    {"crashes", [] { ::raise(SIGKILL); }},
    {"speaks_another_protocol", [] { say(R"({"event": "hello", "protocol": 99, "backend": "cpu"})"); }},
    // The next start of this worker finds nothing.
    {"removes_itself",
     [] {
       kProbes.at("right")();
       char path[4096] = {};
       if (::readlink("/proc/self/exe", path, sizeof path - 1) > 0) ::unlink(path);
     }},
};

wire::Request read_request() {
  std::string line;
  std::getline(std::cin, line);
  return wire::decode_request(line);
}

std::string behaviour_of(const wire::BuildRequest& request) {
  for (const Define& define : request.defines)
    if (define.name == "BEHAVIOUR") return define.value;
  return "right";
}

void build() {
  const auto request = std::get<wire::BuildRequest>(read_request());
  const std::string behaviour = behaviour_of(request);
  if (behaviour != "builds_nothing") std::ofstream(request.output + "/" + kArtifact) << behaviour;
  if (behaviour == "build_says_garbage") return say("garbage");
  if (behaviour == "build_says_nothing") return;
  say(wire::encode(wire::Event(wire::Built{kArtifact, 0.001, {}})));
  if (behaviour == "builds_twice") say(wire::encode(wire::Event(wire::Built{kArtifact, 0.001, {}})));
  if (behaviour == "build_exits_5") ::_exit(5);
}

const Behaviour& behaviour_of(const wire::MeasureRequest& request) {
  std::ifstream artifact(request.artifact);
  const auto found = kBehaviours.find(std::string(std::istreambuf_iterator<char>(artifact), {}));
  return found == kBehaviours.end() ? kBehaviours.at("right") : found->second;
}

void serve() {
  const auto request = std::get<wire::MeasureRequest>(read_request());
  std::vector<const Behaviour*> loaded = {&behaviour_of(request)};  // beside each other
  const Behaviour* behaviour = loaded.front();
  vendor = request.vendor() != nullptr;
  note("starts");
  behaviour->start();
  for (std::string line; std::getline(std::cin, line);) {
    const wire::Command command = wire::decode_command(line);
    if (std::holds_alternative<wire::Load>(command)) has_device() ? behaviour->load() : (say(kNoDevice), leave());
    if (const auto* present = std::get_if<wire::Go>(&command)) {
      go = *present;
      loaded.at(go.spec)->go();
    }
    if (std::holds_alternative<wire::Done>(command)) behaviour->done();
    if (const auto* next = std::get_if<wire::Next>(&command)) {
      ++served;
      if (!next->beside) loaded.clear();
      behaviour = loaded.emplace_back(&behaviour_of(next->request));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const char* probe = std::getenv("FAKE_PROBE");
  if (mode == "--probe") kProbes.at(probe == nullptr ? "right" : probe)();
  if (mode == "build") build();
  if (mode == "reference")
    say((std::getenv("FAKE_REFUSED_REFERENCE") && refused("reference")) || !has_device()
            ? kNoDevice
            : R"({"event": "referenced"})");
  if (mode == "measure") serve();
}
