// The real tune-worker-cpu as a process: the protocol, and kernels that end it.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>

#include "platform/process/process.h"
#include "platform/store/store.h"
#include "support/cpu_fixture.h"

namespace tune::worker_protocol_test {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;  // for things that must happen, on the slowest machine

class WorkerProtocol : public CpuFixture {
 protected:
  void start(const std::vector<std::string>& arguments) {
    platform::Command command;
    command.argv = {TUNE_WORKER_CPU};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    id_ = processes_.start(command);
  }
  template <typename Message>
  void send(const Message& message) {
    processes_.send(id_, wire::encode(message));
  }

  /// The next event; nullopt when the process has ended, which `ended_` then tells of.
  std::optional<wire::Event> next() {
    for (;;) {
      const auto event = processes_.wait(platform::Processes::Clock::now() + kPatience);
      if (!event) throw std::runtime_error("the worker says nothing");
      if (const auto* line = std::get_if<platform::Processes::Line>(&*event)) return wire::decode_event(line->text);
      if (const auto* ended = std::get_if<platform::Processes::Ended>(&*event)) {
        ended_ = *ended;
        return std::nullopt;
      }
    }
  }
  template <typename Message>
  Message expect() {
    const auto event = next();
    if (event && std::holds_alternative<Message>(*event)) return std::get<Message>(*event);
    ADD_FAILURE() << "expected another event than " << (event ? wire::encode(*event) : "the process's end");
    return {};
  }
  /// All is over: no further event, and the process ended like this.
  void expect_end(int code, int signal) {
    const auto event = next();
    EXPECT_FALSE(event.has_value()) << wire::encode(*event);
    EXPECT_EQ(ended_.exit.code, code) << platform::to_text(ended_.exit);
    EXPECT_EQ(ended_.exit.signal, signal) << platform::to_text(ended_.exit);
  }
  void expect_failure(Stage stage, const std::string& text) {
    const auto failed = expect<wire::Failed>();
    EXPECT_EQ(to_text(failed.stage), to_text(stage));
    EXPECT_EQ(first_line(failed.message), text);
    expect_end(0, 0);
  }

  wire::MeasureRequest request_for(const std::string& kernel) {
    Gemm gemm;
    gemm.m = gemm.n = gemm.k = 16;
    wire::KernelLaunch launch;
    launch.kernel = kernel;
    for (const char* name : {"A", "B", "C"}) launch.args.push_back(buffer_arg(name));
    for (int i = 0; i < 3; ++i) launch.args.push_back(scalar_arg(16));
    wire::BuildRequest build_request;
    build_request.source = kernel_file("faults.cpp");
    build_request.flags = {"-O1"};
    build_request.problem = gemm;
    build_request.launches = {launch};
    wire::MeasureRequest request;
    request.artifact = build(build_request);
    request.problem = gemm;
    request.what = wire::KernelRun{{launch}};
    request.measure = rules_;
    request.reference = folder_ / "reference";
    wire::ReferenceRequest reference;
    reference.problem = gemm;
    reference.output = request.reference;
    worker::make_backend()->reference(reference);
    return request;
  }

  /// Up to the launch of a kernel that is not to survive it.
  void launch(const std::string& kernel) {
    start({"measure"});
    send(wire::Request(request_for(kernel)));
    expect<wire::Hello>();
    send(wire::Command(wire::Load{}));
    expect<wire::Loaded>();
    send(wire::Command(wire::Go{}));
  }

  platform::Processes processes_{false};
  platform::Processes::Id id_ = 0;
  platform::Processes::Ended ended_;
};

TEST_F(WorkerProtocol, AFolderThatCannotBeWrittenIsTheMachinesFault) {
  wire::BuildRequest request;
  request.source = kernel_file("faults.cpp");
  request.output = "/dev/null/output";
  request.problem = Gemm{};
  start({"build"});
  send(wire::Request(request));
  const auto failed = expect<wire::Failed>();
  EXPECT_TRUE(failed.environment) << failed.message;
  EXPECT_TRUE(failed.message.starts_with("cannot write ")) << failed.message;
}

TEST_F(WorkerProtocol, MeasuresOnCommandAndLeavesWhenDone) {
  launch("right");
  expect<wire::Checked>();
  EXPECT_TRUE(expect<wire::Measured>().checked);
  send(wire::Command(wire::Go{.launches = 5, .check = wire::Go::Check::no}));
  const auto again = expect<wire::Measured>();
  EXPECT_EQ(again.timing.count, 5);
  EXPECT_FALSE(again.checked);
  send(wire::Command(wire::Done{}));
  processes_.close_stdin(id_);
  expect_end(0, 0);
}

TEST_F(WorkerProtocol, OnceRunsEverythingWithoutCommands) {
  start({"measure", "--once"});
  send(wire::Request(request_for("right")));
  processes_.close_stdin(id_);
  expect<wire::Hello>();
  expect<wire::Loaded>();
  expect<wire::Checked>();
  expect<wire::Measured>();
  expect_end(0, 0);
}

TEST_F(WorkerProtocol, ARequestWithoutANewlineIsARequest) {
  platform::write_file(folder_ / "request", wire::encode(wire::Request(request_for("right"))));
  platform::Command command;
  command.argv = {"/bin/sh", "-c",
                  "exec '" TUNE_WORKER_CPU "' measure --once < '" + (folder_ / "request").string() + "'"};
  id_ = processes_.start(command);
  expect<wire::Hello>();
  expect<wire::Loaded>();
  expect<wire::Checked>();
  expect<wire::Measured>();
  expect_end(0, 0);
}

TEST_F(WorkerProtocol, ProbesWithoutReadingStdin) {
  start({"--probe"});
  EXPECT_EQ(expect<wire::Hello>().backend, Backend::cpu);
  expect_end(0, 0);
}

TEST_F(WorkerProtocol, TheEndOfStdinEndsTheWholeGroup) {
  launch("hangs");
  processes_.close_stdin(id_);
  expect_end(0, SIGKILL);
}

/// Gone, or killed and not yet reaped by init.
bool is_dead(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string line;
  return !std::getline(stat, line) || line.find(") Z ") != std::string::npos;
}

TEST_F(WorkerProtocol, TheEndOfStdinEndsTheCompilerToo) {
  const std::string pid_file = folder_ / "pid", compiler = folder_ / "c++";
  platform::write_file(compiler,
                       "#!/bin/sh\necho $$ > '" + pid_file + "' && touch '" + pid_file + ".done'\nexec sleep 1000\n");
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  platform::Command command;
  // In a session of its own, so that the end of the compiler is the worker's doing and not this test's.
  command.argv = {"setsid", "--wait", TUNE_WORKER_CPU, "build"};
  command.environment = {{"CXX", compiler}};
  id_ = processes_.start(command);
  wire::BuildRequest request;
  request.source = kernel_file("faults.cpp");
  request.output = folder_;
  request.problem = Gemm();
  send(wire::Request(request));
  while (!std::filesystem::exists(pid_file + ".done"))
    ASSERT_FALSE(processes_.wait(platform::Processes::Clock::now() + 10ms)) << "the worker said something";
  std::string pid = platform::read_file(pid_file);
  pid.pop_back();
  EXPECT_FALSE(is_dead(pid));
  processes_.close_stdin(id_);
  EXPECT_FALSE(next().has_value());
  for (const auto end = platform::Processes::Clock::now() + kPatience; !is_dead(pid);) {
    ASSERT_LT(platform::Processes::Clock::now(), end) << "the compiler lives on";
    processes_.wait(platform::Processes::Clock::now() + 10ms);
  }
}

TEST_F(WorkerProtocol, AKernelsOutputLandsInTheLog) {
  launch("prints_garbage");
  expect<wire::Checked>();
  expect<wire::Measured>();
  send(wire::Command(wire::Done{}));
  expect_end(0, 0);
  EXPECT_NE(ended_.captured.find("garbage\n"), std::string::npos);
  EXPECT_NE(ended_.captured.find("{\"event\": \"measured\"}\n"), std::string::npos);
}

TEST_F(WorkerProtocol, AKernelThatReadsStdinFindsItEmpty) {
  launch("reads_stdin");
  expect<wire::Checked>();
  expect<wire::Measured>();
}

TEST_F(WorkerProtocol, ACrashIsASignal) {
  launch("crashes");
  expect_end(0, SIGSEGV);
}

TEST_F(WorkerProtocol, AnAbortIsASignal) {
  launch("aborts");
  expect_end(0, SIGABRT);
}

TEST_F(WorkerProtocol, AWriteFarOutsideIsAFailureThatSaysWhere) {
  launch("writes_far_outside");
  expect_failure(Stage::check, "segmentation fault: the kernel wrote past the end of C, at byte +4194304");
}

TEST_F(WorkerProtocol, AKernelThatExitsLeavesNoResult) {
  for (const char* kernel : {"exits", "leaves"}) {
    launch(kernel);
    expect_end(0, 0);
  }
}

TEST_F(WorkerProtocol, AnExceptionIsAFailureOfItsStage) {
  launch("throws");
  expect_failure(Stage::check, "the kernel's own words");
}

TEST_F(WorkerProtocol, AWrongResultIsAFailureAndTheEnd) {
  launch("is_all_nan");
  expect_failure(Stage::check, "wrong result in C");
}

TEST_F(WorkerProtocol, MessagesThatCannotBeAreRefused) {
  start({"build"});
  processes_.send(id_, "garbage");
  expect_failure(Stage::start, "malformed message from the driver: not a JSON object: garbage");
  start({"build"});
  send(wire::Request(wire::MeasureRequest{}));
  expect_failure(Stage::start, "malformed message from the driver: a measure request for a build process");
  start({"measure"});
  send(wire::Request(wire::MeasureRequest{}));
  expect<wire::Hello>();
  send(wire::Command(wire::Go{}));
  expect_failure(Stage::start, "malformed message from the driver: `go` before `load`");
  start({"measure", "--once"});
  processes_.close_stdin(id_);
  expect_failure(Stage::start, "no request on stdin");
}

TEST_F(WorkerProtocol, BadUsageIsExitCode2) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"sing"}, {"build", "measure"}, {"--once"}, {"build", "--fast"}}) {
    start(words);
    expect_end(2, 0);
    EXPECT_NE(ended_.captured.find("tune-worker-cpu measure   --once"), std::string::npos);
  }
}

}  // namespace
}  // namespace tune::worker_protocol_test
