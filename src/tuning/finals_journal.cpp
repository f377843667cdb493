#include "tuning/finals_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "model/program.h"
#include "platform/store/store.h"
#include "tuning/journal_lookup.h"

namespace tune::tuning {

FinalsJournal::FinalsJournal(const FinalsJob& job, std::vector<wire::Contender> contenders)
    : job_(job), contenders_(std::move(contenders)), id_(id_of_all()) {}

std::optional<results::HeldFinals> FinalsJournal::restore() const {
  const auto* recorded = job_.journal.find_finals(id_);
  if (recorded == nullptr || all_failed(recorded->result)) return std::nullopt;
  Finals finals = recorded->result;
  finals.accuracy = job_.accuracy;
  for (Finalist& finalist : finals.finalists) {
    if (finalist.failure && again(*finalist.failure, recorded->repeats)) return std::nullopt;
    const auto same = [&](const wire::Contender& contender) { return same_contender(contender, finalist); };
    const auto found = std::ranges::find_if(contenders_, same);
    if (found == contenders_.end()) return std::nullopt;
    finalist.entrant = found->entrant;
  }
  return results::HeldFinals{std::move(finals), recorded->date};
}

/// Whether finals are held again because a contender failed there in this way, for the first time or repeatedly.
bool FinalsJournal::again(const Failure& failure, bool repeated) const {
  return job_.retry_failed || has_lapsed(failure, repeated, job_.deadlines);
}

// The journal gets one record when finals begin, and one more after each wait for other runs. Only once a run has
// crashed in these finals, every turn is recorded too, to tell during which contender: there are thousands of turns.
void FinalsJournal::blame_for_crashes(std::vector<wire::Contender>& contenders, exec::FinalsRules& rules) const {
  const bool suspicious = job_.journal.crashes_during(id_) > 0;
  const auto turn_of = [this](const wire::Contender& contender) { return id_ + "/" + id_of(contender); };
  const auto noted = std::make_shared<bool>(false);
  rules.note_waiting = [this, noted] {
    *noted = false;
    job_.journal.note_end();
  };
  rules.note_turn = [this, noted, suspicious, turn_of](const wire::Contender& contender) {
    const bool was_noted = std::exchange(*noted, true);
    if (suspicious || !was_noted) job_.journal.append(wire::StartedRecord{suspicious ? turn_of(contender) : id_});
  };
  if (!suspicious) return;
  for (wire::Contender& contender : contenders) {
    const Failure failure = run_ended_while_it_ran();
    if (job_.journal.crashes_during(turn_of(contender)) >= kMostCrashes && !again(failure, true))
      contender.failure = failure;
  }
}

void FinalsJournal::append(const Finals& finals) const { job_.journal.append(wire::FinalsRecord{id_, finals}); }

std::string FinalsJournal::id_of(const wire::Contender& contender) const {
  const exec::RequestFactory& requests = job_.requests;
  const Spec& spec = contender.entrant.spec;
  if (!contender.stored)
    return label_of(contender.entrant) +
           (contender.entrant.is_vendor() ? requests.vendor_id() : requests.trial_id(spec));
  const wire::KernelRun* kernel = contender.stored->request.kernel();
  const wire::ProgramRun* program = contender.stored->request.program();
  return label_of(contender.entrant) +
         exec::Identity::of_code(contender.stored->hash, kernel != nullptr ? *kernel : wire::KernelRun(),
                                 program != nullptr ? program->args : arguments_of(job_.plan, spec),
                                 device_settings(spec));
}

std::string FinalsJournal::id_of_all() const {
  std::vector<std::string> ids;
  for (const wire::Contender& contender : contenders_) ids.push_back(id_of(contender));
  std::sort(ids.begin(), ids.end());
  platform::Hash hash;
  if (job_.plan.measure.energy != MeasureRules::Energy::never) hash.add("energy");
  if (!job_.objective.by_time()) hash.add(job_.objective.definition());
  for (const std::string& id : ids) hash.add(id);
  for (const auto& limit : {job_.settings.budget, job_.time_budget, job_.width})
    hash.add(limit ? fmt::format("{}", *limit) : "-");
  if (job_.question) hash.add(fmt::format("{}", job_.question->threshold));
  if (job_.accuracy != kAccuracy) hash.add(fmt::format("{}", job_.accuracy));
  return hash.hex();
}

bool FinalsJournal::same_contender(const wire::Contender& contender, const Finalist& finalist) const {
  if (contender.entrant.name != finalist.entrant.name) return false;
  return contender.entrant.is_vendor() || contender.stored ||
         job_.requests.trial_id(contender.entrant.spec) == job_.requests.trial_id(finalist.entrant.spec);
}

}  // namespace tune::tuning
