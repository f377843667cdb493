#include "checking/guarded_buffer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>

#include "checking/elements.h"
#include "platform/files/descriptor.h"

namespace tune::guarded_buffer_test {
namespace {

/// A buffer in a file of its own, all poisoned.
worker::GuardedBuffer guarded(const char* name, std::size_t bytes) {
  const platform::Descriptor file(::memfd_create(name, MFD_CLOEXEC));
  EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(worker::GuardedBuffer::footprint(bytes))), 0);
  worker::GuardedBuffer buffer(name, bytes, file.get(), 0);
  buffer.poison_all(worker::Poison::other);
  return buffer;
}

TEST(GuardedBuffer, FindsNothingWhereNothingWasWritten) {
  const worker::GuardedBuffer buffer = guarded("C", 10);
  std::fill_n(buffer.data(), 10, std::byte{1});
  EXPECT_EQ(buffer.intrusion(), std::nullopt);
}

TEST(GuardedBuffer, SaysWhatWasWrittenOnWhichSide) {
  const worker::GuardedBuffer behind = guarded("C", 10), before = guarded("A", 10);
  std::fill_n(behind.data() + 10, 12, std::byte{1});
  EXPECT_EQ(behind.intrusion(), "guard band hit: 12 bytes written past the end of C, first at byte +0");
  before.data()[-3] = std::byte{1};
  EXPECT_EQ(before.intrusion(), "guard band hit: 1 byte written before the start of A, last at byte -3");
}

TEST(GuardedBufferDeathTest, AWriteFarOutsideEndsTheProcess) {
  const worker::GuardedBuffer buffer = guarded("C", 10);
  volatile std::byte* const data = buffer.data();
  EXPECT_EXIT(data[1 << 20] = std::byte{1}, testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(data[-(1 << 20)] = std::byte{1}, testing::KilledBySignal(SIGSEGV), "");
}

TEST(GuardedBuffer, IsZeroForAllWhoMapItOnceItsPagesAreReleased) {
  const platform::Descriptor file(::memfd_create("buffers", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(worker::GuardedBuffer::footprint(10))), 0);
  worker::GuardedBuffer judges("C", 10, file.get(), 0);
  const worker::GuardedBuffer kernels("C", 10, file.get(), 0);
  judges.poison_all(worker::Poison::other);
  EXPECT_NE(kernels.data()[9], std::byte{0});
  judges.release_pages();
  kernels.touch_pages();
  EXPECT_EQ(kernels.data()[9], std::byte{0});
}

TEST(GuardedBuffer, IsPoisonedWithNaNOfEveryFloatType) {
  const worker::GuardedBuffer buffer = guarded("C", 64);
  EXPECT_TRUE(std::isnan(*reinterpret_cast<const double*>(buffer.data())));
  EXPECT_TRUE(std::isnan(*reinterpret_cast<const float*>(buffer.data())));
  EXPECT_TRUE(std::isnan(worker::to_double(*reinterpret_cast<const worker::Half*>(buffer.data()))));
  EXPECT_TRUE(std::isnan(worker::to_double(*reinterpret_cast<const worker::Bf16*>(buffer.data()))));
}

}  // namespace
}  // namespace tune::guarded_buffer_test
