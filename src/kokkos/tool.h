#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "kokkos/results.h"
#include "kokkos/settings.h"
#include "kokkos/tuned_region.h"
#include "kokkos/variable.h"

namespace tune::kokkos {

/// The tool of one process: it listens to what the application declares, answers its requests, and learns from how long
/// its contexts last. Host threads may call it at the same time; contexts nest within a thread, and a context is known
/// by those around it and by its variables, never by its number, because numbers are used again.
class Tool {
 public:
  Tool();

  /// Throw Error(bad_input).
  void set_arguments(const std::vector<std::string>& arguments);

  void declare_output(const char* name, std::size_t id, const tools::VariableInfo& info);
  void declare_input(const char* name, std::size_t id, const tools::VariableInfo& info);
  void begin_context(std::size_t id);
  void set_goal(std::size_t context, const tools::Goal& goal);
  /// Writes the values to use; those for which nothing is known stay as they are.
  void request(std::size_t context, std::span<const tools::VariableValue> inputs,
               std::span<tools::VariableValue> outputs);
  void end_context(std::size_t id, const tools::VariableValue& goal);
  /// Waits for the work that was given to a device, so that its time is that of the context.
  void set_fence(void (*fence)(std::uint32_t)) { fence_ = fence; }
  void finish();

  /// Around a fork: the child goes on alone, and what is being measured in it does not count.
  void before_fork();
  void after_fork(bool in_child);

  /// Says what is wrong, once.
  void complain(const std::string& text);

 private:
  const Variable* input_of(const tools::VariableValue& value) const;
  std::uint64_t key_of_request(std::uint64_t around, std::span<const tools::VariableValue> inputs,
                               std::span<const tools::VariableValue> outputs) const;
  std::unique_ptr<TunedRegion> make_region(const TunedRegion* parent, std::span<const tools::VariableValue> inputs,
                                           std::span<const tools::VariableValue> outputs);
  Asked asked_for(const TunedRegion* parent, std::span<const tools::VariableValue> inputs,
                  std::span<const tools::VariableValue> outputs) const;
  void open_results();
  void say(const char* what, const std::string& text) const;

  std::string messages_;  ///< a file; empty: stderr
  std::mutex mutex_;
  Settings settings_;
  Results results_;
  bool results_are_open_ = false;
  std::atomic<void (*)(std::uint32_t)> fence_ = nullptr;
  std::unordered_map<std::size_t, Variable> outputs_, inputs_;
  std::unordered_map<std::uint64_t, std::unique_ptr<TunedRegion>> regions_;
  std::mutex complaining_;
  std::set<std::string> complaints_;
  bool was_asked_ = false;
};

}  // namespace tune::kokkos
