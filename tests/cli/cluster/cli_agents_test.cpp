// A run on several machines: agents of the real binary on this one, each with folders of its own.
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>

#include "fakes/fake_devices.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_agents_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// What an agent and its workers see of the machine that they pretend to be.
constexpr const char* kThree =
    "echo Welcome; for i in 1 2 3; do mkdir -p n$i; "
    "NODE=n$i TUNE_LOCKS=$PWD/n$i XDG_CACHE_HOME=$PWD/n$i {agent} & echo $! > n$i/pid; done; wait";

// It notes where it runs, and waits at V = `held` for the file `go`; its time is V ms.
constexpr const char* kProgram = R"(#!/bin/sh
echo "$1" >> "$NODE/specs"
if [ "$1" = "$HOLD" ]; then
  echo "$NODE" > held.new; mv held.new held
  while [ ! -e go ]; do sleep 0.01; done
fi
echo "{\"met (ms)\": $1, \"ok\": true}"
)";

class Agents : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.write("program.sh", kProgram);
    sandbox_.write("program.yaml",
                   "{name: program, file: program.sh, run: [sh, '{file}', '{V}'],\n"
                   "params: {$V: [5, 3, 9, 7, 2, 8, 6, 4, 11, 10, 12, 13]}}\n");
    sandbox_.environment["NODE"] = ".";
  }

  std::vector<std::string> on_three(std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"--yaml", "program.yaml", "--tune", "--output", "run",       "--launcher",
                                      kThree,   "--agents",     "3",      "--listen", "127.0.0.1", "--finals-budget",
                                      "1"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// The process of the agent that has the spec which waits.
  pid_t holder() const {
    EXPECT_TRUE(eventually([&] { return fs::exists(sandbox_.folder() / "held"); }));
    std::istringstream node(sandbox_.read("held"));
    std::string name;
    node >> name;
    return static_cast<pid_t>(std::stol(sandbox_.read(name + "/pid")));
  }

  std::set<std::string> values(const std::string& journal) const {
    std::set<std::string> found;
    for (const wire::TrialRecord& record : sandbox_.trials(journal))
      if (record.trial.measurement()) found.insert(to_text(record.trial.spec.params.front().value));
    return found;
  }

  bool nothing_runs() const {
    return eventually([&] { return sandbox_.processes().empty(); });
  }

  Sandbox sandbox_;
};

TEST_F(Agents, FindTheWinnerThatOneMachineFinds) {
  const Result here = sandbox_.tune({"--yaml", "program.yaml", "--tune", "--output", "here", "--finals-budget", "1"});
  ASSERT_EQ(here.code, 0) << here.err;
  fs::remove(sandbox_.folder() / "specs");
  const Result there = sandbox_.tune(on_three());
  ASSERT_EQ(there.code, 0) << there.err;
  EXPECT_TRUE(has(there.err, "3 agents: "));
  EXPECT_TRUE(has(there.out, "top_spec_idx: 4\n"));
  EXPECT_TRUE(has(there.err, "time spent: programs "));
  EXPECT_TRUE(has(there.err, "3 devices idle "));
  EXPECT_TRUE(has(here.out, "top_spec_idx: 4\n"));
  EXPECT_EQ(values("run.jsonl"), values("here.jsonl"));
  for (const char* node : {"n1", "n2", "n3"}) EXPECT_TRUE(fs::exists(sandbox_.folder() / node / "specs")) << node;
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "specs"));  // nothing was run by the driver
  EXPECT_TRUE(nothing_runs());
}

TEST_F(Agents, StartNothingThatTheJournalKnows) {
  ASSERT_EQ(sandbox_.tune(on_three()).code, 0);
  for (const char* node : {"n1", "n2", "n3"}) fs::remove(sandbox_.folder() / node / "specs");
  const Result again = sandbox_.tune(on_three());
  EXPECT_EQ(again.code, 0);
  EXPECT_TRUE(has(again.out, "top_spec_idx: 4\n"));
  for (const char* node : {"n1", "n2", "n3"}) EXPECT_FALSE(fs::exists(sandbox_.folder() / node / "specs")) << node;
}

TEST_F(Agents, OneThatIsKilledCostsNothing) {
  sandbox_.environment["HOLD"] = "9";
  Background run(sandbox_, on_three());
  ::kill(holder(), SIGKILL);
  sandbox_.write("go", "");
  const Result result = run.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.err, "warning: lost agent "));
  EXPECT_TRUE(has(result.err, "of its specs go to others"));
  EXPECT_EQ(values("run.jsonl").size(), 12u);
  EXPECT_TRUE(has(result.out, "top_spec_idx: 4\n"));
  EXPECT_TRUE(nothing_runs());
}

TEST_F(Agents, OneThatIsSilentIsLost) {
  sandbox_.environment["HOLD"] = "9";
  Background run(sandbox_, on_three({"--agent-timeout", "1.5"}));
  const pid_t stopped = holder();
  ::kill(stopped, SIGSTOP);
  EXPECT_TRUE(eventually([&] { return run.said().find("it has been silent for too long") != std::string::npos; }));
  sandbox_.write("go", "");
  EXPECT_TRUE(eventually([&] { return values("run.jsonl").size() == 12; }));
  ::kill(stopped, SIGCONT);
  const Result result = run.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "top_spec_idx: 4\n"));
  EXPECT_TRUE(nothing_runs());
}

// Its connection lives on, because a thread of its own serves it.
TEST_F(Agents, OneWhoseMainThreadDoesNothingIsLost) {
  sandbox_.environment["HOLD"] = "9";
  Background run(sandbox_, on_three({"--agent-timeout", "1.5", "--timeout-build", "0.5"}));
  const pid_t stuck = holder();
  if (::ptrace(PTRACE_SEIZE, stuck, nullptr, nullptr) != 0) GTEST_SKIP() << "this process may not stop a thread";
  ::ptrace(PTRACE_INTERRUPT, stuck, nullptr, nullptr);
  ASSERT_TRUE(eventually([&] { return run.said().find("it did nothing for 5 s; does a file") != std::string::npos; }));
  sandbox_.write("go", "");
  for (int status = 0; ::waitpid(stuck, &status, __WALL) == stuck && !WIFSIGNALED(status);) continue;
  const Result result = run.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "top_spec_idx: 4\n"));
  EXPECT_TRUE(nothing_runs());
}

TEST_F(Agents, EndWithADriverThatIsKilledAndTheSameCommandGoesOn) {
  sandbox_.environment["HOLD"] = "13";
  {
    Background run(sandbox_, on_three());
    holder();
    EXPECT_TRUE(eventually([&] { return values("run.jsonl").size() >= 4; }));
    run.signal(SIGKILL);
    run.wait();
  }
  EXPECT_TRUE(nothing_runs());
  const std::size_t known = values("run.jsonl").size();
  sandbox_.write("go", "");
  const Result result = sandbox_.tune(on_three());
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, std::to_string(known) + " of 12 specs are from the journal"));
  EXPECT_EQ(values("run.jsonl").size(), 12u);
  EXPECT_TRUE(has(result.out, "top_spec_idx: 4\n"));
}

TEST_F(Agents, EndWithADriverThatIsInterrupted) {
  sandbox_.environment["HOLD"] = "13";
  Background run(sandbox_, on_three());
  holder();
  run.signal(SIGINT);
  const Result result = run.wait();
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_TRUE(has(result.err, "the same command continues from here"));
  EXPECT_TRUE(nothing_runs());
}

TEST_F(Agents, ThatAreAllLostEndTheRunWithWhatIsKnown) {
  sandbox_.environment["HOLD"] = "13";
  auto words = on_three();
  *std::ranges::find(words, kThree) = "mkdir -p n1; NODE=n1 {agent} & echo $! > n1/pid; wait";
  *std::ranges::find(words, "3") = "1";
  Background run(sandbox_, words);
  const pid_t agent = holder();
  EXPECT_TRUE(eventually([&] { return !values("run.jsonl").empty(); }));
  ::kill(agent, SIGKILL);
  const Result result = run.wait();
  EXPECT_EQ(result.code, 4) << result.err;
  EXPECT_TRUE(has(result.err, "no agent is left; the results so far are in the journal"));
  EXPECT_TRUE(has(result.out, "top_spec_idx: "));
  EXPECT_TRUE(nothing_runs());
}

// The source, and headers of two folders, exist only where the driver is; each is compiled once in the whole cluster.
TEST_F(Agents, GetSourcesAndArtifactsFromOthers) {
  fs::create_directories(sandbox_.folder() / "here/include");
  sandbox_.write("here/include/sum.h", "#define SUM(a, b) ((a) + (b))\n");
  sandbox_.write("here/beside.h", "#include <sum.h>\n");
  sandbox_.write("here/gemm.cpp", R"(#include "beside.h"
extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = BM - BM;
      for (int p = 0; p < k; ++p) sum = SUM(sum, A[i * k + p] * B[p * n + j]);
      C[i * n + j] = sum;
    }
}
)");
  sandbox_.write("here/gemm.yaml",
                 "{name: gemm, file: gemm.cpp, kernel: gemm, problem: {gemm: {m: 16, n: 16, k: 16}},\n"
                 "params: {BM: [1, 2, 4, 8]}, launch: {args: [A, B, C, m, n, k]}, build: {include: [include]},\n"
                 "measure: {max_seconds: 0.005, cutoff: 0}}\n");
  const fs::path compiler =
      sandbox_.write("c++", "#!/bin/sh\ncase \"$*\" in *-DBM*) echo >> " + (sandbox_.folder() / "compiled").string() +
                                ";; esac\nexec c++ \"$@\"\n");
  fs::permissions(compiler, fs::perms::owner_all);
  sandbox_.environment["CXX"] = compiler.string();
  auto words = on_three({"--artifact", "best"});
  words[1] = "here/gemm.yaml";
  const Result result = sandbox_.tune(words);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "Number of valid specs: 4\n"));
  EXPECT_TRUE(has(result.out, "artifact: best/"));
  EXPECT_EQ(sandbox_.read("compiled"), "\n\n\n\n");
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "cache/tune/store"));  // the driver built nothing
}

// What was built for it is in the driver's store alone.
TEST_F(Agents, TimeAnEarlierResultAsItWasBuiltThen) {
  sandbox_.write_gemm();
  ASSERT_EQ(
      sandbox_.tune({"gemm.yaml", "--tune", "--param", "BM:[1,2]", "--output", "old", "--finals-budget", "1"}).code, 0);
  auto words = on_three({"--param", "BM:[1,2]", "--baseline", "old.yaml", "--threshold", "90%"});
  words[1] = "gemm.yaml";
  const Result result = sandbox_.tune(words);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "x old.yaml"));
}

TEST_F(Agents, OfSshGetTheirTokenWithoutItsEnvironment) {
  const fs::path ssh = sandbox_.write("ssh", R"(#!/bin/sh
while [ "$1" = -o ]; do shift 2; done
echo "$1" >> hosts
echo "This is $1. Be nice."
unset TUNE_AGENT_TOKEN
mkdir -p "$1"
export NODE="$1" TUNE_LOCKS="$PWD/$1"
shift
exec sh -c "$*"
)");
  fs::permissions(ssh, fs::perms::owner_all);
  sandbox_.environment["PATH"] = sandbox_.folder().string() + ":" + std::getenv("PATH");
  const Result result = sandbox_.tune({"--yaml", "program.yaml", "--tune", "--output", "run", "--launcher", "ssh",
                                       "--hosts", "red,blue", "--listen", "127.0.0.1", "--finals-budget", "1"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.err, "2 agents: "));
  EXPECT_TRUE(has(sandbox_.read("hosts"), "red\n"));
  EXPECT_TRUE(has(sandbox_.read("hosts"), "blue\n"));
  EXPECT_EQ(values("run.jsonl").size(), 12u);
  EXPECT_TRUE(nothing_runs());
}

TEST_F(Agents, OfSlurmAreOneStepOnAllNodesThatTheJobHasNow) {
  const fs::path srun = sandbox_.write("srun", R"(#!/bin/sh
echo "$*" > step
while [ "${1#--}" != "$1" ]; do shift; done
for i in 1 2; do
  mkdir -p "n$i"
  NODE="n$i" SLURMD_NODENAME="n$i" SLURM_STEP_ID=5 TUNE_LOCKS="$PWD/n$i" "$@" &
done
wait
)");
  const fs::path squeue = sandbox_.write("squeue", "#!/bin/sh\necho \"$*\" > asked\necho 2\n");
  for (const fs::path& program : {srun, squeue}) fs::permissions(program, fs::perms::owner_all);
  sandbox_.environment["PATH"] = sandbox_.folder().string() + ":" + std::getenv("PATH");
  sandbox_.environment["SLURM_JOB_ID"] = "42";
  const Result result = sandbox_.tune({"--yaml", "program.yaml", "--tune", "--output", "run", "--launcher", "slurm",
                                       "--listen", "127.0.0.1", "--finals-budget", "1"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(sandbox_.read("asked"), "--jobs=42"));
  for (const char* word :
       {"--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--overlap", " agent --connect 127.0.0.1:"})
    EXPECT_TRUE(has(sandbox_.read("step"), word));
  EXPECT_TRUE(has(result.err, "2 agents: n1 (process "));
  EXPECT_EQ(values("run.jsonl").size(), 12u);
}

// As a script that removes what it has made in Kubernetes.
TEST_F(Agents, HaveAStarterThatIsGivenTimeToCleanUp) {
  const fs::path script =
      sandbox_.write("starter.sh", "trap 'sleep 0.2; touch cleaned; exit' TERM\nsleep 60 & wait $!\n");
  const Result result = sandbox_.tune({"--yaml", "program.yaml", "--tune", "--output", "none", "--listen", "127.0.0.1",
                                       "--agents-within", "0.3", "--launcher", "sh " + script.string() + " {agent}"});
  EXPECT_EQ(result.code, 4) << result.err;
  EXPECT_TRUE(fs::exists(sandbox_.folder() / "cleaned"));
  EXPECT_TRUE(nothing_runs());
}

TEST_F(Agents, ThatCannotBeStartedAreAClearError) {
  const auto fails = [&](std::vector<std::string> more, int code, const std::string& why) {
    std::vector<std::string> words = {"--tune", "--output", "none"};
    if (more.front() != "--yaml") words.insert(words.end(), {"--yaml", "program.yaml"});
    words.insert(words.end(), more.begin(), more.end());
    const Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_TRUE(has(result.err, why));
  };
  fails({"--launcher", "slurm"}, 2, "this is no allocation of Slurm (SLURM_JOB_ID is not set)");
  fails({"--launcher", "ssh"}, 2, "needs the machines: --hosts node1,node2");
  fails({"--launcher", "mpirun"}, 2, "write slurm, ssh, or a command with {agent}");
  fails({"--launcher", "{agent} {host}"}, 2, "{host} needs the machines");
  fails({"--launcher", "{agent}", "--hosts", "a"}, 2, "--hosts needs {host} in the command");
  fails({"--launcher", "ssh", "--hosts", "a,a"}, 2, "--hosts names a twice");
  fails({"--launcher", "slurm", "--agents", "3"}, 2, "--agents is for a --launcher command");
  fails({"--hosts", "a"}, 2, "--hosts are for --launcher ssh");
  fails({"--launcher", "{agent}", "--listen", "192.0.2.77"}, 2, "this is no address of this machine");
  fails({"--launcher", "{agent}", "--listen", "a:b:c"}, 2, "is no address of this machine");
  fails({"--launcher", "{agent}", "--listen", "a:x"}, 2, "'a:x' is no address such as node1");
  fails({"--launcher", "echo no such partition >&2; exit 3; {agent}", "--listen", "127.0.0.1"}, 4,
        "agents did not start\ntune: error: the launcher ended with exit code 3 and said: no such partition");
  fails({"--launcher", "echo hello; echo in the queue >&2; sleep 60; {agent}", "--listen", "127.0.0.1",
         "--agents-within", "0.3"},
        4,
        "they had 0.3 s to connect (--agents-within)\ntune: error: the launcher still ran and said: hello\ntune: "
        "error: in the queue");
  sandbox_.write_gemm();
  fails({"--yaml", "gemm.yaml", "--launcher", "exit 3; {agent}", "--listen", "127.0.0.1"}, 4,
        "the launcher ended with exit code 3");
  fails({"--launcher", "TUNE_AGENT_TOKEN=guessed {agent}", "--listen", "127.0.0.1"}, 4,
        "it does not have the token of this run");
  EXPECT_TRUE(nothing_runs());
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "none.jsonl"));
}

TEST_F(Agents, ThatLackAWorkerAreNamed) {
  const fs::path bin = sandbox_.copy_binaries();
  fs::remove(bin / "tune-worker-program");
  const Result result = sandbox_.tune_from(bin, on_three());
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.err, "): tune-worker-program: not found in "));
  EXPECT_TRUE(nothing_runs());
}

TEST_F(Agents, NeedATokenAndADriver) {
  const Result without = sandbox_.tune({"agent", "--connect", "127.0.0.1:1"});
  EXPECT_EQ(without.code, 2);
  EXPECT_TRUE(has(without.err, "tune agent has no token; a run with --launcher starts agents"));
  sandbox_.environment["TUNE_AGENT_TOKEN"] = "x";
  const Result nobody = sandbox_.tune({"agent", "--connect", "127.0.0.1:1"});
  EXPECT_EQ(nobody.code, 4);
  EXPECT_TRUE(has(nobody.err, "cannot connect to 127.0.0.1 port 1: Connection refused"));
}

class DevicesOfAgents : public Devices {};

// The second device of each machine takes a tenth longer than the first.
TEST_F(DevicesOfAgents, AreAllOfAllMachines) {
  write("takes_a_while", 40);
  const std::string two_machines =
      "for i in 1 2; do mkdir -p n$i; FAKE_DEVICES=fake:n${i}a,fake:n${i}b "
      "TUNE_LOCKS=$PWD/n$i XDG_CACHE_HOME=$PWD/n$i {agent} & done; wait";
  const Result result = tune({"--tune", "--no-finals", "--devices", "all", "--listen", "127.0.0.1", "--agents", "2",
                              "--launcher", two_machines});
  ASSERT_EQ(result.code, 0) << result.err;
  std::set<std::string> devices;
  for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl")) {
    const Measurement& measurement = *record.trial.measurement();
    devices.insert(measurement.device);
    EXPECT_NEAR(measurement.timing.median, 0.001, 1e-9);
    EXPECT_NEAR(measurement.scaled, measurement.device.ends_with('a') ? 1 : 1 / 1.1, 1e-9);
  }
  EXPECT_EQ(devices, (std::set<std::string>{"n1a", "n1b", "n2a", "n2b"}));
  EXPECT_TRUE(has(tune({"--tune", "--no-finals", "--devices", "5", "--listen", "127.0.0.1", "--launcher",
                        "FAKE_DEVICES=fake:n1a,fake:n1b exec {agent}"})
                      .err,
                  "): --devices 5: there is no device '5'; there are:"));
}

}  // namespace
}  // namespace tune::cli::cli_agents_test
