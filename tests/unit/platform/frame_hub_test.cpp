// Connections of the driver and its agents, at moments that a run seldom has.
#include "platform/net/frame_hub.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "support/connection.h"

namespace tune::frame_hub_test {
namespace {

using namespace std::chrono_literals;
using platform::FrameHub;

/// Whoever connects to this, and then speaks for itself.
class Listening : public testing::Test {
 protected:
  /// At last the thread waits no more.
  ~Listening() override { go_on_.release(2); }

  platform::Descriptor connect() { return connect_to(port_); }

  template <typename Event>
  Event next() {
    const auto event = hub_.wait(FrameHub::Clock::now() + 10s);
    EXPECT_TRUE(event && std::holds_alternative<Event>(*event));
    return event && std::holds_alternative<Event>(*event) ? std::get<Event>(*event) : Event{};
  }

  /// The hub's thread waits when a connection is lost, until `go_on_`.
  std::counting_semaphore<> stands_{0}, go_on_{0};
  FrameHub hub_{60s, [this](const std::string&) {
                  stands_.release();
                  go_on_.acquire();
                }};
  std::uint16_t port_ = hub_.listen("127.0.0.1", 0);
};

TEST_F(Listening, WhatAPeerSaidBeforeItLeftIsHeardAlthoughItCannotBeAnswered) {
  platform::Descriptor first = connect(), second = connect();
  const FrameHub::Id one = next<FrameHub::Opened>().id, two = next<FrameHub::Opened>().id;
  hub_.trust(one);
  hub_.trust(two);
  hub_.send(two, "what is never read");
  pollfd readable{second.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&readable, 1, 10'000), 1) << "what is not read resets the connection when it is closed";
  first.close();
  stands_.acquire();
  EXPECT_TRUE(second.write(*FrameHub::frame("last words")));
  second.close();
  hub_.send(two, "an answer");
  go_on_.release(2);
  EXPECT_EQ(next<FrameHub::Closed>().id, one);
  EXPECT_EQ(next<FrameHub::Arrived>().text, "last words");
  EXPECT_EQ(next<FrameHub::Closed>().id, two);
}

TEST_F(Listening, OfAStrangerOneFrameIsHeardUntilItIsTrusted) {
  const platform::Descriptor stranger = connect();
  const FrameHub::Id id = next<FrameHub::Opened>().id;
  std::string frames;
  for (int i = 0; i < 1000; ++i) frames += *FrameHub::frame(std::to_string(i));
  EXPECT_TRUE(stranger.write(frames));
  EXPECT_EQ(next<FrameHub::Arrived>().text, "0");
  EXPECT_FALSE(hub_.wait(FrameHub::Clock::now() + 300ms)) << "nothing is kept for the owner";
  hub_.trust(id);
  for (int i = 1; i < 1000; ++i) ASSERT_EQ(next<FrameHub::Arrived>().text, std::to_string(i));
  hub_.close(id);
  EXPECT_EQ(next<FrameHub::Closed>().why, "");
}

TEST_F(Listening, ManyThatSayNothingKeepNobodyOut) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  int begin[2];
  ASSERT_EQ(::pipe(begin), 0);
  const pid_t others = ::fork();  // whose files are not ours
  if (others == 0) {
    char go = 0;
    [[maybe_unused]] const ssize_t ignored = ::read(begin[0], &go, 1);
    std::vector<platform::Descriptor> silent;
    for (int i = 0; i < 200; ++i) silent.push_back(connect());
    const platform::Descriptor last = connect();
    last.write(*FrameHub::frame("hello"));
    ::pause();
  }
  const rlimit few{100, files.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  ASSERT_EQ(::write(begin[1], "x", 1), 1);
  go_on_.release(1000);  // connections are lost
  bool heard = false;
  const auto end = FrameHub::Clock::now() + 8s;  // silent ones are given up after 10 s
  while (!heard && FrameHub::Clock::now() < end) {
    const auto event = hub_.wait(end);
    heard = event && std::holds_alternative<FrameHub::Arrived>(*event);
  }
  EXPECT_TRUE(heard);
  ::kill(others, SIGKILL);
  ::waitpid(others, nullptr, 0);
  ::setrlimit(RLIMIT_NOFILE, &files);
  for (const int end_of_pipe : begin) ::close(end_of_pipe);
}

// Two of them connect faster than one can be let in.
TEST_F(Listening, WhoConnectsAllTheTimeKeepsNobodyUnheard) {
  go_on_.release(1'000'000);  // connections are lost
  std::atomic<bool> ends = false;
  const auto flood = [&] {
    while (!ends) connect();
  };
  std::thread one(flood), other(flood);
  const platform::Descriptor peer = connect();
  bool heard = false;
  int opened = 0;
  auto end = FrameHub::Clock::now() + 60s;
  while (!heard && FrameHub::Clock::now() < end) {
    const auto event = hub_.wait(end);
    if (event && std::holds_alternative<FrameHub::Opened>(*event) && ++opened == 1000) {
      peer.write(*FrameHub::frame("hello"));
      end = FrameHub::Clock::now() + 5s;
    }
    heard = event && std::holds_alternative<FrameHub::Arrived>(*event);
  }
  ends = true;
  one.join();
  other.join();
  EXPECT_TRUE(heard);
}

/// Trusts whoever connects; 0 once a frame has come, and 1 if a connection is lost before.
int hear_one(FrameHub& hub) {
  while (const auto event = hub.wait(FrameHub::Clock::now() + 10s)) {
    if (const auto* opened = std::get_if<FrameHub::Opened>(&*event)) hub.trust(opened->id);
    if (std::holds_alternative<FrameHub::Arrived>(*event)) return 0;
    if (std::holds_alternative<FrameHub::Closed>(*event)) return 1;
  }
  return 2;
}

TEST(Hub, APeerThatSpeaksWhileThisProcessIsStoppedIsNotSilent) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t stopped = ::fork();
  if (stopped == 0) {
    FrameHub hub(1s);
    const std::uint16_t port = hub.listen("127.0.0.1", 0);
    if (::write(ends[1], &port, sizeof port) != sizeof port) ::_exit(3);
    ::_exit(hear_one(hub));
  }
  std::uint16_t port = 0;
  ASSERT_EQ(::read(ends[0], &port, sizeof port), ssize_t{sizeof port});
  const platform::Descriptor peer = connect_to(port);
  const auto live_for = [&](int tenths) {
    for (int i = 0; i < tenths; ++i) {
      EXPECT_TRUE(peer.write(*FrameHub::frame("")));
      std::this_thread::sleep_for(100ms);
    }
  };
  live_for(3);
  ::kill(stopped, SIGSTOP);
  live_for(20);
  ::kill(stopped, SIGCONT);
  live_for(5);
  EXPECT_TRUE(peer.write(*FrameHub::frame("the end")));
  int status = 0;
  ::waitpid(stopped, &status, 0);
  EXPECT_EQ(status, 0);
  for (const int end : ends) ::close(end);
}

}  // namespace
}  // namespace tune::frame_hub_test
