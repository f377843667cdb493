#include "commands/tune/predicted_specs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "commands/tune/settings.h"
#include "model/cost/cost_model.h"
#include "platform/files/streams.h"
#include "report/build_table.h"
#include "report/text.h"
#include "report/text_page.h"
#include "search/prior.h"
#include "tuning/searching.h"

namespace tune::commands {
namespace {

constexpr std::size_t kBeforeName = 42;  ///< columns

/// The table, with names that fit a terminal: the values alone, below the names of the parameters.
class Table {
 public:
  Table(const TuneOptions& options, const Plan& plan)
      : look_(list_look(options, plan)), values_only_(look_.width > 0 && !look_.varying.empty()) {
    add("mesh_idx", "predicted (ms)", "limited by",
        values_only_ ? fmt::format("{}", fmt::join(look_.varying, "/")) : "name");
  }

  void add(const Spec& spec, const cost::Prediction& prediction) {
    add(fmt::format("{}", spec.mesh_idx), fmt::format("{:.6f}", 1e3 * prediction.seconds),
        prediction.limit ? to_text(*prediction.limit) : "",
        values_only_ ? report::values_text(spec, look_.varying) : report::list_name(spec, look_));
  }
  void end(const std::string& text) {
    report::TextPage page(look_.width, look_.colors);
    page.prose(text);
    platform::print_escaped(text_ + page.text());
  }

 private:
  void add(std::string_view number, std::string_view time, std::string_view limit, const std::string& name) {
    const auto width = static_cast<std::size_t>(look_.width);
    const std::size_t room = width == 0 ? name.size() : std::max(width, kBeforeName) - kBeforeName;
    text_ += fmt::format("{:>9} {:>14}  {:<13}  {}\n", number, time, limit, report::cut_to(name, room));
  }

  report::ListLook look_;
  bool values_only_;
  std::string text_;
};

[[noreturn]] void refuse(const TuneOptions& options, const std::string& why) {
  throw Error(ExitCode::bad_input,
              fmt::format("--dry-run --top {}: {}; leave --top out to list all specs", *options.terminal.top, why));
}

CostModel model_of(const TuneOptions& options, Target& target) {
  const Plan& plan = target.plan();
  if (target.job.search.spec) refuse(options, "--spec chooses one spec");
  if (plan.cost_rules.empty())
    refuse(options, name_of_input(options) + " has no section 'model:' from which times could be predicted" +
                        (std::holds_alternative<Gemm>(plan.problem) ? ", nor do its launches tell a tile" : ""));
  const std::optional<Device> device =
      is_gpu(plan.backend) ? target.machine.limiting_device(plan.backend) : target.machine.device(plan.backend);
  if (!device) refuse(options, "no device is known to predict times for; name one, such as --device-file h200");
  const auto model = tuning::model_for(target.job.search, plan, *device);
  if (!model && plan.objective != "time" && plan.objective != "gflops")
    refuse(options, "only times are predicted, and the objective is " + plan.objective);
  if (!model) refuse(options, "too little is known of what " + device->name + " can do");
  return *model;
}

}  // namespace

ExitCode list_predicted_specs(const TuneOptions& options, Target& target, const tuning::Grid& grid) {
  const CostModel model = model_of(options, target);
  const search::Prior prior(grid.specs, tuning::seconds_by(model, grid.specs));
  std::size_t count = std::min(*options.terminal.top, prior.ranked().size());
  if (count == 0) refuse(options, "the model has no possible value for any spec");
  if (target.job.search.max_evals) count = std::min(count, static_cast<std::size_t>(*target.job.search.max_evals));
  Table table(options, target.plan());
  for (const search::Prior::Ranked& ranked : prior.ranked().first(count)) {
    const Spec spec = grid.specs.spec(ranked.index);
    table.add(spec, *model.predict(spec));
  }
  table.end(fmt::format("{} of {} specs on {}, by {}", count, grid.specs.size_text(), model.device_name(),
                        target.plan().cost_is_inferred ? "what the launches say" : "'model:'"));
  return ExitCode::ok;
}

}  // namespace tune::commands
