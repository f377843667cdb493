#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/reader/load.h"
#include "database/database.h"
#include "exec/request/request_factory.h"
#include "exec/workers.h"

namespace tune::commands {

/// The tuning file that results are from, read for the sizes of any of them: what says whether a configuration may be
/// used for other sizes than those that it was timed for.
class TunedPlan {
 public:
  /// `device`: the name of the device in question. What its properties are is known if it is here, or a known device;
  /// else the file's device_defaults have to tell. `workers` must outlive this.
  TunedPlan(std::vector<std::filesystem::path> yamls, database::ResultGroup group, const std::string& device,
            exec::Workers& workers);

  const database::ResultGroup& group() const { return group_; }
  const Device& device() const { return device_; }
  /// How the file is read for these sizes, but for the device.
  config::LoadSettings load_settings(const database::Sizes& sizes) const;
  /// Throws Error(bad_input) also if the file is another kernel's.
  config::Loaded at(const database::Sizes& sizes) const;

  /// Why these parameters are no valid spec for these sizes; nullopt: they are one.
  std::optional<std::string> misfit(const std::vector<Setting>& params, const database::Sizes& sizes) const;
  /// Whether the source is the one that the results are of, as far as they say.
  bool has_their_source(const database::Sizes& sizes) const;
  /// Whether both sizes are served by one binary: nothing that is compiled in differs.
  bool share_binary(const std::vector<Setting>& params, const database::Sizes& a, const database::Sizes& b) const;

 private:
  config::Loaded load_theirs(config::LoadRules rules) const;
  exec::RequestFactory requests(const config::Loaded& loaded) const;

  std::vector<std::filesystem::path> yamls_;
  database::ResultGroup group_;
  Backend backend_;
  Device device_;
};

}  // namespace tune::commands
