#include "program/program_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "backend.h"
#include "compiler/compiler_output.h"
#include "model/values/error.h"

namespace tune::worker {
namespace {

constexpr std::size_t kLongestQuote = 300;

// A shell reports the signal that killed its command as an exit code of 128 and more.
platform::Exit seen_through_shell(platform::Exit exit, bool is_shell) {
  if (is_shell && exit.signal == 0 && exit.code > 128) exit.signal = std::exchange(exit.code, 0) - 128;
  return exit;
}

// The last line that is not blank.
std::string_view last_line(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  return text.substr(text.find_last_of('\n') + 1);
}

/// What to do about a command that finds what an earlier run of it has left.
std::string_view advice_on_left_files(std::string_view line) {
  const auto says = [&](std::string_view text) { return line.find(text) != std::string_view::npos; };
  if (!says("already exists") && !says("File exists")) return "";
  return "; it is run again and again: let it write to stdout, or remove the file before each run by --prepare";
}

// Some compilers write their errors to stdout.
std::string message_of(const Task& task, const platform::Exit& exit, const platform::Finished& finished) {
  const std::string limit = task.memory_bytes == 0
                                ? ""
                                : fmt::format("; its memory is limited to {} MiB by --memory", task.memory_bytes >> 20);
  if (exit.signal != 0) return fmt::format("{} was {}{}", task.what, platform::to_text(exit), limit);
  CompilerError error = first_error(finished.captured);
  if (error.line.empty()) error = first_error(finished.output);
  std::string line = shown_error(error.line, task.folders);
  if (line.empty()) line = last_line(finished.captured.empty() ? finished.output : finished.captured);
  line.resize(std::min(line.size(), kLongestQuote));
  std::ranges::replace(line, '\t', ' ');
  if (task.is_timed) line += advice_on_left_files(line);
  if (const std::string advice = advice_on_macro(line); task.stage == Stage::build && !advice.empty())
    line += "; " + advice;
  const std::string first =
      fmt::format("{} ended with {}{}{}{}", task.what, platform::to_text(exit), line.empty() ? "" : ": ", line, limit);
  return task.stage == Stage::build ? message_with(first, error.rest) : first;
}

// The last lines of a text of several, each below the message's first line; blank ones do not count.
std::string last_lines(std::string_view text) {
  constexpr int kMost = 5;
  std::string lines;
  int count = 0;
  while (!text.empty() && count < kMost) {
    text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    const std::size_t begin = text.find_last_of('\n') + 1;
    if (begin < text.size()) lines = fmt::format("\n{}{}", text.substr(begin), lines);
    if (begin < text.size()) ++count;
    text = text.substr(0, begin);
  }
  return count > 1 ? lines : "";
}

[[noreturn]] void refuse(const Task& task, const platform::Exit& exit, const platform::Finished& finished) {
  wire::Failed failed{task.stage, message_of(task, exit, finished), facts_of_end(exit.code, exit.signal)};
  if (task.stage != Stage::build) failed.message += last_lines(finished.captured);
  if (task.stage == Stage::build) {
    const std::string output = finished.output + finished.captured;
    failed.facts = facts_of_build(exit, output);
    failed.room_error = room_error_of_build(output);
  }
  throw SpecFailure(std::move(failed));
}

/// What needs a set-user-ID helper cannot run where signals are denied.
bool is_trusted_with_signals() {
  const char* value = std::getenv("TUNE_PROGRAMS_MAY_SIGNAL");
  return value != nullptr && value == std::string_view("1");
}

platform::Finished start(const Task& task, const platform::Command& command) {
  try {
    return platform::run(command);
  } catch (const platform::TooLong& error) {
    throw SpecFailure(task.stage, error.what());  // the values of its parameters are
  } catch (const Error& error) {
    if (!task.is_artifact) throw;
    throw SpecFailure(task.stage, error.what());
  }
}

}  // namespace

platform::Finished run_or_refuse(const Task& task) {
  platform::Command command;
  command.argv = expand_command(task.prefix, false, task.placeholders);
  const Words own = expand_command(task.command, task.is_shell, task.placeholders);
  command.argv.insert(command.argv.end(), own.begin(), own.end());
  command.environment = task.environment;
  command.own_group = false;
  command.discards_output = task.discards_output;
  command.awaits_all = task.awaits_all;
  command.keeps = task.keeps;
  command.memory_bytes = task.memory_bytes;
  command.signals_others = task.stage == Stage::build || is_trusted_with_signals();
  platform::Finished finished = start(task, command);
  for (const auto* text : {&finished.output, &finished.captured}) std::fwrite(text->data(), 1, text->size(), stderr);
  std::fflush(stderr);
  const platform::Exit exit = seen_through_shell(finished.exit, task.is_shell);
  if (!exit.clean()) refuse(task, exit, finished);
  return finished;
}

}  // namespace tune::worker
