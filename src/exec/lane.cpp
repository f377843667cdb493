#include "exec/lane.h"

#include <algorithm>
#include <utility>

namespace tune {

Lane::Lane(Workshop& workshop, std::size_t device, Rules rules)
    : workshop_(&workshop), device_(device), rules_(rules), last_launch_(Clock::now()) {}

int Lane::occupied() const {
  return static_cast<int>(std::ranges::count_if(
      stations_, [this](const Station& station) { return rules_.exits_disturb || !station.leaving; }));
}

bool Lane::room_for_another() const {
  return occupied() < 1 + rules_.loaded_ahead &&
         std::ranges::count_if(stations_, &Station::opens) < rules_.opening_at_once;
}

bool Lane::has_room() const {
  return !timing_batch_ && ((rules_.reuse && std::ranges::any_of(stations_, &Station::idle)) || room_for_another());
}

Lane::Stations::iterator Lane::reusable() {
  return rules_.reuse ? std::ranges::find_if(stations_, &Station::idle) : stations_.end();
}

bool Lane::may_start(bool fresh) {
  const auto idle = reusable();
  if (idle != stations_.end() && !fresh) return true;
  if (!workshop_->begin_opening(device_)) return false;
  if (idle == stations_.end() || !rules_.exits_disturb) return true;
  leave(*idle);
  return false;
}

int Lane::jobs() const {
  return static_cast<int>(
      std::ranges::count_if(stations_, [](const Station& station) { return station.job && !station.leaving; }));
}

bool Lane::active() const {
  return std::ranges::any_of(stations_, [](const Station& station) { return station.job || station.leaving; });
}

std::optional<std::int64_t> Lane::launched() const {
  const auto station = std::ranges::find(stations_, true, &Station::launches);
  return station == stations_.end() ? std::nullopt : std::optional(station->job->ticket);
}

Spent Lane::spent() const {
  Spent spent = spent_;
  for (const Station& station : stations_) spent += station.process->spent();
  return spent;
}

void Lane::start(Job job) {
  const auto idle = reusable();
  if (idle != stations_.end() && !job.fresh) {
    idle->process->send(wire::Next{job.request});
    idle->job = std::move(job);
    return load(*idle);
  }
  if (idle != stations_.end() && !room_for_another()) leave(*idle);
  Station& station = stations_.emplace_back();
  station.process = std::make_unique<WorkerProcess>(workshop_->start_measuring(job.request, device_));
  station.job = std::move(job);
}

void Lane::load(Station& station) {
  station.load_sent = true;
  station.process->send(wire::Load{});
}

void Lane::leave(Station& station) {
  station.leaving = true;
  station.process->send(wire::Done{});
}

void Lane::advance(const wire::Go& go, const NoteLaunch& note) {
  for (Station& station : stations_) {
    if (!station.job || station.leaving) continue;
    if (station.process->said_hello() && !station.load_sent) load(station);
    take_answer(station);
  }
  launch_next(go, note);
  if (timing_batch_) return;
  for (Station& station : stations_) {
    const bool done = station.measured || (station.idle() && !rules_.reuse);
    if (done && !station.leaving && workshop_->begin_opening(device_)) leave(station);
  }
}

void Lane::take_answer(Station& station) {
  if (!station.launches) return;
  if (station.process->waits()) return stop_launching(station);
  auto measured = station.process->take_measured();
  if (!measured) return;
  station.measured = std::move(measured);
  stop_launching(station);
  if (rules_.reuse) serve_again(station);
}

// What it measured stands: the worker has verified it, and the device has finished all that was launched.
void Lane::serve_again(Station& station) {
  results_.push_back({station.job->ticket, measurement_of(station), station.served > 0, false,
                      std::exchange(station.device_seconds, 0)});
  workshop_->note_opened(device_);
  ++station.served;
  station.job.reset();
  station.measured.reset();
  station.load_sent = station.go_sent = false;
}

bool Lane::quiet() const { return std::ranges::none_of(stations_, &Station::opens_or_closes); }

// To be checked, or else to be timed.
Lane::Stations::iterator Lane::next_to_launch(wire::Go& go) {
  auto next = std::ranges::find_if(stations_, &Station::may_launch);
  go.pause = rules_.batches;
  if (rules_.batches && next == stations_.end()) {
    next = std::ranges::find_if(stations_, &Station::waits);
    go.pause = false;
    timing_batch_ = next != stations_.end() && quiet();
  }
  return go.pause || quiet() ? next : stations_.end();
}

void Lane::launch_next(wire::Go go, const NoteLaunch& note) {
  if (launched()) return;
  const auto next = next_to_launch(go);
  if (next == stations_.end()) {
    end_turn();
    return;
  }
  in_turn_ = true;
  if (!workshop_->take_turn(device_, !go.pause)) return;
  note(next->job->ticket);
  launched_at_ = Clock::now();
  next->go_sent = next->launches = true;
  next->process->send(go);
}

void Lane::stop_launching(Station& station) {
  station.launches = false;
  last_launch_ = Clock::now();
  const std::chrono::duration<double> seconds = last_launch_ - launched_at_;
  station.device_seconds += seconds.count();
  busy_seconds_ += seconds.count();
  workshop_->end_turn(device_, timing_batch_);
}

void Lane::end_turn() {
  if (std::exchange(in_turn_, false)) workshop_->end_turn(device_);
}

bool Lane::handle(const Processes::Event& event) {
  const auto* line = std::get_if<Processes::Line>(&event);
  const auto* end = std::get_if<Processes::Ended>(&event);
  const Processes::Id id = line ? line->id : end ? end->id : 0;
  const auto station = std::ranges::find_if(stations_, [id](const Station& s) { return s.process->id() == id; });
  if (station == stations_.end()) return false;
  if (line) {
    station->process->handle(*line);
    if (station->process->loaded()) workshop_->note_opened(device_);
    if (quiet()) workshop_->end_opening(device_);
  }
  if (!end) return true;
  // Its last words may have come with its end.
  if (station->job && !station->leaving) take_answer(*station);
  station->process->handle(*end);
  if (station->launches) stop_launching(*station);
  if (end->exit.unreaped) workshop_->throw_device_lost(device_, "a worker on it could not be killed");
  ended(station);
  return true;
}

void Lane::ended(Stations::iterator station) {
  spent_ += station->process->spent();
  if (station->job) {
    Result result{
        station->job->ticket, {}, station->served > 0, station->process->no_device(), station->device_seconds};
    if (const auto& failure = station->process->failure())
      result.outcome = *failure;
    else
      result.outcome = measurement_of(*station);
    if (result.no_device)
      workshop_->note_refused(device_, std::get<Failure>(result.outcome).message);
    else
      workshop_->note_opened(device_);
    results_.push_back(std::move(result));
  }
  stations_.erase(station);
  if (quiet()) workshop_->end_opening(device_);
}

Measurement Lane::measurement_of(const Station& station) const {
  Measurement measurement;
  measurement.timing = station.measured->timing;
  measurement.checked = station.measured->checked;
  measurement.max_error = station.process->checked().max_error;
  measurement.metrics = station.measured->metrics;
  measurement.device = workshop_->options().devices[device_].id;
  measurement.shared = station.served > 0;
  return measurement;
}

std::optional<Lane::Result> Lane::take_result() {
  if (results_.empty()) return std::nullopt;
  Result result = std::move(results_.front());
  results_.pop_front();
  return result;
}

void Lane::abandon(std::int64_t ticket) {
  const auto station =
      std::ranges::find_if(stations_, [=](const Station& s) { return s.job && s.job->ticket == ticket; });
  if (station == stations_.end()) return;
  if (station->launches)
    stop_launching(*station);
  else
    end_turn();
  station->process->kill();
  spent_ += station->process->spent();
  stations_.erase(station);
  if (quiet()) workshop_->end_opening(device_);
}

void Lane::stop_reusing() {
  rules_.reuse = false;
  rules_.batches = !rules_.exits_disturb;
}

// Who comes next on this device need not wait for those that leave.
void Lane::dismiss() {
  for (Station& station : stations_)
    if (station.idle()) leave(station);
  end_turn();
  workshop_->end_opening(device_);
}

}  // namespace tune
