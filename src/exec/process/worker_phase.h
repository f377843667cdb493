#pragma once
#include <algorithm>
#include <array>
#include <string_view>

namespace tune::exec {

/// Where a worker process is, as the driver sees it. A worker that has failed stays where it failed.
enum class Phase {
  // of a process that builds or makes a reference
  working,
  built,
  serving,  ///< the reference is made, and others may copy it
  // of a measure process, in their order
  starting,
  ready,  ///< to load
  loading,
  loaded,
  checking,
  checking_alone,  ///< it does not go on to measure by itself
  waiting,         ///< it has checked, and waits for another go
  measuring,
  measured,
  leaving,
};

/// What the driver and a worker say to each other, as far as it decides what comes next. `go` is told apart by what it
/// asks for: to measure, to check and measure, or to check and wait.
enum class Message {
  hello,
  load,
  loaded,
  go,
  check,
  check_alone,
  checked,
  waits,
  measured,
  next,
  done,
  built,
  referenced,
  reference
};

struct Step {
  Phase from;
  Message message;
  Phase to;
  bool deadline;  ///< the worker is killed unless it says something in time
};

/// The protocol, but for `failed`, which is expected as long as a result is owed.
inline constexpr std::array kSteps = {
    Step{Phase::working, Message::built, Phase::built, true},
    Step{Phase::working, Message::referenced, Phase::serving, false},
    Step{Phase::serving, Message::reference, Phase::working, true},
    Step{Phase::starting, Message::hello, Phase::ready, true},
    Step{Phase::ready, Message::load, Phase::loading, true},
    Step{Phase::loading, Message::loaded, Phase::loaded, false},
    Step{Phase::loaded, Message::go, Phase::measuring, true},
    Step{Phase::loaded, Message::check, Phase::checking, true},
    Step{Phase::loaded, Message::check_alone, Phase::checking_alone, true},
    Step{Phase::loaded, Message::next, Phase::ready, true},
    Step{Phase::loaded, Message::done, Phase::leaving, true},
    Step{Phase::checking, Message::checked, Phase::measuring, true},
    Step{Phase::checking, Message::measured, Phase::measured, false},
    Step{Phase::checking_alone, Message::checked, Phase::measuring, true},
    Step{Phase::checking_alone, Message::waits, Phase::waiting, false},
    Step{Phase::checking_alone, Message::measured, Phase::measured, false},
    Step{Phase::waiting, Message::check, Phase::measuring, true},
    Step{Phase::measuring, Message::measured, Phase::measured, false},
    Step{Phase::measured, Message::go, Phase::measuring, true},
    Step{Phase::measured, Message::check, Phase::checking, true},
    Step{Phase::measured, Message::next, Phase::ready, true},
    Step{Phase::measured, Message::done, Phase::leaving, true},
};

/// nullptr: the message is not expected in this phase.
constexpr const Step* find_step(Phase from, Message message) {
  const auto* step =
      std::ranges::find_if(kSteps, [=](const Step& row) { return row.from == from && row.message == message; });
  return step == kSteps.end() ? nullptr : step;
}

/// Whether a worker in this phase still has to say its result, or that it has failed.
constexpr bool owes_result(Phase phase) {
  return phase != Phase::built && phase != Phase::serving && phase != Phase::measured && phase != Phase::leaving;
}

/// As messages are called in the protocol.
constexpr std::string_view to_text(Message message) {
  constexpr std::array<std::string_view, 14> kNames = {"hello", "load",    "loaded",     "go",       "go",
                                                       "go",    "checked", "waits",      "measured", "next",
                                                       "done",  "built",   "referenced", "reference"};
  return kNames[static_cast<std::size_t>(message)];
}

}  // namespace tune::exec
