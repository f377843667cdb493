#include "exec/cluster/agent.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "cli/command_line.h"
#include "commands/installation.h"
#include "commands/tune/rules.h"
#include "commands/tune/target.h"
#include "exec/process/scratch.h"
#include "platform/files/file.h"
#include "platform/files/user_folders.h"

namespace tune::commands {
namespace fs = std::filesystem;
namespace {

/// `tune agent`: works for a run on another machine until that ends.
struct AgentOptions {
  platform::Address driver;
};

void bind(cli::Command& command, AgentOptions& options) {
  const auto connect = [&](const std::string& text) { options.driver = cli::read_host(text); };
  command
      .value("--connect", connect, "HOST:PORT",
             "Where that run listens; the token is in TUNE_AGENT_TOKEN, or the first line of standard input")
      .required();
}

// Kernels and programs need not know it.
std::string take_token() {
  std::string token;
  if (const char* value = std::getenv(wire::kTokenVariable)) token = value;
  if (token.empty()) std::getline(std::cin, token);
  ::unsetenv(wire::kTokenVariable);
  if (token.empty())
    throw Error(ExitCode::bad_input,
                "tune agent has no token; a run with --launcher starts agents, and gives them one in TUNE_AGENT_TOKEN");
  return token;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

wire::AgentHello hello(const std::string& token) {
  wire::AgentHello hello;
  hello.token = token;
  const std::string node = variable("SLURMD_NODENAME"), job = variable("SLURM_JOB_ID"),
                    step = variable("SLURM_STEP_ID");
  hello.host = node.empty() ? platform::host_name() : node;
  hello.process = ::getpid();
  if (!job.empty() && !step.empty()) hello.step = job + "." + step;
  return hello;
}

wire::Probed probe(const wire::ProbeOrder& order, exec::Workers& workers) {
  wire::Probed probed{workers.probe(order.backend)};
  if (!order.devices || probed.hello.devices.empty()) return probed;
  const std::vector<exec::ChosenDevice> chosen = exec::choose_devices(order.devices, probed.hello);
  probed.devices = static_cast<int>(chosen.size());
  if (chosen.front().index > 0) probed.hello.device = workers.describe(order.backend, chosen.front().environment);
  return probed;
}

/// The path of an input here.
fs::path below(const fs::path& root, const std::string& path) { return root / fs::path(path).relative_path(); }

void write_inputs(const wire::PlanOrder& order, const exec::AgentFiles& files, const fs::path& root) {
  for (const wire::PlanOrder::Input& input : order.inputs) {
    const fs::path file = below(root, input.path);
    platform::write_file(file, files.at(input.hash));
    if (input.executable) fs::permissions(file, fs::perms::owner_exec, fs::perm_options::add);
  }
}

/// From now on this process has the driver's variables, and its folder where that is here, too.
void enter(const wire::PlanOrder& order) {
  for (const auto& [name, value] : order.environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::error_code ignored;
  fs::current_path(order.folder, ignored);
}

TuneOptions options_for(const wire::PlanOrder& order, const fs::path& root) {
  std::vector<std::string> words = order.words;
  for (std::string& word : words)
    if (word.starts_with(wire::kInputs)) word = below(root, word.substr(wire::kInputs.size())).string();
  TuneOptions options;
  cli::read_words([&](cli::Command& command) { bind_tune(command, options); }, words);
  if (order.shape.empty()) return options;
  const fs::path file = root / "shape.yaml";
  platform::write_file(file, order.shape);
  options.job.load.shape = config::read_shapes(file).shapes.front();
  return options;
}

/// A plan of the driver, read on this machine as a run of its own would read it.
class Work : public exec::AgentWork {
 public:
  /// `scratch` holds the inputs.
  Work(std::unique_ptr<exec::Scratch> scratch, const TuneOptions& options, exec::Workers& workers)
      : scratch_(std::move(scratch)),
        options_(options),
        target_(options_, workers, options.job),
        requests_(with_inputs(target_), target_.hello(), target_.job.search.seed) {}

  const exec::RequestFactory& requests() const override { return requests_; }
  exec::WorkerRules rules() const override {
    exec::WorkerRules rules = worker_rules(options_, target_.workers, target_.plan().backend());
    rules.devices = exec::choose_devices(target_.job.devices, requests_.hello());
    return rules;
  }

 private:
  // Folders that the file names by absolute paths are here too.
  const Plan& with_inputs(Target& target) const {
    for (fs::path& folder : target.loaded.plan.build.include)
      if (const fs::path here = below(scratch_->folder(), folder.string()); fs::is_directory(here)) folder = here;
    return target.plan();
  }

  std::unique_ptr<exec::Scratch> scratch_;
  SharedOptions options_;
  Target target_;
  exec::RequestFactory requests_;
};

std::unique_ptr<exec::AgentWork> prepare(const wire::PlanOrder& order, const exec::AgentFiles& files,
                                         exec::Workers& workers) {
  auto scratch = std::make_unique<exec::Scratch>();
  write_inputs(order, files, scratch->folder());
  enter(order);
  const TuneOptions options = options_for(order, scratch->folder());
  return std::make_unique<Work>(std::move(scratch), options, workers);
}

ExitCode agent(const AgentOptions& options) {
  exec::Workers workers = find_workers();
  const wire::TokenHalves token = wire::halves_of(take_token());
  exec::AgentRules rules{options.driver.host, options.driver.port, hello(token.agents), token.drivers, {}, {}};
  rules.probe = [&](const wire::ProbeOrder& order) { return probe(order, workers); };
  rules.prepare = [&](const wire::PlanOrder& order, const exec::AgentFiles& files) {
    return prepare(order, files, workers);
  };
  exec::run_agent(std::move(rules));
  return ExitCode::ok;
}

}  // namespace

extern const cli::CommandSpec kAgent = cli::command_spec<AgentOptions, bind, agent>(
    "agent", "Work for a run on another machine, which starts this by --launcher");

}  // namespace tune::commands
