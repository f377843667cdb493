#include <filesystem>
#include <new>
#include <string>

#include "base/descendants.h"
#include "base/interrupts.h"
#include "base/log.h"
#include "base/streams.h"
#include "commands/commands.h"
#include "exec/runner.h"
#include "model/values/error.h"

namespace {

int run(int argc, char** argv) {
  const auto options = tune::parse_options(argc, argv);
  if (!options) return 0;
  if (options->verbose) tune::base::log_verbosely();
  const tune::ExitCode code = tune::commands::run(*options);
  return code == tune::ExitCode::undecided ? options->exit_undecided : static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  tune::base::end_on_signals();
  tune::base::open_standard_streams();
  tune::base::adopt_orphans();
  try {
    const int code = run(argc, argv);
    return tune::base::results_arrived() ? code : static_cast<int>(tune::ExitCode::environment);
  } catch (const tune::Error& error) {
    tune::base::print_error(error.what());
    return static_cast<int>(error.code());
  } catch (const tune::exec::Interrupted& interrupted) {
    tune::base::print_to_stderr(tune::base::kInterrupted);
    return 128 + interrupted.signal;
  } catch (const std::filesystem::filesystem_error& error) {
    std::error_code ignored;
    const bool gone = std::filesystem::current_path(ignored).empty();
    const std::string path = gone ? "the working folder" : error.path1().string();
    tune::base::print_error(path + ": " + error.code().message() + "; fix this, or choose another file or folder");
    return static_cast<int>(tune::ExitCode::environment);
  } catch (const std::bad_alloc&) {
    tune::base::print_error("there is not enough memory; give it more, or a smaller file or grid");
    return static_cast<int>(tune::ExitCode::environment);
  } catch (const std::exception& error) {
    tune::base::print_error(std::string("unexpected: ") + error.what());
    return static_cast<int>(tune::ExitCode::environment);
  }
}
