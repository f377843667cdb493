#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tune::platform {

/// Connections between processes over TCP that carry frames in both directions. A frame is a text of any bytes, sent
/// behind its length. A thread serves the connections, and sends an empty frame each second, so that every peer learns
/// that this process lives, whatever it is busy with. Who frames are from, and what they say, is known to the owner.
class FrameHub {
 public:
  using Clock = std::chrono::steady_clock;
  using Id = std::uint64_t;
  /// As it is sent: a text behind its length, which has four bytes, the highest first. One that many peers get is kept
  /// once.
  using Frame = std::shared_ptr<const std::string>;

  struct Opened {
    Id id;
    std::string peer;  ///< address and port
  };
  struct Arrived {
    Id id;
    std::string text;
  };
  /// The last event of a connection. `why` is empty if close() was called.
  struct Closed {
    Id id;
    std::string why;
  };
  using Event = std::variant<Opened, Arrived, Closed>;

  /// A peer that sends nothing for `silence` is given up. `lost` is called by the thread, before the event is there.
  explicit FrameHub(std::chrono::duration<double> silence, std::function<void(const std::string& why)> lost = {});
  /// Sends what is still to be sent, for a second at most.
  ~FrameHub();
  FrameHub(const FrameHub&) = delete;
  FrameHub& operator=(const FrameHub&) = delete;

  /// Lets peers connect to this address of this machine; returns the port. `port` 0: any that is free. Throws
  /// Error(bad_input) if the address is none of this machine's, and Error(environment) if the port cannot be had.
  std::uint16_t listen(const std::string& host, std::uint16_t port);
  /// Throws Error(environment) if nothing accepts the connection by then.
  Id connect(const std::string& host, std::uint16_t port, std::chrono::duration<double> limit);

  /// A peer that nothing is known of may send one short frame, and has 10 s for it. What it sends after that waits. If
  /// there are too many such peers, the oldest are given up.
  void trust(Id id);
  void set_silence(std::chrono::duration<double> silence);
  static Frame frame(std::string_view text);
  void send(Id id, Frame frame);
  void send(Id id, std::string_view text) { send(id, frame(text)); }
  /// Once what was sent has gone.
  void close(Id id);
  /// From now on `stuck` is called, once and by the thread, if for so long, while this process runs, wait() is not
  /// called or does not come back when it should. Null: nobody is told.
  void watch_owner(std::chrono::duration<double> limit, std::function<void()> stuck);

  /// The next event; nullopt when `until` has passed first.
  std::optional<Event> wait(Clock::time_point until);

  /// An address of this machine that other machines are likely to reach: that of its name, or of a network interface;
  /// 127.0.0.1 if it has no network.
  static std::string address_for_others();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tune::platform
