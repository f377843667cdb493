#include "platform/process/process.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <thread>

#include "model/values/error.h"
#include "platform/process/bounded_log.h"
#include "platform/process/descendants.h"
#include "platform/process/run_delay.h"

namespace tune::process_test {
namespace {

using namespace std::chrono_literals;

platform::Command shell(const std::string& script) {
  platform::Command command;
  command.argv = {"/bin/sh", "-c", script};
  return command;
}

// Everything a child says until it has ended.
struct Story {
  std::vector<std::string> lines;
  platform::Processes::Ended ended;
};

Story follow(platform::Processes& processes, platform::Processes::Id id) {
  Story story;
  for (;;) {
    const auto event = processes.wait(platform::Processes::Clock::now() + 30s);
    if (!event) throw std::runtime_error("the child did not end");
    if (const auto* line = std::get_if<platform::Processes::Line>(&*event); line && line->id == id)
      story.lines.push_back(line->text);
    if (const auto* ended = std::get_if<platform::Processes::Ended>(&*event); ended && ended->id == id) {
      story.ended = *ended;
      return story;
    }
  }
}

Story follow(const platform::Command& command, std::optional<platform::Processes::Clock::duration> deadline = {}) {
  platform::Processes processes(false);
  const auto id = processes.start(command);
  if (deadline) processes.set_deadline(id, deadline);
  return follow(processes, id);
}

// A process that was killed but not yet reaped by init is gone for us too.
bool alive(int pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return static_cast<bool>(stat >> number >> name >> state) && state != "Z";
}

void expect_gone(int pid) {
  for (int tries = 0; tries < 500 && alive(pid); ++tries) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(alive(pid));
}

TEST(Processes, ReportsLinesStderrAndExitCode) {
  const Story story = follow(shell("echo one; echo two; echo log >&2; exit 3"));
  EXPECT_EQ(story.lines, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(story.ended.captured, "log\n");
  EXPECT_EQ(story.ended.exit.code, 3);
  EXPECT_EQ(platform::to_text(story.ended.exit), "exit code 3");
}

TEST(Processes, KeepsALastLineWithoutNewline) {
  EXPECT_EQ(follow(shell("printf 'a\\nb'")).lines, (std::vector<std::string>{"a", "b"}));
}

TEST(Processes, TellsASignalFromAnExitCode) {
  const Story story = follow(shell("kill -SEGV $$"));
  EXPECT_EQ(story.ended.exit.signal, SIGSEGV);
  EXPECT_EQ(platform::to_text(story.ended.exit), "killed by signal 11 (segmentation fault)");
}

TEST(Processes, GiveAChildVariablesBesideOurs) {
  platform::Command command = shell("echo $NAME_THAT_IS_LONGER_THAN_MANY_ENTRIES_OF_AN_ENVIRONMENT_ARE $HOME $OURS");
  ::setenv("OURS", "3", 1);
  command.environment = {{"NAME_THAT_IS_LONGER_THAN_MANY_ENTRIES_OF_AN_ENVIRONMENT_ARE", "1"}, {"HOME", "2"}};
  EXPECT_EQ(follow(command).lines, std::vector<std::string>{"1 2 3"});
}

TEST(Processes, LimitTheMemoryOfAChildAndOfWhatItStarts) {
  platform::Command command = shell("ulimit -d; sh -c 'ulimit -d'");
  command.memory_bytes = 500 << 20;
  EXPECT_EQ(follow(command).lines, (std::vector<std::string>{"512000", "512000"}));
}

TEST(Processes, EndOfPipeIsNotTheEndOfTheProcess) {
  const Story story = follow(shell("echo said; exec >&- 2>&-; sleep 0.3; exit 7"));
  EXPECT_EQ(story.ended.exit.code, 7);
}

TEST(Processes, DoesNotWaitForAGrandchildThatHoldsThePipe) {
  // setsid: the grandchild has left the group, so killing the group does not reach it.
  const Story story = follow(shell("setsid sleep 60 & echo $!; exit 0"));
  ASSERT_EQ(story.lines.size(), 1u);
  EXPECT_EQ(story.ended.exit.code, 0);
  ::kill(std::stoi(story.lines[0]), SIGKILL);
}

TEST(Processes, KillsTheGroupOfALeaderThatExited) {
  const Story story = follow(shell("sleep 60 & echo $!; exit 0"));
  expect_gone(std::stoi(story.lines.at(0)));
}

TEST(Processes, KillsTheWholeGroupAtTheDeadline) {
  const Story story = follow(shell("sleep 60 & echo $!; wait"), 200ms);
  EXPECT_TRUE(story.ended.exit.timed_out);
  EXPECT_FALSE(story.ended.exit.clean());
  expect_gone(std::stoi(story.lines.at(0)));
}

TEST(Processes, ADeadlineCanBeTakenBack) {
  platform::Processes processes(false);
  const auto id = processes.start(shell("sleep 0.3"));
  processes.set_deadline(id, 100ms);
  processes.set_deadline(id, std::nullopt);
  EXPECT_TRUE(follow(processes, id).ended.exit.clean());
}

TEST(Processes, SendsLines) {
  platform::Processes processes(false);
  const auto id = processes.start(shell("read a; read b; echo $b $a"));
  processes.send(id, "x");
  processes.send(id, "y");
  EXPECT_EQ(follow(processes, id).lines, std::vector<std::string>{"y x"});
}

TEST(Processes, SurvivesAChildThatClosesItsStdin) {
  platform::Processes processes(false);
  const auto id = processes.start(shell("exec <&-; echo ready; sleep 0.2"));
  for (int i = 0; i < 100; ++i) processes.send(id, std::string(10000, 'x'));
  EXPECT_TRUE(follow(processes, id).ended.exit.clean());
}

TEST(Processes, GivesChildrenNoOtherChildsPipes) {
  platform::Processes processes(false);
  const auto reader = processes.start(shell("read line; echo end"));
  const auto holder = processes.start(shell("sleep 60"));
  // If the second child had inherited the first one's stdin, closing ours would not be an end of file.
  processes.close_stdin(reader);
  EXPECT_EQ(follow(processes, reader).lines, std::vector<std::string>{"end"});
  processes.kill(holder);
  EXPECT_EQ(follow(processes, holder).ended.exit.signal, SIGKILL);
}

TEST(Processes, CutsAFloodInTheMiddle) {
  platform::Command command = shell("echo first >&2; head -c 50000000 /dev/zero | tr '\\0' x >&2; echo last >&2");
  command.capture_limit = 1000;
  const std::string captured = follow(command).ended.captured;
  EXPECT_LT(captured.size(), 1100u);
  EXPECT_TRUE(captured.starts_with("first\n")) << captured;
  EXPECT_TRUE(captured.ends_with("last\n")) << captured;
  EXPECT_NE(captured.find(" bytes cut ..."), std::string::npos);
}

TEST(Processes, LeavesNoChildBehind) {
  int pid = 0;
  {
    platform::Processes processes(false);
    processes.start(shell("echo $$; sleep 60"));
    const auto event = processes.wait(std::nullopt);
    pid = std::stoi(std::get<platform::Processes::Line>(*event).text);
  }
  expect_gone(pid);
}

TEST(Processes, TurnsASignalToUsIntoAnEvent) {
  platform::Processes processes(true);
  ::raise(SIGTERM);
  const auto event = processes.wait(platform::Processes::Clock::now() + 10s);
  ASSERT_TRUE(event);
  EXPECT_EQ(std::get<platform::Processes::Interrupted>(*event).signal, SIGTERM);
}

TEST(Processes, GivesASignalThatNobodyWaitedForItsEarlierEffect) {
  static volatile sig_atomic_t seen = 0;
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { seen = seen + 1; };
  ::sigaction(SIGTERM, &action, &before);
  {
    platform::Processes processes(true);
    ::raise(SIGTERM);
  }
  EXPECT_EQ(seen, 1);
  {
    platform::Processes processes(true);
    processes.start(shell("sleep 60 & echo; wait"));
    ::raise(SIGTERM);
    for (auto event = processes.wait(std::nullopt); !std::holds_alternative<platform::Processes::Line>(*event);)
      event = processes.wait(std::nullopt);
    EXPECT_EQ(seen, 1);
    ::raise(SIGTERM);
  }
  EXPECT_GE(seen, 2);
  ::sigaction(SIGTERM, &before, nullptr);
}

TEST(Processes, NamesAProgramThatCannotBeStarted) {
  const auto message_of = [](const std::string& program) -> std::string {
    platform::Command command;
    command.argv = {program};
    try {
      platform::Processes(false).start(command);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::environment);
      return error.what();
    }
    return "started";
  };
  EXPECT_EQ(message_of("no-such-program"), "cannot start no-such-program: not found on PATH");
  EXPECT_EQ(message_of("/no/such/program"), "cannot start /no/such/program: no such file");
  EXPECT_EQ(message_of("/etc/passwd"), "cannot start /etc/passwd: not executable");
  EXPECT_EQ(message_of(""), "cannot start a program: its name is empty");
}

/// What `action` answers in a process of its own.
std::string in_another_process(const std::function<std::string()>& action) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t process = ::fork();
  if (process == 0) {
    const std::string answer = action();
    ::_exit(::write(ends[1], answer.data(), answer.size()) < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  std::array<char, 4096> text{};
  const ssize_t size = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  ::waitpid(process, nullptr, 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

TEST(Processes, NamesTheLimitOfProcessesThatItMet) {
  const std::string message = in_another_process([]() -> std::string {
    const rlimit none{};
    ::setrlimit(RLIMIT_NPROC, &none);
    if (::getuid() == 0 && ::setuid(65534) != 0) return "cannot become a user with limits";  // root has none
    try {
      platform::Processes(false).start(shell("exit 0"));
    } catch (const Error& error) {
      return error.what();
    }
    return "started";
  });
  EXPECT_EQ(message,
            "cannot start /bin/sh: too many processes: the user's limit (RLIMIT_NPROC) is 0; raise it (`ulimit -u`) or "
            "that of the container, or end other processes");
}

TEST(Processes, EndsWhatLeftItsGroupWhereItAdoptsOrphans) {
  const std::string pid = in_another_process([]() -> std::string {
    if (!platform::adopt_orphans()) return "0";
    const Story story = follow(shell("setsid sleep 60 & echo $!; exit 0"));
    return alive(std::stoi(story.lines.at(0))) ? "still there" : "gone";
  });
  EXPECT_EQ(pid, "gone");
}

TEST(Descendants, AreFoundInTheSystemsListAndWithoutIt) {
  platform::Processes processes(false);
  processes.start(shell("sleep 60 & echo; wait"));
  processes.wait(std::nullopt);
  const std::vector<pid_t> children = platform::children_of(::getpid());
  ASSERT_EQ(children.size(), 1u);
  EXPECT_EQ(platform::search_children_of(::getpid()), children);
  EXPECT_EQ(platform::children_of(children[0]).size(), 1u);
  EXPECT_EQ(platform::search_children_of(children[0]), platform::children_of(children[0]));
}

TEST(Descendants, AreAlsoThoseWhoseEndSendsNoSignal) {
  EXPECT_EQ(in_another_process([]() -> std::string {
              if (!platform::children_of(::getpid()).empty()) return "has children";
              const auto child = static_cast<pid_t>(::syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr));
              if (child == 0) {
                ::sleep(60);
                ::_exit(0);
              }
              const std::vector<pid_t> found = platform::children_of(::getpid());
              ::kill(child, SIGKILL);
              return found == std::vector{child} ? "found" : "not found";
            }),
            "found");
}

TEST(Descendants, AreNotAdoptedByWhoHasChildrenAlready) {
  EXPECT_EQ(in_another_process([]() -> std::string {
              if (::fork() == 0) {
                ::sleep(60);
                ::_exit(0);
              }
              const std::string answer =
                  platform::adopt_orphans() || platform::adopts_orphans() ? "adopts" : "does not";
              for (const pid_t child : platform::children_of(::getpid())) ::kill(child, SIGKILL);
              return answer;
            }),
            "does not");
}

TEST(Processes, RunReturnsOutputAndStatus) {
  const platform::Finished finished = platform::run(shell("echo out; echo err >&2; exit 4"));
  EXPECT_EQ(finished.output, "out\n");
  EXPECT_EQ(finished.captured, "err\n");
  EXPECT_EQ(finished.exit.code, 4);
}

TEST(Processes, AreRunByManyThreads) {
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i)
        if (platform::run(shell("exit " + std::to_string(thread))).exit.code == thread) ++right;
    });
  threads.clear();
  EXPECT_EQ(right, 200);
}

TEST(Capture, KeepsAllThatFits) {
  platform::BoundedLog capture(10);
  capture.add("12345");
  capture.add("67890");
  EXPECT_EQ(capture.text(), "1234567890");
}

TEST(Capture, KeepsHeadAndTail) {
  platform::BoundedLog capture(4);
  capture.add("ab");
  capture.add(std::string(100, 'x'));
  capture.add("yz");
  EXPECT_EQ(capture.text(), "ab\n... 100 bytes cut ...\nyz");
}

cpu_set_t core_of_this_thread() {
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &core);
  return core;
}

/// Two threads that compute on one core, until this ends.
class Crowd {
 public:
  Crowd() {
    const cpu_set_t core = core_of_this_thread();
    for (std::thread& thread : threads_) {
      thread = std::thread([this] {
        while (!done_) {
        }
      });
      ::pthread_setaffinity_np(thread.native_handle(), sizeof core, &core);
    }
  }
  ~Crowd() {
    done_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> done_ = false;
  std::array<std::thread, 2> threads_;
};

TEST(ThreadDelays, AreOfAllThreads) {
  if (!platform::RunDelay("/proc/thread-self/schedstat").is_known()) GTEST_SKIP() << "the system does not say";
  platform::ThreadDelays delays(::getpid());
  delays.others_since_last();
  const Crowd crowd;
  double longest = 0;
  for (int i = 0; i < 500 && longest < 1e-3; ++i) {
    std::this_thread::sleep_for(10ms);
    longest = std::max(longest, delays.others_since_last());
  }
  EXPECT_GE(longest, 1e-3) << "two threads share a core, and this one sleeps";
}

TEST(Processes, TellWhatAChildWaitedForACore) {
  if (!platform::RunDelay("/proc/thread-self/schedstat").is_known()) GTEST_SKIP() << "the system does not say";
  // The shell and its loops inherit the one core of the thread that starts them.
  platform::Finished finished;
  std::thread([&] {
    const cpu_set_t core = core_of_this_thread();
    ::pthread_setaffinity_np(::pthread_self(), sizeof core, &core);
    finished = platform::run(
        shell("count() { i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; }; count & count & count; wait"));
  }).join();
  EXPECT_GT(finished.use.waited_seconds, 0) << "three loops share a core";
  EXPECT_LE(finished.use.waited_seconds, finished.use.seconds + 1);
  EXPECT_GT(finished.use.cpu_seconds, 0);
  EXPECT_LE(finished.use.cpu_seconds, finished.use.user_seconds + finished.use.system_seconds);
  EXPECT_GT(finished.use.first_cpu_seconds, 0);
  EXPECT_LT(finished.use.first_cpu_seconds, 0.6 * finished.use.cpu_seconds) << "two loops run in other processes";
}

}  // namespace
}  // namespace tune::process_test
