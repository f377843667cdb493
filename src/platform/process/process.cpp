#include "platform/process/process.h"

#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <deque>
#include <thread>

#include "platform/process/child.h"
#include "platform/process/run_delay.h"

namespace tune::platform {
namespace {

namespace asio = boost::asio;
namespace bp = boost::process;
using namespace std::chrono_literals;

constexpr auto kDrain = 100ms;  // after the group is dead, only a grandchild that left the group holds the pipe
constexpr auto kReapLimit = 10s;
constexpr auto kGroupLimit = 1s;
constexpr auto kSweepPause = 1ms;
constexpr auto kMomentToEnd = 500ms;
constexpr std::size_t kMostKept = 1 << 20;

// Only what a handler may call.
extern "C" void end_by(int signal) {
  const iovec line[] = {{const_cast<char*>(kInterrupted), std::strlen(kInterrupted)}, {const_cast<char*>("\n"), 1}};
  [[maybe_unused]] const ssize_t written = ::writev(STDERR_FILENO, line, 2);  // nobody is left to complain to
  ::_exit(128 + signal);
}

}  // namespace

struct Processes::Impl {
  asio::io_context io;
  asio::signal_set signals{io};
  asio::signal_set child_exits{io, SIGCHLD};
  std::map<int, struct sigaction> earlier;  ///< what the signals did before this caught them
  bool adopts = adopts_orphans();
  std::vector<StartedChild> given_up;  ///< what could not be killed is not waited for again
  std::map<Id, std::unique_ptr<Child>> children;
  std::deque<Event> ready;
  double delay_when_asleep = 0;  ///< RunDelay of this thread when it last had nothing to do
  Id next_id = 1;

  explicit Impl(bool catch_signals) {
    ::signal(SIGPIPE, SIG_IGN);
    if (catch_signals) {
      for (const int signal : {SIGINT, SIGTERM, SIGHUP}) catch_signal(signal);
      watch_signals();
    }
    watch_exits();
  }

  ~Impl() {
    for (auto& [id, child] : children)
      if (!child->reaped) kill_all_of(*child);
    const auto limit = Clock::now() + kReapLimit;
    std::vector<pid_t> groups;
    for (auto& [id, child] : children) {
      if (child->reaped) continue;
      if (child->own_group) groups.push_back(child->process.id());
      reap_until(child->process, limit);
    }
    while (adopts && !end_orphans() && Clock::now() < limit) std::this_thread::sleep_for(kSweepPause);
    await_end_of(groups);
    give_signals_back();
  }

  // What came and was not waited for has its earlier effect.
  void give_signals_back() {
    io.restart();
    io.poll();
    boost::system::error_code ignored;
    signals.clear(ignored);
    for (const auto& [signal, action] : earlier) ::sigaction(signal, &action, nullptr);
    for (const Event& event : ready)
      if (const auto* interrupted = std::get_if<Interrupted>(&event)) ::raise(interrupted->signal);
  }

  void catch_signal(int signal) {
    struct sigaction inherited {};
    // `nohup` and shells that start us in the background have it ignored, and mean it.
    if (::sigaction(signal, nullptr, &inherited) != 0 || inherited.sa_handler == SIG_IGN) return;
    earlier[signal] = inherited;
    signals.add(signal);
  }

  // What left its group is found below it as long as it lives, and comes to us after that if we adopt orphans.
  void kill_all_of(const Child& child) const {
    if (!adopts) {
      ::kill(child.process.id(), SIGSTOP);  // so that it starts nothing and does not react to their deaths
      end_descendants(child.process.id());
    }
    child.send_kill();
  }

  // Their other members die by themselves, and may still write for a moment. Not for long: where nobody reaps orphans
  // they never go.
  static void await_end_of(const std::vector<pid_t>& groups) {
    const auto limit = Clock::now() + kGroupLimit;
    for (const pid_t group : groups)
      while (::kill(-group, 0) == 0 && Clock::now() < limit) std::this_thread::sleep_for(1ms);
  }

  // A process that cannot die, stuck in a driver, is left to the system.
  static void reap_until(bp::child& process, Clock::time_point limit) {
    while (::waitpid(process.id(), nullptr, WNOHANG) == 0 && Clock::now() < limit) std::this_thread::sleep_for(1ms);
    process.detach();
  }

  void watch_signals() {
    signals.async_wait([this](const boost::system::error_code& error, int signal) {
      if (error) return;
      ready.push_back(Interrupted{signal});
      watch_signals();
    });
  }

  void watch_exits() {
    child_exits.async_wait([this](const boost::system::error_code& error, int) {
      if (error) return;
      for (auto& [id, child] : children) reap_if_ended(*child);
      watch_exits();
    });
  }

  void reap_if_ended(Child& child) {
    if (child.reaped) return;
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(child.process.id()), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0)
      return;
    child.use.seconds = child.begun.seconds_until(Clock::now());
    // The leader is still a zombie, so its group's number cannot have been given to anyone else yet.
    child.send_kill();
    child.take_status(delay_of_this_thread() - delay_when_asleep);
    child.reaped = true;
    child.started = {};
    child.deadline.cancel();
    if (child.awaits_all && adopts) return await_others(child, Clock::now() + kMomentToEnd);
    sweep(child, Clock::now() + kReapLimit);
  }

  // Such as `tee` behind a shell's `> >(tee log)`, which ends when it has written what it was given.
  void await_others(Child& child, Clock::time_point limit) {
    const bool waited = !child.use.left_running.empty();
    child.use.left_running = running_orphan();
    const auto now = Clock::now();
    if (!child.use.left_running.empty() && now < limit) {
      child.drain.expires_after(kSweepPause);
      child.drain.async_wait([this, &child, limit](const boost::system::error_code& error) {
        if (!error) await_others(child, limit);
      });
      return;
    }
    if (waited && child.use.left_running.empty()) child.use.seconds = child.begun.seconds_until(now);
    sweep(child, now + kReapLimit);
  }

  // Before it counts as ended: what goes on would disturb what comes next.
  void sweep(Child& child, Clock::time_point limit) {
    const bool clear = !adopts || end_orphans();
    if (!clear && Clock::now() < limit) {
      child.drain.expires_after(kSweepPause);
      child.drain.async_wait([this, &child, limit](const boost::system::error_code& error) {
        if (!error) sweep(child, limit);
      });
      return;
    }
    child.exit.unreaped = !clear;
    if (!clear)
      for (const pid_t stuck : children_of(::getpid())) given_up.emplace_back(stuck);
    child.swept = true;
    if (child.open_pipes == 0) return end(child);
    child.drain.expires_after(kDrain);
    child.drain.async_wait([this, &child](const boost::system::error_code& error) {
      if (!error) end(child);
    });
  }

  void end(Child& child) {
    if (std::exchange(child.ended, true)) return;
    if (!child.line.empty()) ready.push_back(Line{child.id, std::move(child.line)});
    ready.push_back(Ended{child.id, child.exit, child.captured.text(), child.use});
    // Handlers of the child may still be queued; they must not find it gone.
    const Id id = child.id;
    boost::system::error_code ignored;
    child.out.close(ignored);
    child.err.close(ignored);
    child.in.close(ignored);
    child.drain.cancel();
    child.deadline.cancel();
    asio::post(io, [this, id] { children.erase(id); });
  }

  void pipe_closed(Child& child) {
    if (--child.open_pipes == 0 && child.swept) end(child);
  }

  void read_lines(Child& child) {
    child.out.async_read_some(asio::buffer(child.out_buffer),
                              [this, &child](const boost::system::error_code& error, std::size_t size) {
                                if (child.ended || error == asio::error::operation_aborted) return;
                                if (error) return pipe_closed(child);
                                auto lines = child.take_lines({child.out_buffer.data(), size});
                                for (std::string& line : lines) ready.push_back(Line{child.id, std::move(line)});
                                read_lines(child);
                              });
  }

  void read_captured(Child& child) {
    child.err.async_read_some(asio::buffer(child.err_buffer),
                              [this, &child](const boost::system::error_code& error, std::size_t size) {
                                if (child.ended || error == asio::error::operation_aborted) return;
                                if (error) return pipe_closed(child);
                                child.captured.add({child.err_buffer.data(), size});
                                read_captured(child);
                              });
  }

  void kill(Child& child) {
    if (child.killed || child.reaped) return;
    child.killed = true;
    kill_all_of(child);
    child.deadline.expires_after(kReapLimit);
    child.deadline.async_wait([this, &child](const boost::system::error_code& error) {
      if (error || child.reaped) return;
      child.reaped = child.swept = true;
      child.exit.unreaped = true;
      given_up.push_back(std::move(child.started));
      child.process.detach();
      end(child);
    });
  }
};

Processes::Processes(bool catch_signals) try : impl_(std::make_unique<Impl>(catch_signals)) {
} catch (const boost::system::system_error& error) {
  cannot_start("a process", why_not_started(error.code().value()));
}
Processes::~Processes() = default;

Processes::Id Processes::start(const Command& command) {
  auto child = std::make_unique<Child>(impl_->io, impl_->next_id, command);
  child->start(command);
  impl_->read_lines(*child);
  impl_->read_captured(*child);
  const Id id = impl_->next_id++;
  impl_->children.emplace(id, std::move(child));
  return id;
}

void Processes::send(Id id, std::string_view line) {
  const auto found = impl_->children.find(id);
  if (found == impl_->children.end() || !found->second->in.is_open()) return;
  auto text = std::make_shared<std::string>(std::string(line) + "\n");
  asio::async_write(found->second->in, asio::buffer(*text), [text](const boost::system::error_code&, std::size_t) {});
}

void Processes::close_stdin(Id id) {
  const auto found = impl_->children.find(id);
  boost::system::error_code ignored;
  if (found != impl_->children.end()) found->second->in.close(ignored);
}

void Processes::ask_to_end(Id id) {
  const auto found = impl_->children.find(id);
  if (found != impl_->children.end() && !found->second->reaped && found->second->own_group)
    ::kill(-found->second->process.id(), SIGTERM);
}

void Processes::set_deadline(Id id, std::optional<Clock::duration> from_now) {
  const auto found = impl_->children.find(id);
  if (found == impl_->children.end() || found->second->reaped || found->second->killed) return;
  Child& child = *found->second;
  // Not only cancelled: a handler that is queued already must see that it is no longer meant.
  child.deadline.expires_at(Clock::time_point::max());
  if (!from_now) return;
  child.deadline.expires_after(*from_now);
  child.deadline.async_wait([impl = impl_.get(), &child](const boost::system::error_code& error) {
    if (error || child.reaped || child.killed || child.deadline.expiry() > Clock::now()) return;
    child.exit.timed_out = true;
    impl->kill(child);
  });
}

void Processes::kill(Id id) {
  const auto found = impl_->children.find(id);
  if (found != impl_->children.end()) impl_->kill(*found->second);
}

std::vector<Processes::Id> Processes::running() const {
  std::vector<Id> ids;
  for (const auto& [id, child] : impl_->children)
    if (!child->ended) ids.push_back(id);
  return ids;
}

std::optional<Processes::Event> Processes::wait(std::optional<Clock::time_point> until) {
  impl_->io.restart();
  while (impl_->ready.empty()) {
    impl_->delay_when_asleep = delay_of_this_thread();
    if (!until)
      impl_->io.run_one();
    else if (impl_->io.run_one_until(*until) == 0 && impl_->io.poll_one() == 0)
      return std::nullopt;
  }
  Event event = std::move(impl_->ready.front());
  impl_->ready.pop_front();
  return event;
}

Finished run(const Command& command) {
  Processes processes(false);
  BoundedLog output(command.capture_limit);
  std::string kept;
  const Processes::Id id = processes.start(command);
  processes.close_stdin(id);
  for (;;) {
    const auto event = processes.wait(std::nullopt);
    if (const auto* line = std::get_if<Processes::Line>(&*event)) {
      output.add(line->text + "\n");
      if (command.keeps && kept.size() <= kMostKept && command.keeps(line->text)) kept += line->text + "\n";
    }
    if (const auto* ended = std::get_if<Processes::Ended>(&*event))
      return {ended->exit, output.text(), std::move(kept), ended->captured, ended->use};
  }
}

std::string to_text(const Exit& exit) {
  if (exit.unreaped) return "could not be killed: still there 10 s after SIGKILL";
  if (exit.timed_out) return "timed out";
  if (exit.signal == 0) return "exit code " + std::to_string(exit.code);
  std::string name = ::strsignal(exit.signal);
  name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
  return "killed by signal " + std::to_string(exit.signal) + " (" + name + ")";
}

void end_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = end_by;
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace tune::platform
