// What tune says about its own command line: help, completions, manual page.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "platform/process/process.h"
#include "platform/store/store.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_shell_test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (const std::string& line : lines_of(text)) longest = std::max(longest, line.size());
  return longest;
}

std::set<std::string> found(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::set<std::string> all;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), regex); match != std::sregex_iterator(); ++match)
    all.insert((*match)[1]);
  return all;
}

class Shell : public testing::Test {
 protected:
  std::string out(const std::vector<std::string>& arguments) const {
    const Result result = sandbox_.tune(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }
  /// What a script of a shell prints, stderr included.
  std::string run(const std::string& shell, const std::string& script) const {
    platform::Command command;
    command.argv = {"/usr/bin/env", shell, sandbox_.write("script", script).string()};
    command.environment = sandbox_.environment;
    command.environment["PATH"] = std::string(TUNE_BIN_DIR) + ":/usr/local/bin:/usr/bin:/bin";
    command.directory = sandbox_.folder();
    const platform::Finished finished = platform::run(command);
    EXPECT_EQ(finished.exit.code, 0) << finished.output << finished.captured;
    return finished.output + finished.captured;
  }
  /// What bash offers for the last of these words, with a comma behind each.
  std::string completed(const std::vector<std::string>& words) const {
    std::string script = "source <(tune completion bash)\nCOMP_WORDS=(tune";
    for (const std::string& word : words) script += " '" + word + "'";
    script += ")\nCOMP_CWORD=" + std::to_string(words.size()) + "\n_tune tune\nprintf '%s,' \"${COMPREPLY[@]}\"\n";
    const std::string text = run("bash", script);
    return text.substr(0, text.find('\n'));
  }
  static bool installed(const std::string& program) {
    return std::filesystem::exists("/usr/bin/" + program) || std::filesystem::exists("/bin/" + program);
  }
  void write_files() const {
    for (const char* name : {"gemm.yaml", "sizes.yml", "old.jsonl", "notes.txt", "folder/best.yaml", "two words.yaml"})
      sandbox_.write(name, "");
  }

  Sandbox sandbox_;
};

TEST_F(Shell, TheShortHelpFitsOnOneScreen) {
  const std::string help = out({"--help"});
  const auto lines = lines_of(help);
  EXPECT_LE(lines.size(), 40U) << help;
  EXPECT_LE(longest_line(help), 80U) << help;
  EXPECT_EQ(help, out({"-h"}));
  const auto examples = std::ranges::find(lines, "Examples:");
  ASSERT_NE(examples, lines.end());
  for (int i = 1; i <= 3; ++i) EXPECT_TRUE(examples[i].starts_with("  tune ")) << examples[i];
  const std::string end = std::regex_replace(help.substr(help.rfind("\n\n")), std::regex("\n"), " ");
  for (const char* named : {"tune --help-all", "convert", "audit", "man tune", "docs/README.md"})
    EXPECT_TRUE(has(end, named)) << named << "\n" << end;
}

TEST_F(Shell, TheShortHelpShowsWhatMostPeopleNeed) {
  const std::string help = out({"--help"});
  for (const char* name : {"--yaml", "--param", "--filter", "--spec", "--tune", "--dry-run", "--simulate",
                           "--max-evals", "--time-budget", "--output", "--top", "--keep", "--quiet"})
    EXPECT_TRUE(std::regex_search(help, std::regex(std::string("\n  ") + name + " "))) << name;
}

TEST_F(Shell, TheWholeHelpIsWrapped) {
  const std::string all = out({"--help-all"});
  EXPECT_LE(longest_line(all), 80U);
  EXPECT_GT(lines_of(all).size(), 100U);
  for (const char* option : {"--shapes, --gemm_size_file FILE", "--base-store DIR", "--check normal|strict"})
    EXPECT_TRUE(has(all, option)) << option;
  for (const char* command : {"convert", "show", "cache", "kokkos", "shapes", "merge", "lookup", "cover", "export",
                              "audit", "completion", "man-page"}) {
    const std::string help = out({command, "--help"});
    EXPECT_LE(longest_line(help), 80U) << help;
    EXPECT_TRUE(has(help, std::string("Usage: tune ") + command)) << help;
    EXPECT_EQ(help, out({command, "--help-all"}));
  }
  EXPECT_TRUE(has(out({"audit", "--help"}), "--max-flips SHARE"));
}

TEST_F(Shell, TheHelpTakesTheWidthOfTheTerminal) {
  if (!installed("script")) GTEST_SKIP() << "script is not installed";
  const auto help_at = [&](int columns) {
    return run("sh", "script -qec 'stty cols " + std::to_string(columns) + "; tune --help-all' /dev/null </dev/null");
  };
  EXPECT_GT(longest_line(help_at(120)), 100U);
  EXPECT_LE(longest_line(help_at(120)), 121U) << "each line ends with a carriage return";
  EXPECT_LE(longest_line(help_at(50)), 51U);
  EXPECT_TRUE(has(help_at(20), "--help-all"));
}

TEST_F(Shell, BashCompletesOptionsValuesAndFiles) {
  write_files();
  EXPECT_EQ(completed({"--dry"}), "--dry-run,");
  EXPECT_EQ(completed({"--backend", ""}), "auto,cuda,hip,cpu,program,");
  EXPECT_EQ(completed({"--backend", "=", "p"}), "program,");
  EXPECT_EQ(completed({"--state", "="}), "burst,sustained,");
  EXPECT_EQ(completed({"--isolation", "a"}), "auto,");
  EXPECT_TRUE(has(completed({"--strategy", ""}), "genetic,"));
  EXPECT_EQ(completed({"--max-evals", ""}), ",") << "a number is the user's";
  EXPECT_EQ(completed({"--yaml", "g"}), "gemm.yaml,");
  EXPECT_EQ(completed({"--yaml", "two"}), "two words.yaml,");
  EXPECT_EQ(completed({"--gemm_size_file", "s"}), "sizes.yml,");
  EXPECT_EQ(completed({"--simulate", ""}), "folder,old.jsonl,");
  EXPECT_EQ(completed({"--keep", ""}), "folder,");
  EXPECT_EQ(completed({"--device-file", "h"}), "h100,h200,");
  EXPECT_EQ(completed({"--device-file", ""}),
            "a100,h100,h200,mi250x,mi300x,mi355x,rtx4090,folder,gemm.yaml,two words.yaml,sizes.yml,");
  EXPECT_EQ(completed({"--yaml", "gemm.yaml", "folder/"}), "folder/best.yaml,");
  EXPECT_EQ(completed({"--output", "no"}), "notes.txt,");
}

TEST_F(Shell, BashCompletesCommandsAndTheirOptions) {
  write_files();
  EXPECT_EQ(completed({"a"}), "agent,audit,");
  EXPECT_EQ(completed({"g"}), "gemm.yaml,");
  EXPECT_EQ(completed({"audit", "--max-f"}), "--max-flips,");
  EXPECT_EQ(completed({"--max-f"}), ",") << "that is an option of audit";
  EXPECT_EQ(completed({"audit", "--check", ""}), "normal,strict,");
  EXPECT_EQ(completed({"convert", "o"}), "old.jsonl,");
  EXPECT_EQ(completed({"convert", "old.jsonl", "no"}), "notes.txt,");
  EXPECT_EQ(completed({"convert", "old.jsonl", "out.csv", "--to", ""}), "journal,kernel-tuner,t4,csv,");
  EXPECT_EQ(completed({"completion", ""}), "bash,zsh,fish,");
  EXPECT_EQ(completed({"--tune", "--", "cat", "no"}), "notes.txt,") << "what is behind -- is no option of tune";
}

TEST_F(Shell, EveryOptionIsCompleted) {
  const std::set<std::string> options = found(out({"--help-all"}), "\n  (--[a-z0-9_-]+)");
  EXPECT_GT(options.size(), 40U);
  const std::string offered = "," + completed({"--"});
  for (const std::string& option : options) EXPECT_TRUE(has(offered, "," + option + ",")) << option;
}

TEST_F(Shell, ProgramsThatAreNotTuneAreNotHeard) {
  write_files();
  sandbox_.write("strange", "#!/bin/sh\necho who calls >&2\nexit 1\n");
  const std::string words = "COMP_WORDS=(tune g)\nCOMP_CWORD=1\n";
  for (const char* program : {"./strange", "/no/such/tune", "./notes.txt"})
    EXPECT_EQ(run("bash", "chmod +x strange\nsource <(tune completion bash)\n" + words + "_tune " + program), "")
        << program;
}

TEST_F(Shell, WhatTheScriptsAskIsNoCommandForUsers) {
  for (const std::string& text : {out({"--help"}), out({"--help-all"}), out({"man-page"}), completed({""}),
                                  out({"__complete"}), out({"__complete", "--"})})
    EXPECT_FALSE(has(text, "__complete")) << text;
  EXPECT_TRUE(has(out({"__complete", "--simulate", "no such file", "--no-such", "--help", ""}), "convert\t"));
  EXPECT_EQ(out({"__complete", "--", "", "\xff"}), "command 0\n\n");
  EXPECT_TRUE(out({"__complete", "--baseline", ""}).starts_with("files 0 ")) << "NAME=V stands for others";
  EXPECT_FALSE(has(out({"__complete", "--baseline", ""}), "NAME"));
  EXPECT_TRUE(has(out({"__complete", "--launcher", ""}), "\nssh\t"));
  EXPECT_FALSE(has(out({"__complete", "--launcher", ""}), "\nCOMMAND"));
}

TEST_F(Shell, ZshCompletes) {
  if (!installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  write_files();
  // Completes what is typed, and prints the line instead of running it.
  const std::string text = run("zsh", R"zsh(zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1=; autoload -U compinit; compinit -u -D; source <(tune completion zsh)"
for words in '--backend cu' '--state=s' 'aud' 'audit --max-f' 'completion f' '--simulate o' '--dry' '--device-file mi2' '--device-file gem' '--yaml=gem' '-ono' 'cover gemm.yaml ol' '-q -- cat no'; do
  zpty -w -n z "tune $words"$'\t'$'\x01'"print -r -- '->' "$'\n'
  zpty -r z line $'*\n-> tune*\r\n*'
  print -r -- $line
done
)zsh");
  for (const char* line : {"--backend cuda", "--state=sustained", "audit", "audit --max-flips", "completion fish",
                           "--simulate old.jsonl", "--dry-run", "--device-file mi250x", "--device-file gemm.yaml",
                           "--yaml=gemm.yaml", "-onotes.txt", "cover gemm.yaml old.jsonl", "-q -- cat notes.txt"})
    EXPECT_TRUE(std::regex_search(text, std::regex(std::string("-> tune ") + line + " *\r"))) << line << "\n" << text;
}

TEST_F(Shell, FishCompletes) {
  if (!installed("fish")) GTEST_SKIP() << "fish is not installed";
  write_files();
  const auto offered = [&](const std::string& line) {
    const std::string text = run("fish", "tune completion fish | source\ncomplete -C 'tune " + line + "'\n");
    return std::regex_replace(text, std::regex("\t[^\n]*"), "");
  };
  EXPECT_EQ(offered("--backend c"), "cpu\ncuda\n");
  EXPECT_EQ(offered("--dry"), "--dry-run\n");
  EXPECT_EQ(offered("audit --max-f"), "--max-flips\n");
  EXPECT_EQ(offered("--simulate o"), "old.jsonl\n");
  EXPECT_EQ(offered("--device-file mi"), "mi250x\nmi300x\nmi355x\n");
  EXPECT_EQ(offered("--device-file g"), "gemm.yaml\n");
  EXPECT_EQ(offered("completion z"), "zsh\n");
  EXPECT_EQ(offered("aud"), "audit\n");
  EXPECT_EQ(offered("--yaml=g"), "--yaml=gemm.yaml\n");
  EXPECT_EQ(offered("--keep "), "folder/\n");
  EXPECT_EQ(offered("-- cat no"), "notes.txt\n");
}

TEST_F(Shell, AnUnknownShellIsRefused) {
  const Result result = sandbox_.tune({"completion", "tcsh"});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.err, "tcsh not in {bash,zsh,fish}")) << result.err;
}

TEST_F(Shell, TheManualPageHasEveryOptionAndExitCode) {
  const std::string page = std::regex_replace(out({"man-page"}), std::regex("\\\\-"), "-");
  for (const std::string& option : found(out({"--help-all"}) + out({"audit", "--help"}), "(--[a-z0-9_-]+)"))
    EXPECT_TRUE(has(page, option)) << option;
  for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXIT STATUS", "FILES",
                              "ENVIRONMENT", "EXAMPLES", "SEE ALSO"})
    EXPECT_TRUE(has(page, std::string("\n.SH ") + section + "\n")) << section;
  const std::string options = platform::read_file(std::string(TUNE_SOURCE_DIR) + "/docs/options.md");
  const std::string codes = options.substr(options.find("## Exit codes"));
  for (const std::string& code : found(codes, "\n\\| ([0-9, ]+) \\|"))
    EXPECT_TRUE(has(page, "\n\\fB" + code + "\\fR\n")) << code;
}

TEST_F(Shell, TheManualPageRenders) {
  if (!installed("groff") && !installed("mandoc")) GTEST_SKIP() << "neither groff nor mandoc is installed";
  const char* with_groff = "tune man-page >tune.1 && groff -man -ww -Tascii -P-c tune.1\n";
  const char* with_mandoc = "tune man-page >tune.1 && mandoc -W warning tune.1 | col -b\n";
  const std::string page = run("sh", installed("groff") ? with_groff : with_mandoc);
  EXPECT_FALSE(has(page, "warning")) << page;
  EXPECT_FALSE(has(page, "error:")) << page;
  EXPECT_TRUE(has(page, "TUNE(1)")) << page;
}

}  // namespace
}  // namespace tune::cli::cli_shell_test
