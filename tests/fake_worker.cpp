// Stands in for tune-worker-cpu and breaks the protocol on demand. A spec asks for it with its parameter BEHAVIOUR,
// the probe is asked by the variable FAKE_PROBE; `right` does nothing, at once, and says that it went well.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <string>

#include "wire/messages.h"

namespace {

using namespace tune;
using Action = std::function<void()>;

constexpr const char* kArtifact = "artifact";
constexpr const char* kLoaded = R"({"event": "loaded"})";
constexpr const char* kChecked = R"({"event": "checked", "max_error": 0.5, "seconds": 0.001})";
constexpr const char* kMeasured =
    R"({"event": "measured", "checked": true, "timing": {"count": 7, "median": 0.001, "min": 0.001, "mean": 0.001,)"
    R"( "p95": 0.001, "ci_low": 0.001, "ci_high": 0.001}})";
constexpr const char* kFailed = R"({"event": "failed", "stage": "check", "message": "said to have failed"})";

void say(const std::string& line) { std::cout << line << std::endl; }
void say_hello() { say(wire::encode(wire::Event(wire::Hello{}))); }
void say_loaded() { say(kLoaded); }
void measure() {
  say(kChecked);
  say(kMeasured);
}
[[noreturn]] void leave() { ::_exit(0); }
[[noreturn]] void hang() {
  for (;;) ::pause();
}
void leave_a_grandchild() {
  if (::fork() == 0) {
    ::setsid();
    ::sleep(2);
    leave();
  }
}

/// What a measure process does at its start and at each command.
struct Behaviour {
  Action start = say_hello, load = say_loaded, go = measure, done = leave;
};

const std::map<std::string, Behaviour> kBehaviours = {
    {"right", {}},
    {"hangs_at_start", {.start = hang}},
    {"leaves_at_start", {.start = leave}},
    {"speaks_another_protocol", {.start = [] { say(R"({"event": "hello", "protocol": 99, "backend": "cpu"})"); }}},
    {"greets_twice", {.load = say_hello}},
    {"loads_too_early", {.start = say_loaded}},
    {"closes_stdin", {.start = [] { say_hello(), ::close(0), ::usleep(100'000), leave(); }}},
    {"measures_before_go", {.load = [] { say(kMeasured); }}},
    {"measures_twice", {.go = [] { measure(), say(kMeasured); }}},
    {"checks_twice", {.go = [] { say(kChecked), measure(); }}},
    {"fails_after_measuring", {.go = [] { measure(), say(kFailed); }}},
    {"measures_after_failing", {.go = [] { say(kFailed), say(kMeasured), leave(); }}},
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
       wire::Hello hello;
       hello.device.name = "fake";
       hello.compiler = "fake";
       say(wire::encode(wire::Event(hello)));
     }},
    {"fails", [] { say(R"({"event": "failed", "stage": "start", "message": "no device"})"); }},
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

void serve() {
  std::ifstream artifact(std::get<wire::MeasureRequest>(read_request()).artifact);
  const auto found = kBehaviours.find(std::string(std::istreambuf_iterator<char>(artifact), {}));
  const Behaviour& behaviour = found == kBehaviours.end() ? kBehaviours.at("right") : found->second;
  behaviour.start();
  for (std::string line; std::getline(std::cin, line);) {
    const wire::Command command = wire::decode_command(line);
    if (std::holds_alternative<wire::Load>(command)) behaviour.load();
    if (std::holds_alternative<wire::Go>(command)) behaviour.go();
    if (std::holds_alternative<wire::Done>(command)) behaviour.done();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const char* probe = std::getenv("FAKE_PROBE");
  if (mode == "--probe") kProbes.at(probe == nullptr ? "right" : probe)();
  if (mode == "build") build();
  if (mode == "reference") say(R"({"event": "referenced"})");
  if (mode == "measure") serve();
}
