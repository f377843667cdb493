#include "kokkos/tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "model/values/escaped_text.h"
#include "platform/files/descriptor.h"

namespace tune::kokkos {
namespace {

constexpr std::size_t kMostRegions = 10'000, kMostComplaints = 20, kDeepest = 64;

/// A context that this thread has begun and not ended.
struct Frame {
  std::size_t id;
  double begin;  ///< in seconds; later by what the tool itself took meanwhile
  std::optional<tools::Goal> goal;
  TunedRegion* region = nullptr;    ///< of its first request
  TunedRegion* searched = nullptr;  ///< the one that its time is for
  std::uint64_t key = 0, turn = 0;  ///< of `region`; of `searched`
  bool disturbed = false;           ///< something within it was searched
};

thread_local std::vector<Frame> frames;
thread_local std::optional<std::pair<std::size_t, tools::Goal>> goal_of_next;

double seconds_now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Takes what happens while it lives out of the times of the contexts of this thread.
class OwnTime {
 public:
  OwnTime() : begin_(seconds_now()) {}
  ~OwnTime() {
    const double seconds = seconds_now() - begin_;
    for (Frame& frame : frames) frame.begin += seconds;
  }
  OwnTime(const OwnTime&) = delete;
  OwnTime& operator=(const OwnTime&) = delete;

 private:
  double begin_;
};

Frame* frame_of(std::size_t id) {
  for (std::size_t i = frames.size(); i-- > 0;)
    if (frames[i].id == id) return &frames[i];
  return nullptr;
}

/// The innermost context around a frame, or around all that are open, in which something was asked for.
const Frame* frame_around(const Frame* frame) {
  const Frame* around = nullptr;
  for (const Frame& open : frames) {
    if (&open == frame) break;
    if (open.region != nullptr) around = &open;
  }
  return around;
}

/// The values for a request in this context, which may be unknown. The time of a context is for one search only.
const std::vector<tools::Scalar>& answer(Frame* frame, std::uint64_t key, TunedRegion& region) {
  if (frame == nullptr) return region.settled();
  if (frame->region == nullptr) {
    frame->region = &region;
    frame->key = key;
  }
  const bool may_search = frame->searched == nullptr || frame->searched == &region;
  const Region* search = may_search ? region.search() : nullptr;
  if (search == nullptr) return region.settled();
  frame->searched = &region;
  frame->turn = search->turn();
  return region.proposed();
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

std::uint64_t key_of(tools::ValueType type, const tools::Scalar& scalar) {
  std::uint64_t bits = 0;
  if (type == tools::ValueType::text)
    for (std::size_t i = 0; i < tools::kTextSize - 1 && scalar.text[i] != '\0'; ++i)
      bits = mix(bits, static_cast<unsigned char>(scalar.text[i]));
  else
    std::memcpy(&bits, &scalar, sizeof bits);
  return bits;
}

/// What decides: the time, or the goal's value, of which less is better here.
double cost_of(const Frame& frame, const tools::VariableValue& value, const Variable* variable, double now) {
  if (!frame.goal) return now - frame.begin;
  if (variable == nullptr || value.id != frame.goal->id) return 0;
  const double number = number_of(read_value(variable->type, value.value)).value_or(0);
  return frame.goal->direction == tools::Direction::maximize && number > 0 ? 1 / number : number;
}

}  // namespace

Tool::Tool() {
  if (const char* file = std::getenv(kMessagesVariable)) messages_ = file;
  try {
    settings_ = settings_of_environment();
  } catch (const Error& error) {
    complain(error.what());
  }
}

void Tool::set_arguments(const std::vector<std::string>& arguments) {
  const std::lock_guard lock(mutex_);
  for (const std::string& argument : arguments) set(settings_, argument);
}

// Each line with one call, because several processes may share the file.
void Tool::say(const char* what, const std::string& text) const {
  const std::string line = what + line_with_escapes(text) + "\n";
  const platform::Descriptor file(messages_.empty() ? -1 : ::open(messages_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (file.write(line)) return;
  platform::Descriptor error(STDERR_FILENO);
  error.write(line);
  error.release();
}

void Tool::complain(const std::string& text) {
  const std::lock_guard lock(complaining_);
  if (complaints_.size() < kMostComplaints && complaints_.insert(text).second) say(kComplains, text);
}

void Tool::declare_output(const char* name, std::size_t id, const tools::VariableInfo& info) {
  const std::lock_guard lock(mutex_);
  outputs_.try_emplace(id, read_variable(name, info));
}

void Tool::declare_input(const char* name, std::size_t id, const tools::VariableInfo& info) {
  const std::lock_guard lock(mutex_);
  inputs_.try_emplace(id, read_variable(name, info));
}

void Tool::begin_context(std::size_t id) {
  // An open context with this number was never ended here: an exception left it, or another thread ended it.
  if (const Frame* open = frame_of(id)) frames.resize(static_cast<std::size_t>(open - frames.data()));
  // Kokkos 3.4 never ends the contexts of its kernels.
  if (frames.size() >= kDeepest) std::erase_if(frames, [](const Frame& frame) { return frame.region == nullptr; });
  if (frames.size() >= kDeepest) frames.clear();
  Frame frame{id, seconds_now(), {}};
  if (goal_of_next && goal_of_next->first == id) frame.goal = goal_of_next->second;
  goal_of_next.reset();
  frames.push_back(frame);
}

void Tool::set_goal(std::size_t context, const tools::Goal& goal) {
  if (Frame* frame = frame_of(context))
    frame->goal = goal;
  else
    goal_of_next = {context, goal};
}

const Variable* Tool::input_of(const tools::VariableValue& value) const {
  const auto found = inputs_.find(value.id);
  return found == inputs_.end() ? nullptr : &found->second;
}

std::uint64_t Tool::key_of_request(std::uint64_t around, std::span<const tools::VariableValue> inputs,
                                   std::span<const tools::VariableValue> outputs) const {
  std::uint64_t key = around, state = 0;
  for (const tools::VariableValue& output : outputs) key = mix(key, output.id);
  for (const tools::VariableValue& input : inputs) {  // their order has no meaning
    const Variable* variable = input_of(input);
    state += mix(mix(1, input.id), variable != nullptr ? key_of(variable->type, input.value) : 0);
  }
  return mix(key, state);
}

void Tool::request(std::size_t context, std::span<const tools::VariableValue> inputs,
                   std::span<tools::VariableValue> outputs) {
  if (outputs.empty()) return;
  Frame* frame = frame_of(context);
  const Frame* around = frame_around(frame);
  const std::lock_guard lock(mutex_);
  const std::uint64_t key = key_of_request(around != nullptr ? around->key : 0, inputs, outputs);
  auto found = regions_.find(key);
  if (found == regions_.end()) {
    if (regions_.size() >= kMostRegions) return;
    const OwnTime own;
    found = regions_.emplace(key, make_region(around != nullptr ? around->region : nullptr, inputs, outputs)).first;
  }
  const std::vector<tools::Scalar>& values = answer(frame, key, *found->second);
  for (std::size_t i = 0; i < values.size() && i < outputs.size(); ++i) outputs[i].value = values[i];
}

std::unique_ptr<TunedRegion> Tool::make_region(const TunedRegion* parent, std::span<const tools::VariableValue> inputs,
                                               std::span<const tools::VariableValue> outputs) {
  was_asked_ = true;
  open_results();
  Asked asked = asked_for(parent, inputs, outputs);
  const std::string why = why_unusable(asked);
  if (!why.empty()) complain(why);
  if (regions_.size() + 1 == kMostRegions)
    complain(fmt::format("there are {} combinations of inputs; further ones keep the defaults", kMostRegions));
  return std::make_unique<TunedRegion>(std::move(asked), !why.empty(), results_, settings_.search);
}

Asked Tool::asked_for(const TunedRegion* parent, std::span<const tools::VariableValue> inputs,
                      std::span<const tools::VariableValue> outputs) const {
  Asked asked;
  for (const tools::VariableValue& output : outputs) {
    const auto found = outputs_.find(output.id);
    asked.outputs.push_back(found == outputs_.end() ? nullptr : &found->second);
    if (found != outputs_.end()) asked.defaults.push_back(read_value(found->second.type, output.value));
  }
  for (const tools::VariableValue& input : inputs) {
    const Variable* variable = input_of(input);
    asked.features.push_back({variable, variable != nullptr ? read_value(variable->type, input.value) : Value()});
  }
  if (parent == nullptr) return asked;
  asked.around = parent->asked().around;
  for (const Variable* output : parent->asked().outputs)
    if (output != nullptr) asked.around += (asked.around.empty() ? "" : " ") + output->name;
  const auto names = [](const Feature& feature) { return feature.variable == nullptr ? "" : feature.variable->name; };
  for (const Feature& feature : parent->asked().features)
    if (std::ranges::find(asked.features, names(feature), names) == asked.features.end())
      asked.features.push_back(feature);
  return asked;
}

void Tool::open_results() {
  if (std::exchange(results_are_open_, true) || settings_.database.empty()) return;
  try {
    results_ = Results(settings_.database);
  } catch (const std::exception& error) {
    complain(std::string(error.what()) + "; nothing is kept");
  }
}

void Tool::end_context(std::size_t id, const tools::VariableValue& goal) {
  Frame* open = frame_of(id);
  if (open == nullptr) return;
  if (open->searched != nullptr)
    if (auto* const fence = fence_.load()) fence(0);
  const double now = seconds_now();
  const Frame frame = *open;
  const auto depth = static_cast<std::size_t>(open - frames.data());
  frames.resize(depth);
  if (frame.searched == nullptr) return;
  for (Frame& around : frames) around.disturbed = true;
  const OwnTime own;
  const std::lock_guard lock(mutex_);
  frame.searched->add(frame.turn, cost_of(frame, goal, input_of(goal), now), frame.disturbed);
}

void Tool::before_fork() {
  mutex_.lock();
  complaining_.lock();
}

void Tool::after_fork(bool in_child) {
  complaining_.unlock();
  mutex_.unlock();
  if (in_child)
    for (Frame& frame : frames) frame.searched = nullptr;
}

void Tool::finish() {
  const std::lock_guard lock(mutex_);
  if (!was_asked_)
    complain(
        "this program asked for no values; Kokkos does so if it was built with KOKKOS_ENABLE_TUNING, for its own "
        "parameters with --kokkos-tune-internals");
  if (settings_.verbose)
    for (const auto& [key, region] : regions_) say(kRegion, region->text());
}

}  // namespace tune::kokkos
