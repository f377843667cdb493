#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/device.h"
#include "model/plan.h"
#include "model/problem.h"
#include "model/trial.h"

/// The messages between driver and workers: one JSON object per line, requests and commands to a worker's stdin, events
/// from its protocol descriptor. A message's name stands in `request`, `command` or `event`, and unknown fields are
/// ignored. Nothing here does I/O.
namespace tune::wire {

/// Rises where a message of today would be misunderstood by workers and journals of before, or the other way round; a
/// new field that they may ignore does not count.
inline constexpr int kProtocol = 4;

/// A line that is not a message of the expected sort. what() says what is wrong with it.
class Malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// --- requests: the first line on stdin ---

/// One evaluated argument of a launch.
struct Arg {
  Argument::Kind kind = Argument::Kind::buffer;
  std::string buffer;
  Argument::Scalar type = Argument::Scalar::i32;
  std::int64_t integer = 0;  ///< i32, i64
  double number = 0;         ///< f32, f64; alpha, beta
  std::vector<std::int64_t> box;
  int swizzle = 0;
  int l2_promotion = 0;
  std::string written;  ///< a scalar's expression; for messages
};

struct KernelLaunch {
  std::string kernel;
  std::vector<std::int64_t> grid, block, cluster;
  std::int64_t shared = 0;
  bool programmatic = false;
  std::vector<Arg> args;
  std::int64_t repeat = 1;
  std::string from, to, through;  ///< as Chain of model/plan.h; empty: the launches are all alike
};

/// The buffer that an argument named `buffer` stands for in launch number `turn` of `repeat`.
const std::string& buffer_of(const KernelLaunch& launch, const std::string& buffer, std::int64_t turn);

/// A build of a kernel or program. The buffers of a problem, and their layouts, are the same for every spec of a run.
struct BuildRequest {
  static constexpr const char* kName = "build";
  std::string source;  ///< absolute path
  std::vector<std::string> include;
  std::vector<std::string> flags;
  std::vector<Define> defines;
  std::string arch;
  std::string output;  ///< folder to put the artifact and its logs into; exists, empty
  // kernel mode: the kernels and the types of their arguments, for the shim that calls them
  std::vector<KernelLaunch> launches;
  Problem problem;
  // program mode
  CommandLine command;  ///< with placeholders {file} {defines} {binary} {arch}; empty: by suffix
};

/// The launches of an artifact's kernels.
struct KernelRun {
  std::vector<KernelLaunch> launches;
  std::int64_t workspace_bytes = 0;
  bool zero_workspace = false;
  bool zero_c = false;
};

/// The vendor library's own GEMM.
struct VendorRun {
  bool best = false;  ///< the fastest of all algorithms it offers, not its own first choice
};

/// A run of a program.
struct ProgramRun {
  std::string source;   ///< absolute path: what {file} stands for
  Words args;           ///< what {args} stands for
  Placeholders values;  ///< what the names of parameters stand for
  ProgramRules rules;
};

/// One spec to be checked and timed.
struct MeasureRequest {
  static constexpr const char* kName = "measure";
  std::variant<KernelRun, VendorRun, ProgramRun> what;
  std::string artifact;  ///< path; empty for the vendor's library and for programs that are not built
  Problem problem;
  std::string reference;  ///< path of the reference file; empty: not checked
  std::uint64_t seed = 0;
  MeasureRules measure;
  std::string keep;     ///< folder to save wrong output to; empty: none
  bool gauges = false;  ///< of the device are read for every spec, even if its first launches rule it out

  const KernelRun* kernel() const { return std::get_if<KernelRun>(&what); }
  const VendorRun* vendor() const { return std::get_if<VendorRun>(&what); }
  const ProgramRun* program() const { return std::get_if<ProgramRun>(&what); }
  /// In addition to the buffers of the problem.
  std::int64_t workspace_bytes() const { return kernel() != nullptr ? kernel()->workspace_bytes : 0; }
};

/// Makes the reference result of a problem: by our own double-precision kernel, or for a custom problem by the
/// artifact and launches given.
struct ReferenceRequest {
  static constexpr const char* kName = "reference";
  Problem problem;
  std::uint64_t seed = 0;
  std::string output;  ///< path of the file to write
  std::string artifact;
  std::vector<KernelLaunch> launches;
  std::int64_t workspace_bytes = 0;
  bool zero_workspace = false;
  bool strict = false;  ///< of a CPU kernel: the ends of its buffers are protected
  bool share = false;   ///< after `referenced`, stay until the end of stdin, so that others can copy it from the device
};

using Request = std::variant<BuildRequest, MeasureRequest, ReferenceRequest>;

// --- commands: later lines on stdin, to a measure process ---

/// Open the device and make the artifact ready to be timed.
struct Load {
  static constexpr const char* kName = "load";
};
/// Fill, check and time. A spec is checked once between load and measured, by the first go.
struct Go {
  static constexpr const char* kName = "go";
  /// `no` in the rounds of the finals after the first. `alone`: answer `checked` and wait for another go before timing,
  /// unless the check rules the spec out.
  enum class Check { no, yes, alone };
  std::int64_t launches = 0;  ///< exactly this many timed launches; 0: as the measure rules say
  double best_seconds = 0;    ///< the best so far, for the cutoff; 0: none yet
  double best_joules = 0;     ///< the same of energy, where that is the objective
  Check check = Check::yes;
  double answer_within = 0;              ///< seconds after which the driver gives the worker up; 0: never
  std::optional<PowerState> state = {};  ///< in which to time; unset: the one of the measure rules
  std::size_t spec = 0;                  ///< of those that are loaded beside each other, in their order

  bool checks() const { return check != Check::no; }
  bool checks_alone() const { return check == Check::alone; }
};
/// Leave, all is well.
struct Done {
  static constexpr const char* kName = "done";
};
/// Instead of done: another spec for the same process, after `measured`. Its load and go follow. With `beside`, which
/// is for GPUs, it may come right after `loaded`, and the specs before stay loaded: Go::spec says which of them to
/// time.
struct Next {
  static constexpr const char* kName = "next";
  MeasureRequest request;
  bool beside = false;
};
using Command = std::variant<Load, Go, Done, Next>;

// --- events: what a worker says ---

/// One of a machine's devices; its place among them is its index.
struct DeviceName {
  std::string name;          ///< model
  std::string id;            ///< tells it from all others, on every machine: a UUID
  bool one_process = false;  ///< its mode admits one process at a time
};

/// What a worker says first: its backend, its device, and its compiler.
struct Hello {
  static constexpr const char* kName = "hello";
  int protocol = kProtocol;
  Backend backend = Backend::cpu;
  Device device;
  std::string compiler;              ///< name and version; part of every build key
  std::vector<std::string> archs;    ///< architectures it can build for, where it has a list
  std::string no_device;             ///< why there is no device, if building works anyway
  std::vector<DeviceName> devices;   ///< all that can be chosen from, where there is a choice
  std::string vendor_library;        ///< file of the vendor's GEMM library, where its name tells the version
  std::vector<std::string> remarks;  ///< a sentence each: what a user should know though all goes well
  std::string cores;                 ///< of CPU kernels and programs: see worker/host/core_settings.h
};
/// The build succeeded.
struct Built {
  static constexpr const char* kName = "built";
  std::string artifact;  ///< file name inside BuildRequest::output
  double seconds = 0;
  std::map<std::string, double> properties;
  std::vector<std::string> reads = {};  ///< paths of files that were read, if the compiler says; not the system's
};
/// The artifact is ready to be timed.
struct Loaded {
  static constexpr const char* kName = "loaded";
};
/// The result was right; `max_error` is the largest error over its tolerance, `seconds` the checked launch's time.
struct Checked {
  static constexpr const char* kName = "checked";
  double max_error = 0;
  double seconds = 0;
  bool waits = false;  ///< for another go; see Go::Check
};
/// The spec was timed.
struct Measured {
  static constexpr const char* kName = "measured";
  Timing timing;
  bool checked = false;
  std::map<std::string, double> metrics;
  std::vector<std::string> remarks = {};  ///< as Hello's, of what was timed
  std::string name = {};                  ///< what a program calls the case that it ran
  /// The least that the launches can have taken if nothing had disturbed them: in the finals the median, else the least
  /// of them. 0: not known.
  double clean_seconds = 0;
};
/// A reference was written.
struct Referenced {
  static constexpr const char* kName = "referenced";
};
/// The request failed, in this stage.
struct Failed {
  static constexpr const char* kName = "failed";
  Stage stage = Stage::start;
  std::string message;
  FailureFacts facts = {};
  // No fault of the spec:
  bool no_device = false;    ///< the device could not be opened; another process may be able to
  bool environment = false;  ///< a full disk, or a program that cannot be started: nothing goes on before it is mended
  int room_error = 0;        ///< ENOSPC or EDQUOT if a compiler could not write; the spec's fault if it filled the disk
};
using Event = std::variant<Hello, Built, Loaded, Checked, Measured, Referenced, Failed>;

/// A text that is the same for kernels that can be loaded beside each other in one process: their requests differ in
/// the spec alone, so that they need the same memory, but for the workspace, and are verified alike.
std::string load_group_of(const MeasureRequest& request);

/// One line each, without the newline.
std::string encode(const Request& request);
std::string encode(const Command& command);
std::string encode(const Event& event);

/// Throw Malformed.
Request decode_request(std::string_view line);
Command decode_command(std::string_view line);
Event decode_event(std::string_view line);

}  // namespace tune::wire
