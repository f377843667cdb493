#include "platform/net/frame_hub.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "model/values/error.h"

namespace tune::platform {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code, boost::system::system_error;
using namespace std::chrono_literals;
using Clock = FrameHub::Clock;

constexpr auto kTick = 200ms;
constexpr std::int64_t kTicksOfBeat = 5;
constexpr std::chrono::duration<double> kStrangersTime = 10s;
constexpr auto kFarewell = 1s;
constexpr int kBacklog = 4096;  // thousands of agents may connect at once
constexpr std::ptrdiff_t kMostStrangers = kBacklog;
constexpr std::size_t kMostEvents = 100'000;  // that the owner has not taken; nobody can connect until it does
constexpr std::size_t kStrangersFrame = 16 * 1024;
constexpr std::size_t kLongestFrame = std::size_t{1} << 30;
constexpr std::size_t kLength = 4;  // bytes before each frame, the highest first

// Many systems allow a program 1024 open files unless it asks for more.
void allow_many_connections() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// One that children do not inherit, as they would Asio's own: peers would take us for alive while a child is.
int open_socket(const tcp& protocol) {
  const int socket = ::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) throw system_error(errno, boost::system::system_category());
  return socket;
}

// In the words of the system, also where Asio has its own.
std::string words_of(const error_code& failed) {
  if (failed == asio::error::host_not_found) return ::gai_strerror(EAI_NONAME);
  if (failed == asio::error::host_not_found_try_again) return ::gai_strerror(EAI_AGAIN);
  return failed.message();
}

tcp::acceptor listen_at(asio::io_context& io, const std::string& host, std::uint16_t port) {
  error_code unknown, failed;
  for (const tcp::endpoint at : tcp::resolver(io).resolve(host, std::to_string(port), unknown)) try {
      tcp::acceptor acceptor(io, at.protocol(), open_socket(at.protocol()));
      acceptor.set_option(tcp::acceptor::reuse_address(true));
      acceptor.bind(at);
      acceptor.listen(kBacklog);
      return acceptor;
    } catch (const system_error& error) {
      failed = error.code();
    }
  if (!failed || failed == boost::system::errc::address_not_available)
    throw Error(ExitCode::bad_input,
                fmt::format("--listen {}: this is no address of this machine{}; give the name or address of one of its "
                            "network interfaces",
                            host, unknown ? " (" + words_of(unknown) + ")" : ""));
  throw Error(ExitCode::environment, fmt::format("cannot listen at {} port {}: {}; choose another port with --listen "
                                                 "HOST:PORT",
                                                 host, port, failed.message()));
}

/// `limit`: for each address that the name stands for.
tcp::socket connect_to(asio::io_context& io, const std::string& host, std::uint16_t port, Clock::duration limit) {
  error_code failed;
  for (const tcp::endpoint to : tcp::resolver(io).resolve(host, std::to_string(port), failed)) try {
      asio::io_context waiting;
      tcp::socket socket(waiting, to.protocol(), open_socket(to.protocol()));
      failed = asio::error::timed_out;
      socket.async_connect(to, [&](const error_code& result) { failed = result; });
      waiting.run_for(limit);
      if (!failed) return {io, to.protocol(), socket.release()};
    } catch (const system_error& error) {
      failed = error.code();
    }
  throw Error(ExitCode::environment, fmt::format("cannot connect to {} port {}: {}", host, port, words_of(failed)));
}

}  // namespace

class FrameHub::Impl {
 public:
  Impl(std::chrono::duration<double> silence, std::function<void(const std::string&)> lost)
      : silence_(silence), lost_(std::move(lost)), thread_([this] { run(); }) {}

  ~Impl() {
    asio::post(io_, [this] { io_.stop(); });
    thread_.join();
  }

  std::uint16_t listen(const std::string& host, std::uint16_t port) {
    allow_many_connections();
    tcp::acceptor acceptor = listen_at(io_, host, port);
    const std::uint16_t chosen = acceptor.local_endpoint().port();
    asio::post(io_, [this, acceptor = std::move(acceptor)]() mutable {
      acceptor_ = std::move(acceptor);
      accept();
    });
    return chosen;
  }

  Id connect(const std::string& host, std::uint16_t port, std::chrono::duration<double> limit) {
    tcp::socket socket = connect_to(io_, host, port, std::chrono::duration_cast<Clock::duration>(limit));
    const Id id = next_id_++;
    asio::post(io_, [this, id, socket = std::move(socket)]() mutable { add(id, std::move(socket), true); });
    return id;
  }

  void trust(Id id) {
    ask(id, [this](const LinkPtr& link) {
      if (std::exchange(link->trusted, true)) return;
      link->ticks = 0;
      if (link->has_spoken) hear(link);
    });
  }

  void send(Id id, Frame frame) {
    ask(id, [this, frame = std::move(frame)](const LinkPtr& link) { send(link, frame); });
  }

  void close(Id id) {
    ask(id, [this](const LinkPtr& link) { close(link); });
  }

  void set_silence(std::chrono::duration<double> silence) { silence_ = silence; }

  void watch_owner(std::chrono::duration<double> limit, std::function<void()> stuck) {
    const std::lock_guard lock(mutex_);
    ticks_without_wait_ = 0;
    most_ticks_ = std::max(static_cast<std::int64_t>(limit / kTick), std::int64_t{1});
    stuck_ = std::move(stuck);
  }

  std::optional<Event> wait(Clock::time_point until) {
    std::unique_lock lock(mutex_);
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
  /// One connection.
  struct Link {
    Id id;
    tcp::socket socket;
    bool trusted;                ///< its frames may be long and many
    bool has_spoken = false;     ///< a frame has come
    bool closing = false;        ///< once all is sent
    std::string in = {};         ///< not yet a whole frame; of a stranger, what followed its first one
    std::deque<Frame> out = {};  ///< the first is being sent
    /// Since it was opened or, once it is trusted, last heard. Not seconds: if this process was stopped, and not its
    /// peers, what they sent is read before they are given up.
    std::int64_t ticks = 0;

    /// Whether more of it may be read now.
    bool may_speak() const { return trusted || !has_spoken; }
  };
  using LinkPtr = std::shared_ptr<Link>;

  /// Has the thread do this with the connection, if it is still there.
  template <typename Function>
  void ask(Id id, Function function) {
    asio::post(io_, [this, id, function = std::move(function)] {
      if (const auto found = links_.find(id); found != links_.end()) function(LinkPtr(found->second));
    });
  }

  void tell(Event event) {
    {
      const std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
    }
    arrived_.notify_one();
  }

  // Until the owner ends this; then what is still to be sent has a moment.
  void run() {
    tick();
    io_.run();
    timer_.cancel();
    acceptor_.close();
    for_all([this](const LinkPtr& link) { close(link); });
    io_.restart();
    io_.run_for(kFarewell);
  }

  /// `function` may drop the connection.
  template <typename Function>
  void for_all(Function function) {
    for (auto next = links_.begin(); next != links_.end();) function(LinkPtr((next++)->second));
  }

  void accept() {
    if (std::exchange(accepts_, true)) return;
    acceptor_.async_wait(tcp::acceptor::wait_read, [this](const error_code& failed) {
      accepts_ = false;
      if (!failed && accept_one()) accept();
    });
  }

  // Not by Asio, whose sockets children inherit. Returns whether another may connect before the next tick.
  bool accept_one() {
    tcp::endpoint peer;
    auto size = static_cast<socklen_t>(peer.capacity());
    const int socket = ::accept4(acceptor_.native_handle(), peer.data(), &size, SOCK_CLOEXEC);
    const bool no_room = socket < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
    if (socket < 0) return !no_room || drop_oldest_stranger();
    const Id id = next_id_++;
    tell(Opened{id, fmt::format("{} port {}", peer.address().to_string(), peer.port())});
    add(id, tcp::socket(io_, peer.protocol(), socket), false);
    if (std::ranges::count_if(links_, is_stranger) > kMostStrangers) drop_oldest_stranger();
    return !too_many_events();
  }

  bool too_many_events() {
    const std::lock_guard lock(mutex_);
    return events_.size() > kMostEvents;
  }

  static bool is_stranger(const std::pair<const Id, LinkPtr>& link) { return !link.second->trusted; }

  // Returns false if there is none.
  bool drop_oldest_stranger() {
    const auto oldest = std::ranges::find_if(links_, is_stranger);
    if (oldest == links_.end()) return false;
    drop(LinkPtr(oldest->second), "too many connections do not say who they are");
    return true;
  }

  void add(Id id, tcp::socket socket, bool trusted) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    hear(links_[id] = std::make_shared<Link>(Link{id, std::move(socket), trusted}));
  }

  // Tells of the frames that are there, and waits for more. One peer cannot keep others waiting, because they take
  // turns.
  void hear(const LinkPtr& link) {
    if (!take_frames(*link)) return drop(link, "it sent what is no frame");
    if (!link->may_speak()) return;
    asio::async_read(link->socket, asio::dynamic_buffer(link->in), asio::transfer_at_least(1),
                     [this, link](const error_code& failed, std::size_t) {
                       if (!link->socket.is_open()) return;
                       if (failed == asio::error::eof) return drop(link, "it closed the connection");
                       if (failed) return drop(link, failed.message());
                       if (link->trusted) link->ticks = 0;
                       hear(link);
                     });
  }

  // Without empty ones, and of a stranger nothing behind its first one. Returns false if one is too long.
  bool take_frames(Link& link) {
    std::size_t at = 0;
    while (link.may_speak() && link.in.size() - at >= kLength) {
      std::uint32_t length = 0;
      std::memcpy(&length, link.in.data() + at, kLength);
      length = ntohl(length);
      if (length > (link.trusted ? kLongestFrame : kStrangersFrame)) return false;
      if (link.in.size() - at - kLength < length) break;
      if (length > 0) tell(Arrived{link.id, link.in.substr(at + kLength, length)});
      link.has_spoken = link.has_spoken || length > 0;
      at += kLength + length;
    }
    link.in.erase(0, at);
    return true;
  }

  void send(const LinkPtr& link, Frame frame) {
    link->out.push_back(std::move(frame));
    if (link->out.size() == 1) write(link);
  }

  void write(const LinkPtr& link) {
    asio::async_write(link->socket, asio::buffer(*link->out.front()),
                      [this, link](const error_code& failed, std::size_t) {
                        if (!link->socket.is_open()) return;
                        if (failed) return end_writing(link, failed);
                        link->out.pop_front();
                        if (!link->out.empty()) return write(link);
                        if (link->closing) drop(link, "");
                      });
  }

  // What a peer said before it left is heard although it can no longer be answered: then its end is read.
  void end_writing(const LinkPtr& link, const error_code& failed) {
    if (!link->may_speak()) return drop(link, failed.message());
    error_code ignored;
    link->socket.shutdown(tcp::socket::shutdown_both, ignored);
  }

  void close(const LinkPtr& link) {
    link->closing = true;
    if (link->out.empty()) drop(link, "");
  }

  void drop(const LinkPtr& link, const std::string& why) {
    links_.erase(link->id);
    error_code ignored;
    link->socket.close(ignored);
    if (lost_ && !why.empty()) lost_(why);
    tell(Closed{link->id, why});
  }

  void tick() {
    look_after_owner();
    if (acceptor_.is_open()) accept();
    ++ticks_;
    for_all([this](const LinkPtr& link) { look_after(link); });
    timer_.expires_after(kTick);
    timer_.async_wait([this](const error_code& failed) {
      if (!failed) tick();
    });
  }

  // Ticks are counted and not seconds, because in a process that was stopped both threads stood still. An owner that is
  // stopped alone may stay in wait() beyond its end.
  void look_after_owner() {
    std::function<void()> stuck;
    {
      const std::lock_guard lock(mutex_);
      const bool waits = waits_until_ && Clock::now() < *waits_until_;
      if (!waits && ++ticks_without_wait_ > most_ticks_) stuck = std::exchange(stuck_, nullptr);
    }
    if (stuck) stuck();
  }

  void look_after(const LinkPtr& link) {
    static const Frame kEmpty = frame("");
    const bool late = ++link->ticks * kTick > (link->trusted ? silence_.load() : kStrangersTime);
    if (late) return drop(link, link->trusted ? "it has been silent for too long" : "it did not say who it is");
    if (ticks_ % kTicksOfBeat == 0 && link->out.empty()) send(link, kEmpty);
  }

  std::atomic<std::chrono::duration<double>> silence_;
  std::function<void(const std::string&)> lost_;
  std::atomic<Id> next_id_{1};

  // Of the thread, but for asio::post.
  asio::io_context io_;
  tcp::acceptor acceptor_{io_};
  bool accepts_ = false;  ///< it waits for the next connection
  asio::steady_timer timer_{io_};
  std::int64_t ticks_ = 0;
  std::map<Id, LinkPtr> links_;  ///< the oldest first

  std::mutex mutex_;  ///< of what follows
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

FrameHub::Frame FrameHub::frame(std::string_view text) {
  const std::uint32_t length = htonl(static_cast<std::uint32_t>(text.size()));
  std::string bytes(reinterpret_cast<const char*>(&length), kLength);
  bytes += text;
  return std::make_shared<const std::string>(std::move(bytes));
}

std::string FrameHub::address_for_others() {
  asio::io_context io;
  error_code ignored;
  for (const tcp::endpoint at : tcp::resolver(io).resolve(tcp::v4(), asio::ip::host_name(ignored), "0", ignored))
    if (!at.address().is_loopback()) return at.address().to_string();
  ifaddrs* interfaces = nullptr;
  if (::getifaddrs(&interfaces) != 0) return "127.0.0.1";
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(interfaces, &::freeifaddrs);
  for (const ifaddrs* one = interfaces; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_UP) == 0) continue;
    const asio::ip::address_v4 address(ntohl(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr));
    if (!address.is_loopback()) return address.to_string();
  }
  return "127.0.0.1";
}

std::uint16_t FrameHub::listen(const std::string& host, std::uint16_t port) { return impl_->listen(host, port); }
FrameHub::Id FrameHub::connect(const std::string& host, std::uint16_t port, std::chrono::duration<double> limit) {
  return impl_->connect(host, port, limit);
}
void FrameHub::trust(Id id) { impl_->trust(id); }
void FrameHub::set_silence(std::chrono::duration<double> silence) { impl_->set_silence(silence); }
void FrameHub::send(Id id, Frame frame) { impl_->send(id, std::move(frame)); }
void FrameHub::watch_owner(std::chrono::duration<double> limit, std::function<void()> stuck) {
  impl_->watch_owner(limit, std::move(stuck));
}
void FrameHub::close(Id id) { impl_->close(id); }
std::optional<FrameHub::Event> FrameHub::wait(Clock::time_point until) { return impl_->wait(until); }

}  // namespace tune::platform
