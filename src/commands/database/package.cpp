#include "package/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/database/package_contents.h"
#include "commands/database/selection.h"
#include "commands/installation.h"
#include "commands/print_messages.h"
#include "database/database_file.h"
#include "model/values/escaped_text.h"
#include "model/values/text.h"
#include "package/cpp_text.h"
#include "package/expression_text.h"
#include "platform/files/file.h"

namespace tune::commands {
namespace {

namespace fs = std::filesystem;

/// `tune package`: writes a folder with which a program launches what was tuned. none_valid: what is built now is not
/// what was timed.
struct PackageOptions {
  fs::path database;
  std::vector<fs::path> yaml;
  fs::path output;
  SelectionOptions selection;
  StoreOptions store;
  bool partial = false;
  bool other_sizes = true;  ///< the tuning file has the constraints that say which sizes a result is for
};

void bind(cli::Command& command, PackageOptions& options) {
  command.path("DB", options.database, "FILE", "The database, or the best YAML of a tuning")
      .required()
      .files(kYamlFiles);
  command
      .several("--yaml", options.yaml, "FILE",
               "The tuning file that its results are from (default: the best YAML, for its size alone)")
      .files(kYamlFiles);
  command.path("--output,-o", options.output, "DIR", "The folder to write; its name is that of the package").required();
  bind_selection(command, options.selection, kTheOnlyDevice);
  command.flag("--partial", options.partial, "Leave out results whose binary cannot be built again as it was");
  command.path("--store", options.store.store, "DIR", "The build store (default: ~/.cache/tune/store)");
}

std::string manifest_of(const fs::path& folder) {
  const fs::path file = folder / "manifest.json";
  std::error_code none;
  return fs::is_regular_file(file, none) ? platform::read_file(file) : "";
}

/// Throws Error(bad_input) if the folder is something else than a package as it was written, or one that is new or
/// empty.
void require_own(const fs::path& folder) {
  std::error_code none;
  if (!fs::exists(folder, none) || (fs::is_directory(folder) && fs::is_empty(folder))) return;
  const auto files = package::files_in(manifest_of(folder));
  if (files.empty())
    throw Error(ExitCode::bad_input, fmt::format("{} exists and is no package; name another folder", folder.string()));
  for (const auto& [name, hash] : files)
    if (fs::is_regular_file(folder / name, none) && platform::hash_file(folder / name) != hash)
      throw Error(
          ExitCode::bad_input,
          fmt::format("{} was changed since it was packaged, and would be lost; move it, or name another folder",
                      (folder / name).string()));
}

/// The results to package: of several versions those of the source that is here now.
const database::ResultGroup& packaged_group(const database::Database& database, const PackageOptions& options,
                                            exec::Workers& workers) {
  std::vector<const database::ResultGroup*> groups = groups_of_the_device(database, options.selection);
  if (groups.size() > 1)
    std::erase_if(groups, [&](const database::ResultGroup* group) {
      const auto first = database.results.lower_bound({*group, {}});
      return !TunedPlan(options.yaml, *group, group->device.name, workers).has_their_source(first->first.sizes);
    });
  return groups.size() == 1 ? *groups.front() : the_group(database, options.selection);
}

class Packer {
 public:
  Packer(const PackageOptions& options, const database::Database& database)
      : options_(&options),
        database_(&database),
        workers_(find_workers()),
        group_(&packaged_group(database, options, workers_)),
        serves_other_sizes_(options.other_sizes && database::launches_are_known(database, *group_)),
        backend_(backend_of(*group_)),
        folder_((fs::absolute(options.output) / "").lexically_normal().parent_path()) {}

  void pack() {
    require_packable();
    const TunedPlan plan(options_->yaml, *group_, group_->device.name, workers_);
    PackageCandidates candidates(*database_, *group_, serves_other_sizes_, plan, workers_);
    candidates.build(options_->store);
    refuse(candidates.all());
    const package::Package package =
        package_of(folder_.filename().string(), *database_, *group_, plan, candidates, serves_other_sizes_);
    write(package::files_of(package));
    if (!options_->other_sizes)
      print_wrapped(
          "note: the package is for this size alone; --yaml FILE, the tuning file, says by its constraints "
          "which others the result is for");
    else if (!serves_other_sizes_)
      print_wrapped(
          "note: the package is for these sizes on this device alone, because results have no code:, the hash of how "
          "they were launched; to have it, " +
          how_to_time_again());
    print_lines(summary(package));
  }

 private:
  void require_packable() const {
    if (is_program(backend_))
      throw Error(ExitCode::bad_input,
                  fmt::format("packages are made of kernels for cuda, hip and the cpu; these results are of {}",
                              group_->backend));
    if (!group_->device.arch.starts_with(traits_of(backend_).arch))
      throw Error(
          ExitCode::bad_input,
          fmt::format("the results are of the architecture '{}', and a package is for one such as {}; tune anew "
                      "to have it known",
                      group_->device.arch, traits_of(backend_).arch_example));
    require_own(folder_);
  }

  /// Throws Error(none_valid) if results would be left out that need not be, or all.
  void refuse(const std::vector<PackageCandidate>& candidates) const {
    std::map<std::string, std::vector<std::string>> sizes_by_reason;
    std::size_t left = 0, refused = 0;
    bool changed = false;
    for (const PackageCandidate& each : candidates) {
      if (each.result == nullptr) continue;
      if (each.refusal.empty()) {
        ++left;
        continue;
      }
      ++refused;
      changed = changed || each.changed;
      sizes_by_reason[each.refusal].push_back(database::to_text(each.sizes));
    }
    if (refused == 0) return;
    std::string all;
    for (const auto& [reason, sizes] : sizes_by_reason) {
      if (left == 0 && sizes.size() == refused && refused > 1)
        all += fmt::format("all {} sizes: {}\n", refused, reason);
      else
        for (const std::string& each : sizes) all += fmt::format("{}: {}\n", each, reason);
    }
    const bool can_retime = changed && database::is_database(options_->database);
    const std::string advice = can_retime ? how_to_time_again() : "tune these sizes again";
    if (left == 0) throw Error(ExitCode::none_valid, all + "nothing is left to be packaged; " + advice);
    if (!options_->partial) throw Error(ExitCode::none_valid, all + "leave these out with --partial, or " + advice);
    print_wrapped("note: left out: " + line_with_escapes(all));
  }

  /// What a user types to have the present code in the database.
  std::string how_to_time_again() const {
    const std::string database = options_->database.string();
    std::vector<std::string> words = {"tune", "retime", database};
    for (const fs::path& yaml : options_->yaml) words.insert(words.end(), {"--yaml", yaml.string()});
    if (options_->selection.kernel) words.insert(words.end(), {"--kernel", *options_->selection.kernel});
    for (const std::string& problem : options_->selection.problem) words.insert(words.end(), {"--problem", problem});
    words.insert(words.end(), {"-o", database});
    return fmt::format("time what is built now, on {}:\n\t{}", group_->device.name, typed_line(words));
  }

  /// Files of an earlier package that this one has no more are removed; others in the folder stay. The manifest, which
  /// says that all is there, is the last. Throws Error(bad_input) for a file of the user that has the name of one.
  void write(std::map<std::string, std::string> files) {
    const auto before = package::files_in(manifest_of(folder_));
    replaces_ = !before.empty();
    std::error_code none;
    for (const auto& [name, text] : files)
      if (replaces_ && name != "manifest.json" && !before.contains(name) && fs::exists(folder_ / name, none) &&
          platform::read_file(folder_ / name) != text)
        throw Error(ExitCode::bad_input,
                    fmt::format("{} is no file of the package that is there, and would be lost; move it, or name "
                                "another folder",
                                (folder_ / name).string()));
    for (const auto& [old, hash] : before)
      if (!files.contains(old)) fs::remove(folder_ / old);
    const auto manifest = files.extract("manifest.json");
    for (const auto& [name, text] : files) platform::write_file(folder_ / name, text);
    platform::write_file(folder_ / manifest.key(), manifest.mapped());
  }

  std::string summary(const package::Package& package) const {
    std::set<std::string> binaries;
    for (const package::Entry& entry : package.entries) binaries.insert(package.variants[entry.variant].artifact);
    const std::string folder = typed_line({options_->output.lexically_normal().string()});
    const std::string build = typed_line({(options_->output / "build").lexically_normal().string()});
    return fmt::format(
        "{0}: {1} in {2} for {3}{5}\nnext: read README.md there, or test it:\n  cmake -S {0} -B {4} && "
        "cmake --build {4} && {4}/selftest\n",
        folder, plural(package.entries.size(), "size"), plural(binaries.size(), "binary", "binaries"), package.device,
        build, replaces_ ? ", in place of the package that was there" : "");
  }

  const PackageOptions* options_;
  const database::Database* database_;
  exec::Workers workers_;
  const database::ResultGroup* group_;
  bool serves_other_sizes_;
  Backend backend_;
  fs::path folder_;
  bool replaces_ = false;  ///< an earlier package
};

/// A best YAML is a tuning file, too, but without the constraints that exclude sizes.
PackageOptions with_tuning_file(PackageOptions options) {
  if (options.yaml.empty() && database::is_database(options.database))
    throw Error(ExitCode::bad_input, options.database.string() +
                                         ": a database does not say where the kernels of its results are; name their "
                                         "tuning file with --yaml FILE");
  if (options.yaml.empty()) options.yaml = {options.database};
  if (std::ranges::any_of(options.yaml, database::is_best_yaml)) options.other_sizes = false;
  return options;
}

ExitCode pack(const PackageOptions& given) try {
  const PackageOptions options = with_tuning_file(given);
  const database::Database database = database::read_database(options.database);
  Packer(options, database).pack();
  return ExitCode::ok;
} catch (const package::NotPackaged& error) {
  const std::filesystem::path& yaml = given.yaml.empty() ? given.database : given.yaml.front();
  throw Error(ExitCode::bad_input, fmt::format("{}: {}", yaml.string(), error.what()));
} catch (const fs::filesystem_error& error) {
  throw Error(ExitCode::environment,
              fmt::format("cannot write {}: {}", error.path1().string(), error.code().message()));
}

}  // namespace

extern const cli::CommandSpec kPackage = cli::command_spec<PackageOptions, bind, pack>(
    "package", "Write a folder with which a C++ program or PyTorch launches what was tuned");

}  // namespace tune::commands
