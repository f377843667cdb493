#include "package/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/database/selection.h"
#include "commands/database/tuned_plan.h"
#include "commands/installation.h"
#include "commands/messages.h"
#include "database/database_file.h"
#include "exec/device/measure_service.h"
#include "exec/request/spec_launches.h"
#include "model/command.h"
#include "model/program.h"
#include "model/settings.h"
#include "model/values/escaped_text.h"
#include "package/cpp_text.h"
#include "package/expression_text.h"
#include "platform/files/file.h"

namespace tune::commands {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSmallBytes = 64 << 20;  // bytes of all buffers
constexpr std::size_t kBeside = 10;             // entries of which the test tries sizes beside them

/// `tune package`: writes a folder with which a program launches what was tuned. none_valid: what is built now is not
/// what was timed.
struct PackageOptions {
  fs::path database;
  std::vector<fs::path> yaml;
  fs::path output;
  SelectionOptions selection;
  StoreOptions store;
  bool partial = false;
};

void bind(cli::Command& command, PackageOptions& options) {
  command.path("DB", options.database, "FILE", "The database").required().files(kYamlFiles);
  command.several("--yaml", options.yaml, "FILE", "The tuning file that its results are from")
      .required()
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

/// A result or a rule's choice, on its way into a package.
struct Candidate {
  database::Sizes sizes;
  std::vector<Setting> params;
  std::string artifact, code;                     ///< as they were timed; empty: not known
  const database::TunedResult* result = nullptr;  ///< null: of a rule
  std::unique_ptr<config::Loaded> loaded = {};
  std::unique_ptr<exec::RequestFactory> requests = {};
  Spec spec = {};
  std::string refusal = {};
  bool changed = false;  ///< it is refused because what is built or launched now is not what was timed
  fs::path built = {};
  // of a custom problem's reference
  fs::path reference_built = {};
  std::string reference_artifact = {};
};

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

wire::Hello hello_for(const TunedPlan& plan, Backend backend, exec::Workers& workers) {
  wire::Hello hello = workers.probe_compiler(backend);
  hello.device = plan.device();
  hello.device.arch = plan.group().device.arch;
  return hello;
}

class Packer {
 public:
  Packer(const PackageOptions& options, const database::Database& database)
      : options_(&options),
        database_(&database),
        workers_(find_workers()),
        group_(&packaged_group(database, options, workers_)),
        serves_other_sizes_(database::launches_are_known(database, *group_)),
        backend_(backend_of(*group_)),
        folder_((fs::absolute(options.output) / "").lexically_normal().parent_path()) {}

  void pack() {
    require_packable();
    plan_.emplace(options_->yaml, *group_, group_->device.name, workers_);
    collect();
    build();
    refuse();
    package::Package package = make();
    write(package::files_of(package));
    if (!serves_other_sizes_)
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

  /// The results, and what the leaves of the rule's tree choose beside them.
  void collect() {
    const wire::Hello hello = hello_for(*plan_, backend_, workers_);
    for (auto each = database_->results.lower_bound({*group_, {}});
         each != database_->results.end() && each->first.group == *group_; ++each)
      add({each->first.sizes, each->second.params, each->second.artifact_hash, each->second.code, &each->second},
          hello);
    const auto rule = database_->rules.find(*group_);
    if (rule == database_->rules.end() || !serves_other_sizes_) return;
    for (const database::SizeRule::Node& node : rule->second.tree) {
      if (!node.size.empty() || find_params(rule->second.configurations[node.use].params) != nullptr) continue;
      const auto& configuration = rule->second.configurations[node.use];
      const std::string params = to_text(configuration.params);
      for (const auto& [sizes, use] : rule->second.table)
        if (const auto& listed = rule->second.configurations[use]; to_text(listed.params) == params) {
          add({sizes, configuration.params, listed.artifact_hash, {}, nullptr}, hello);
          break;
        }
    }
  }

  const Candidate* find_params(const std::vector<Setting>& params) const {
    const std::string text = to_text(params);
    const auto found = std::ranges::find_if(
        candidates_, [&](const Candidate& each) { return each.refusal.empty() && to_text(each.params) == text; });
    return found == candidates_.end() ? nullptr : &*found;
  }

  void add(Candidate candidate, const wire::Hello& hello) {
    if (candidate.artifact.empty()) candidate.refusal = "there is no hash of the binary that was timed";
    candidate.loaded = std::make_unique<config::Loaded>(plan_->at(candidate.sizes));
    try {
      auto spec = candidate.loaded->plan.space.at(candidate.params);
      if (const auto* rejection = std::get_if<Rejection>(&spec))
        candidate.refusal = "the tuning file excludes it: " + rejection->reason;
      else
        candidate.spec = std::get<Spec>(std::move(spec));
    } catch (const std::invalid_argument& error) {
      candidate.refusal = error.what();
    }
    candidate.requests = std::make_unique<exec::RequestFactory>(candidate.loaded->plan, hello, 0);
    candidates_.push_back(std::move(candidate));
  }

  /// All that the store does not have is built at once.
  void build() {
    exec::MeasureOptions rules;
    rules.worker = workers_.require(backend_);
    rules.store = store_places(options_->store);
    rules.jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    service_ = std::make_unique<exec::MeasureService>(*candidates_.front().requests, rules);
    exec::Builder& builder = service_->builds().builder();
    for (Candidate& each : candidates_)
      if (each.refusal.empty()) try {
          const std::string key = each.requests->build_key(each.spec);
          if (builder.find(key) == nullptr) builder.want(key, each.requests->build(each.spec));
          if (!is_custom(each)) continue;
          const std::string reference = each.requests->reference_build_key(each.spec);
          if (builder.find(reference) == nullptr) builder.want(reference, each.requests->reference_build(each.spec));
        } catch (const exec::Unlaunchable& error) {
          each.refusal = error.what();
        }
    service_->finish_builds();
    for (Candidate& each : candidates_)
      if (each.refusal.empty()) {
        compare(each, *builder.find(each.requests->build_key(each.spec)));
        if (is_custom(each)) add_reference(each, *builder.find(each.requests->reference_build_key(each.spec)));
      }
  }

  static bool is_custom(const Candidate& candidate) {
    return std::holds_alternative<Custom>(candidate.loaded->plan.problem);
  }

  static void add_reference(Candidate& candidate, const exec::Builder::Result& result) {
    if (const auto* failure = std::get_if<Failure>(&result)) {
      if (candidate.refusal.empty()) candidate.refusal = "its reference does not build: " + failure->message;
      return;
    }
    candidate.reference_built = std::get<exec::Artifact>(result).path;
    candidate.reference_artifact = std::get<exec::Artifact>(result).info.artifact_hash;
  }

  void compare(Candidate& candidate, const exec::Builder::Result& result) {
    if (const auto* failure = std::get_if<Failure>(&result)) {
      candidate.refusal = "it does not build: " + failure->message;
      return;
    }
    const auto& artifact = std::get<exec::Artifact>(result);
    candidate.built = artifact.path;
    if (!candidate.artifact.empty() && artifact.info.artifact_hash != candidate.artifact) {
      candidate.changed = true;
      const bool same_source = group_->source.empty() || candidate.requests->source_hash() == group_->source;
      candidate.refusal =
          same_source
              ? fmt::format("what is built now has other bytes than what was timed; it was built by {}, and here is {}",
                            group_->device.compiler, candidate.requests->hello().compiler)
              : "the source is not what it was when it was timed";
      return;
    }
    if (!candidate.code.empty() &&
        candidate.requests->code_of(candidate.spec, artifact.info.artifact_hash) != candidate.code) {
      candidate.changed = true;
      candidate.refusal = "the tuning file launches it in another way than when it was timed";
    }
    candidate.artifact = artifact.info.artifact_hash;
  }

  void refuse() {
    std::map<std::string, std::vector<std::string>> sizes_by_reason;
    std::size_t left = 0, refused = 0;
    bool changed = false;
    for (const Candidate& each : candidates_) {
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
    const std::string advice = changed ? how_to_time_again() : "tune these sizes again";
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
    return fmt::format("time what is built now, on {}: {}", group_->device.name, typed_line(words));
  }

  package::Package make() {
    package::Package package;
    package.folder = folder_.filename().string();
    package.name = package::member_of(package.folder);
    package.kernel = group_->kernel;
    package.backend = group_->backend;
    package.device = group_->device.name;
    package.arch = group_->device.arch;
    package.driver = group_->device.driver;
    package.compiler = group_->device.compiler;
    package.source = group_->source;
    package.serves_other_sizes = serves_other_sizes_;
    for (const auto& [alias, name] : database_->aliases)
      if (name == group_->device.name) package.aliases.push_back(alias);
    for (const Candidate& each : candidates_) {
      if (!each.refusal.empty()) continue;
      const std::size_t variant = variant_of(package, each);
      if (each.result != nullptr) package.entries.push_back(entry_of(each, variant));
    }
    if (!variants_of_references_.empty()) add_references(package);
    std::ranges::sort(package.entries, {}, &package::Entry::sizes);
    add_cases(package);
    add_tree(package);
    if (backend_ == Backend::cpu) add_sources(package);
    return package;
  }

  std::size_t variant_of(package::Package& package, const Candidate& candidate) {
    const std::string key = candidate.artifact + to_text(candidate.params);
    const auto [known, is_new] = variants_.try_emplace(key, package.variants.size());
    if (is_new) {
      package.variants.push_back({candidate.loaded->plan,
                                  candidate.spec,
                                  candidate.artifact,
                                  candidate.built,
                                  flags_of(candidate.requests->build(candidate.spec)),
                                  {}});
      if (is_custom(candidate)) variants_of_references_.push_back(reference_of(candidate));
    }
    return known->second;
  }

  static std::vector<std::string> flags_of(const wire::BuildRequest& request) {
    std::vector<std::string> flags;
    for (const Define& define : request.defines) flags.push_back(fmt::format("-D{}={}", define.name, define.value));
    flags.insert(flags.end(), request.flags.begin(), request.flags.end());
    return flags;
  }

  static package::Variant reference_of(const Candidate& candidate) {
    package::Variant variant = {candidate.loaded->plan,
                                candidate.requests->reference_spec(candidate.spec),
                                candidate.reference_artifact,
                                candidate.reference_built,
                                flags_of(candidate.requests->reference_build(candidate.spec)),
                                {}};
    if (variant.plan.reference.kernel) variant.plan.launches = {*variant.plan.reference.kernel};
    return variant;
  }

  /// Behind the variants that are chosen.
  void add_references(package::Package& package) const {
    const std::size_t chosen = package.variants.size();
    package.variants.insert(package.variants.end(), variants_of_references_.begin(), variants_of_references_.end());
    for (std::size_t i = 0; i < package.variants.size(); ++i) package.references.push_back(i < chosen ? chosen + i : i);
  }

  /// What the test of a custom problem tries: the entries, and sizes beside those that are small.
  void add_cases(package::Package& package) const {
    if (package.references.empty()) return;
    const std::vector<std::string> names = package::size_names(package.variants.front().plan);
    std::set<std::vector<std::int64_t>> known;
    const auto add = [&](const std::vector<std::int64_t>& values) {
      database::Sizes sizes;
      for (std::size_t i = 0; i < names.size(); ++i) sizes.emplace_back(names[i], values[i]);
      std::int64_t bytes = 0;
      package::Case each{values, {}};
      const config::Loaded loaded = plan_->at(sizes);
      for (const Buffer& buffer : std::get<Custom>(loaded.plan.problem).buffers) {
        each.counts.push_back(buffer.count);
        bytes += buffer.count * size_of(buffer.type);
      }
      known.insert(values);
      package.cases.push_back(std::move(each));
      return bytes;
    };
    std::vector<std::vector<std::int64_t>> small;
    for (const package::Entry& entry : package.entries)
      if (add(entry.sizes) < kSmallBytes && small.size() < kBeside) small.push_back(entry.sizes);
    for (const std::vector<std::int64_t>& entry : small)
      for (std::size_t i = 0; i < names.size(); ++i)
        for (const int step : {-1, 1}) try {
            std::vector<std::int64_t> beside = entry;
            beside[i] += step;
            if (beside[i] > 0 && !known.contains(beside)) add(beside);
          } catch (const Error&) {  // the tuning file does not have such sizes
          }
  }

  static package::Entry entry_of(const Candidate& candidate, std::size_t variant) {
    const database::TunedResult& result = *candidate.result;
    package::Entry entry;
    entry.sizes = package::sizes_of(candidate.loaded->plan);
    entry.variant = variant;
    entry.params = to_text(candidate.params);
    entry.milliseconds = result.time.seconds * 1e3;
    if (result.time.interval)
      entry.low = result.time.interval->low * 1e3, entry.high = result.time.interval->high * 1e3;
    for (const auto& [label, ratio] : result.ratios)
      if (label == "vendor") entry.of_vendor = ratio;
    return entry;
  }

  /// A rule whose choice is not in the package is left out.
  void add_tree(package::Package& package) const {
    const auto rule = database_->rules.find(*group_);
    if (rule == database_->rules.end() || !serves_other_sizes_) return;
    for (const database::SizeRule::Node& node : rule->second.tree) {
      package.tree.push_back({node.size, node.most, node.below, node.above, 0});
      package::Node& to = package.tree.back();
      if (!node.size.empty()) continue;
      const Candidate* choice = find_params(rule->second.configurations[node.use].params);
      if (choice == nullptr) return package.tree.clear();
      to.variant = variants_.at(choice->artifact + to_text(choice->params));
    }
  }

  /// The sources of all variants, in one folder.
  void add_sources(package::Package& package) const {
    std::map<fs::path, std::string> texts;
    fs::path root;
    for (const package::Variant& variant : package.variants) {
      const fs::path& source = file_of(variant.plan, variant.spec.params);
      if (root.empty()) root = source.parent_path();
      texts.merge(exec::sources_of(variant.plan, source).texts);
    }
    const auto is_below = [](const fs::path& file, const fs::path& folder) {
      return !file.lexically_relative(folder).string().starts_with("..");
    };
    std::vector<fs::path> include;
    for (const fs::path& folder : package.variants.front().plan.build.include)
      if (std::ranges::any_of(texts, [&](const auto& each) { return is_below(each.first, folder); }))
        include.push_back(folder.lexically_normal());
    const auto raise_above = [&](const fs::path& path) {
      while (!is_below(path, root)) root = root.parent_path();
    };
    for (const auto& [file, text] : texts) raise_above(file);
    std::ranges::for_each(include, raise_above);
    for (const fs::path& folder : include) package.include.push_back(folder.lexically_relative(root).string());
    for (package::Variant& variant : package.variants)
      variant.source = file_of(variant.plan, variant.spec.params).lexically_relative(root).string();
    for (const auto& [file, text] : texts) package.sources.push_back({file.lexically_relative(root).string(), text});
  }

  /// Files of an earlier package that this one has no more are removed; others in the folder stay. The manifest, which
  /// says that all is there, is the last.
  void write(std::map<std::string, std::string> files) const {
    for (const auto& [old, hash] : package::files_in(manifest_of(folder_)))
      if (!files.contains(old)) fs::remove(folder_ / old);
    const auto manifest = files.extract("manifest.json");
    for (const auto& [name, text] : files) {
      fs::create_directories((folder_ / name).parent_path());
      platform::write_file(folder_ / name, text);
    }
    platform::write_file(folder_ / manifest.key(), manifest.mapped());
  }

  std::string summary(const package::Package& package) const {
    std::set<std::string> binaries;
    for (const package::Entry& entry : package.entries) binaries.insert(package.variants[entry.variant].artifact);
    const std::string folder = typed_line({options_->output.lexically_normal().string()});
    return fmt::format(
        "{0}: {1} {2} in {3} {4} for {5}\nnext: read README.md there, or test it:\n  cmake -S {0} -B build && "
        "cmake --build build && build/selftest\n",
        folder, package.entries.size(), package.entries.size() == 1 ? "size" : "sizes", binaries.size(),
        binaries.size() == 1 ? "binary" : "binaries", package.device);
  }

  const PackageOptions* options_;
  const database::Database* database_;
  exec::Workers workers_;
  const database::ResultGroup* group_;
  bool serves_other_sizes_;
  Backend backend_;
  fs::path folder_;
  std::optional<TunedPlan> plan_;
  std::vector<Candidate> candidates_;
  std::unique_ptr<exec::MeasureService> service_;
  std::map<std::string, std::size_t> variants_;
  std::vector<package::Variant> variants_of_references_;  ///< of a custom problem: in the order of the variants
};

ExitCode pack(const PackageOptions& options) try {
  const database::Database database = database::read_database(options.database);
  Packer(options, database).pack();
  return ExitCode::ok;
} catch (const package::NotPackaged& error) {
  throw Error(ExitCode::bad_input, fmt::format("{}: {}", options.yaml.front().string(), error.what()));
} catch (const fs::filesystem_error& error) {
  throw Error(ExitCode::environment,
              fmt::format("cannot write {}: {}", error.path1().string(), error.code().message()));
}

}  // namespace

extern const cli::CommandSpec kPackage = cli::command_spec<PackageOptions, bind, pack>(
    "package", "Write a folder with which a C++ program or PyTorch launches what was tuned");

}  // namespace tune::commands
