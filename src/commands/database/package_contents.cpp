#include "commands/database/package_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <thread>

#include "commands/installation.h"
#include "exec/request/spec_launches.h"
#include "model/program.h"
#include "model/settings.h"
#include "package/cpp_text.h"

namespace tune::commands {
namespace {

wire::Hello hello_for(const TunedPlan& plan, Backend backend, exec::Workers& workers) {
  wire::Hello hello = workers.probe_compiler(backend);
  hello.device = plan.device();
  hello.device.arch = plan.group().device.arch;
  return hello;
}

void add_reference(PackageCandidate& candidate, const exec::Builder::Result& result) {
  if (const auto* failure = std::get_if<Failure>(&result)) {
    if (candidate.refusal.empty()) candidate.refusal = "its reference does not build: " + failure->message;
    return;
  }
  candidate.reference_built = std::get<exec::Artifact>(result).path;
  candidate.reference_artifact = std::get<exec::Artifact>(result).info.artifact_hash;
}

namespace fs = std::filesystem;

constexpr std::int64_t kSmallBytes = 64 << 20;  // bytes of all buffers
constexpr std::size_t kBeside = 10;             // entries of which the test tries sizes beside them

std::vector<std::string> flags_of(const wire::BuildRequest& request) {
  std::vector<std::string> flags;
  for (const Define& define : request.defines) flags.push_back(fmt::format("-D{}={}", define.name, define.value));
  flags.insert(flags.end(), request.flags.begin(), request.flags.end());
  return flags;
}

package::Variant reference_of(const PackageCandidate& candidate) {
  package::Variant variant = {candidate.loaded->plan,
                              candidate.requests->reference_spec(candidate.spec),
                              candidate.reference_artifact,
                              candidate.reference_built,
                              flags_of(candidate.requests->reference_build(candidate.spec)),
                              {}};
  auto& kernel = std::get<KernelPlan>(variant.plan.subject);
  if (const auto* launch = std::get_if<Launch>(&kernel.reference)) kernel.launches = {*launch};
  return variant;
}

package::Entry entry_of(const PackageCandidate& candidate, std::size_t variant) {
  const database::TunedResult& result = *candidate.result;
  package::Entry entry;
  entry.sizes = package::sizes_of(candidate.loaded->plan);
  entry.variant = variant;
  entry.params = to_text(candidate.params);
  entry.milliseconds = result.time.seconds * 1e3;
  if (result.time.interval) entry.low = result.time.interval->low * 1e3, entry.high = result.time.interval->high * 1e3;
  for (const auto& [label, ratio] : result.ratios)
    if (label == "vendor") entry.of_vendor = ratio;
  if (const auto* gemm = std::get_if<Gemm>(&candidate.loaded->plan.problem)) entry.group_offsets = gemm->group_offsets;
  return entry;
}

class PackageMaker {
 public:
  PackageMaker(const database::Database& database, const database::ResultGroup& group, const TunedPlan& plan,
               const PackageCandidates& candidates, bool serves_other_sizes)
      : database_(&database),
        group_(&group),
        plan_(&plan),
        candidates_(&candidates),
        serves_other_sizes_(serves_other_sizes) {}

  package::Package make(const std::string& folder) {
    package::Package package;
    package.folder = folder;
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
    for (const PackageCandidate& each : candidates_->all()) {
      if (!each.refusal.empty()) continue;
      const std::size_t variant = variant_of(package, each);
      if (each.result != nullptr) package.entries.push_back(entry_of(each, variant));
    }
    if (!variants_of_references_.empty()) add_references(package);
    std::ranges::sort(package.entries, {}, &package::Entry::sizes);
    add_cases(package);
    add_tree(package);
    if (backend_of(*group_) == Backend::cpu) add_sources(package);
    return package;
  }

 private:
  std::size_t variant_of(package::Package& package, const PackageCandidate& candidate) {
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

  /// A rule whose choice is not in the package is left out.
  void add_tree(package::Package& package) const {
    const auto rule = database_->rules.find(*group_);
    if (rule == database_->rules.end() || !serves_other_sizes_) return;
    for (const database::SizeRule::Node& node : rule->second.tree) {
      package.tree.push_back({node.size, node.most, node.below, node.above, 0});
      package::Node& to = package.tree.back();
      if (!node.size.empty()) continue;
      const PackageCandidate* choice = candidates_->find(rule->second.configurations[node.use].params);
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

  const database::Database* database_;
  const database::ResultGroup* group_;
  const TunedPlan* plan_;
  const PackageCandidates* candidates_;
  bool serves_other_sizes_;
  std::map<std::string, std::size_t> variants_;
  std::vector<package::Variant> variants_of_references_;  ///< of a custom problem: in the order of the variants
};

}  // namespace

bool is_custom(const PackageCandidate& candidate) {
  return std::holds_alternative<Custom>(candidate.loaded->plan.problem);
}

PackageCandidates::PackageCandidates(const database::Database& database, const database::ResultGroup& group, bool rule,
                                     const TunedPlan& plan, exec::Workers& workers)
    : group_(&group), plan_(&plan), workers_(&workers) {
  const wire::Hello hello = hello_for(plan, backend_of(group), workers);
  for (auto each = database.results.lower_bound({group, {}});
       each != database.results.end() && each->first.group == group; ++each)
    add({each->first.sizes, each->second.params, each->second.artifact_hash, each->second.code, &each->second}, hello);
  const auto found = database.rules.find(group);
  if (rule && found != database.rules.end()) add_choices(found->second, hello);
}

void PackageCandidates::add_choices(const database::SizeRule& rule, const wire::Hello& hello) {
  for (const database::SizeRule::Node& node : rule.tree) {
    if (!node.size.empty() || find(rule.configurations[node.use].params) != nullptr) continue;
    const auto& configuration = rule.configurations[node.use];
    const std::string params = to_text(configuration.params);
    for (const auto& [sizes, use] : rule.table)
      if (const auto& listed = rule.configurations[use]; to_text(listed.params) == params) {
        add({sizes, configuration.params, listed.artifact_hash, {}, nullptr}, hello);
        break;
      }
  }
}

const PackageCandidate* PackageCandidates::find(const std::vector<Setting>& params) const {
  const std::string text = to_text(params);
  const auto found = std::ranges::find_if(
      candidates_, [&](const PackageCandidate& each) { return each.refusal.empty() && to_text(each.params) == text; });
  return found == candidates_.end() ? nullptr : &*found;
}

void PackageCandidates::add(PackageCandidate candidate, const wire::Hello& hello) {
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

void PackageCandidates::build(const StoreOptions& store) {
  exec::WorkerRules rules;
  rules.worker = workers_->require(backend_of(*group_));
  rules.store = store_places(store);
  rules.jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  service_ = std::make_unique<exec::MeasureService>(*candidates_.front().requests, rules);
  exec::Builder& builder = service_->builds().builder();
  for (PackageCandidate& each : candidates_)
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
  for (PackageCandidate& each : candidates_)
    if (each.refusal.empty()) {
      compare(each, *builder.find(each.requests->build_key(each.spec)));
      if (is_custom(each)) add_reference(each, *builder.find(each.requests->reference_build_key(each.spec)));
    }
}

void PackageCandidates::compare(PackageCandidate& candidate, const exec::Builder::Result& result) const {
  if (const auto* failure = std::get_if<Failure>(&result)) {
    candidate.refusal = "it does not build: " + failure->message;
    return;
  }
  const auto& artifact = std::get<exec::Artifact>(result);
  candidate.built = artifact.path;
  if (!candidate.artifact.empty() && artifact.info.artifact_hash != candidate.artifact) {
    candidate.changed = true;
    const std::string &then = group_->device.compiler, &here = candidate.requests->hello().compiler;
    if (!group_->source.empty() && candidate.requests->source_hash() != group_->source)
      candidate.refusal = "the source is not what it was when it was timed";
    else
      candidate.refusal = "what is built now has other bytes than what was timed; " +
                          (then == here ? "the tuning file or its values were changed"
                                        : fmt::format("it was built by {}, and here is {}", then, here));
    return;
  }
  if (!candidate.code.empty() &&
      candidate.requests->code_of(candidate.spec, artifact.info.artifact_hash) != candidate.code) {
    candidate.changed = true;
    candidate.refusal = "the tuning file launches it in another way than when it was timed";
  }
  candidate.artifact = artifact.info.artifact_hash;
}

package::Package package_of(const std::string& folder, const database::Database& database,
                            const database::ResultGroup& group, const TunedPlan& plan,
                            const PackageCandidates& candidates, bool serves_other_sizes) {
  return PackageMaker(database, group, plan, candidates, serves_other_sizes).make(folder);
}

}  // namespace tune::commands
