#include "wire/messages.h"

#include <gtest/gtest.h>

#include "wire/agents/agent_messages.h"
#include "wire/records.h"

namespace tune::wire::messages_test {
namespace {

template <typename Message>
Message sent(const Message& message) {
  return std::get<Message>(decode_event(encode(Event(message))));
}

Finalist sent(const Finalist& finalist) {
  return std::get<FinalsRecord>(decode_record(encode(Record(FinalsRecord{"id", {{finalist}}})))).finals.finalists.at(0);
}

const std::vector<std::string> kRemarks = {"one \"quoted\"", "two"};

TEST(Messages, CarryRemarksOfTheMachineAndOfWhatWasTimed) {
  Hello hello;
  hello.remarks = kRemarks;
  EXPECT_EQ(sent(hello).remarks, kRemarks);
  Measured measured;
  measured.remarks = kRemarks;
  EXPECT_EQ(sent(measured).remarks, kRemarks);
}

TEST(Messages, NeedHaveNoRemarks) {
  EXPECT_TRUE(std::get<Hello>(decode_event(R"({"event": "hello"})")).remarks.empty());
  EXPECT_TRUE(std::get<Measured>(decode_event(R"({"event": "measured", "timing": {}})")).remarks.empty());
}

TEST(Messages, SayInWhichStateToTime) {
  const auto sent_state = [](const Go& go) { return std::get<Go>(decode_command(encode(Command(go)))).state; };
  EXPECT_EQ(sent_state({.state = PowerState::sustained}), PowerState::sustained);
  EXPECT_EQ(sent_state({.state = PowerState::burst}), PowerState::burst);
  EXPECT_EQ(sent_state({}), std::nullopt);
  const Go go =
      std::get<Go>(decode_command(encode(Command(Go{.launches = 3, .check = Go::Check::no, .answer_within = 2}))));
  EXPECT_EQ(go.launches, 3);
  EXPECT_EQ(go.check, Go::Check::no);
  EXPECT_EQ(go.answer_within, 2);
}

TEST(Messages, SayByTwoFieldsWhetherToCheckFirst) {
  const auto line = [](const std::string& check, const std::string& pause) {
    return R"({"answer_within":0.0,"best_joules":0.0,"best_seconds":0.0,"check":)" + check +
           R"(,"command":"go","launches":0,"pause":)" + pause + R"(,"spec":0})";
  };
  const std::pair<Go::Check, std::string> lines[] = {{Go::Check::no, line("false", "false")},
                                                     {Go::Check::yes, line("true", "false")},
                                                     {Go::Check::alone, line("true", "true")}};
  for (const auto& [check, text] : lines) {
    EXPECT_EQ(encode(Command(Go{.check = check})), text);
    EXPECT_EQ(std::get<Go>(decode_command(text)).check, check);
  }
}

// A member without a row of kMeasureRules would not reach a worker: a new one belongs into this list, too.
TEST(Messages, CarryEveryRuleOfMeasuring) {
  MeasureRequest request;
  auto& [warmup, min_launches, max_seconds, cutoff, cold_cache, energy, state, strict, memory_bytes] = request.measure;
  warmup = min_launches = 12;
  max_seconds = cutoff = 3.5;
  cold_cache = false;
  energy = MeasureRules::Energy::always;
  state = PowerState::sustained;
  strict = true;
  memory_bytes = 12;
  EXPECT_EQ(std::get<MeasureRequest>(decode_request(encode(Request(request)))).measure, request.measure);
}

/// The request to measure this, after it was sent.
MeasureRequest request_for(decltype(MeasureRequest::what) what) {
  MeasureRequest request;
  request.what = std::move(what);
  return std::get<MeasureRequest>(decode_request(encode(Request(request))));
}

TEST(Messages, SayWhatIsMeasured) {
  KernelRun run;
  run.launches.emplace_back().kernel = "a";
  run.workspace_bytes = 64;
  run.zero_workspace = run.zero_c = true;
  const MeasureRequest kernel = request_for(run);
  ASSERT_NE(kernel.kernel(), nullptr);
  EXPECT_EQ(kernel.kernel()->launches.at(0).kernel, "a");
  EXPECT_EQ(kernel.workspace_bytes(), 64);
  EXPECT_TRUE(kernel.kernel()->zero_workspace && kernel.kernel()->zero_c);
  EXPECT_NE(request_for(KernelRun()).kernel(), nullptr) << "all its launches are left out";

  const MeasureRequest vendor = request_for(VendorRun{true});
  ASSERT_NE(vendor.vendor(), nullptr);
  EXPECT_TRUE(vendor.vendor()->best);

  ProgramRun command;
  command.rules.run = {{"a.sh -v"}, true};
  const MeasureRequest program = request_for(command);
  ASSERT_NE(program.program(), nullptr);
  EXPECT_EQ(program.program()->rules.run.words, Words{"a.sh -v"});
  EXPECT_TRUE(program.program()->rules.run.is_shell);
  for (const std::optional<bool> whole : {std::optional<bool>(), std::optional(true), std::optional(false)}) {
    command.rules.whole = whole;
    EXPECT_EQ(request_for(command).program()->rules.whole, whole);
  }
}

TEST(Messages, OfAFailureCarryItsFacts) {
  Failed failed;
  failed.facts = {.exit_code = 127, .machine_suspected = true};
  failed.room_error = 28;
  EXPECT_EQ(sent(failed).facts, failed.facts);
  EXPECT_EQ(sent(failed).room_error, 28);
  EXPECT_EQ(std::get<Failed>(decode_event(R"({"event": "failed", "stage": "load"})")).facts, FailureFacts());
  EXPECT_THROW(decode_event(R"({"event": "failed", "facts": {"signal": -1}})"), Malformed);
}

/// Of a journal's trial that failed.
Failure failure_in(const std::string& line) { return *std::get<TrialRecord>(decode_record(line)).trial.failure(); }

Failure recorded(const Failure& failure) { return failure_in(encode(Record(TrialRecord{"id", {Spec{}, failure}}))); }

TEST(Records, OfFailuresKeepTheirFacts) {
  const Failure unknown{Stage::check, Cause::reported, "wrong", "log"};
  for (const FailureFacts& facts :
       {FailureFacts(), FailureFacts{.exit_code = 255}, FailureFacts{.signal = 11}, FailureFacts{.limit_seconds = 1.25},
        FailureFacts{.exit_code = 126, .machine_suspected = true}}) {
    Failure failure = unknown;
    failure.facts = facts;
    const Failure read = recorded(failure);
    EXPECT_EQ(read.facts, facts);
    EXPECT_TRUE(alike(read, failure));
    EXPECT_EQ(read.message, "wrong");
    EXPECT_EQ(read.log, "log");
  }
  EXPECT_EQ(encode(Record(TrialRecord{"id", {Spec{}, unknown}})).find("facts"), std::string::npos);
}

TEST(Records, OfFailuresLeaveTheirKindAsItWas) {
  for (const Stage stage : {Stage::build, Stage::check}) {
    Failure failure{stage, Cause::reported, "a.cpp:7: error: 9\nmore"};
    failure.add_to_headline(" (again)");
    EXPECT_EQ(recorded(failure).kind, failure.kind);
    EXPECT_EQ(encode(Record(TrialRecord{"id", {Spec{}, failure}})).find("kind"), std::string::npos);
  }
}

TEST(Records, OfFailuresWithFactsThatCannotBeAreNone) {
  const auto decode = [](const std::string& facts) {
    return failure_in(R"({"record": "trial", "id": "x", "mesh_idx": 0, "params": {}, "failed": )"
                      R"({"stage": "build", "cause": "timed out", "message": "m", "log": "")" +
                      facts + "}}");
  };
  EXPECT_EQ(decode("").facts, FailureFacts()) << "an older version's";
  EXPECT_EQ(decode(R"(, "facts": {"signal": 9, "another": 1})").facts, FailureFacts{.signal = 9});
  for (const char* facts : {"7", "null", "[]", R"({"exit_code": 256})", R"({"exit_code": -1})", R"({"exit_code": 1.5})",
                            R"({"exit_code": true})", R"({"signal": 128})", R"({"signal": "9"})",
                            R"({"limit_seconds": -1})", R"({"limit_seconds": "1"})", R"({"limit_seconds": 1e999})",
                            R"({"machine_suspected": 1})", R"({"machine_suspected": "yes"})"})
    EXPECT_THROW(decode(std::string(R"(, "facts": )") + facts), Malformed) << facts;
}

TEST(Records, OfFinalsKeepRemarksBesideAFailure) {
  Finalist finalist;
  finalist.entrant = entrant_of("vendor");
  finalist.remarks = kRemarks;
  finalist.failure = Failure{Stage::check, Cause::reported, "wrong", ""};
  EXPECT_EQ(sent(finalist).remarks, kRemarks);
  EXPECT_TRUE(sent(finalist).failure.has_value());
  EXPECT_TRUE(sent(Finalist()).remarks.empty());
}

TEST(Records, OfFinalsKeepWhatTheRoundsSaid) {
  Finalist finalist{{Spec{3, {{"T", std::int64_t{1}, false}}}}};
  finalist.rounds = {{1, {0.5}}, {2, {0.75, 0.5}}, {3, {.seconds = 0.25, .cost = -2}}};
  finalist.entrant.kind = Entrant::Kind::current_default;
  finalist.eliminated_after = 3;
  finalist.other_state_seconds = 0.75;
  const Finalist read = sent(finalist);
  EXPECT_EQ(read.rounds, finalist.rounds);
  EXPECT_TRUE(read.entrant.is_default());
  EXPECT_EQ(read.eliminated_after, 3);
  EXPECT_EQ(read.other_state_seconds, 0.75);
  Finals finals{{finalist}};
  finals.stolen_cores = 0.125;
  finals.seconds = 12.5;
  finals.room = 20;
  const std::string record = encode(Record(FinalsRecord{"id", finals}));
  EXPECT_EQ(std::get<FinalsRecord>(decode_record(record)).finals.stolen_cores, 0.125);
  EXPECT_EQ(std::get<FinalsRecord>(decode_record(record)).finals.seconds, 12.5);
  EXPECT_EQ(std::get<FinalsRecord>(decode_record(record)).finals.room, 20);
  const auto clean = [&](const std::string& text) {
    const std::string now = R"("clean_rounds":[[2,0.5]])";
    const std::string changed = std::string(record).replace(record.find(now), now.size(), text);
    return std::get<FinalsRecord>(decode_record(changed)).finals.finalists[0].rounds.at(2).clean_seconds;
  };
  EXPECT_EQ(clean(R"("clean_seconds":0.5)"), std::nullopt) << "as in journals of older versions";
  EXPECT_THROW(clean(R"("clean_rounds":[[4,0.5]])"), Malformed) << "there is no fourth round";
  EXPECT_FALSE(sent(Finalist()).entrant.is_default());
  EXPECT_EQ(sent(Finalist()).other_state_seconds, std::nullopt);
}

TEST(Records, OfFinalsSayByTheLabelWhoTookPart) {
  for (const char* name : {"vendor", "vendor best", "baseline", "baseline 2", "old.yaml"}) {
    const Finalist read = sent(Finalist{{Spec{-1, {}}, entrant_of(name).kind, name}});
    EXPECT_EQ(read.entrant.kind, entrant_of(name).kind) << name;
    EXPECT_EQ(read.entrant.name, name);
  }
  const Finalist read = sent(Finalist{{Spec{7, {}}}});
  EXPECT_EQ(read.entrant.kind, Entrant::Kind::spec);
  EXPECT_EQ(read.entrant.spec.mesh_idx, 7);
  const Finalist today{{Spec{7, {}}, Entrant::Kind::current_default, "default"}};
  const std::string record = encode(Record(FinalsRecord{"id", {{today}}}));
  EXPECT_NE(record.find(R"("default":true)"), std::string::npos) << record;
  EXPECT_NE(record.find(R"("label":"")"), std::string::npos) << record;
}

// A setting that the order does not carry would be lost where agents hold the finals: a new one belongs into this list.
TEST(Orders, OfFinalsCarryEverySetting) {
  FinalsOrder order;
  auto& [seed, launches, end_is_firm, by_time, accuracy, width, question, one_of_several, other_state] = order.settings;
  const auto sent = [&] { return std::get<FinalsOrder>(decode_order(encode_order(order))).settings; };
  EXPECT_EQ(sent(), RoundRules());
  seed = 12;
  launches = 5;
  end_is_firm = one_of_several = true;
  by_time = false;
  accuracy = width.emplace(0.25);
  question = {"vendor", 0.5};
  other_state = PowerState::sustained;
  EXPECT_EQ(sent(), order.settings);
}

TEST(Orders, OfFinalsSayWhatTheContendersAre) {
  using enum Entrant::Kind;
  const std::vector<Entrant> entrants = {{Spec{3, {}}},
                                         {Spec{4, {}}, current_default},
                                         {Spec{5, {}}, baseline, "vendor"},
                                         {{}, vendor_first, "vendor 2"},
                                         {{}, vendor_fastest, "vendor 2 best"}};
  FinalsOrder order;
  for (const Entrant& entrant : entrants) order.contenders.push_back({entrant});
  order.contenders[0].code = "d660";
  order.contenders[1].was_slow = true;
  const std::string text = encode_order(order);
  EXPECT_NE(text.find(R"({"default":true,"label":"","spec":{"mesh_idx":4,"params":{}},"vendor":"no","was_slow":true})"),
            std::string::npos)
      << text;
  const auto read = std::get<FinalsOrder>(decode_order(text)).contenders;
  ASSERT_EQ(read.size(), entrants.size());
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    EXPECT_EQ(read[i].entrant.kind, entrants[i].kind);
    EXPECT_EQ(read[i].entrant.name, entrants[i].name);
    EXPECT_EQ(read[i].entrant.spec.mesh_idx, entrants[i].spec.mesh_idx);
    EXPECT_EQ(read[i].code, order.contenders[i].code);
    EXPECT_EQ(read[i].was_slow, order.contenders[i].was_slow);
  }
}

TEST(Records, OfFinalsWithoutProperRoundsAreNone) {
  const auto decode = [](const std::string& rounds) {
    decode_record(R"({"record": "finals", "id": "x", "finalists": [{"mesh_idx": 0, "params": {}, "rounds": )" + rounds +
                  "}]}");
  };
  decode("[[1, 0.5], [2, 0.5]]");
  for (const char* rounds : {"[0.5, 0.5]", "[[1, 0]]", "[[1, -1]]", "[[1, null]]", "[[0, 1]]", "[[1, 1e999]]", "7"})
    EXPECT_THROW(decode(rounds), Malformed) << rounds;
}

TEST(Records, OfWhatWasStartedAreReadAsTheyWere) {
  const std::string line = encode(Record(StartedRecord{"x", 7, 2}));
  const auto started = std::get<StartedRecord>(decode_record(line));
  EXPECT_EQ(started.id, "x");
  EXPECT_EQ(started.mesh_idx, 7);
  EXPECT_EQ(started.device, 2);
  EXPECT_EQ(encode(Record(StartedRecord{"x"})), R"({"id":"x","record":"started"})");
  EXPECT_EQ(std::get<StartedRecord>(decode_record(R"({"record": "started", "id": "x"})")).mesh_idx, -1);
  EXPECT_TRUE(std::holds_alternative<EndedRecord>(decode_record(encode(Record(EndedRecord{})))));
  EXPECT_THROW(decode_record(R"({"record": "started", "id": "x", "device": -1})"), Malformed);
}

TEST(Records, OfRunsTellTheirDateTheOrderOfParametersAndWhetherTheyAreFresh) {
  RunRecord run;
  EXPECT_EQ(encode(Record(run)).find("fresh"), std::string::npos);
  run.date = "2026-11-21 10:44:42.236642+00:00";
  run.fresh = true;
  run.parameters = {"b", "a"};
  const std::string line = encode(Record(run));
  const auto read = std::get<RunRecord>(decode_record(line));
  EXPECT_EQ(read.date, run.date);
  EXPECT_TRUE(read.fresh);
  EXPECT_EQ(read.parameters, run.parameters);
  std::string wrong = line;
  wrong.replace(wrong.find("2026-11"), 7, "2026/11");
  EXPECT_THROW(decode_record(wrong), Malformed);
  EXPECT_EQ(encode(Record(EndedRecord{})), R"({"record":"ended"})");
  EXPECT_TRUE(std::get<EndedRecord>(decode_record(encode(Record(EndedRecord{true})))).complete);
}

TEST(Records, OfFinalsMayLackRoundsOnlyOfWhoFailedLostOrRests) {
  const auto decode = [](const std::string& finalists) {
    decode_record(R"({"record": "finals", "id": "x", "finalists": [)" + finalists + "]}");
  };
  const std::string all = R"({"mesh_idx": 0, "params": {}, "rounds": [[1, 1], [2, 1], [3, 1]]})";
  const std::string few = R"({"mesh_idx": 1, "params": {}, "rounds": [[1, 1], [2, 1]])";
  decode(all + "," + few + R"(, "eliminated_after": 2})");
  decode(all + "," + few + R"(, "label": "vendor"})");
  decode(all + "," + few + R"(, "failed": {"stage": "measure", "cause": "crashed", "message": "", "log": ""}})");
  for (const char* end : {"}", R"(, "eliminated_after": 3})", R"(, "eliminated_after": 1})"})
    EXPECT_THROW(decode(all + "," + few + end), Malformed) << end;
}

}  // namespace
}  // namespace tune::wire::messages_test
