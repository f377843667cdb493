#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/reader/command/command_reader.h"
#include "config/reader/sections.h"
#include "config/yaml/split_words.h"
#include "model/program.h"
#include "model/values/names.h"

namespace tune::config {
namespace {

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

/// What a profiler is called with; its files are of one spec each.
Words profiler_command(const std::string& profiler, const std::string& files) {
  const std::string file = files + "-profile-{" + kSpecNumber + "}";
  if (profiler.starts_with("ncu")) return {"ncu", "-f", "-o", file};
  return {"rocprof-compute", "profile", "--name", "{" + std::string(kSpecNumber) + "}", "-p", file, "--"};
}

class RunReader {
 public:
  RunReader(const Fields& top, const LoadRules& rules, std::span<const Space::Mapping> mappings, Plan& plan)
      : top_(&top),
        rules_(&rules),
        mappings_(mappings),
        plan_(&plan),
        program_(&std::get<ProgramPlan>(plan.subject)),
        diagnostics_(&top.diagnostics()) {
    for (const Space::Mapping& mapping : mappings_) {
      for (const Parameter& parameter : mapping.parameters) parameters_.declare(parameter.name);
      for (const Derived& derived : mapping.derived) parameters_.declare(derived.name);
    }
  }

  void read() {
    const Node* run = find_run();
    if (run == nullptr && plan_->build.command.empty() && plan_->file.extension() == ".mojo") {
      // A benchmark of kbench: it is built and run as there.
      plan_->build.command.words = {"mojo", "build", "{defines}", "{flags}", "{file}", "-o", "{binary}"};
      program_->run.words = {"{binary}", "{args}", "-o", "{output}"};
    }
    std::optional<bool> shell;
    if (const Node* node = top_->find("shell")) shell = read_bool(*node, "shell", *diagnostics_);
    if (shell.value_or(false) && (run == nullptr || !run->is_scalar()))
      diagnostics_->add(top_->find("shell")->place, "shell: true is for a command in one string; write run as one");
    if (run != nullptr) program_->run = read_one(*run, "run", shell.value_or(!program_->is_command));
    for (const UntimedCommand& command : kUntimedCommands)
      if (const Node* node = top_->find(command.name)) program_->*command.member = read_one(*node, command.name, true);
    program_->whole = program_->is_command ? std::nullopt : std::optional(false);
    if (const Node* node = top_->find("whole"))
      if (const auto whole = read_bool(*node, "whole", *diagnostics_)) program_->whole = *whole;
    check_around("--exec-prefix", rules_->exec_prefix);
    check_around("--exec-suffix", rules_->exec_suffix);
    if (run != nullptr && !diagnostics_->any()) require_use(*run);
    surround();
    if (program_->is_command) plan_->file_as_written = shown_command(program_->run);
  }

 private:
  const Node* find_run() const {
    const Node* build = top_->find("build");
    const Node *run = top_->find("run"), *inner = build != nullptr ? build->find("run") : nullptr;
    if (run != nullptr && inner != nullptr) diagnostics_->add(run->place, "run is also in build; keep one");
    return run != nullptr ? run : inner;
  }

  CommandLine read_one(const Node& node, std::string_view what, bool shell) {
    CommandNames names;
    if (!program_->is_command) names.own = {"binary", "file"};
    if (what == "run") names.own.insert(names.own.end(), {"args", "output"});
    names.parameters = parameters_.all();
    for (const std::string& name : names.own)
      if (parameters_.find(name) && uses(read_texts(node, what, *diagnostics_), name))
        diagnostics_->add(node.place,
                          fmt::format("{{{0}}} in {1} could mean the parameter '{0}', and is also a placeholder "
                                      "with a meaning of its own; rename the parameter",
                                      name, what));
    names.lacks_file = program_->is_command;
    return read_command(node, what, shell ? Strings::shell : Strings::words, names, *diagnostics_);
  }

  void check_around(const char* option, const std::optional<std::string>& words) const {
    for (const auto& [at, name] : placeholders_of(words.value_or("")))
      if (!parameters_.find(name))
        complain(option, fmt::format("unknown placeholder {{{}}}; the parameters have placeholders here", name));
  }

  bool is_used(const std::string& name) const {
    if (uses({rules_->exec_prefix.value_or(""), rules_->exec_suffix.value_or("")}, name)) return true;
    return uses(program_->run.words, name) || std::ranges::any_of(kUntimedCommands, [&](const UntimedCommand& command) {
             return uses((program_->*command.member).words, name);
           });
  }

  /// Else specs that are the same would be timed under different labels. What a derived value is computed from is not
  /// looked into.
  void require_use(const Node& run) {
    if (uses(program_->run.words, "args")) return;
    std::set<std::string> lost;
    for (const Space::Mapping& mapping : mappings_) {
      if (std::ranges::any_of(mapping.derived, [&](const Derived& derived) { return is_used(derived.name); })) continue;
      for (const Parameter& parameter : mapping.parameters)
        if ((parameter.run_time || !is_built(*plan_)) && !is_used(parameter.name)) lost.insert(parameter.name);
    }
    for (const std::string& name : lost) {
      const bool is_taken = name == "args" || name == "output" || name == "file" || name == "binary";
      diagnostics_->add(run.place,
                        fmt::format("the parameter '{0}' does not reach the program: ", name) +
                            (is_taken ? fmt::format("{{{0}}} in run means something else; rename the parameter", name)
                                      : fmt::format("write {{{0}}} into run where its value is to stand, or "
                                                    "{{args}} for --{0}=VALUE",
                                                    name)));
    }
  }

  void complain(const char* option, const std::string& text) const { diagnostics_->add(place_of_option(option), text); }

  /// The words of an option, which no shell reads.
  Words words_of(const char* option, const std::optional<std::string>& text) const {
    if (!text) return {};
    auto words = split_words(*text);
    const auto* needs = std::get_if<NeedsShell>(&words);
    if (needs == nullptr) return std::get<Words>(std::move(words));
    complain(option, fmt::format("{} needs a shell, which does not read this; write the command into run: of the "
                                 "tuning file, or a script",
                                 needs->what));
    return {};
  }

  /// Puts what the command line says before and after the command.
  void surround() {
    program_->prefix = words_of("--exec-prefix", rules_->exec_prefix);
    if (rules_->processes) append(program_->prefix, {"mpirun", "-np", std::to_string(*rules_->processes)});
    program_->suffix = words_of("--exec-suffix", rules_->exec_suffix);
    if (program_->run.is_shell)
      for (const std::string& word : program_->suffix)
        if (!placeholders_of(word).empty())
          complain("--exec-suffix",
                   fmt::format("'{}' has a placeholder, and the command is read by a shell; write it into run: of "
                               "the tuning file",
                               word));
    const bool is_single = rules_->profiler == "ncu-single";
    if (program_->run.is_shell && (is_single || !program_->suffix.empty()))
      if (const auto end = end_of_first_command(program_->run.words.back()))
        complain(is_single ? "--profile" : "--exec-suffix",
                 fmt::format("the shell's command has {}, behind which words do not reach the program; write them "
                             "into run: of the tuning file",
                             *end));
    if (!rules_->profiler) return;
    const auto files = std::filesystem::absolute(rules_->profile.empty() ? plan_->name : rules_->profile.string());
    append(program_->prefix, profiler_command(*rules_->profiler, files.string()));
    if (is_single) append(program_->suffix, {"--bench-max-iters=0", "--bench-max-batch-size=1"});
  }

  const Fields* top_;
  const LoadRules* rules_;
  std::span<const Space::Mapping> mappings_;
  Plan* plan_;
  ProgramPlan* program_;
  Diagnostics* diagnostics_;
  Names parameters_;  ///< with the derived values
};

}  // namespace

void read_program(const Fields& top, const LoadRules& rules, std::span<const Space::Mapping> mappings, Plan& plan) {
  RunReader(top, rules, mappings, plan).read();
}

void refuse_program_rules(const Fields& top, const LoadSettings& settings, const std::string& kernel) {
  const std::pair<const char*, bool> given[] = {{"--exec-prefix", settings.exec_prefix.has_value()},
                                                {"--exec-suffix", settings.exec_suffix.has_value()},
                                                {"--mpirun-np", settings.processes.has_value()},
                                                {"--profile", settings.profiler.has_value()}};
  for (const auto& [option, is_given] : given)
    if (is_given)
      top.diagnostics().add(
          place_of_option(option),
          fmt::format("is for programs, and {} is a kernel, which a worker of tune launches; to profile "
                      "one of its specs, run ncu --target-processes all tune --yaml FILE --spec N",
                      kernel));
  for (const FileKey& key : file_keys())
    if (const Node* node = key.is_of_programs ? top.find(key.name) : nullptr)
      top.diagnostics().add(node->place,
                            fmt::format("{} is for programs; a kernel is launched by its backend", key.name));
}

}  // namespace tune::config
