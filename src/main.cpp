#include <filesystem>
#include <new>
#include <string>

#include "commands/commands.h"
#include "commands/print_messages.h"
#include "exec/process/runner.h"
#include "model/values/error.h"
#include "platform/files/streams.h"
#include "platform/process/descendants.h"
#include "platform/process/process.h"

namespace {

int run(int argc, char** argv) {
  const auto action = tune::commands::read_command_line(argc, argv);
  return action ? static_cast<int>((*action)()) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  tune::platform::end_on_signals();
  tune::platform::open_standard_streams();
  tune::platform::adopt_orphans();
  try {
    const int code = run(argc, argv);
    return tune::platform::results_arrived() ? code : static_cast<int>(tune::ExitCode::environment);
  } catch (const tune::Error& error) {
    tune::commands::print_error(error.what());
    return static_cast<int>(error.code());
  } catch (const tune::exec::Interrupted& interrupted) {
    tune::platform::print_to_stderr(tune::platform::kInterrupted);
    return 128 + interrupted.signal;
  } catch (const std::filesystem::filesystem_error& error) {
    std::error_code ignored;
    const bool gone = std::filesystem::current_path(ignored).empty();
    const std::string path = gone ? "the working folder" : error.path1().string();
    tune::commands::print_error(path + ": " + error.code().message() + "; fix this, or choose another file or folder");
    return static_cast<int>(tune::ExitCode::environment);
  } catch (const std::bad_alloc&) {
    tune::commands::print_error("there is not enough memory; give it more, or a smaller file or grid");
    return static_cast<int>(tune::ExitCode::environment);
  } catch (const std::exception& error) {
    tune::commands::print_error(std::string("unexpected: ") + error.what());
    return static_cast<int>(tune::ExitCode::environment);
  }
}
