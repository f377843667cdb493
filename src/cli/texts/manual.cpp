#include "cli/texts/manual.h"

#include <algorithm>

namespace tune::cli {
namespace {

/// A term and what it means.
struct Term {
  const char* name;
  const char* meaning;
};

constexpr Term kExitStatus[] = {
    {"0", "There is a best spec; without --tune, there is a valid spec."},
    {"1", "No spec is valid."},
    {"2", "The command line or a file is wrong. At most one spec was measured."},
    {"3",
     "A check that was asked for failed beyond doubt: --compare, --baseline, tune diff, tune retime, a limit of tune "
     "audit, or tune cache verify."},
    {"4",
     "Something in the environment is missing or wrong: a worker, compiler or device is missing, or a disk is full. "
     "The best spec so far is printed."},
    {"5",
     "What was asked for is undecided: --accuracy, --noise, --baseline, tune diff, tune retime, or a limit of tune "
     "audit. "
     "--exit-undecided chooses another code."},
    {"129, 130, 143",
     "SIGHUP, SIGINT or SIGTERM interrupted the run. The best spec so far is printed. The same command "
     "continues the run."},
};

constexpr Term kFiles[] = {
    {"PREFIX.csv, PREFIX.jsonl, PREFIX.yaml",
     "What --output PREFIX writes: a row for each spec, the journal with which the same command continues, and with "
     "--tune the best configuration, which is a tuning file itself."},
    {"$XDG_STATE_HOME/tune, else ~/.local/state/tune", "The journals of runs without --output."},
    {"$XDG_CACHE_HOME/tune/store, else ~/.cache/tune/store", "The build store."},
    {"share/tune/configs, share/tune/demo",
     "Tuning files and kernels to start from; this folder and those below are "
     "where tune is installed."},
    {"share/doc/tune", "The manual; its first page is docs/README.md."},
    {"include/tune/bench.h", "What a benchmark program in C++ may include."},
    {"include/tune/tuning.h", "What a program in C++ includes to tune itself while it runs."},
    {"lib/libtune_kokkos.so", "What Kokkos loads to be tuned: tune kokkos, or KOKKOS_TOOLS_LIBS."},
    {"libexec/tune", "The workers, which build and measure."},
};

constexpr Term kEnvironment[] = {
    {"CXX", "The compiler of CPU kernels, instead of c++."},
    {"HIPCXX", "The compiler of HIP kernels, with options, such as clang++-22; without it, hipRTC."},
    {"CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES", "The GPUs that may be used."},
    {"CUDA_HOME, CUDA_PATH, ROCM_PATH, HIP_PATH", "Where the vendor's toolkit is, if it is not where it usually is."},
    {"NO_COLOR", "If it is set, the output has no colours."},
    {"TERM", "If it is not set, or to dumb, the output has no colours, and progress is printed in lines."},
    {"COLUMNS", "The width of a terminal that does not tell its own."},
    {"TMPDIR", "The folder for temporary files, instead of /tmp."},
    {"TUNE_LOCKS", "The folder of the locks by which runs take turns on a device, instead of /tmp."},
    {"TUNE_SYSFS", "Where the machine's /sys is, for a container that has it elsewhere: energy and clock of the CPU."},
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '\'':
        out += "\\(aq";
        break;
      default:
        out += c;
    }
  return out.starts_with('.') ? "\\&" + out : out;
}

/// A paragraph behind a tag, which is formatted already.
std::string tagged(const std::string& tag, const std::string& meaning) {
  return ".TP\n" + tag + "\n" + escaped(meaning) + "\n";
}

template <std::size_t size>
std::string section(const std::string& title, const Term (&terms)[size]) {
  std::string text = ".SH " + title + "\n";
  for (const Term& term : terms) text += tagged("\\fB" + escaped(term.name) + "\\fR", term.meaning);
  return text;
}

std::string option_tag(const OptionText& option) {
  std::string tag = option.names.empty() ? "\\fI" + escaped(option.argument) + "\\fR" : "";
  for (const std::string& name : option.names) tag += (tag.empty() ? "\\fB" : ", \\fB") + escaped(name) + "\\fR";
  if (!option.is_flag() && !option.names.empty()) tag += " \\fI" + escaped(option.value) + "\\fR";
  return tag + (option.repeats ? " ..." : "");
}

std::string options_section(const CommandText& tune) {
  std::string text = ".SH OPTIONS\n";
  for (const std::string& group : groups_of(tune)) {
    text += ".SS " + escaped(group) + "\n";
    for (const OptionText& option : tune.options)
      if (option.group == group) text += tagged(option_tag(option), option.help);
  }
  return text;
}

/// Whether a command means something else by an option than `tune` itself, or has it alone.
bool is_own(const OptionText& option, const CommandText& tune) {
  return std::ranges::none_of(tune.options, [&](const OptionText& other) {
    return other.name() == option.name() && (other.help == option.help || option.name() == "--help");
  });
}

std::string commands_section(const CommandText& tune) {
  std::string text = ".SH COMMANDS\n";
  for (const CommandText& command : tune.commands) {
    text += ".SS tune " + escaped(command.name + " " + usage_of(command)) + "\n" + escaped(command.help) + ".\n";
    bool shares = false;
    for (const OptionText& option : command.options)
      if (is_own(option, tune))
        text += tagged(option_tag(option), option.help);
      else if (option.name() != "--help")
        shares = true;
    if (shares) text += ".PP\nIt takes most of the options of tune itself, too; its \\fB\\-\\-help\\fR lists them.\n";
  }
  return text;
}

std::string examples_section() {
  std::string text = ".SH EXAMPLES\n";
  for (const ExampleText& example : examples())
    text += tagged("\\fB" + escaped(example.command) + "\\fR", example.meaning);
  return text;
}

}  // namespace

std::string manual_page(const CommandText& tune, const std::string& version) {
  std::string text = ".TH TUNE 1 \"\" \"" + escaped(version) + "\" \"User Commands\"\n";
  text += ".SH NAME\ntune \\- find the fastest parameters of a kernel or program\n.SH SYNOPSIS\n";
  text += ".B tune\n" + escaped(usage_of(tune)) + "\n";
  for (const CommandText& command : tune.commands)
    text += ".br\n.B tune " + escaped(command.name) + "\n" + escaped(usage_of(command)) + "\n";
  text += ".SH DESCRIPTION\n" + escaped(tune.help) + "\n";
  text += options_section(tune) + commands_section(tune) + section("EXIT STATUS", kExitStatus);
  text += section("FILES", kFiles) + section("ENVIRONMENT", kEnvironment) + examples_section();
  return text + ".SH SEE ALSO\nThe manual, docs/README.md in share/doc/tune.\n";
}

}  // namespace tune::cli
