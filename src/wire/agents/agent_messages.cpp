#include "wire/agents/agent_messages.h"

#include <array>
#include <string_view>
#include <type_traits>

#include "wire/named_message.h"
#include "wire/record_json.h"

namespace tune::wire {

using nlohmann::json;

// Messages that workers know are kept as these know them.
static json json_of(const Hello& hello) { return json::parse(encode(Event(hello))); }
static json json_of(const MeasureRequest& request) { return json::parse(encode(Request(request))); }

template <typename Message>
static Message known_message(const json& j) {
  const auto message = [&] {
    if constexpr (std::is_same_v<Message, Hello>)
      return decode_event(j.dump());
    else
      return decode_request(j.dump());
  }();
  if (const auto* found = std::get_if<Message>(&message)) return *found;
  throw Malformed("it holds a message of another sort");
}

// Which of the library's algorithms is timed; `no`: it is no entrant of the library.
enum class VendorAlgorithm { no, first, fastest };
constexpr std::array<std::string_view, 3> kVendorAlgorithms = {"no", "first", "fastest"};
TUNE_JSON_NAMES(VendorAlgorithm, kVendorAlgorithms)

static VendorAlgorithm algorithm_of(const Entrant& entrant) {
  if (!entrant.is_vendor()) return VendorAlgorithm::no;
  return entrant.kind == Entrant::Kind::vendor_first ? VendorAlgorithm::first : VendorAlgorithm::fastest;
}

static json json_of(const Entrant& entrant) {
  return {{"label", label_of(entrant)},
          {"spec", entrant.spec},
          {"vendor", algorithm_of(entrant)},
          {"default", entrant.is_default()}};
}

static Entrant entrant_in(const json& j) {
  Entrant entrant = entrant_of(j.at("label").get<std::string>());
  entrant.spec = j.at("spec").get<Spec>();
  const auto algorithm = j.at("vendor").get<VendorAlgorithm>();
  using enum Entrant::Kind;
  if (!entrant.is_spec())
    entrant.kind = algorithm == VendorAlgorithm::first     ? vendor_first
                   : algorithm == VendorAlgorithm::fastest ? vendor_fastest
                                                           : baseline;
  if (j.at("default").get<bool>()) entrant.kind = current_default;
  return entrant;
}

static void to_json(json& j, const Contender& contender) {
  j = json_of(contender.entrant);
  put(j, "failure", contender.failure);
  if (!contender.code.empty()) j["code"] = contender.code;
  if (contender.was_slow) j["was_slow"] = true;
  if (const auto& stored = contender.stored)
    j["stored"] = {{"key", stored->key}, {"hash", stored->hash}, {"request", json_of(stored->request)}};
}

static void from_json(const json& j, Contender& contender) {
  contender.entrant = entrant_in(j);
  take(j, "failure", contender.failure);
  take(j, "code", contender.code);
  take(j, "was_slow", contender.was_slow);
  if (const auto found = j.find("stored"); found != j.end())
    contender.stored = {found->at("key").get<std::string>(), found->at("hash").get<std::string>(),
                        known_message<MeasureRequest>(found->at("request"))};
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
TUNE_JSON_FIELDS(ProbeOrder, TUNE_JSON_NEED, backend, devices)
TUNE_JSON_FIELDS(ArtifactOrder, TUNE_JSON_NEED, key, spec)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(UsageReport, stages, idle, sweep, devices, opening_at_once)

static void fields_of_finals(auto& order, auto field) {
  field("contenders", order.contenders);
  field("built_elsewhere", order.built_elsewhere);
  field("seconds", order.seconds);
  field("last_seconds", order.last_seconds);
  field("seed", order.settings.seed);
  field("launches", order.settings.launches);
  field("end_is_asked_for", order.settings.end_is_firm);
  field("by_time", order.settings.by_time);
  field("accuracy", order.settings.accuracy);
  field("width", order.settings.width);
  field("together", order.settings.one_of_several);
  field("other_state", order.settings.other_state);
}

// Without a question its baseline is empty.
static void to_json(json& j, const FinalsOrder& order) {
  fields_of_finals(order, [&j](const char* key, const auto& value) { put(j, key, value); });
  const Question question = order.settings.question.value_or(Question());
  put(j, "question", question.baseline);
  put(j, "threshold", question.threshold);
}

static void from_json(const json& j, FinalsOrder& order) {
  fields_of_finals(order, [&j](const char* key, auto& value) { need(j, key, value); });
  Question question;
  need(j, "question", question.baseline);
  need(j, "threshold", question.threshold);
  if (!question.baseline.empty()) order.settings.question = question;
}

static void to_json(json& j, const Probed& probed) {
  j = {{"hello", json_of(probed.hello)}, {"devices", probed.devices}};
}

static void from_json(const json& j, Probed& probed) {
  probed.hello = known_message<Hello>(j.at("hello"));
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

template <typename Variant>
std::string encode_any(const Variant& any) {
  std::string text = line_of(object_of(any, kSort));
  std::visit(
      [&](const auto& message) {
        if constexpr (WithData<std::remove_cvref_t<decltype(message)>>) text += '\n' + message.data;
      },
      any);
  return text;
}

template <typename Variant>
Variant decode_any(std::string_view text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const json j = parse_json(text.substr(0, end));
  if (!j.is_object()) throw Malformed("it is not a JSON object");
  auto any = message_in<Variant>(j, kSort, "message");
  std::visit(
      [&](auto& message) {
        if constexpr (WithData<std::remove_cvref_t<decltype(message)>>)
          message.data = end == text.size() ? "" : text.substr(end + 1);
      },
      any);
  return any;
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
