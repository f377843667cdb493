// Connections of the driver and its agents, at moments that a run seldom has.
#include "base/frame_hub.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <semaphore>

#include "base/frame_link.h"
#include "base/tcp.h"

namespace tune::frame_hub_test {
namespace {

using namespace std::chrono_literals;
using base::FrameHub;

/// Whoever connects to this, and then speaks for itself.
class Listening : public testing::Test {
 protected:
  /// At last the thread waits no more.
  ~Listening() override { go_on_.release(2); }

  base::Descriptor connect() { return base::connect_to("127.0.0.1", port_, 10s); }

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
  base::Descriptor first = connect(), second = connect();
  const FrameHub::Id one = next<FrameHub::Opened>().id, two = next<FrameHub::Opened>().id;
  hub_.trust(one);
  hub_.trust(two);
  hub_.send(two, "what is never read");
  pollfd readable{second.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&readable, 1, 10'000), 1) << "what is not read resets the connection when it is closed";
  first.close();
  stands_.acquire();
  EXPECT_TRUE(second.write(*base::FrameLink::frame("last words")));
  second.close();
  hub_.send(two, "an answer");
  go_on_.release(2);
  EXPECT_EQ(next<FrameHub::Closed>().id, one);
  EXPECT_EQ(next<FrameHub::Arrived>().text, "last words");
  EXPECT_EQ(next<FrameHub::Closed>().id, two);
}

}  // namespace
}  // namespace tune::frame_hub_test
