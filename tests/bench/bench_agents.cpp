// Prints how many specs per second a driver hands out to agents that answer from a recorded run, with 1, 10, ...
// agents of eight devices each. The agents are connections of a few processes; times pass as they were recorded, or
// as many times faster as is asked for: bench_agents RECORDING [SPEEDUP] [AGENTS...]
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "exec/cluster/cluster.h"
#include "exec/evaluate/executor.h"
#include "fakes/fake_agents.h"
#include "model/plan.h"
#include "platform/files/locked_folder.h"
#include "recording/journal.h"
#include "support/cli.h"

namespace {

using namespace tune;
using Clock = std::chrono::steady_clock;

constexpr int kDevices = 8, kSlots = 32, kPerProcess = 250;

/// What has no time of its own on a device, such as a failed build, is answered after this.
constexpr double kLeastSeconds = 0.001;

struct Recorded {
  std::vector<Trial> trials;
  /// On a device, on average.
  double seconds() const {
    double sum = 0;
    for (const Trial& trial : trials) sum += std::max(trial.measure_seconds, kLeastSeconds);
    return sum / static_cast<double>(trials.size());
  }
  Spec spec(std::int64_t i) const { return trials[static_cast<std::size_t>(i) % trials.size()].spec; }
};

Recorded read(const std::filesystem::path& journal) {
  Recorded recorded;
  std::ifstream file(journal);
  for (std::string line; std::getline(file, line);) try {
      const wire::Record record = wire::decode_record(line);
      if (const auto* trial = std::get_if<wire::TrialRecord>(&record)) recorded.trials.push_back(trial->trial);
    } catch (const wire::Malformed&) {
    }
  return recorded;
}

/// Agents that answer each spec once its recorded seconds have passed on one of their devices.
class Simulated {
 public:
  Simulated(const Recorded& recorded, double speedup) : recorded_(&recorded), speedup_(speedup) {
    for (const Trial& trial : recorded.trials) by_spec_[trial.spec.mesh_idx] = &trial;
  }

  void run(const std::string& host, std::uint16_t port, const wire::AgentHello& hello, int count) {
    FakeAgents agents(host, port);
    wire::Hello machine;
    machine.backend = Backend::program;
    machine.device.name = "simulated";
    for (int i = 0; i < count; ++i) agents.add(hello, machine, kDevices, kSlots);
    free_.resize(static_cast<std::size_t>(count), std::vector<Clock::time_point>(kDevices, Clock::now()));
    const auto before = [&](FakeAgents::Number agent, const wire::AgentOrder& order) {
      const auto* spec = std::get_if<wire::SpecOrder>(&order);
      if (spec != nullptr) take(agent, *spec);
      return spec != nullptr;
    };
    while (agents.serve(next(), {}, before)) answer(agents);
  }

 private:
  struct Pending {
    Clock::time_point at;
    FakeAgents::Number agent;
    std::int64_t ticket;
    const Trial* trial;
    bool operator<(const Pending& other) const { return at > other.at; }
  };

  Clock::time_point next() const {
    const auto soon = Clock::now() + std::chrono::milliseconds(50);
    return pending_.empty() ? soon : std::min(soon, pending_.top().at);
  }

  void take(FakeAgents::Number agent, const wire::SpecOrder& order) {
    const Trial* trial = by_spec_.at(order.spec.mesh_idx);
    auto device = std::ranges::min_element(free_[agent]);
    *device = std::max(*device, Clock::now()) +
              std::chrono::duration_cast<Clock::duration>(
                  std::chrono::duration<double>(std::max(trial->measure_seconds, kLeastSeconds) / speedup_));
    pending_.push({*device, agent, order.ticket, trial});
  }

  void answer(FakeAgents& agents) {
    for (; !pending_.empty() && pending_.top().at <= Clock::now(); pending_.pop())
      agents.report(pending_.top().agent, wire::TrialReport{pending_.top().ticket, *pending_.top().trial});
  }

  const Recorded* recorded_;
  double speedup_;
  std::map<std::int64_t, const Trial*> by_spec_;
  std::vector<std::vector<Clock::time_point>> free_;
  std::priority_queue<Pending> pending_;
};

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/// Starts processes with so many agents in all, once the driver's launcher has said where it listens.
std::vector<pid_t> start(const Recorded& recorded, double speedup, int agents, const std::filesystem::path& said) {
  std::vector<pid_t> processes;
  for (int left = agents; left > 0; left -= kPerProcess) {
    const pid_t process = ::fork();
    if (process != 0) {
      processes.push_back(process);
      continue;
    }
    while (!std::filesystem::exists(said)) ::usleep(1000);
    std::ifstream file(said);
    std::string token, program, agent, connect, address;
    wire::AgentHello hello;
    file >> token >> program >> agent >> connect >> address;
    hello.token = wire::halves_of(token).agents;
    const std::size_t colon = address.rfind(':');
    Simulated(recorded, speedup)
        .run(address.substr(0, colon), static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))), hello,
             std::min(left, kPerProcess));
    ::_exit(0);
  }
  return processes;
}

struct Figures {
  double first_seconds = 0;  ///< until the first result
  double rate = 0;           ///< specs per second while all devices have work
  double cpu_seconds = 0;    ///< of the driver, per spec
};

/// Has the agents answer so many specs, as a run does that writes a journal.
Figures sweep(exec::Runner& runner, const exec::RequestFactory& requests, const Recorded& recorded, std::int64_t specs,
              recording::Journal& journal) {
  const auto began = Clock::now();
  const auto since = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  const double cpu = cpu_seconds();
  Figures figures;
  double from = 0, to = 0;
  std::int64_t asked = 0, done = 0;
  const std::int64_t tenth = specs / 10;
  while (done < specs) {
    for (; asked < specs && runner.free_slots() > 0; ++asked) runner.start(recorded.spec(asked));
    const auto trial = runner.wait(Clock::now() + std::chrono::seconds(1));
    journal.flush(false);
    if (!trial) continue;
    ++done;
    if (done == 1) figures.first_seconds = since();
    if (done == 4 * tenth) from = since();
    if (done == 8 * tenth) to = since();
    journal.append(wire::TrialRecord{requests.trial_id(trial->spec), *trial, since()});
  }
  journal.flush(true);
  figures.rate = static_cast<double>(4 * tenth) / (to - from);
  figures.cpu_seconds = (cpu_seconds() - cpu) / static_cast<double>(specs);
  return figures;
}

exec::ClusterRules rules_for(int agents, const std::filesystem::path& said, const std::filesystem::path& over) {
  exec::ClusterRules rules;
  rules.launcher.launcher = "echo $TUNE_AGENT_TOKEN {agent} > " + said.string() + ".new; mv " + said.string() +
                            ".new " + said.string() + "; while [ ! -e " + over.string() + " ]; do sleep 0.1; done";
  rules.launcher.agents = agents;
  rules.program = "tune";
  rules.host = "127.0.0.1";
  return rules;
}

void bench(const Recorded& recorded, double speedup, int agents) {
  const cli::Sandbox sandbox;
  const std::filesystem::path said = sandbox.folder() / "said", over = sandbox.folder() / "over";
  const std::filesystem::path file = sandbox.folder() / "run.jsonl";
  const int devices = agents * kDevices;
  const std::int64_t specs = std::max(2000, devices * 30);
  const std::vector<pid_t> processes = start(recorded, speedup, agents, said);
  {
    exec::Cluster cluster(rules_for(agents, said, over));
    Plan plan;
    plan.subject = ProgramPlan{{}, true};
    const auto began = Clock::now();
    const exec::RequestFactory requests(plan, cluster.probe(Backend::program), 0);
    const std::chrono::duration<double> connected = Clock::now() - began;
    const auto executor = cluster.executor(requests, {}, {}, exec::no_observer());
    recording::Journal journal(file);
    const Figures figures = sweep(executor->runner(), requests, recorded, specs, journal);
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const double bytes = static_cast<double>(std::filesystem::file_size(file)) / static_cast<double>(specs);
    std::printf("%7d %8d %9.0f %7.0f %10.2f %12.2f %10.0f %8.0f %12.1f\n", agents, devices, figures.rate,
                figures.rate * recorded.seconds() / speedup / devices * 100, connected.count(), figures.first_seconds,
                figures.cpu_seconds * 1e6, static_cast<double>(usage.ru_maxrss) / 1024, bytes * figures.rate / 1e6);
    std::fflush(stdout);
    std::ofstream(over).put('\n');
  }
  for (const pid_t process : processes) ::waitpid(process, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "bench_agents RECORDING.jsonl [SPEEDUP] [AGENTS...]\n"), 2;
  const Recorded recorded = read(argv[1]);
  const double speedup = argc > 2 ? std::atof(argv[2]) : 1;
  std::vector<int> counts;
  for (int i = 3; i < argc; ++i) counts.push_back(std::atoi(argv[i]));
  if (counts.empty()) counts = {1, 10, 100, 1000};
  std::printf("%zu recorded specs, %.3f s each on a device\n", recorded.trials.size(), recorded.seconds() / speedup);
  std::printf("%7s %8s %9s %7s %10s %12s %10s %8s %12s\n", "agents", "devices", "specs/s", "busy %", "connect s",
              "1st result s", "us/spec", "MiB", "journal MB/s");
  std::fflush(stdout);
  for (const int agents : counts) {
    const pid_t process = ::fork();  // so that each has its own peak of memory
    if (process == 0) {
      bench(recorded, speedup, agents);
      ::_exit(0);
    }
    ::waitpid(process, nullptr, 0);
  }
  return 0;
}
