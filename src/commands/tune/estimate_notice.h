#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "exec/request/request_factory.h"
#include "recording/journal.h"
#include "report/progress.h"
#include "tuning/forecast.h"

namespace tune::commands {

/// Says how long a run will take: before it starts if the journal tells, else from its first specs, and once more when
/// a twentieth is done, if it was wrong. What ends within a minute needs no estimate.
class EstimateNotice {
 public:
  /// `store` is the folder of build artifacts.
  EstimateNotice(tuning::Work work, std::filesystem::path store, report::Progress& progress);

  /// Before the first spec. `heading` begins the line about what is to be done; empty: there is no such line.
  void begin(const tuning::Grid& grid, const recording::Journal& journal, const exec::RequestFactory& requests,
             const std::string& heading);
  void add(const Trial& trial);
  bool was_printed() const { return printed_; }

 private:
  void print();

  int tunings_;  ///< that the estimate is of
  tuning::Forecast forecast_;
  std::filesystem::path store_;
  report::Progress* progress_;
  std::optional<tuning::Forecast::Range> first_;
  bool done_ = true;  ///< no estimate is to come
  bool printed_ = false;
};

}  // namespace tune::commands
