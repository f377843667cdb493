#include "gpu/gpu_shared_reference.h"

#include <array>
#include <cstring>

#include "platform/store/store.h"

namespace tune::worker {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 8> kMagic = {'T', 'U', 'N', 'E', 'S', 'H', 'R', '1'};

/// The contents of the file next to a reference.
struct Offer {
  std::array<char, 8> magic{};
  Uuid device{};
  std::uint64_t bytes = 0, digest = 0;
  gpu::ShareHandle handle{};
};

fs::path file_beside(const fs::path& reference) { return reference.string() + ".shared"; }

std::optional<Offer> read_offer(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  const std::string text = platform::read_file(file);
  Offer offer{};
  if (text.size() != sizeof(offer)) return std::nullopt;
  std::memcpy(&offer, text.data(), sizeof(offer));
  return offer.magic == kMagic ? std::optional(offer) : std::nullopt;
}

}  // namespace

bool SharedReference::offer(const fs::path& reference, const Gpu& gpu, const DeviceMemory& memory,
                            const GpuHelpers& helpers) {
  Offer offer{kMagic, gpu.handle().uuid(), memory.bytes(), helpers.digest({&memory}), {}};
  if (gpu.driver().share(&offer.handle, gpu::to_pointer(memory.address())) != gpu::kSuccess) return false;
  platform::write_file(file_beside(reference), {reinterpret_cast<const char*>(&offer), sizeof(offer)});
  return true;
}

bool SharedReference::is_offered(const fs::path& reference) { return read_offer(file_beside(reference)).has_value(); }

std::optional<SharedReference> SharedReference::copy(const fs::path& reference, const Gpu& gpu) {
  const auto offer = read_offer(file_beside(reference));
  if (!offer || offer->device != gpu.handle().uuid()) return std::nullopt;
  SharedReference own{DeviceMemory(gpu, offer->bytes, "the reference"), offer->digest};
  gpu::Pointer pointer{};
  if (gpu.driver().open_shared(&pointer, offer->handle, gpu::kOpenShared) != gpu::kSuccess) return std::nullopt;
  own.memory.copy_from_device(gpu::to_address(pointer));
  gpu.synchronize();
  gpu.check(gpu.driver().close_shared(pointer));
  return own;
}

}  // namespace tune::worker
