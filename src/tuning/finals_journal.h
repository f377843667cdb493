#pragma once
#include <optional>
#include <string>
#include <vector>

#include "exec/evaluate/finals_run.h"
#include "tuning/finals_stage.h"

namespace tune::tuning {

/// What a job's journal knows of its finals, and what it is told while they are held.
class FinalsJournal {
 public:
  /// `contenders` are all that would take part if there were time for them. The job must outlive this.
  FinalsJournal(const FinalsJob& job, std::vector<wire::Contender> contenders);

  /// These finals, if the journal has them and none of the failures there is to be tried again. The grid may have
  /// changed since then, but not those who took part.
  std::optional<results::HeldFinals> restore() const;
  /// Has the journal told of the turns, so that it knows whose turn it was if the run crashes. Contenders in whose
  /// turns earlier runs crashed have failed. This must outlive the rules.
  void blame_for_crashes(std::vector<wire::Contender>& contenders, exec::FinalsRules& rules) const;
  void append(const Finals& finals) const;

 private:
  bool again(const Failure& failure, bool repeated) const;
  std::string id_of(const wire::Contender& contender) const;
  std::string id_of_all() const;
  bool same_contender(const wire::Contender& contender, const Finalist& finalist) const;

  const FinalsJob& job_;
  std::vector<wire::Contender> contenders_;
  std::string id_;  ///< stands for who takes part and how, so that the same finals are not held twice
};

}  // namespace tune::tuning
