#include "interop/journal_problems.h"

#include <map>
#include <tuple>

#include "interop/text_file.h"
#include "model/values/error.h"

namespace tune::interop {
namespace {

using JournalProblem = std::tuple<std::string, std::string, std::string>;  // kernel, problem, device

struct JournalPart {
  std::string text;
  bool has_trials = false;
};

/// The lines of each problem's runs. Lines before the first run, and those that are damaged, stay with what they
/// follow.
std::map<JournalProblem, JournalPart> parts_of(const std::string& text) {
  std::map<JournalProblem, JournalPart> parts;
  JournalPart* part = &parts[{}];
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string line = text.substr(begin, end - begin + 1);
    try {
      const wire::Record record = wire::decode_record(std::string_view(line).substr(0, line.size() - 1));
      if (const auto* run = std::get_if<wire::RunRecord>(&record))
        part = &parts[{run->name, run->problem, run->hello.device.name}];
      part->has_trials |= std::holds_alternative<wire::TrialRecord>(record);
    } catch (const wire::Malformed&) {
    }
    part->text += line;
  }
  return parts;
}

}  // namespace

std::vector<Recording> read_all_problems(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  std::vector<Recording> recordings;
  if (text.substr(0, text.find('\n')).find("\"record\":") != std::string::npos)
    for (const auto& [problem, part] : parts_of(text))
      if (part.has_trials) recordings.push_back(parse_recording(part.text, path.string()));
  if (recordings.empty()) recordings.push_back(parse_recording(text, path.string()));
  return recordings;
}

}  // namespace tune::interop
