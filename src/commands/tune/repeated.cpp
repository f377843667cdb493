#include "commands/tune/repeated.h"

#include <filesystem>

#include "commands/messages.h"
#include "commands/tune/settings.h"

namespace tune::commands {

std::string prefix_in_state_folder(const TuneOptions& options, const std::string& ending) {
  std::filesystem::path journal = results::Outputs(output_rules(options, Job(options))).journal;
  return journal.replace_extension("").string() + "-" + ending;
}

Tuned tune_one_of_several(const TuneOptions& options, Target& target) try {
  return tune(options, target);
} catch (const Error& error) {
  if (error.code() != ExitCode::none_valid) throw;
  print_wrapped(error.what());
  return {};
}

}  // namespace tune::commands
