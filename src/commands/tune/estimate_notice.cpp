#include "commands/tune/estimate_notice.h"

#include <chrono>

#include "commands/print_messages.h"
#include "commands/tune/rules.h"

namespace tune::commands {
namespace {

constexpr double kWorthAnEstimate = 60;  // seconds

std::uintmax_t bytes_in(const std::filesystem::path& folder) {
  std::error_code error;
  std::uintmax_t bytes = 0;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;  // another process may remove it
    const std::uintmax_t size = entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
    if (!gone) bytes += size;
  }
  return bytes;
}

}  // namespace

EstimateNotice::EstimateNotice(tuning::Work work, std::filesystem::path store, report::Progress& progress)
    : tunings_(work.tunings), forecast_(std::move(work)), store_(std::move(store)), progress_(&progress) {}

void EstimateNotice::begin(const tuning::Grid& grid, const recording::Journal& journal,
                           const exec::RequestFactory& requests, const std::string& heading) {
  forecast_.ask(grid, [&](const Spec& spec) {
    const auto* recorded = journal.find(requests.trial_id(spec));
    return recorded != nullptr ? &recorded->result : nullptr;
  });
  done_ = forecast_.all_known();
  if (done_) return;
  if (!heading.empty()) print_wrapped(heading + ": " + forecast_.work_text());
  print();
}

void EstimateNotice::add(const Trial& trial) {
  if (done_ || trial.recorded) return;
  forecast_.add(trial);
  const Measurement* measurement = trial.measurement();
  if (measurement != nullptr && measurement->build.seconds > 0)
    forecast_.add_artifact(bytes_in(store_ / measurement->build.key));
  print();
}

void EstimateNotice::print() {
  if (!forecast_.is_ready() || (first_ && !forecast_.has_a_twentieth())) return;
  done_ = forecast_.has_a_twentieth();
  const bool is_news = !first_ || forecast_.has_left(*first_);
  if (!first_) first_ = forecast_.range();
  const bool is_long = forecast_.range().high * tunings_ >= kWorthAnEstimate;
  if (!is_news || (!is_long && !printed_)) return;
  printed_ = true;
  progress_->say(forecast_.text(), now());
}

}  // namespace tune::commands
