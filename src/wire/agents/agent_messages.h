#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/statistics/finals.h"
#include "wire/finals.h"

/// What a driver and its agents on other machines say to each other: a JSON object each, which files may follow.
/// Nothing here does I/O.
namespace tune::wire {

inline constexpr int kAgentProtocol = 5;

/// The environment variable that has the token of a run.
inline constexpr const char* kTokenVariable = "TUNE_AGENT_TOKEN";

/// The token of a run, which its driver and its agents know: each shows the other one half of it.
struct TokenHalves {
  std::string agents, drivers;
};
TokenHalves halves_of(const std::string& token);
/// By which the times of agents are made comparable.
inline constexpr int kCalibrationSpecs = 3;

// --- orders: what the driver says ---

/// The agent may stay. It gives a driver up that is silent for so long.
struct Welcome {
  static constexpr const char* kName = "welcome";
  double silence = 0;      ///< seconds
  std::string token = {};  ///< the driver's half
};
/// The agent may not stay.
struct Unwelcome {
  static constexpr const char* kName = "unwelcome";
  std::string why;
};
/// What is the machine? Answered by Probed or Unable.
struct ProbeOrder {
  static constexpr const char* kName = "probe";
  Backend backend = Backend::cpu;
  std::optional<std::string> devices;  ///< --devices
};
/// A file that plans need, by the hash of its bytes.
struct InputFile {
  static constexpr const char* kName = "file";
  std::string hash;
  std::string data = {};
};
/// What is tuned from now on. Answered by Ready or Unable.
struct PlanOrder {
  static constexpr const char* kName = "plan";
  struct Input {
    std::string path;  ///< on the driver's machine, absolute
    std::string hash;
    bool executable = false;
  };
  std::vector<std::string> words;  ///< a command line of tune, in which kInputs stands before the paths of inputs
  std::string shape;               ///< a line of --shapes; empty: none
  std::map<std::string, std::string> environment;
  std::string folder;  ///< in which commands run, where this machine has it
  std::vector<Input> inputs;
};
inline constexpr std::string_view kInputs = "@inputs@";
/// Build and time it. Answered by TrialReport.
struct SpecOrder {
  static constexpr const char* kName = "spec";
  std::int64_t ticket = 0;
  Spec spec;
  bool built_elsewhere = false;  ///< another agent has its artifact
};
/// The best so far, by the clock of the agent's first device.
struct BestOrder {
  static constexpr const char* kName = "best";
  double seconds = 0, joules = 0;
};
/// Give up the plan, and with it the devices, until another one comes.
struct Rest {
  static constexpr const char* kName = "rest";
};
/// Every spec gets a process of its own.
struct StopSharing {
  static constexpr const char* kName = "stop sharing";
};
/// Hold finals. Answered by FinalsReport, at last by one with an end, or Unable.
struct FinalsOrder {
  static constexpr const char* kName = "finals";
  std::vector<Contender> contenders;
  std::vector<std::string> built_elsewhere;  ///< keys of builds
  RoundRules settings;
  double seconds = 0;       ///< that are left
  double last_seconds = 0;  ///< likewise, of the first rounds and while the question is open
};
/// Where did the time of this plan go? Answered by UsageReport.
struct UsageOrder {
  static constexpr const char* kName = "usage";
};
/// All is done: end.
struct Farewell {
  static constexpr const char* kName = "farewell";
};

// --- what both say ---

/// Send the files of this build. Answered by ArtifactFiles.
struct ArtifactOrder {
  static constexpr const char* kName = "want artifact";
  std::string key;
  std::optional<Spec> spec = {};  ///< build it if it is not there
};
struct ArtifactFiles {
  static constexpr const char* kName = "artifact";
  std::string key;
  std::vector<std::pair<std::string, std::uint64_t>> files;  ///< names and sizes; none: it is not there
  std::string data = {};                                     ///< their bytes, one after the other
};

// --- reports: what an agent says ---

/// Comes first.
struct AgentHello {
  static constexpr const char* kName = "hello";
  int protocol = kAgentProtocol;
  int records = kProtocol;  ///< version of trials
  std::string token;        ///< the agent's half
  std::string host;
  int process = 0;
  std::string step;  ///< Slurm's name of the step that the agent is of, such as 123.0; empty: none
};
struct Probed {
  static constexpr const char* kName = "probed";
  Hello hello;
  int devices = 1;  ///< of those chosen
};
struct Ready {
  static constexpr const char* kName = "ready";
  int slots = 0;            ///< specs that it takes at a time, beside kCalibrationSpecs
  std::string source_hash;  ///< of the source and its headers as the agent found them
};
/// What was asked for last cannot be done. The agent then ends, unless it was asked to probe.
struct Unable {
  static constexpr const char* kName = "unable";
  int code = 0;  ///< an ExitCode
  std::string why;
};
/// Something that a person should read.
struct Said {
  static constexpr const char* kName = "said";
  std::string text;
};
/// Shared processes measured wrong.
struct Distrust {
  static constexpr const char* kName = "distrust";
  std::string why;
};
/// A spec begins to run on one of the agent's devices.
struct StartedReport {
  static constexpr const char* kName = "started";
  std::int64_t ticket = 0;
  int device = 0;
};
struct TrialReport {
  static constexpr const char* kName = "trial";
  std::int64_t ticket = 0;
  Trial trial;
};
struct FinalsReport {
  static constexpr const char* kName = "finals";
  int round = 0;
  int left = 0;
  std::optional<Finals> so_far;  ///< whole rounds
  bool end = false;
};

/// Seconds of the sweep.
struct UsageReport {
  static constexpr const char* kName = "usage";
  std::vector<double> stages;  ///< of all processes, by stage; none: nothing ran
  double idle = 0;             ///< summed over the devices
  double sweep = 0;
  int devices = 0;
  int opening_at_once = 0;  ///< processes that open a GPU at a time
};

using AgentOrder = std::variant<Welcome, Unwelcome, ProbeOrder, InputFile, PlanOrder, SpecOrder, BestOrder, Rest,
                                StopSharing, FinalsOrder, UsageOrder, ArtifactOrder, ArtifactFiles, Farewell>;
using AgentReport = std::variant<AgentHello, Probed, Ready, Unable, Said, Distrust, StartedReport, TrialReport,
                                 FinalsReport, UsageReport, ArtifactOrder, ArtifactFiles>;

std::string encode_order(const AgentOrder& order);
std::string encode_report(const AgentReport& report);
/// Throw Malformed.
AgentOrder decode_order(std::string_view text);
AgentReport decode_report(std::string_view text);

}  // namespace tune::wire
