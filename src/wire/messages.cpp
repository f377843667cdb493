#include "wire/messages.h"

#include "wire/named_message.h"

namespace tune::wire {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Arg, kind, buffer, type, integer, number, box, swizzle, l2_promotion,
                                                written)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(KernelLaunch, kernel, grid, block, cluster, shared, args, repeat, from,
                                                to, through)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(KernelRun, launches, workspace_bytes, zero_workspace, zero_c)

// A command is two fields of what it belongs to.
static void add_command(json& j, const CommandLine& command) {
  j["command"] = command.words;
  j["command_is_shell"] = command.is_shell;
}

static CommandLine command_in(const json& j) {
  return {j.value("command", tune::Words()), j.value("command_is_shell", false)};
}

static void to_json(json& j, const BuildRequest& request) {
  j = {{"source", request.source},     {"include", request.include}, {"flags", request.flags},
       {"defines", request.defines},   {"arch", request.arch},       {"output", request.output},
       {"launches", request.launches}, {"problem", request.problem}};
  add_command(j, request.command);
}

static void from_json(const json& j, BuildRequest& request) {
  const BuildRequest plain;
  request.source = j.value("source", plain.source);
  request.include = j.value("include", plain.include);
  request.flags = j.value("flags", plain.flags);
  request.defines = j.value("defines", plain.defines);
  request.arch = j.value("arch", plain.arch);
  request.output = j.value("output", plain.output);
  request.launches = j.value("launches", plain.launches);
  request.problem = j.value("problem", plain.problem);
  request.command = command_in(j);
}

static void to_json(json& j, const VendorRun& run) { j = {{"vendor", true}, {"vendor_best", run.best}}; }

static void to_json(json& j, const ProgramRun& run) {
  j = {{"source", run.source},          {"prefix", run.prefix},
       {"suffix", run.suffix},          {"args", run.args},
       {"values", run.values},          {"prepare", run.prepare},
       {"cleanup", run.cleanup},        {"reads_result", run.reads_result},
       {"times_whole", run.times_whole}};
  add_command(j, run.command);
}

static void from_json(const json& j, ProgramRun& run) {
  const ProgramRun plain;
  run.source = j.value("source", plain.source);
  run.command = command_in(j);
  run.prefix = j.value("prefix", plain.prefix);
  run.suffix = j.value("suffix", plain.suffix);
  run.args = j.value("args", plain.args);
  run.values = j.value("values", plain.values);
  run.prepare = j.value("prepare", plain.prepare);
  run.cleanup = j.value("cleanup", plain.cleanup);
  run.reads_result = j.value("reads_result", plain.reads_result);
  run.times_whole = j.value("times_whole", plain.times_whole);
}

static void to_json(json& j, const MeasureRequest& request) {
  std::visit([&](const auto& run) { to_json(j, run); }, request.what);
  j["artifact"] = request.artifact;
  j["problem"] = request.problem;
  j["reference"] = request.reference;
  j["seed"] = request.seed;
  j["measure"] = request.measure;
  j["keep"] = request.keep;
  j["gauges"] = request.gauges;
}

// Only programs tell how they are timed; they launch nothing.
static void from_json(const json& j, MeasureRequest& request) {
  const MeasureRequest plain;
  if (j.value("vendor", false))
    request.what = VendorRun{j.value("vendor_best", false)};
  else if (j.contains("times_whole") && j.value("launches", json::array()).empty())
    request.what = j.get<ProgramRun>();
  else
    request.what = j.get<KernelRun>();
  request.artifact = j.value("artifact", plain.artifact);
  request.problem = j.value("problem", plain.problem);
  request.reference = j.value("reference", plain.reference);
  request.seed = j.value("seed", plain.seed);
  request.measure = j.value("measure", plain.measure);
  request.keep = j.value("keep", plain.keep);
  request.gauges = j.value("gauges", plain.gauges);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ReferenceRequest, problem, seed, output, artifact, launches,
                                                workspace_bytes, zero_workspace, share)
TUNE_JSON_FIELDS(Go, TUNE_JSON_TAKE, launches, best_seconds, best_joules, check, pause, answer_within, state, spec)
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
  MeasureRequest shared;
  shared.problem = request.problem;
  KernelRun run;
  run.zero_c = request.kernel() != nullptr && request.kernel()->zero_c;
  shared.what = run;
  shared.reference = request.reference;
  shared.seed = request.seed;
  shared.measure = request.measure;
  shared.keep = request.keep;
  shared.gauges = request.gauges;
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
