#include "results/comparison/repeated_result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/statistics/comparison.h"
#include "model/values/escaped_text.h"

namespace tune::results {
namespace {

std::string text_of(const Estimate& time) {
  const std::string text = fmt::format("{:.6g} ms", time.seconds * 1e3);
  const auto width = relative_width(time);
  return width ? fmt::format("{} +-{:.2g} %", text, *width * 100) : text;
}

/// By so much times of other processes and other hours may differ: the finals, too, take in what is so near to the
/// best.
constexpr double kBetweenProcesses = 1.15;

/// `1.034 times as long (1.018..1.050): ...`
std::string verdict(const std::string& file, const Estimate& before, const Estimate& now, bool is_built) {
  const std::string times = fmt::format("{:.3f} times as long", now.seconds / before.seconds);
  if (!before.interval || !now.interval)
    return fmt::format("{}: whether that is more than noise is not known, because the {} was timed once", times,
                       before.interval ? "spec" : "spec of the file");
  const auto [low, high] = ratio_interval(before, now);
  if (is_vague_ratio({low, high})) return times + ": whether that is more than noise is not known";
  const std::string text = fmt::format("{} ({:.3f}..{:.3f}): the difference is ", times, low, high);
  if (low <= 1 && high >= 1) return text + "within the noise of both";
  if (low > kBetweenProcesses || high < 1 / kBetweenProcesses) return text + "beyond the noise of both";
  return text + "beyond the noise of each, but processes and hours may differ by as much" +
         (is_built
              ? fmt::format("; tune {0} --tune --fresh --baseline {0} times both in turns", line_with_escapes(file))
              : "");
}

std::string differences(const config::RecordedResult& before, const config::BestResult& now, PowerState state) {
  std::vector<std::string> texts;
  const auto compare = [&](const char* what, const std::string& then, const std::string& today) {
    if (!then.empty() && !today.empty() && then != today)
      texts.push_back(fmt::format("{} {} instead of {}", what, line_with_escapes(then), line_with_escapes(today)));
  };
  compare("device", before.device, now.device.name);
  compare("architecture", before.arch, now.device.arch);
  compare("driver", before.driver, now.device.driver);
  compare("compiler", before.compiler, now.compiler);
  compare("power state", std::string(to_text(before.state)), std::string(to_text(state)));
  if (!before.artifact_hash.empty() && before.artifact_hash != now.artifact_hash)
    texts.emplace_back("the code that was built then is not that of now");
  return fmt::format("{}", fmt::join(texts, "; "));
}

void note_other_conditions(const std::string& file, const std::string& differences, Notices& notes) {
  notes.add(
      fmt::format("the result in {} was measured under other conditions: {}", line_with_escapes(file), differences));
}

}  // namespace

void note_repeated_result(const std::string& file, const config::RecordedResult& before, const config::BestResult& now,
                          PowerState state, Notices& notes) {
  notes.add(fmt::format("{} has {}; now it took {}, {}", line_with_escapes(file), text_of(before.time),
                        text_of(now.time), verdict(file, before.time, now.time, !before.store_path.empty())));
  if (const std::string others = differences(before, now, state); !others.empty())
    note_other_conditions(file, others, notes);
}

void note_device_of_file(const std::string& file, const config::Source& source, const Device& now, Notices& notes) {
  const config::Node* device = source.root.find("device");
  const config::Node* name = device != nullptr ? device->find("name") : nullptr;
  if (name == nullptr || !name->is_scalar() || name->text == now.name) return;
  note_other_conditions(
      file, fmt::format("device {} instead of {}", line_with_escapes(name->text), line_with_escapes(now.name)), notes);
}

}  // namespace tune::results
