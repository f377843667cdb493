#include "model/program.h"

#include <algorithm>
#include <iterator>

namespace tune {

std::optional<Language> language_of(const std::filesystem::path& file) {
  const std::string suffix = file.extension().string();
  if (suffix == ".c") return Language::c;
  if (suffix == ".cpp" || suffix == ".cc" || suffix == ".cxx") return Language::cpp;
  if (suffix == ".cu") return Language::cuda;
  if (suffix == ".hip") return Language::hip;
  return std::nullopt;
}

bool is_built(const Plan& plan) { return !plan.is_program() || !plan.build.command.empty() || language_of(plan.file); }

std::vector<std::filesystem::path> files_of(const Plan& plan) {
  std::vector<std::filesystem::path> files;
  for (const CandidateFile& file : plan.candidates) files.push_back(file.path);
  if (files.empty() && !plan.file.empty()) files.push_back(plan.file);
  return files;
}

const std::filesystem::path& file_of(const Plan& plan, std::span<const Setting> params) {
  const auto chosen = std::ranges::find(params, kFileParameter, &Setting::name);
  if (chosen == params.end()) return plan.file;
  const auto file = std::ranges::find(plan.candidates, to_text(chosen->value), &CandidateFile::name);
  return file == plan.candidates.end() ? plan.file : file->path;
}

Placeholders values_in_commands(const Space& space, const Spec& spec) {
  Placeholders values;
  const auto add = [&](const Setting& setting) {
    const std::string text = to_text(setting.value);
    values[setting.name] = text.empty() ? Words() : Words{text};
  };
  std::ranges::for_each(spec.params, add);
  std::ranges::for_each(space.derived(spec), add);
  return values;
}

Words arguments_of(const Plan& plan, const Spec& spec) {
  const bool built = is_built(plan);
  Words words;
  const auto is_choice_of_file = [&](const Setting& setting) {
    return !plan.candidates.empty() && setting.name == kFileParameter;
  };
  const Words run = plan.is_program() ? plan.program()->run.words : Words();
  for (const Setting& setting : spec.params)
    if ((setting.run_time || !built) && !uses(run, setting.name) && !is_choice_of_file(setting))
      words.push_back("--" + setting.name + "=" + to_text(setting.value));
  return words;
}

namespace {

/// The text with every value of the parameter in the place of its placeholder.
std::vector<std::string> filled_in(const std::string& text, const Parameter& parameter) {
  if (!uses({text}, parameter.name)) return {text};
  std::vector<std::string> filled;
  for (const Value& value : parameter.values)
    filled.push_back(expand_command({text}, false, {{parameter.name, {to_text(value)}}}).front());
  return filled;
}

}  // namespace

std::set<std::string> programs_of(const Plan& plan) {
  const ProgramPlan* program = plan.program();
  if (program == nullptr) return {};
  std::set<std::string> programs;
  if (!program->prefix.empty()) programs.insert(program->prefix.front());
  if (!program->is_command || program->run.is_shell) return programs;
  for (const Space::Mapping& mapping : plan.space.mappings()) {
    std::vector<std::string> texts = {program->run.words.front()};
    for (const Parameter& parameter : mapping.parameters) {
      std::vector<std::string> longer;
      for (const std::string& text : texts) std::ranges::move(filled_in(text, parameter), std::back_inserter(longer));
      texts = std::move(longer);
    }
    programs.insert(texts.begin(), texts.end());
  }
  return programs;
}

std::string program_of(const Plan& plan, const Baseline& baseline) {
  const ProgramPlan* program = plan.program();
  if (program == nullptr || !program->is_command || program->run.is_shell || baseline.kind != Baseline::Kind::params)
    return "";
  Placeholders values;
  for (const Setting& setting : baseline.settings) values[setting.name] = {to_text(setting.value)};
  const std::string word = expand_command({program->run.words.front()}, false, values).front();
  return word.find('{') == std::string::npos ? word : "";  // it lacks a parameter, which others complain of
}

}  // namespace tune
