#include "commands/installation.h"

#include "platform/files/user_folders.h"

namespace tune::commands {

std::filesystem::path folder_of_configs() {
  return platform::folder_of_executable().parent_path() / "share" / "tune" / "configs";
}

std::filesystem::path folder_of_devices() { return folder_of_configs() / "devices"; }

exec::Workers find_workers(const exec::Deadlines& deadlines, exec::OtherMachines* others) {
  return {platform::folder_of_executable(), deadlines.run, others};
}

}  // namespace tune::commands
