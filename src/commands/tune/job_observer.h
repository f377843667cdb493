#pragma once
#include <chrono>
#include <string>

#include "commands/tune/estimate_notice.h"
#include "exec/process/run_observer.h"
#include "exec/request/request_factory.h"
#include "recording/journal.h"
#include "report/progress.h"
#include "tuning/export.h"

namespace tune::commands {

/// Passes on what happens in a tuning: to the journal, to the person who waits, and to the files of other tools.
class JobObserver : public exec::RunObserver {
 public:
  /// All must outlive this.
  JobObserver(recording::Journal& journal, const exec::RequestFactory& requests, report::Progress& progress,
              tuning::Exporter& exporter, EstimateNotice& estimate)
      : journal_(&journal), requests_(&requests), progress_(&progress), exporter_(&exporter), estimate_(&estimate) {}

  void started(const Spec& spec, std::size_t device) override {
    journal_->append(wire::StartedRecord{requests_->trial_id(spec), spec.mesh_idx, static_cast<int>(device)});
  }
  void waits() override { journal_->note_end(); }
  void finished(const Trial& trial) override {
    exporter_->add(trial);
    estimate_->add(trial);
  }
  void distrusts(const std::string& why) override { journal_->append(wire::DistrustRecord{why}); }
  void news(const std::string& text) override { progress_->say(text, std::chrono::steady_clock::now()); }
  void warning(const std::string& text) override { progress_->warn(text, std::chrono::steady_clock::now()); }

 private:
  recording::Journal* journal_;
  const exec::RequestFactory* requests_;
  report::Progress* progress_;
  tuning::Exporter* exporter_;
  EstimateNotice* estimate_;
};

}  // namespace tune::commands
