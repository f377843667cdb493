#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "model/device.h"
#include "wire/messages.h"

namespace tune {

/// The worker executables of this installation and what they say of this machine. Each is probed at most once.
class Workers {
 public:
  /// Workers stand next to `tune`, or in ../libexec/tune seen from it.
  explicit Workers(std::filesystem::path folder_of_tune) : folder_(std::move(folder_of_tune)) {}

  /// The worker of a backend; nullopt if it is not installed.
  std::optional<std::filesystem::path> find(Backend backend) const;
  /// Its probe's answer. Throws Error(environment) if it is not installed, does not start, or finds no device.
  const wire::Hello& probe(Backend backend);
  /// Whether the backend can run here.
  bool present(Backend backend);

 private:
  std::filesystem::path folder_;
  std::map<Backend, wire::Hello> hellos_;
};

}  // namespace tune
