#include "commands/tune/agent_plan.h"

#include <cctype>
#include <cstdlib>
#include <map>
#include <set>

#include "commands/tune/rules.h"
#include "model/device_setting.h"
#include "model/program.h"
#include "platform/files/file.h"
#include "platform/files/streams.h"
#include "platform/files/user_folders.h"
#include "platform/store/header_search.h"
#include "platform/store/store.h"

namespace tune::commands {
namespace fs = std::filesystem;
namespace {

constexpr const char* kHeaderVariables[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"};

fs::path full_path(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

/// The files that a plan is read from and built from. They keep their paths, below a folder of the agent.
class Inputs {
 public:
  void add(const fs::path& path, const std::string& text) {
    if (!paths_.insert(path).second) return;
    std::error_code ignored;
    const bool executable = (fs::status(path, ignored).permissions() & fs::perms::owner_exec) != fs::perms::none;
    const std::string hash = platform::Hash().add(text).hex();
    plan_.order.inputs.push_back({path.string(), hash, executable});
    if (hashes_.insert(hash).second) plan_.files.push_back({hash, text});
  }
  void add(const fs::path& path) { add(full_path(path), platform::read_file(path)); }

  /// A file that was found where links lead to, also under the names that lead there through one of these folders.
  void add(const fs::path& file, const std::string& text, const std::set<fs::path>& folders) {
    add(file, text);
    for (const fs::path& folder : folders) {
      std::error_code ignored;
      const fs::path below = file.lexically_relative(fs::weakly_canonical(folder, ignored));
      if (!below.empty() && *below.begin() != "..") add((folder / below).lexically_normal(), text);
    }
  }

  exec::AgentPlan take() { return std::move(plan_); }

 private:
  std::set<fs::path> paths_;
  std::set<std::string> hashes_;
  exec::AgentPlan plan_;
};

std::string on_agent(const fs::path& path) { return std::string(wire::kInputs) + full_path(path).string(); }

/// The command line of a run on one machine that would do what each agent is to do, without what the file behind
/// --shapes says.
std::vector<std::string> words_of(const SharedOptions& options, const Job& job, const exec::RequestFactory& requests,
                                  bool share_processes) {
  const auto rewritten = [&](const cli::GivenOption& option, const std::string& value) -> std::optional<std::string> {
    if (option.name == "--shapes") return std::nullopt;
    if (option.name == "--devices" && requests.hello().devices.empty()) return std::nullopt;
    if (option.name == "--isolation" && !share_processes) return "spec";
    if (option.name == "--yaml") return on_agent(value);
    return option.is_path ? full_path(value).string() : value;
  };
  return command_line(job.given(options.given).words(cli::OptionText::Repeated::on_agents, rewritten),
                      job.load.command);
}

/// The names behind `$` or `${` in a text.
std::set<std::string> variables_in(const std::string& text) {
  std::set<std::string> names;
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at + 1)) {
    const std::size_t begin = at + (text.compare(at, 2, "${") == 0 ? 2 : 1);
    std::size_t end = begin;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
    if (end > begin) names.insert(text.substr(begin, end - begin));
  }
  return names;
}

/// What of the environment a build depends on: what compilers are told by it, and what paths in the file name.
std::map<std::string, std::string> environment_of(const SharedOptions& options) {
  std::set<std::string> names(std::begin(platform::kCompilerVariables), std::end(platform::kCompilerVariables));
  names.insert(std::begin(kHeaderVariables), std::end(kHeaderVariables));
  for (const fs::path& yaml : options.yaml) names.merge(variables_in(platform::read_file(yaml)));
  std::map<std::string, std::string> environment;
  for (const std::string& name : names)
    if (const char* value = std::getenv(name.c_str())) environment[name] = value;
  return environment;
}

}  // namespace

exec::AgentPlan agent_plan(const Target& target, const exec::RequestFactory& requests, bool share_processes) {
  const Plan& plan = target.plan();
  Inputs inputs;
  std::set<fs::path> folders(plan.build.include.begin(), plan.build.include.end());
  for (const fs::path& yaml : target.options.yaml) {
    inputs.add(yaml);
    folders.insert(full_path(yaml).parent_path());
  }
  for (const fs::path& file : files_of(plan)) {
    inputs.add(file);
    folders.insert(file.parent_path());
  }
  for (const fs::path& file : files_of(plan))
    for (const auto& [path, text] : exec::sources_of(plan, file).texts) inputs.add(path, text, folders);
  for (const fs::path& file : plan.build.depends) inputs.add(file);
  for (const Baseline& baseline : plan.baselines)
    if (!baseline.file.empty()) inputs.add(baseline.file);
  exec::AgentPlan result = inputs.take();
  result.order.words = words_of(target.options, target.job, requests, share_processes);
  if (target.job.shape()) result.order.shape = config::listed_shape(*target.job.shape());
  result.order.environment = environment_of(target.options);
  std::error_code ignored;
  result.order.folder = fs::current_path(ignored).string();
  if (!plan.is_command()) result.source_hash = requests.source_hash();
  result.may_wait = sets_device(plan.space);
  return result;
}

std::unique_ptr<exec::OtherMachines> agents_for(const TuneOptions& options) {
  if (!options.on_agents()) return nullptr;
  exec::ClusterRules rules{options.cluster};
  rules.program = (platform::folder_of_executable() / "tune").string();
  rules.devices = options.job.devices;
  rules.per_model = options.per_device_model;
  rules.step_seconds = options.measure.deadlines.build.count();
  rules.say = [quiet = options.job.quiet](const std::string& text, bool is_warning) {
    if (!quiet || is_warning) platform::print_to_stderr(text);
  };
  return std::make_unique<exec::Cluster>(std::move(rules));
}

}  // namespace tune::commands
