#include "exec/request/identity.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>

#include "platform/store/store.h"
#include "wire/device_clocks.h"

namespace tune::exec {
namespace {

// --- The notation of problems and measuring rules: {"name":value,...}, with the fields in the order of their names.

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    constexpr std::string_view kNamed = "\"\\\b\f\n\r\t", kNames = "\"\\bfnrt";
    const std::size_t named = kNamed.find(c);
    if (named != std::string_view::npos)
      result += {'\\', kNames[named]};
    else if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", c);
    else
      result += c;
  }
  return result + '"';
}

// The shortest text that is read as this number.
std::string number(double value) {
  const double size = std::abs(value);
  const bool fixed = value == 0 || (size >= 1e-4 && size < 1e15);
  char text[64];
  const auto end =
      std::to_chars(text, text + sizeof text, value, fixed ? std::chars_format::fixed : std::chars_format::scientific);
  const std::string result(text, end.ptr);
  return fixed && result.find('.') == std::string::npos ? result + ".0" : result;
}

std::string flag(bool value) { return value ? "true" : "false"; }

class Fields {
 public:
  /// `value` in the notation.
  Fields& add(const char* name, const std::string& value) {
    text_ += fmt::format("{}\"{}\":{}", text_.empty() ? "" : ",", name, value);
    return *this;
  }
  Fields& add(const char* name, std::int64_t value) { return add(name, std::to_string(value)); }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

template <typename Items, typename Text>
std::string list(const Items& items, Text text_of) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ",") + text_of(item);
  return "[" + text + "]";
}

// Arguments are called by the numbers of their enumerators, which are those of existing journals.
template <typename Enum>
int number_of(Enum value) {
  return static_cast<int>(value);
}

// --- What is computed: its size, its data and its types decide both the time and what is right.

std::string text_of(const Gemm& gemm) {
  Fields fields;
  fields.add("a", in_quotes(to_text(gemm.a))).add("acc", in_quotes(to_text(gemm.acc))).add("alpha", number(gemm.alpha));
  fields.add("b", in_quotes(to_text(gemm.b))).add("batch", gemm.batch).add("beta", number(gemm.beta));
  // It is written only if there is one, because journals are older than this field.
  if (gemm.bias != Bias::none) fields.add("bias", in_quotes(to_text(gemm.bias)));
  fields.add("c", in_quotes(to_text(gemm.c)));
  if (gemm.epilogue != Epilogue::none) fields.add("epilogue", in_quotes(to_text(gemm.epilogue)));  // as `bias`
  if (gemm.fast_accum) fields.add("fast_accum", flag(true));                                       // likewise
  fields.add("init", in_quotes(to_text(gemm.init))).add("k", gemm.k);
  fields.add("layout_a", in_quotes(to_text(gemm.layout_a))).add("layout_b", in_quotes(to_text(gemm.layout_b)));
  fields.add("layout_c", in_quotes(to_text(gemm.layout_c)));
  fields.add("lda", gemm.lda).add("ldb", gemm.ldb).add("ldc", gemm.ldc).add("m", gemm.m);
  if (gemm.max_rows > 0) fields.add("max_rows", gemm.max_rows);  // as `bias`
  fields.add("n", gemm.n);
  if (gemm.any_padding) fields.add("padding", in_quotes("any"));  // likewise
  if (gemm.residual) fields.add("residual", flag(true));          // as `bias`
  if (gemm.groups() > 0)
    fields.add("rows", list(gemm.group_offsets, [](std::int32_t end) { return std::to_string(end); }));  // likewise
  for (const auto& [name, scale] : {std::pair("scale_a", gemm.scale_a), {"scale_b", gemm.scale_b}})
    if (scale != Scale::none) fields.add(name, in_quotes(to_text(scale)));  // likewise
  fields.add("stride_a", gemm.stride_a).add("stride_b", gemm.stride_b).add("stride_c", gemm.stride_c);
  return fields.text();
}

std::string text_of(const Buffer& buffer) {
  Fields fields;
  fields.add("count", buffer.count).add("init", in_quotes(to_text(buffer.init))).add("name", in_quotes(buffer.name));
  fields.add("role", in_quotes(to_text(buffer.role)));
  if (buffer.scale != 1) fields.add("scale", number(buffer.scale));  // older hashes know none
  return fields.add("type", in_quotes(to_text(buffer.type))).text();
}

std::string text_of(const Custom& custom) {
  Fields fields;
  fields.add("buffers", list(custom.buffers, [](const Buffer& buffer) { return text_of(buffer); }));
  return fields.add("bytes", number(custom.bytes))
      .add("flops", number(custom.flops))
      .add("tolerance", number(custom.tolerance))
      .text();
}

std::string text_of(const Problem& problem) {
  if (const auto* gemm = std::get_if<Gemm>(&problem)) return Fields().add("gemm", text_of(*gemm)).text();
  if (const auto* custom = std::get_if<Custom>(&problem)) return Fields().add("custom", text_of(*custom)).text();
  return "null";
}

// --- How it is measured.

std::string text_of_rule(std::int64_t value) { return std::to_string(value); }
std::string text_of_rule(int value) { return std::to_string(value); }
std::string text_of_rule(double value) { return number(value); }
std::string text_of_rule(bool value) { return flag(value); }
std::string text_of_rule(PowerState state) { return in_quotes(to_text(state)); }
// Measuring energy heats the device. That of finalists is not measured in trials.
std::string text_of_rule(MeasureRules::Energy energy) {
  return in_quotes(energy == MeasureRules::Energy::always ? "always" : "never");
}

std::string text_of(const MeasureRules& rules) {
  using Identity = MeasureRule::Identity;
  std::map<std::string, std::string> texts = {{"cutoff", number(0)}};  // it tells nothing; see below
  for (const MeasureRule& rule : kMeasureRules)
    std::visit(
        [&](auto member) {
          const bool usual = rules.*member == MeasureRules().*member;
          if (rule.identity == Identity::always || (rule.identity == Identity::unless_usual && !usual))
            texts[std::string(rule.name)] = text_of_rule(rules.*member);
        },
        rule.member);
  Fields fields;
  for (const auto& [name, text] : texts) fields.add(name.c_str(), text);
  return fields.text();
}

// The constant fields tell nothing; they are kept because the hashes of existing journals have them.
std::string text_of_measuring(const Plan& plan, std::uint64_t seed) {
  const ProgramPlan program = plan.is_program() ? *plan.program() : ProgramPlan();
  Fields fields;
  fields.add("args", "[]").add("artifact", in_quotes(""));
  fields.add("command", list(program.run.words, in_quotes));   // the program that is run and timed
  fields.add("command_is_shell", flag(program.run.is_shell));  // the shell reads the same words differently
  fields.add("keep", in_quotes("")).add("launches", "[]");
  // Launches in `sustained` once had less load before them; what was recorded then does not have this field.
  if (is_gpu(plan.backend()) && plan.measure.state == PowerState::sustained) fields.add("load", in_quotes("steady"));
  fields.add("measure", text_of(plan.measure));
  fields.add("problem", text_of(plan.problem));
  fields.add("reference", in_quotes("")).add("request", in_quotes("measure"));
  fields.add("seed", std::to_string(seed));  // another seed makes other inputs
  fields.add("source", in_quotes("")).add("vendor", flag(false)).add("vendor_best", flag(false));
  fields.add("workspace_bytes", 0);
  fields.add("zero_c", flag(!plan.is_program() && plan.kernel()->zero_c));  // zeroing C takes time in the timed region
  // What a program finds when it runs, and which of its times counts. Written only if they are given, as `bias`.
  for (const UntimedCommand& command : kUntimedCommands)
    if (const CommandLine& line = program.*command.member; !line.empty())
      fields.add(command.name, list(line.words, in_quotes)).add("shell", flag(line.is_shell));
  for (const auto& [name, words] : {std::pair("prefix", &program.prefix), {"suffix", &program.suffix}})
    if (!words->empty()) fields.add(name, list(*words, in_quotes));
  if (program.whole && (*program.whole || program.is_command)) fields.add("whole", flag(*program.whole));
  return fields.add("zero_workspace", flag(false)).text();
}

// --- Hashes of what a plan's builds, or its trials, share.

// The expressions are those that the parameters are put into: all of them decide how a spec is launched.
void add_launch(platform::Hash& hash, const Launch& launch) {
  hash.add(launch.kernel);
  if (launch.condition) hash.add("if").add(launch.condition->text());
  for (const auto* extents : {&launch.grid, &launch.block, &launch.cluster}) {
    for (const Expression& extent : *extents) hash.add(extent.text());
    hash.add("");
  }
  hash.add(launch.shared ? launch.shared->text() : "");
  if (launch.programmatic) hash.add("programmatic").add(launch.programmatic->text());
  for (const Argument& arg : launch.args) {
    hash.add(std::to_string(number_of(arg.kind))).add(arg.buffer).add(arg.expression ? arg.expression->text() : "");
    hash.add(std::to_string(number_of(arg.type)));
    for (const auto* bytes : {&arg.swizzle, &arg.l2}) hash.add(*bytes ? (*bytes)->text() : "0");
    for (const Expression& extent : arg.box) hash.add(extent.text());
  }
  if (launch.repeat)
    hash.add(launch.repeat->times.text()).add(launch.repeat->from).add(launch.repeat->to).add(launch.repeat->through);
}

// The shim that calls a CPU kernel is compiled for these.
void add_signatures(platform::Hash& hash, const Plan& plan) {
  if (const auto* gemm = std::get_if<Gemm>(&plan.problem))
    for (const Type type : {gemm->a, gemm->b, gemm->c, gemm->acc}) hash.add(to_text(type));
  if (const auto* custom = std::get_if<Custom>(&plan.problem))
    for (const Buffer& buffer : custom->buffers) hash.add(buffer.name).add(to_text(buffer.type));
  if (const KernelPlan* kernel = plan.kernel())
    for (const Launch& launch : kernel->launches) {
      hash.add(launch.kernel);
      for (const Argument& arg : launch.args)
        hash.add(arg.buffer).add(std::to_string(number_of(arg.kind) * 16 + number_of(arg.type)));
    }
}

std::string hash_of_building(const Plan& plan, const wire::Hello& hello, const platform::SourceHash& sources) {
  platform::Hash hash;
  hash.add(sources.hex);                                           // the code, with all headers
  hash.add(hello.compiler);                                        // another version makes other code
  hash.add(hello.device.arch);                                     // as does another architecture
  hash.add(plan.is_program() ? "" : plan.kernel()->name);          // which of the file's kernels the artifact offers
  if (hello.device.arch == "native") hash.add(hello.device.name);  // what `native` means
  for (const std::string& flag : plan.build.flags) hash.add(flag);
  // The libraries, files of options, scripts and programs that they name; as `bias`.
  if (!sources.named.empty()) hash.add("named").add(sources.named);
  // The files that builds also read, as the user says.
  for (const std::filesystem::path& file : plan.build.depends)
    hash.add(file.filename().string()).add(platform::read_file(file));
  // They add flags. NVRTC and hipRTC ignore them.
  if (traits_of(hello.backend).compiler_reads == CompilerEnvironment::flags)
    for (const char* variable : platform::kCompilerVariables)
      if (const char* value = std::getenv(variable)) hash.add(variable).add(value);
  hash.add(plan.build.command.is_shell ? "shell" : "argv");  // how a program is built
  for (const std::string& word : plan.build.command.words) hash.add(word);
  add_signatures(hash, plan);
  return hash.hex();
}

std::string hash_of_measuring(const Plan& plan, const wire::Hello& hello, std::uint64_t seed) {
  platform::Hash hash;
  hash.add(std::to_string(wire::kProtocol));  // the version of these lists, and of how workers measure
  hash.add(hello.device.name);                // another model has other times, and so has another driver
  hash.add(hello.device.driver);
  // How many cores there are to compute on. Added only where they are not all, because journals are older.
  if (!hello.cores.empty()) hash.add("cores").add(hello.cores);
  hash.add(text_of_measuring(plan, seed));
  // With the derived names below: what the names in the expressions of launches mean.
  for (const auto& [name, value] : plan.constants) {
    // The GEMM above says them where they are not the default, and journals are older than these names.
    const bool is_newer = name == "fast_accum" || name == "epilogue" || name == "groups" || name == "max_rows" ||
                          name.find("scale_") != name.npos;
    if (is_newer && std::holds_alternative<Gemm>(plan.problem)) continue;
    hash.add(name).add(to_text(value));
  }
  if (const KernelPlan* kernel = plan.kernel()) {
    for (const Launch& launch : kernel->launches) add_launch(hash, launch);
    // What results are checked against.
    if (const auto* reference = std::get_if<Launch>(&kernel->reference)) add_launch(hash, *reference);
    if (const auto* trusted = std::get_if<TrustedSpec>(&kernel->reference))
      for (const Setting& setting : trusted->settings) hash.add(setting.name).add(to_text(setting.value));
    // A kernel may fail if it is too small, and zeroing it takes time.
    if (kernel->workspace) hash.add(kernel->workspace->bytes.text()).add(kernel->workspace->zero ? "zero" : "");
  }
  for (const Space::Mapping& mapping : plan.space.mappings())
    for (const Derived& derived : mapping.derived) hash.add(derived.name).add(derived.expression.text());
  return hash.hex();
}

// `NAME=value`, sorted.
std::vector<std::string> environment_of_vendor(Backend backend) {
  const auto prefixes = traits_of(backend).vendor_variables;
  std::vector<std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (std::ranges::any_of(prefixes, [&](std::string_view prefix) { return text.starts_with(prefix); }))
      found.emplace_back(text);
  }
  std::ranges::sort(found);
  return found;
}

void add_numbers(platform::Hash& hash, const std::vector<std::int64_t>& numbers) {
  for (const std::int64_t value : numbers) hash.add(std::to_string(value));
  hash.add("");
}

void add_evaluated(platform::Hash& hash, const wire::KernelLaunch& launch) {
  hash.add(launch.kernel);
  add_numbers(hash, launch.grid);
  add_numbers(hash, launch.block);
  add_numbers(hash, launch.cluster);
  add_numbers(hash, {launch.shared, launch.repeat});
  if (launch.programmatic) hash.add("programmatic");
  hash.add(launch.from).add(launch.to).add(launch.through);
  for (const wire::Arg& arg : launch.args) {
    hash.add(arg.buffer).add(number(arg.number));
    add_numbers(hash, {number_of(arg.kind), number_of(arg.type), arg.integer, arg.swizzle, arg.l2_promotion});
    add_numbers(hash, arg.box);
  }
  hash.add("");
}

}  // namespace

Identity::Identity(const Plan& plan, const wire::Hello& hello, std::uint64_t seed, const platform::SourceHash& sources)
    : build_part_(hash_of_building(plan, hello, sources)),
      measure_part_(hash_of_measuring(plan, hello, seed)),
      vendor_library_(hello.vendor_library),
      backend_(hello.backend) {}

std::string Identity::of_build(std::vector<Define> defines) const {
  std::ranges::sort(defines, {}, &Define::name);  // the order of the parameters in the file does not matter
  platform::Hash hash;
  hash.add(build_part_);
  for (const Define& define : defines) hash.add(define.name).add(define.value);
  return hash.hex();
}

std::string Identity::of_reference_build(const std::string& build, const Launch& kernel) {
  platform::Hash hash;
  hash.add(build).add("reference");
  add_launch(hash, kernel);
  return hash.hex();
}

std::string Identity::of_trial(std::vector<Setting> params, const std::string& build) const {
  std::ranges::sort(params, {}, &Setting::name);
  platform::Hash hash;
  hash.add(measure_part_).add(build);
  for (const Setting& setting : params) hash.add(setting.name).add(to_text(setting.value));
  return hash.hex();
}

std::string Identity::of_vendor() const {
  platform::Hash hash;
  hash.add(measure_part_).add("vendor");
  hash.add(vendor_library_);  // the name of its file, which tells the version
  for (const std::string& variable : environment_of_vendor(backend_)) hash.add(variable);
  return hash.hex();
}

std::string Identity::of_code(const std::string& artifact_hash, const wire::KernelRun& run, const Words& arguments,
                              const DeviceSettings& clocks) {
  platform::Hash hash;
  hash.add(artifact_hash);
  for (const wire::KernelLaunch& launch : run.launches) add_evaluated(hash, launch);
  hash.add(std::to_string(run.workspace_bytes));  // a larger one may be elsewhere in memory, and takes longer to zero
  for (const std::string& arg : arguments) hash.add(arg);  // of a program: any of them may change what it does
  if (clocks.any()) hash.add(wire::encode(clocks));        // the same code at another clock is another result
  return hash.hex();
}

std::string Identity::of_measuring(const std::string& artifact_hash, wire::MeasureRequest request,
                                   const DeviceSettings& clocks) {
  if (artifact_hash.empty()) return "";
  request.artifact.clear();
  return platform::Hash().add(artifact_hash).add(wire::encode(wire::Request(request))).add(wire::encode(clocks)).hex();
}

}  // namespace tune::exec
