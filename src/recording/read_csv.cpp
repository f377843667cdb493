// The CSV file of a run: parameters stand between `status` and `met (ms)`, figures between `max_error` and `stage`.
// What the build and the checks took is not in it.
#include <algorithm>
#include <cmath>
#include <span>

#include "model/values/text.h"
#include "recording/recording_text.h"

namespace tune::recording {
namespace {

using Row = std::vector<std::string>;

/// One row at `at`, which moves behind it. RFC 4180.
Row read_row(std::string_view text, std::size_t& at) {
  Row row(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"') {
        row.back() += c;
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        row.back() += text[++at];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      row.emplace_back();
    } else if (c == '\n') {
      ++at;
      break;
    } else if (c != '\r') {
      row.back() += c;
    }
  }
  return row;
}

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text), titles_(read_row(text, at_)) {
    first_time_ = index_of("met (ms)");
    first_figure_ = index_of("max_error") + 1;
    stage_ = index_of("stage");
    constexpr std::string_view kBehindTime[] = {"min (ms)",     "mean (ms)", "p95 (ms)", "ci_low (ms)",
                                                "ci_high (ms)", "iters",     "checked",  "max_error"};
    require_order(first_time_, kBehindTime);
    constexpr std::string_view kBehindStage[] = {"cause", "reason"};
    require_order(stage_, kBehindStage);
    for (const std::string& title : titles_)
      if (std::ranges::count(titles_, title) > 1)
        throw BadJson(text_.data(), "the column '" + title + "' stands twice");
  }

  Recording read() {
    Recording recording;
    recording.format = Recording::Format::csv;
    recording.time = TimeRule();
    while (at_ < text_.size()) {
      begin_ = text_.data() + at_;
      row_ = read_row(text_, at_);
      if (row_.size() != titles_.size()) {
        if (at_ == text_.size()) break;  // torn
        throw BadJson(begin_, "the row has " + std::to_string(row_.size()) + " cells, the header " +
                                  std::to_string(titles_.size()));
      }
      recording.kernel = row_[1];
      if (const auto column = find("statistic"); column && !row_[*column].empty())
        recording.time = time_rule_named(row_[*column]);
      if (row_[2] == "pruned") continue;
      recording.trials.push_back(read_trial());
      for (const Setting& setting : recording.trials.back().settings) add_value(recording.parameters, setting);
    }
    return recording;
  }

 private:
  std::size_t index_of(const char* title) const {
    if (const auto found = find(title)) return *found;
    throw BadJson(text_.data(), std::string("the column '") + title + "' is missing");
  }

  std::int64_t index(std::size_t column) const {
    const auto value = number_from<std::int64_t>(row_[column]);
    if (!value || *value < 0) throw BadJson(begin_, titles_[column] + ": '" + row_[column] + "' is no index");
    return *value;
  }

  /// Of what not every file has.
  std::optional<std::size_t> find(const char* title) const {
    const auto found = std::ranges::find(titles_, title);
    if (found == titles_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - titles_.begin());
  }

  /// What stands right behind a column in every file.
  void require_order(std::size_t column, std::span<const std::string_view> behind) const {
    for (const std::string_view title : behind)
      if (++column >= titles_.size() || titles_[column] != title)
        throw BadJson(text_.data(),
                      "the column '" + std::string(title) + "' is missing behind '" + titles_[column - 1] + "'");
  }

  double number(std::size_t column) const {
    const auto value = number_from<double>(row_[column]);
    if (!value || !std::isfinite(*value))
      throw BadJson(begin_, titles_[column] + ": '" + row_[column] + "' is no number");
    return *value;
  }

  std::int64_t count(std::size_t column) const {
    constexpr double kMost = 1e15;
    const double value = number(column);
    if (!(value >= 1 && value <= kMost)) throw BadJson(begin_, titles_[column] + ": " + row_[column] + " is no count");
    return static_cast<std::int64_t>(value);
  }

  double seconds(std::size_t column) const {
    const double value = number(column);
    if (!(value > 0)) throw BadJson(begin_, "the time " + row_[column] + " is not positive and finite");
    if (!is_time(value / 1e3)) throw BadJson(begin_, "no launch takes " + row_[column] + " ms");
    return value / 1e3;
  }

  /// The interval's ends, which programs do not tell.
  bool is_unknown(std::size_t time) const { return time >= 4 && row_[first_time_ + time].empty(); }

  RecordedTrial read_trial() const {
    RecordedTrial trial;
    for (std::size_t i = 3; i < first_time_; ++i)
      if (!row_[i].empty()) trial.settings.push_back({titles_[i], to_value(row_[i]), false});
    if (row_[2] == "failed") {
      trial.outcome = Failure{stage_named(row_[stage_]).value_or(Stage::measure),
                              cause_named(row_[stage_ + 1]).value_or(Cause::reported),
                              row_[stage_ + 2],
                              {}};
    } else if (row_[2] == "pruned after build") {
      trial.outcome = PrunedAfterBuild{row_[stage_ + 2], {}};
    } else {
      trial.outcome = read_measurement();
      const Timing& timing = std::get<Measurement>(trial.outcome).timing;
      trial.measure_seconds = timing.mean * static_cast<double>(timing.count);
    }
    if (const auto column = find("mesh_idx"); !row_[*column].empty() && row_[*column] != "-1")
      trial.listed_idx = index(*column);
    if (const auto column = find("place"); column && !row_[*column].empty()) trial.place = count(*column);
    if (const auto column = find("finals (ms)"); column && !row_[*column].empty())
      trial.finals_seconds = seconds(*column);
    return trial;
  }

  Measurement read_measurement() const {
    Measurement measurement;
    Timing& timing = measurement.timing;
    double* const times[] = {&timing.median, &timing.min, &timing.mean, &timing.p95, &timing.ci_low, &timing.ci_high};
    for (std::size_t i = 0; i < std::size(times); ++i) *times[i] = is_unknown(i) ? 0 : seconds(first_time_ + i);
    timing.count = count(first_time_ + std::size(times));
    timing.stopped_early = row_[2] == "early";
    measurement.checked = row_[first_figure_ - 2] == "yes";
    if (!row_[first_figure_ - 1].empty()) measurement.max_error = number(first_figure_ - 1);
    for (std::size_t i = first_figure_; i < stage_; ++i)
      if (!row_[i].empty()) measurement.metrics.emplace(titles_[i], number(i));
    return measurement;
  }

  /// A pair is written [2, 1], which is not a plain scalar; other texts may begin with a bracket too.
  static Value to_value(const std::string& cell) try {
    return cell.starts_with('[') ? to_parameter_value(cell) : parse_value(cell);
  } catch (const BadJson&) {
    return cell;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Row titles_, row_;
  const char* begin_ = nullptr;
  std::size_t first_time_ = 0, first_figure_ = 0, stage_ = 0;
};

}  // namespace

Recording read_csv(std::string_view text) { return CsvReader(text).read(); }

}  // namespace tune::recording
