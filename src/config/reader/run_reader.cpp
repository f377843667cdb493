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

class RunReader {
 public:
  RunReader(const Fields& top, const RunContext& context, ProgramRules& rules, Diagnostics& diagnostics)
      : top_(&top), context_(context), rules_(&rules), diagnostics_(&diagnostics) {
    for (const Space::Mapping& mapping : context_.mappings) {
      for (const Parameter& parameter : mapping.parameters) parameters_.declare(parameter.name);
      for (const Derived& derived : mapping.derived) parameters_.declare(derived.name);
    }
  }

  void read() {
    const Node* run = find_run();
    std::optional<bool> shell;
    if (const Node* node = top_->find("shell")) shell = read_bool(*node, "shell", *diagnostics_);
    if (shell.value_or(false) && (run == nullptr || !run->is_scalar()))
      diagnostics_->add(top_->find("shell")->place, "shell: true is for a command in one string; write run as one");
    if (run != nullptr) {
      rules_->run = read_one(*run, "run", shell.value_or(context_.has_file));
    }
    for (const UntimedCommand& command : kUntimedCommands)
      if (const Node* node = top_->find(command.name)) rules_->*command.member = read_one(*node, command.name, true);
    rules_->whole = context_.has_file ? std::optional(false) : std::nullopt;
    if (const Node* node = top_->find("whole"))
      if (const auto whole = read_bool(*node, "whole", *diagnostics_)) rules_->whole = *whole;
    check_around();
    if (run != nullptr && !diagnostics_->any()) require_use(*run);
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
    if (context_.has_file) names.own = {"binary", "file"};
    if (what == "run") names.own.insert(names.own.end(), {"args", "output"});
    names.parameters = parameters_.all();
    for (const std::string& name : names.own)
      if (parameters_.find(name) && uses(read_texts(node, what, *diagnostics_), name))
        diagnostics_->add(node.place,
                          fmt::format("{{{0}}} in {1} could mean the parameter '{0}', and is also a placeholder "
                                      "with a meaning of its own; rename the parameter",
                                      name, what));
    names.lacks_file = !context_.has_file;
    return read_command(node, what, shell ? Strings::shell : Strings::words, names, *diagnostics_);
  }

  static bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  }

  void check_around() {
    for (const auto& [option, words] : context_.around)
      for (const auto& [at, name] : placeholders_of(words))
        if (!parameters_.find(name))
          diagnostics_->add(place_of_option(option),
                            fmt::format("unknown placeholder {{{}}}; the parameters have placeholders here", name));
  }

  bool is_used(const std::string& name) const {
    for (const auto& [option, words] : context_.around)
      if (uses({words}, name)) return true;
    return uses(rules_->run.words, name) || std::ranges::any_of(kUntimedCommands, [&](const UntimedCommand& command) {
             return uses((rules_->*command.member).words, name);
           });
  }

  /// Else specs that are the same would be timed under different labels. What a derived value is computed from is not
  /// looked into.
  void require_use(const Node& run) {
    if (uses(rules_->run.words, "args")) return;
    std::set<std::string> lost;
    for (const Space::Mapping& mapping : context_.mappings) {
      if (std::ranges::any_of(mapping.derived, [&](const Derived& derived) { return is_used(derived.name); })) continue;
      for (const Parameter& parameter : mapping.parameters)
        if ((parameter.run_time || !context_.has_build) && !is_used(parameter.name)) lost.insert(parameter.name);
    }
    for (const std::string& name : lost) {
      const bool is_taken = contains({"args", "output", "file", "binary"}, name);
      diagnostics_->add(run.place,
                        fmt::format("the parameter '{0}' does not reach the program: ", name) +
                            (is_taken ? fmt::format("{{{0}}} in run means something else; rename the parameter", name)
                                      : fmt::format("write {{{0}}} into run where its value is to stand, or "
                                                    "{{args}} for --{0}=VALUE",
                                                    name)));
    }
  }

  const Fields* top_;
  RunContext context_;
  ProgramRules* rules_;
  Diagnostics* diagnostics_;
  Names parameters_;  ///< with the derived values
};

}  // namespace

void read_run_section(const Fields& top, const RunContext& context, ProgramRules& rules, Diagnostics& diagnostics) {
  RunReader(top, context, rules, diagnostics).read();
}

namespace {

/// The words of an option, which no shell reads.
Words words_of(const char* option, const std::optional<std::string>& text, Diagnostics& diagnostics) {
  if (!text) return {};
  auto words = split_words(*text);
  if (const auto* needs = std::get_if<NeedsShell>(&words)) {
    diagnostics.add(place_of_option(option),
                    fmt::format("{} needs a shell, which does not read this; write the command into run: of the tuning "
                                "file, or a script",
                                needs->what));
    return {};
  }
  return std::get<Words>(std::move(words));
}

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

/// What a profiler is called with; its files are of one spec each.
Words profiler_command(const std::string& profiler, const std::string& files) {
  const std::string file = files + "-profile-{" + kSpecNumber + "}";
  if (profiler.starts_with("ncu")) return {"ncu", "-f", "-o", file};
  return {"rocprof-compute", "profile", "--name", "{" + std::string(kSpecNumber) + "}", "-p", file, "--"};
}

}  // namespace

void read_surroundings(const LoadOptions& options, Plan& plan, Diagnostics& diagnostics) {
  const std::pair<const char*, bool> given[] = {{"--exec-prefix", options.exec_prefix.has_value()},
                                                {"--exec-suffix", options.exec_suffix.has_value()},
                                                {"--mpirun-np", options.processes.has_value()},
                                                {"--profile", options.profiler.has_value()}};
  for (const auto& [option, is_given] : given)
    if (is_given && !plan.kernel.empty())
      diagnostics.add(place_of_option(option),
                      fmt::format("is for programs, and {} is a kernel, which a worker of tune launches; to profile "
                                  "one of its specs, run ncu --target-processes all tune --yaml FILE --spec N",
                                  plan.kernel));
  Words& prefix = plan.program.prefix;
  prefix = words_of("--exec-prefix", options.exec_prefix, diagnostics);
  if (options.processes) append(prefix, {"mpirun", "-np", std::to_string(*options.processes)});
  plan.program.suffix = words_of("--exec-suffix", options.exec_suffix, diagnostics);
  if (plan.program.run.is_shell)
    for (const std::string& word : plan.program.suffix)
      if (!placeholders_of(word).empty())
        diagnostics.add(place_of_option("--exec-suffix"),
                        fmt::format("'{}' has a placeholder, and the command is read by a shell; write it into run: of "
                                    "the tuning file",
                                    word));
  const bool is_single = options.profiler == "ncu-single";
  if (plan.program.run.is_shell && (is_single || !plan.program.suffix.empty()))
    if (const auto end = end_of_first_command(plan.program.run.words.back()))
      diagnostics.add(place_of_option(is_single ? "--profile" : "--exec-suffix"),
                      fmt::format("the shell's command has {}, behind which words do not reach the program; write them "
                                  "into run: of the tuning file",
                                  *end));
  if (!options.profiler) return;
  const std::filesystem::path files = options.profile.empty() ? std::filesystem::path(plan.name) : options.profile;
  append(prefix, profiler_command(*options.profiler, std::filesystem::absolute(files).string()));
  if (is_single) append(plan.program.suffix, {"--bench-max-iters=0", "--bench-max-batch-size=1"});
}

}  // namespace tune::config
