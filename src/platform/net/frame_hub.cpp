#include "platform/net/frame_hub.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "platform/net/frame_link.h"
#include "platform/net/tcp.h"

namespace tune::platform {
namespace {

using namespace std::chrono_literals;
using Clock = FrameHub::Clock;

constexpr auto kBeat = 1s;
constexpr auto kTick = 200ms;
constexpr auto kStrangersTime = 10s;
constexpr auto kFarewell = 1s;
constexpr std::ptrdiff_t kMostStrangers = 4096;  // thousands of agents may connect at once
constexpr int kMostAcceptedAtOnce = 64;          // then those that are connected are heard, however many more come
constexpr std::size_t kMostEvents = 100'000;     // that the owner has not taken; nobody can connect until it does

// Many systems allow a program 1024 open files unless it asks for more.
void allow_many_connections() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

class FrameHub::Impl {
 public:
  Impl(std::chrono::duration<double> silence, std::function<void(const std::string&)> lost)
      : silence_(silence.count()), lost_(std::move(lost)) {
    watch(wake_.get(), kWake, EPOLLIN);
    thread_ = std::thread([this] { run(); });
  }

  ~Impl() {
    ask({Order::Sort::end});
    thread_.join();
  }

  std::uint16_t listen(const std::string& host, std::uint16_t port) {
    allow_many_connections();
    Descriptor listener = listen_at(host, port);
    const std::uint16_t chosen = port_of(listener);
    ask({Order::Sort::listen, 0, {}, std::move(listener)});
    return chosen;
  }

  Id connect(const std::string& host, std::uint16_t port, std::chrono::duration<double> limit) {
    Descriptor socket = connect_to(host, port, limit);
    const Id id = next_id_++;
    ask({Order::Sort::connected, id, {}, std::move(socket)});
    return id;
  }

  void trust(Id id) { ask({Order::Sort::trust, id}); }
  void send(Id id, Frame frame) { ask({Order::Sort::send, id, std::move(frame)}); }
  void close(Id id) { ask({Order::Sort::close, id}); }
  void set_silence(double seconds) { silence_ = seconds; }

  void watch_owner(std::chrono::duration<double> limit, std::function<void()> stuck) {
    const std::lock_guard lock(events_mutex_);
    ticks_without_wait_ = 0;
    most_ticks_ = std::max(static_cast<std::int64_t>(limit / kTick), std::int64_t{1});
    stuck_ = std::move(stuck);
  }

  std::optional<Event> wait(Clock::time_point until) {
    std::unique_lock lock(events_mutex_);
    waits_until_ = until;
    const bool any = arrived_.wait_until(lock, until, [this] { return !events_.empty(); });
    waits_until_.reset();
    ticks_without_wait_ = 0;
    if (!any) return std::nullopt;
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

 private:
  /// What the owner asks of the thread.
  struct Order {
    enum class Sort { listen, connected, trust, send, close, end };
    Sort sort;
    Id id = 0;
    Frame frame = {};
    Descriptor socket = Descriptor();
  };
  static constexpr Id kWake = 0, kListener = 1;

  void ask(Order order) {
    const std::lock_guard lock(orders_mutex_);
    orders_.push_back(std::move(order));
    if (orders_.size() > 1) return;
    const std::uint64_t one = 1;
    wake_.write({reinterpret_cast<const char*>(&one), sizeof one});
  }

  void tell(Event event) {
    {
      const std::lock_guard lock(events_mutex_);
      events_.push_back(std::move(event));
    }
    arrived_.notify_one();
  }

  void watch(int fd, Id id, std::uint32_t what, int how = EPOLL_CTL_ADD) {
    epoll_event event{};
    event.events = what;
    event.data.u64 = id;
    ::epoll_ctl(epoll_.get(), how, fd, &event);
  }

  void run() {
    std::optional<Clock::time_point> end;
    auto next_tick = Clock::now() + kTick;
    while (!end || (Clock::now() < *end && any_to_send())) {
      std::array<epoll_event, 256> ready{};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_tick - Clock::now());
      const int count = ::epoll_wait(epoll_.get(), ready.data(), ready.size(),
                                     static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
      for (int i = 0; i < count; ++i) handle(ready[static_cast<std::size_t>(i)]);
      if (obey() && !end) end = Clock::now() + kFarewell;
      // What has come is read first: this process may have been stopped, and not its peers.
      if (Clock::now() < next_tick || count == static_cast<int>(ready.size())) continue;
      tick();
      next_tick = Clock::now() + kTick;
    }
  }

  bool any_to_send() const {
    return std::ranges::any_of(links_, [](const auto& link) { return !link.second.out.empty(); });
  }

  void handle(const epoll_event& event) {
    if (event.data.u64 == kWake) {
      std::uint64_t ignored = 0;
      [[maybe_unused]] const ssize_t size = ::read(wake_.get(), &ignored, sizeof ignored);
      return;
    }
    if (event.data.u64 == kListener) return accept();
    const auto found = links_.find(event.data.u64);
    if (found == links_.end()) return;
    if ((event.events & EPOLLOUT) != 0 && !write(found->first, found->second)) return;
    if ((event.events & ~EPOLLOUT) == 0) return;
    if (!found->second.may_speak()) return void(drop(found->first, "it closed the connection"));
    read(found->first, found->second);
  }

  void accept() {
    std::string peer;
    for (int accepted = 0; !too_many_events(); ++accepted) {
      if (accepted == kMostAcceptedAtOnce) return;
      Descriptor socket = accept_from(listener_, peer);
      const bool no_room = !socket && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
      if (no_room && !drop_oldest_stranger()) break;
      if (!socket) return;
      const Id id = next_id_++;
      add(id, std::move(socket));
      tell(Opened{id, peer});
      if (std::ranges::count_if(links_, is_stranger) > kMostStrangers) drop_oldest_stranger();
    }
    watch(listener_.get(), kListener, 0, EPOLL_CTL_MOD);  // until the next tick
  }

  bool too_many_events() {
    const std::lock_guard lock(events_mutex_);
    return events_.size() > kMostEvents;
  }

  static bool is_stranger(const std::pair<const Id, FrameLink>& link) { return !link.second.trusted; }

  // Returns false if there is none.
  bool drop_oldest_stranger() {
    const auto oldest = std::ranges::find_if(links_, is_stranger);
    if (oldest == links_.end()) return false;
    drop(oldest->first, "too many connections do not say who they are");
    return true;
  }

  FrameLink& add(Id id, Descriptor socket) {
    FrameLink& link = links_[id];
    link.socket = std::move(socket);
    link.watched = EPOLLIN;
    watch(link.socket.get(), id, link.watched);
    return link;
  }

  void watch_as_needed(Id id, FrameLink& link) {
    const std::uint32_t needed =
        (link.may_speak() ? std::uint32_t{EPOLLIN} : 0U) | (link.out.empty() ? 0U : std::uint32_t{EPOLLOUT});
    if (std::exchange(link.watched, needed) != needed) watch(link.socket.get(), id, needed, EPOLL_CTL_MOD);
  }

  // Returns whether this is the end.
  bool obey() {
    std::vector<Order> orders;
    {
      const std::lock_guard lock(orders_mutex_);
      orders.swap(orders_);
    }
    std::vector<Id> written, trusted;
    bool end = false;
    for (Order& order : orders) {
      end = end || order.sort == Order::Sort::end;
      if (order.sort == Order::Sort::listen) {
        listener_ = std::move(order.socket);
        watch(listener_.get(), kListener, EPOLLIN);
      } else if (order.sort == Order::Sort::connected) {
        add(order.id, std::move(order.socket)).trusted = true;
      } else if (const auto found = links_.find(order.id); found != links_.end()) {
        FrameLink& link = found->second;
        if (order.sort == Order::Sort::trust && !std::exchange(link.trusted, true)) trusted.push_back(order.id);
        if (order.sort == Order::Sort::close) link.closing = true;
        if (order.sort == Order::Sort::send) link.out.push_back(std::move(order.frame));
        written.push_back(order.id);
      }
    }
    for (const Id id : trusted)
      if (const auto found = links_.find(id); found != links_.end()) read(id, found->second);
    for (const Id id : written)
      if (const auto found = links_.find(id); found != links_.end() && (found->second.watched & EPOLLOUT) == 0)
        write(id, found->second);
    return end;
  }

  // Returns whether the connection is still there. What a peer said before it left is heard although it can no longer
  // be answered.
  bool write(Id id, FrameLink& link) {
    if (const auto why = link.send_some()) {
      hear(id, link, true);
      return drop(id, *why);
    }
    if (link.out.empty() && link.closing) return drop(id, "");
    watch_as_needed(id, link);
    return true;
  }

  void read(Id id, FrameLink& link) {
    if (const auto why = hear(id, link))
      drop(id, *why);
    else
      watch_as_needed(id, link);
  }

  // Returns why the connection is lost, if it is.
  std::optional<std::string> hear(Id id, FrameLink& link, bool all = false) {
    std::vector<std::string> frames;
    auto why = link.receive(frames, all);
    for (std::string& text : frames) tell(Arrived{id, std::move(text)});
    return why;
  }

  // Returns false.
  bool drop(Id id, const std::string& why) {
    links_.erase(id);
    if (lost_ && !why.empty()) lost_(why);
    tell(Closed{id, why});
    return false;
  }

  // Ticks are counted and not seconds, because in a process that was stopped both threads stood still. An owner that is
  // stopped alone may stay in wait() beyond its end.
  void look_after_owner() {
    std::function<void()> stuck;
    {
      const std::lock_guard lock(events_mutex_);
      const bool waits = waits_until_ && Clock::now() < *waits_until_;
      if (!waits && ++ticks_without_wait_ > most_ticks_) stuck = std::exchange(stuck_, nullptr);
    }
    if (stuck) stuck();
  }

  void tick() {
    look_after_owner();
    if (listener_) watch(listener_.get(), kListener, EPOLLIN, EPOLL_CTL_MOD);
    static const Frame kEmpty = FrameLink::frame("");
    const auto now = Clock::now();
    std::vector<std::pair<Id, const char*>> gone;
    std::vector<Id> quiet;
    for (auto& [id, link] : links_) {
      if (link.trusted && std::chrono::duration<double>(now - link.heard).count() > silence_)
        gone.emplace_back(id, "it has been silent for too long");
      else if (!link.trusted && now - link.opened > kStrangersTime)
        gone.emplace_back(id, "it did not say who it is");
      else if (now - link.spoke > kBeat && link.out.empty())
        quiet.push_back(id);
    }
    for (const auto& [id, why] : gone) drop(id, why);
    for (const Id id : quiet) {
      links_.at(id).out.push_back(kEmpty);
      write(id, links_.at(id));
    }
  }

  std::atomic<double> silence_;
  std::function<void(const std::string&)> lost_;
  Descriptor epoll_{::epoll_create1(EPOLL_CLOEXEC)};
  Descriptor wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  Descriptor listener_;
  std::atomic<Id> next_id_{kListener + 1};
  std::map<Id, FrameLink> links_;
  std::mutex orders_mutex_, events_mutex_;
  std::vector<Order> orders_;
  std::deque<Event> events_;
  std::condition_variable arrived_;
  std::optional<Clock::time_point> waits_until_;  ///< the owner is in wait()
  std::int64_t ticks_without_wait_ = 0, most_ticks_ = 0;
  std::function<void()> stuck_;  ///< unset: nobody is told
  std::thread thread_;
};

FrameHub::FrameHub(std::chrono::duration<double> silence, std::function<void(const std::string&)> lost)
    : impl_(std::make_unique<Impl>(silence, std::move(lost))) {}
FrameHub::~FrameHub() = default;

std::uint16_t FrameHub::listen(const std::string& host, std::uint16_t port) { return impl_->listen(host, port); }
FrameHub::Id FrameHub::connect(const std::string& host, std::uint16_t port, std::chrono::duration<double> limit) {
  return impl_->connect(host, port, limit);
}
void FrameHub::trust(Id id) { impl_->trust(id); }
void FrameHub::set_silence(std::chrono::duration<double> silence) { impl_->set_silence(silence.count()); }
void FrameHub::send(Id id, Frame frame) { impl_->send(id, std::move(frame)); }
void FrameHub::watch_owner(std::chrono::duration<double> limit, std::function<void()> stuck) {
  impl_->watch_owner(limit, std::move(stuck));
}
void FrameHub::close(Id id) { impl_->close(id); }
std::optional<FrameHub::Event> FrameHub::wait(Clock::time_point until) { return impl_->wait(until); }

}  // namespace tune::platform
