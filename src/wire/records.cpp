#include "wire/records.h"

#include <algorithm>
#include <cstdint>

#include "wire/named_message.h"
#include "wire/record_json.h"

namespace tune::wire {

using nlohmann::json;

namespace {

constexpr std::size_t kNamedLines = 5;

// At least to the minute, in UTC.
bool is_date(const std::string& text) {
  constexpr std::string_view kDate = "0000-00-00 00:00:00";
  if (text.size() < kDate.size() || !text.ends_with("+00:00")) return false;
  return std::ranges::equal(kDate, std::string_view(text).substr(0, kDate.size()),
                            [](char form, char c) { return form == '0' ? c >= '0' && c <= '9' : c == form; });
}

double amount_at(const json& j, const char* key) {
  const auto found = j.find(key);
  if (found == j.end()) return 0;
  if (!found->is_number() || found->get<double>() < 0) refuse(std::string("'") + key + "' is no amount");
  return found->get<double>();
}

}  // namespace

// The probe's answer in full, because later runs may have to do with it alone.
static void to_json(json& j, const RunRecord& run) {
  j = {{"protocol", run.protocol},
       {"name", run.name},
       {"problem", run.problem},
       {"command", run.command},
       {"host", run.host},
       {"process", run.process},
       {"hello", json::parse(encode(Event(run.hello)))}};
  if (!run.date.empty()) j["date"] = run.date;
  if (run.fresh) j["fresh"] = true;
  if (!run.shape.empty()) j["shape"] = run.shape;
  if (!run.parameters.empty()) j["parameters"] = run.parameters;
  if (run.flops > 0) j["flops"] = run.flops;
  if (run.bytes > 0) j["bytes"] = run.bytes;
  if (run.peak_flops > 0) j["peak_flops"] = run.peak_flops;
}

static void from_json(const json& j, RunRecord& run) {
  run.protocol = static_cast<int>(to_integer(j.at("protocol"), "'protocol'", 0, INT32_MAX));
  run.name = j.value("name", "");
  run.problem = j.value("problem", "");
  run.command = j.value("command", std::vector<std::string>());
  run.host = j.value("host", "");
  run.process = static_cast<int>(integer_at(j, "process", 0, INT32_MAX, 0));
  run.date = j.value("date", "");
  if (!run.date.empty() && !is_date(run.date)) refuse("'date' is no date such as 2026-11-21 10:44:42+00:00");
  run.fresh = j.value("fresh", false);
  run.shape = j.value("shape", "");
  run.parameters = j.value("parameters", std::vector<std::string>());
  run.flops = amount_at(j, "flops");
  run.bytes = amount_at(j, "bytes");
  run.peak_flops = amount_at(j, "peak_flops");
  const Event event = decode_event(j.at("hello").dump());
  const auto* hello = std::get_if<Hello>(&event);
  if (hello == nullptr) throw Malformed("what it calls hello is another message");
  run.hello = *hello;
}

static void to_json(json& j, const StartedRecord& started) {
  if (started.mesh_idx >= 0) j["mesh_idx"] = started.mesh_idx;
  if (started.device > 0) j["device"] = started.device;
  j["id"] = started.id;
}

static void from_json(const json& j, StartedRecord& started) {
  started.id = j.at("id").get<std::string>();
  started.mesh_idx = integer_at(j, "mesh_idx", -1, INT64_MAX, -1);
  started.device = static_cast<int>(integer_at(j, "device", 0, INT32_MAX, 0));
}

std::string encode(const Record& record) {
  json j;
  if (const auto* run = std::get_if<RunRecord>(&record)) {
    j = *run;
    j["record"] = "run";
  } else if (const auto* trial = std::get_if<TrialRecord>(&record)) {
    j = trial->trial;
    if (trial->at > 0) j["at"] = trial->at;
    j["record"] = "trial";
    j["id"] = trial->id;
  } else if (const auto* finals = std::get_if<FinalsRecord>(&record)) {
    j = finals->finals;
    j["record"] = "finals";
    j["id"] = finals->id;
  } else if (const auto* started = std::get_if<StartedRecord>(&record)) {
    j = *started;
    j["record"] = "started";
  } else if (const auto* ended = std::get_if<EndedRecord>(&record)) {
    j["record"] = "ended";
    if (ended->complete) j["complete"] = true;
  } else if (const auto* distrust = std::get_if<DistrustRecord>(&record)) {
    j["record"] = "distrust";
    j["why"] = distrust->why;
  } else {
    j = std::get<ResultsRecord>(record);
    j["record"] = "results";
  }
  return line_of(j);
}

Record decode_record(std::string_view line) {
  const json j = parse_json(line);
  if (!j.is_object()) throw Malformed("it is not a JSON object");
  return or_malformed([&]() -> Record {
    const std::string sort = j.at("record").get<std::string>();
    if (sort == "run") return j.get<RunRecord>();
    if (sort == "trial") return TrialRecord{j.at("id").get<std::string>(), j.get<Trial>(), seconds_at(j, "at")};
    if (sort == "finals") return FinalsRecord{j.at("id").get<std::string>(), j.get<Finals>()};
    if (sort == "started") return j.get<StartedRecord>();
    if (sort == "ended") return EndedRecord{j.value("complete", false)};
    if (sort == "distrust") return DistrustRecord{j.at("why").get<std::string>()};
    if (sort == "results") return j.get<ResultsRecord>();
    throw Malformed("unknown record '" + sort + "'");
  });
}

void DamagedLines::add(std::int64_t line, const std::string& why) {
  ++count_;
  if (first_.size() < kNamedLines)
    first_.push_back(std::to_string(line) + ": this line is not a valid record and is ignored: " + why);
}

std::vector<std::string> DamagedLines::texts(const std::string& file) const {
  std::vector<std::string> texts;
  for (const std::string& text : first_) texts.push_back(file + ":" + text);
  const auto more = count_ - static_cast<std::int64_t>(first_.size());
  if (more == 1) texts.push_back(file + ": 1 more line is not a valid record and is ignored");
  if (more > 1)
    texts.push_back(file + ": " + std::to_string(more) + " more lines are not valid records and are ignored");
  return texts;
}

}  // namespace tune::wire
