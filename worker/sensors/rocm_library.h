#pragma once
#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace tune::worker {

/// The clocks of one kind; laid out as the rsmi_frequencies_t of AMD's management library, with room for more.
struct RocmFrequencies {
  bool has_deep_sleep = false;
  std::uint32_t count = 0, current = 0;
  std::array<std::uint64_t, 64> hertz = {};
};
enum RocmClock : int { kRocmSystemClock = 0, kRocmMemoryClock = 4 };
constexpr int kRocmSuccess = 0;

/// The number that AMD's libraries know a device by: its digits are the bytes of the UUID that HIP gives, which a
/// worker's probe tells. nullopt: it is no such UUID.
std::optional<std::uint64_t> rocm_number(const std::string& device_id);

/// AMD's management library (librocm_smi64), started, and one device in it. Its functions are called by their public
/// documentation, because its header is not on every machine; it stays open.
class RocmLibrary {
 public:
  /// `device_id` is what a worker's probe tells. nullopt: `why` says what is missing.
  static std::optional<RocmLibrary> open(const std::string& device_id, std::string& why);

  std::uint32_t device() const { return device_; }
  /// Null if this version has no such function.
  template <typename Function>
  void find(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(::dlsym(library_, symbol));
  }

 private:
  explicit RocmLibrary(void* library) : library_(library) {}

  void* library_;
  std::uint32_t device_ = 0;
};

}  // namespace tune::worker
