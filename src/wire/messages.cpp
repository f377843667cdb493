#include "wire/messages.h"

#include "wire/named_message.h"

namespace tune::wire {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Arg, kind, buffer, type, integer, number, box, swizzle, l2_promotion,
                                                written)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(KernelLaunch, kernel, grid, block, cluster, shared, programmatic, args,
                                                repeat, from, to, through)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(KernelRun, launches, workspace_bytes, zero_workspace, zero_c)

// The fields of messages, of which some are not named as in C++: `field` is called with the name and the value of each.
static void fields_of_build(auto& request, auto field) {
  field("source", request.source);
  field("include", request.include);
  field("flags", request.flags);
  field("defines", request.defines);
  field("arch", request.arch);
  field("output", request.output);
  field("launches", request.launches);
  field("problem", request.problem);
  field("command", request.command.words);
  field("command_is_shell", request.command.is_shell);
}

static void fields_of_program(auto& run, auto field) {
  field("source", run.source);
  field("args", run.args);
  field("values", run.values);
  field("command", run.rules.run.words);
  field("command_is_shell", run.rules.run.is_shell);
  field("prefix", run.rules.prefix);
  field("suffix", run.rules.suffix);
  for (const UntimedCommand& command : kUntimedCommands) field(command.name, run.rules.*command.member);
}

static void fields_of_measure(auto& request, auto field) {
  field("artifact", request.artifact);
  field("problem", request.problem);
  field("reference", request.reference);
  field("seed", request.seed);
  field("measure", request.measure);
  field("keep", request.keep);
  field("gauges", request.gauges);
}

static void fields_of_go(auto& go, auto field) {
  field("launches", go.launches);
  field("best_seconds", go.best_seconds);
  field("best_joules", go.best_joules);
  field("answer_within", go.answer_within);
  field("state", go.state);
  field("spec", go.spec);
}

static auto putting(json& j) {
  return [&j](const char* key, const auto& value) { put(j, key, value); };
}
static auto taking(const json& j) {
  return [&j](const char* key, auto& value) { take(j, key, value); };
}

static void to_json(json& j, const BuildRequest& request) { fields_of_build(request, putting(j)); }
static void from_json(const json& j, BuildRequest& request) { fields_of_build(request, taking(j)); }
static void to_json(json& j, const ProgramRun& run) {
  fields_of_program(run, putting(j));
  put(j, "reads_result", run.rules.reads_result());
  put(j, "times_whole", run.rules.times_whole());
}

static void from_json(const json& j, ProgramRun& run) {
  fields_of_program(run, taking(j));
  bool reads_result = run.rules.reads_result(), times_whole = run.rules.times_whole();
  take(j, "reads_result", reads_result);
  take(j, "times_whole", times_whole);
  run.rules.whole = reads_result && times_whole ? std::nullopt : std::optional(times_whole);
}

static void to_json(json& j, const VendorRun& run) { j = {{"vendor", true}, {"vendor_best", run.best}}; }

static void to_json(json& j, const MeasureRequest& request) {
  std::visit([&](const auto& run) { to_json(j, run); }, request.what);
  fields_of_measure(request, putting(j));
}

// Only programs tell how they are timed; they launch nothing.
static void from_json(const json& j, MeasureRequest& request) {
  if (j.value("vendor", false))
    request.what = VendorRun{j.value("vendor_best", false)};
  else if (j.contains("times_whole") && j.value("launches", json::array()).empty())
    request.what = j.get<ProgramRun>();
  else
    request.what = j.get<KernelRun>();
  fields_of_measure(request, taking(j));
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ReferenceRequest, problem, seed, output, artifact, launches,
                                                workspace_bytes, zero_workspace, strict, share)

static void to_json(json& j, const Go& go) {
  fields_of_go(go, putting(j));
  put(j, "check", go.checks());
  put(j, "pause", go.checks_alone());
}

static void from_json(const json& j, Go& go) {
  fields_of_go(go, taking(j));
  bool check = go.checks(), pause = go.checks_alone();
  take(j, "check", check);
  take(j, "pause", pause);
  go.check = !check ? Go::Check::no : pause ? Go::Check::alone : Go::Check::yes;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Next, request, beside)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(DeviceName, name, id, one_process)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Hello, protocol, backend, device, compiler, archs, no_device, devices,
                                                vendor_library, remarks, cores)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Built, artifact, seconds, properties, reads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Checked, max_error, seconds, waits)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Measured, timing, checked, metrics, remarks, name, clean_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Failed, stage, message, facts, no_device, environment, room_error)

template <typename Variant>
static Variant decode(std::string_view line, const char* key) {
  const json j = parse_json(line);
  if (!j.is_object()) throw Malformed("not a JSON object: " + std::string(line.substr(0, 120)));
  return message_in<Variant>(j, key, key);
}

std::string encode(const Request& request) { return line_of(object_of(request, "request")); }
std::string encode(const Command& command) { return line_of(object_of(command, "command")); }
std::string encode(const Event& event) { return line_of(object_of(event, "event")); }

Request decode_request(std::string_view line) { return decode<Request>(line, "request"); }
Command decode_command(std::string_view line) { return decode<Command>(line, "command"); }
Event decode_event(std::string_view line) { return decode<Event>(line, "event"); }

std::string load_group_of(const MeasureRequest& request) {
  MeasureRequest shared = request;
  shared.artifact.clear();
  KernelRun run;
  run.zero_c = request.kernel() != nullptr && request.kernel()->zero_c;
  shared.what = run;
  return encode(Request(shared));
}

const std::string& buffer_of(const KernelLaunch& launch, const std::string& buffer, std::int64_t turn) {
  const auto written = [&](std::int64_t at) -> const std::string& {
    return (launch.repeat - 1 - at) % 2 == 0 ? launch.to : launch.through;
  };
  if (buffer == launch.to) return written(turn);
  return buffer == launch.from && turn > 0 ? written(turn - 1) : buffer;
}

}  // namespace tune::wire
