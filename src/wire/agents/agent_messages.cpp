#include "wire/agents/agent_messages.h"

#include <type_traits>

#include "wire/record_json.h"

namespace tune::wire {

using nlohmann::json;

// Messages that workers know are kept as these know them.
static json json_of(const Hello& hello) { return json::parse(encode(Event(hello))); }
static json json_of(const MeasureRequest& request) { return json::parse(encode(Request(request))); }

template <typename Message>
static Message message_in(const json& j) {
  const auto message = [&] {
    if constexpr (std::is_same_v<Message, Hello>)
      return decode_event(j.dump());
    else
      return decode_request(j.dump());
  }();
  if (const auto* found = std::get_if<Message>(&message)) return *found;
  throw Malformed("it holds a message of another sort");
}

template <typename Value>
static void put(json& j, const char* key, const std::optional<Value>& value) {
  if (value) j[key] = *value;
}

template <typename Value>
static void take(const json& j, const char* key, std::optional<Value>& value) {
  if (const auto found = j.find(key); found != j.end()) value = found->template get<Value>();
}

// Which of the library's algorithms is timed; `no`: it is no entrant of the library.
constexpr std::pair<const char*, Entrant::Kind> kVendors[] = {{"no", Entrant::Kind::baseline},
                                                              {"first", Entrant::Kind::vendor_first},
                                                              {"fastest", Entrant::Kind::vendor_fastest}};

static json json_of(const Entrant& entrant) {
  return {{"label", label_of(entrant)},
          {"spec", entrant.spec},
          {"vendor", enum_name(entrant.is_vendor() ? entrant.kind : Entrant::Kind::baseline, kVendors)},
          {"default", entrant.is_default()}};
}

static Entrant entrant_in(const json& j) {
  Entrant entrant = entrant_of(j.at("label").get<std::string>());
  entrant.spec = j.at("spec").get<Spec>();
  const Entrant::Kind vendor = enum_from(j.at("vendor").get<std::string>(), kVendors);
  if (!entrant.is_spec()) entrant.kind = vendor;
  if (j.at("default").get<bool>()) entrant.kind = Entrant::Kind::current_default;
  return entrant;
}

static void to_json(json& j, const Contender& contender) {
  j = json_of(contender.entrant);
  put(j, "failure", contender.failure);
  if (const auto& stored = contender.stored)
    j["stored"] = {{"key", stored->key}, {"hash", stored->hash}, {"request", json_of(stored->request)}};
}

static void from_json(const json& j, Contender& contender) {
  contender.entrant = entrant_in(j);
  take(j, "failure", contender.failure);
  if (const auto found = j.find("stored"); found != j.end())
    contender.stored = {found->at("key").get<std::string>(), found->at("hash").get<std::string>(),
                        message_in<MeasureRequest>(found->at("request"))};
}

using PlanInput = PlanOrder::Input;
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlanInput, path, hash, executable)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Welcome, silence, token)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Unwelcome, why)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(InputFile, hash)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlanOrder, words, shape, environment, folder, inputs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SpecOrder, ticket, spec, built_elsewhere)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BestOrder, seconds, joules)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ArtifactFiles, key, files)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(AgentHello, protocol, records, token, host, process, step)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Ready, slots, source_hash)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Unable, code, why)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Said, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Distrust, why)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StartedReport, ticket, device)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TrialReport, ticket, trial)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(UsageReport, stages, idle, sweep, devices, opening_at_once)

static void to_json(json& j, const ProbeOrder& order) {
  j = {{"backend", order.backend}};
  put(j, "devices", order.devices);
}

static void from_json(const json& j, ProbeOrder& order) {
  order.backend = j.at("backend").get<Backend>();
  take(j, "devices", order.devices);
}

static void to_json(json& j, const FinalsOrder& order) {
  j = {{"contenders", order.contenders},
       {"built_elsewhere", order.built_elsewhere},
       {"seed", order.seed},
       {"launches", order.launches},
       {"seconds", order.seconds},
       {"end_is_asked_for", order.end_is_asked_for},
       {"last_seconds", order.last_seconds},
       {"by_time", order.by_time},
       {"accuracy", order.accuracy},
       {"question", order.question},
       {"threshold", order.threshold},
       {"together", order.together}};
  put(j, "width", order.width);
  put(j, "other_state", order.other_state);
}

static void from_json(const json& j, FinalsOrder& order) {
  order.contenders = j.at("contenders").get<std::vector<Contender>>();
  order.built_elsewhere = j.at("built_elsewhere").get<std::vector<std::string>>();
  order.seed = j.at("seed").get<std::uint64_t>();
  order.launches = j.at("launches").get<int>();
  order.seconds = j.at("seconds").get<double>();
  order.end_is_asked_for = j.at("end_is_asked_for").get<bool>();
  order.by_time = j.at("by_time").get<bool>();
  order.last_seconds = j.at("last_seconds").get<double>();
  order.accuracy = j.at("accuracy").get<double>();
  order.question = j.at("question").get<std::string>();
  order.threshold = j.at("threshold").get<double>();
  order.together = j.at("together").get<bool>();
  take(j, "width", order.width);
  take(j, "other_state", order.other_state);
}

static void to_json(json& j, const ArtifactOrder& order) {
  j = {{"key", order.key}};
  put(j, "spec", order.spec);
}

static void from_json(const json& j, ArtifactOrder& order) {
  order.key = j.at("key").get<std::string>();
  take(j, "spec", order.spec);
}

static void to_json(json& j, const Probed& probed) {
  j = {{"hello", json_of(probed.hello)}, {"devices", probed.devices}};
}

static void from_json(const json& j, Probed& probed) {
  probed.hello = message_in<Hello>(j.at("hello"));
  probed.devices = j.at("devices").get<int>();
}

static void to_json(json& j, const FinalsReport& report) {
  j = {{"round", report.round}, {"left", report.left}, {"end", report.end}};
  put(j, "so_far", report.so_far);
}

static void from_json(const json& j, FinalsReport& report) {
  report.round = j.at("round").get<int>();
  report.left = j.at("left").get<int>();
  report.end = j.at("end").get<bool>();
  if (j.contains("so_far")) report.so_far = finals_at_any_time(j.at("so_far"));
}

namespace {

constexpr const char* kSort = "is";

template <typename Message>
concept WithData = requires(Message& message) {
  message.data;
};

// What is not valid UTF-8 in texts of compilers and programs is replaced.
template <typename Variant>
std::string encode_any(const Variant& any) {
  return std::visit(
      [](const auto& message) {
        using Message = std::remove_cvref_t<decltype(message)>;
        json j = json::object();
        if constexpr (!std::is_empty_v<Message>) j = message;
        j[kSort] = Message::kName;
        std::string text = j.dump(-1, ' ', false, json::error_handler_t::replace);
        if constexpr (WithData<Message>) text += '\n' + message.data;
        return text;
      },
      any);
}

template <typename Message, typename Variant>
bool decode_as(const std::string& sort, const json& j, std::string_view data, Variant& result) {
  if (sort != Message::kName) return false;
  Message message;
  if constexpr (!std::is_empty_v<Message>) message = j.get<Message>();
  if constexpr (WithData<Message>) message.data = data;
  result = std::move(message);
  return true;
}

template <typename... Messages>
void decode_one_of(const json& j, std::string_view data, std::variant<Messages...>& result) {
  const std::string sort = j.at(kSort).get<std::string>();
  if (!(decode_as<Messages>(sort, j, data, result) || ...)) throw Malformed("unknown message '" + sort + "'");
}

template <typename Variant>
Variant decode_any(std::string_view text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const json j = parse_json(text.substr(0, end));
  if (!j.is_object()) throw Malformed("it is not a JSON object");
  try {
    Variant result;
    decode_one_of(j, end == text.size() ? "" : text.substr(end + 1), result);
    return result;
  } catch (const json::exception& error) {
    throw Malformed(fault_of(error));
  } catch (const std::invalid_argument& error) {
    throw Malformed(error.what());
  }
}

}  // namespace

std::string encode_order(const AgentOrder& order) { return encode_any(order); }
std::string encode_report(const AgentReport& report) { return encode_any(report); }
AgentOrder decode_order(std::string_view text) { return decode_any<AgentOrder>(text); }
AgentReport decode_report(std::string_view text) { return decode_any<AgentReport>(text); }

TokenHalves halves_of(const std::string& token) {
  const std::size_t middle = token.size() / 2;
  return {token.substr(0, middle), token.substr(middle)};
}

}  // namespace tune::wire
