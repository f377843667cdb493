#include "config/recorded/best_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "config/reader/file_reader.h"
#include "config/reader/problem_reader.h"
#include "config/yaml/fields.h"
#include "config/yaml/params.h"
#include "config/yaml/values.h"
#include "model/problem_size.h"
#include "model/program.h"
#include "model/statistics/objective.h"
#include "model/values/error.h"
#include "model/values/text.h"

namespace tune::config {
namespace {

class BestWriter {
 public:
  BestWriter(const Source& source, const Plan& plan, const BestResult& result, const std::filesystem::path& folder)
      : source_(source), plan_(plan), result_(result), folder_(join(std::filesystem::absolute(folder), "")) {}

  std::string write() {
    Node best = make_mapping({});
    best.flow = false;
    for (const FileKey& key : file_keys())
      if (std::optional<Node> node = key.is_in_best ? section(key.name) : std::nullopt)
        best.set(std::string(key.name), std::move(*node));
    best.set("result", result());
    best.set("device", device());
    return to_yaml(best);
  }

 private:
  static Node block() {
    Node node = make_mapping({});
    node.flow = false;
    return node;
  }

  /// With six digits, or with all if it is a whole number that a double holds exactly.
  static Node number(double value) {
    constexpr double kExact = 1LL << 53;
    const bool whole = value == std::floor(value) && std::fabs(value) < kExact;
    return make_scalar(whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value), {});
  }

  std::optional<Node> section(std::string_view key) const {
    if (key == "params") return params();
    if (key == "objective") return objective();
    if (key == "measure") return measure();
    // A recording alone names no kernel, and so no backend.
    if (key == "backend" && source_.root.find("file") == nullptr) return {};
    if (key == "backend") return make_scalar(std::string(to_text(plan_.backend())), {});
    const Node* written = source_.root.find(key);
    if (key == "run" && has_words_around()) return run_with_words_around();
    if (written == nullptr) return {};
    Node node = *written;
    if (key == "file") return file(std::move(node));
    if (key == "build") relocate_paths(node);
    if (key == "let") keep_known(node);
    return node;
  }

  /// Whether the command line put words around the command that the file does not have; those of a profiler are of one
  /// run, and a shell's command stays as it is.
  bool has_words_around() const {
    const ProgramPlan* program = plan_.program();
    return program != nullptr && !program->run.is_shell && (!program->prefix.empty() || !program->suffix.empty()) &&
           !uses(program->prefix, kSpecNumber);
  }

  Node run_with_words_around() const {
    Node list = make_list({});
    // Without `run` the program is started with all run-time parameters.
    const Words plain = {is_built(plan_) ? "{binary}" : "{file}", "{args}"};
    const ProgramPlan& program = *plan_.program();
    const Words& run = program.run.empty() ? plain : program.run.words;
    for (const Words* words : {&program.prefix, &run, &program.suffix})
      for (const std::string& word : *words) list.items.push_back(make_text(word, {}));
    return list;
  }

  /// As written, but for a state that the command line chose.
  std::optional<Node> measure() const {
    const Node* written = source_.root.find("measure");
    const Node* state = written != nullptr ? written->find("state") : nullptr;
    const std::string_view chosen = to_text(plan_.measure.state);
    if (chosen == (state != nullptr ? state->text : to_text(MeasureRules().state)))
      return written != nullptr ? std::optional(*written) : std::nullopt;
    Node node = written != nullptr ? *written : make_mapping({});
    node.set("state", make_scalar(std::string(chosen), {}));
    return node;
  }

  /// As written, unless the command line said another that the file can be read with: a figure that only a recording
  /// has would be unknown.
  std::optional<Node> objective() const {
    std::vector<std::string> names = {plan_.objective};
    names.insert(names.end(), plan_.other_objectives.begin(), plan_.other_objectives.end());
    const Node* written = source_.root.find("objective");
    const std::vector<const Node*> items = written != nullptr ? as_list(*written) : std::vector<const Node*>();
    const auto same = [](const Node* item, const std::string& name) {
      return item->text == name || objective_named(item->text, {}) == name;
    };
    const bool silent = written == nullptr && names == std::vector<std::string>{"time"};
    if (silent || std::ranges::equal(items, names, same) ||
        !std::ranges::all_of(names, [&](const std::string& name) { return is_known(name); }))
      return written != nullptr ? std::optional(*written) : std::nullopt;
    if (names.size() == 1) return make_text(names.front(), {});
    Node list = make_list({});
    for (const std::string& name : names) list.items.push_back(make_text(name, {}));
    return list;
  }

  bool is_known(const std::string& objective) const {
    constexpr std::array<std::string_view, 6> kBuiltIn = {"time", "gflops", "gflops_per_watt", "energy", "edp", "ed2p"};
    return plan_.is_program() || std::ranges::find(kBuiltIn, objective) != kBuiltIn.end() ||
           std::ranges::find(plan_.metrics, objective, &Metric::name) != plan_.metrics.end();
  }

  Node params() const {
    Node node = block();
    for (const Setting& setting : result_.winner.params) {
      const bool is_plain = !setting.run_time || (!plan_.candidates.empty() && setting.name == kFileParameter);
      node.set((is_plain ? "" : "$") + setting.name, to_node(setting.value, {}));
    }
    return node;
  }

  /// A path relative to the new folder. What environment variables stand for is this machine's own business, so they
  /// are kept.
  Node relocate(Node node) const {
    for (Node& item : node.items) item = relocate(std::move(item));
    if (node.is_list()) return node;
    const std::filesystem::path moved = source_.folder.lexically_relative(folder_);
    if (const auto path = literal_path(node.text)) {
      node.text = without_references(join(source_.folder, *path).lexically_relative(folder_).string());
    } else if (moved != "." && (!node.text.starts_with('$') || node.text.starts_with("$$"))) {
      node.text = (without_references(moved.string()) / std::filesystem::path(node.text)).string();
    }
    return node;
  }

  Node file(Node node) const {
    if (node.is_scalar()) return relocate(std::move(node));
    if (node.is_list()) return relocate(std::move(node));
    if (plan_.is_program()) return relocate(make_text(plan_.file_as_written, {}));
    for (Entry& entry : node.entries) entry.value = relocate(std::move(entry.value));
    return node;
  }

  void relocate_paths(Node& build) const {
    for (const char* key : {"include", "depends"}) {
      Node* paths = build.find(key);
      if (paths == nullptr) continue;
      Node moved = make_list(paths->place);
      for (const Node* item : as_list(*paths)) moved.items.push_back(relocate(*item));
      *paths = std::move(moved);
    }
  }

  /// Drops what the winner's mapping of the union does not define.
  void keep_known(Node& let) const {
    const std::vector<Setting> known = plan_.space.derived(result_.winner);
    std::erase_if(let.entries, [&](const Entry& entry) {
      return std::ranges::find(known, entry.key.text, &Setting::name) == known.end();
    });
  }

  Node result() const {
    Node node = block();
    if (result_.verdict) node.set("verdict", verdict(*result_.verdict));
    node.set("checked", make_scalar(result_.checked ? "yes" : "no", {}));
    node.set("tie", make_scalar(result_.tie ? "yes" : "no", {}));
    if (result_.finals_interrupted) node.set("finals", make_scalar("interrupted", {}));
    if (!result_.statistic.empty()) node.set("sweep_statistic", make_text(result_.statistic, {}));
    if (!result_.command.empty()) node.set("command", make_text(result_.command, {}));
    node.set("time_ms", number(result_.time.seconds * 1e3));
    if (result_.time.interval) {
      Node interval = make_list({});
      interval.items = {number(result_.time.interval->low * 1e3), number(result_.time.interval->high * 1e3)};
      node.set("interval_ms", std::move(interval));
    }
    node.set("launches", make_scalar(std::to_string(result_.launches), {}));
    if (!result_.figures.empty()) node.set("figures", numbers(result_.figures));
    if (!result_.ratios.empty()) node.set("ratio_to_best", numbers(result_.ratios));
    if (!result_.front.empty()) node.set("pareto", front());
    if (!result_.artifact_hash.empty()) node.set("artifact", make_text(result_.artifact_hash, {}));
    if (!result_.store_path.empty()) node.set("store_path", make_text(result_.store_path.string(), {}));
    if (!result_.code.empty()) node.set("code", make_text(result_.code, {}));
    if (!result_.source_hash.empty()) node.set("source", make_text(result_.source_hash, {}));
    return node;
  }

  static Node verdict(const Verdict& verdict) {
    Node node = block();
    node.set("decision", make_scalar(lower_case(to_text(verdict.decision)), {}));
    if (!verdict.why.empty()) node.set("why", make_text(verdict.why, {}));
    if (verdict.loss) node.set("loss", number(*verdict.loss));
    node.set("accuracy", number(verdict.accuracy));
    if (!verdict.open.empty()) {
      Node open = make_list({});
      for (const std::int64_t spec : verdict.open) open.items.push_back(make_scalar(std::to_string(spec), {}));
      node.set("not_told_apart", std::move(open));
    }
    if (!verdict.compared || !verdict.compared->ratio) return node;
    node.set("new_over_old", number(*verdict.compared->ratio));
    if (const auto& interval = verdict.compared->interval) {
      Node ends = make_list({});
      ends.items = {number(interval->low), number(interval->high)};
      node.set("interval", std::move(ends));
    }
    node.set("allowed", number(1 + verdict.threshold));
    return node;
  }

  Node front() const {
    Node points = make_list({});
    points.flow = false;
    for (const FrontPoint& point : result_.front) {
      Node params = make_mapping({});
      for (const Setting& setting : point.spec.params)
        params.set((setting.run_time ? "$" : "") + setting.name, to_node(setting.value, {}));
      Node node = make_mapping({});
      node.set("params", std::move(params));
      Node figures = numbers(point.objectives);
      figures.flow = true;
      node.set("objectives", std::move(figures));
      points.items.push_back(std::move(node));
    }
    return points;
  }

  static Node numbers(const std::vector<std::pair<std::string, double>>& values) {
    Node node = block();
    for (const auto& [name, value] : values) {
      node.entries.push_back({make_text(name, {}), number(value)});
    }
    return node;
  }

  Node device() const {
    Node node = block();
    node.set("name", make_text(result_.device.name, {}));
    node.set("driver", make_text(result_.device.driver, {}));
    node.set("arch", make_text(result_.device.arch, {}));
    if (!result_.compiler.empty()) node.set("compiler", make_text(result_.compiler, {}));
    if (!result_.vendor_library.empty()) node.set("vendor_library", make_text(result_.vendor_library, {}));
    return node;
  }

  const Source& source_;
  const Plan& plan_;
  const BestResult& result_;
  std::filesystem::path folder_;
};

constexpr const char* kWhatIsCompared =
    "; a result is compared with the YAML file that a run with --tune has written (PREFIX.yaml), with a journal "
    "(.jsonl) or with a CSV file";

Spec read_only_spec(const Node& root, const Node& params, Diagnostics& diagnostics) {
  const std::vector<ParameterMapping> mappings = read_params(
      params, [](const std::string&) { return std::string(); }, [](const Parameter&) { return false; },
      Arithmetic::unquoted, diagnostics);
  const auto several = [](const Parameter& parameter) { return parameter.values.size() > 1; };
  Spec spec;
  if (mappings.size() != 1 || std::ranges::any_of(mappings.front().parameters, several)) {
    diagnostics.add(root.place, std::string("this file has a grid, and no result of one spec") + kWhatIsCompared);
    return spec;
  }
  for (const Parameter& parameter : mappings.front().parameters)
    if (!parameter.values.empty())
      spec.params.push_back({parameter.name, parameter.values.front(), parameter.run_time});
  return spec;
}

std::string recorded_problem(const Node& root, Diagnostics& diagnostics) {
  const Node* node = root.find("problem");
  if (node == nullptr) return "";
  SymbolTable scope(diagnostics);
  const ProblemSection section = read_problem(*node, scope, diagnostics);
  return problem_size_text(section.problem, section.constants);
}

}  // namespace

std::string write_best(const Source& source, const Plan& plan, const BestResult& result,
                       const std::filesystem::path& folder) {
  return BestWriter(source, plan, result, folder).write();
}

RecordedBest read_best(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  const Node root = read_yaml(path, diagnostics);
  const Node* name = root.is_mapping() ? root.find("name") : nullptr;
  const Node* params = root.is_mapping() ? root.find("params") : nullptr;
  if (name == nullptr || params == nullptr)
    throw Error(ExitCode::bad_input, path.string() + ": this is no result of tune" + kWhatIsCompared);
  RecordedBest best;
  best.kernel = read_text(*name, "name", diagnostics).value_or("");
  best.spec = read_only_spec(root, *params, diagnostics);
  best.problem = recorded_problem(root, diagnostics);
  if (auto result = read_result(root, diagnostics))
    best.result = std::move(*result);
  else
    diagnostics.add(root.place, std::string("there is no result: with a time_ms: in it") + kWhatIsCompared);
  diagnostics.throw_if_any();
  return best;
}

}  // namespace tune::config
