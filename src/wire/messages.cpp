#include "wire/messages.h"

#include "wire/json.h"

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
static void to_json(json& j, const Go& go) {
  j = {{"launches", go.launches},
       {"best_seconds", go.best_seconds},
       {"best_joules", go.best_joules},
       {"check", go.check},
       {"pause", go.pause},
       {"answer_within", go.answer_within},
       {"spec", go.spec}};
  if (go.state) j["state"] = *go.state;
}

static void from_json(const json& j, Go& go) {
  const Go plain;
  go.launches = j.value("launches", plain.launches);
  go.best_seconds = j.value("best_seconds", plain.best_seconds);
  go.best_joules = j.value("best_joules", plain.best_joules);
  go.check = j.value("check", plain.check);
  go.pause = j.value("pause", plain.pause);
  go.answer_within = j.value("answer_within", plain.answer_within);
  go.spec = j.value("spec", plain.spec);
  if (j.contains("state")) go.state = j.at("state").get<PowerState>();
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Next, request, beside)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(DeviceName, name, id, one_process)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Hello, protocol, backend, device, compiler, archs, no_device, devices,
                                                vendor_library, remarks, cores)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Built, artifact, seconds, properties, reads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Checked, max_error, seconds, waits)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Measured, timing, checked, metrics, remarks, name, clean_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Failed, stage, message, facts, no_device, environment, room_error)

namespace {

// Messages without fields are empty objects.
template <typename Message>
concept Empty = std::is_empty_v<Message>;

template <typename Message>
json body_of(const Message& message) {
  if constexpr (Empty<Message>)
    return json::object();
  else
    return message;
}

// The name of each message, which tells the alternatives of a variant apart on the wire.
template <typename Message>
struct Name;
#define TUNE_MESSAGE(Message, text)            \
  template <>                                  \
  struct Name<Message> {                       \
    static constexpr const char* value = text; \
  };
TUNE_MESSAGE(BuildRequest, "build")
TUNE_MESSAGE(MeasureRequest, "measure")
TUNE_MESSAGE(ReferenceRequest, "reference")
TUNE_MESSAGE(Load, "load")
TUNE_MESSAGE(Go, "go")
TUNE_MESSAGE(Done, "done")
TUNE_MESSAGE(Next, "next")
TUNE_MESSAGE(Hello, "hello")
TUNE_MESSAGE(Built, "built")
TUNE_MESSAGE(Loaded, "loaded")
TUNE_MESSAGE(Checked, "checked")
TUNE_MESSAGE(Measured, "measured")
TUNE_MESSAGE(Referenced, "referenced")
TUNE_MESSAGE(Failed, "failed")
#undef TUNE_MESSAGE

// Text that is not UTF-8 (a kernel's or a compiler's output) is repaired, not refused.
std::string dump(const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace); }

template <typename... Messages>
std::string encode_as(const char* sort, const std::variant<Messages...>& message) {
  return std::visit(
      [&](const auto& body) {
        json j = body_of(body);
        j[sort] = Name<std::decay_t<decltype(body)>>::value;
        return dump(j);
      },
      message);
}

template <typename Variant, std::size_t index = 0>
Variant decode_named(const json& j, const std::string& name, const char* sort) {
  if constexpr (index == std::variant_size_v<Variant>) {
    throw Malformed("unknown " + std::string(sort) + " '" + name + "'");
  } else {
    using Message = std::variant_alternative_t<index, Variant>;
    if (name != Name<Message>::value) return decode_named<Variant, index + 1>(j, name, sort);
    if constexpr (Empty<Message>)
      return Message{};
    else
      return j.get<Message>();
  }
}

template <typename Variant>
Variant decode_as(const char* sort, std::string_view line) {
  const json j = parse_json(line);
  if (!j.is_object()) throw Malformed("not a JSON object: " + std::string(line.substr(0, 120)));
  try {
    return decode_named<Variant>(j, j.at(sort).get<std::string>(), sort);
  } catch (const json::exception& error) {
    throw Malformed(fault_of(error));
  } catch (const std::invalid_argument& error) {
    throw Malformed(error.what());
  }
}

}  // namespace

std::string encode(const Request& request) { return encode_as("request", request); }
std::string encode(const Command& command) { return encode_as("command", command); }
std::string encode(const Event& event) { return encode_as("event", event); }

Request decode_request(std::string_view line) { return decode_as<Request>("request", line); }
Command decode_command(std::string_view line) { return decode_as<Command>("command", line); }
Event decode_event(std::string_view line) { return decode_as<Event>("event", line); }

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
