#include "gpu_shared_reference.h"

#include <cstring>

#include "base/store.h"

namespace tune {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 8> kMagic = {'T', 'U', 'N', 'E', 'S', 'H', 'R', '1'};

fs::path file_beside(const fs::path& reference) { return reference.string() + ".shared"; }

}  // namespace

void SharedReference::offer(const fs::path& reference, const Gpu& gpu, const DeviceMemory& memory, std::uint64_t digest,
                            double largest_addend) {
  Offer offer{kMagic, gpu.handle().uuid(), memory.bytes(), digest, largest_addend, {}};
  if (gpu.driver().share(&offer.handle, gpu::to_pointer(memory.address())) != gpu::kSuccess) return;
  write_file(file_beside(reference), {reinterpret_cast<const char*>(&offer), sizeof(offer)});
}

std::optional<SharedReference> SharedReference::find(const fs::path& reference, const Gpu& gpu) {
  std::error_code error;
  if (!fs::exists(file_beside(reference), error)) return std::nullopt;
  const std::string text = read_file(file_beside(reference));
  Offer offer{};
  if (text.size() != sizeof(offer)) return std::nullopt;
  std::memcpy(&offer, text.data(), sizeof(offer));
  if (offer.magic != kMagic || offer.device != gpu.handle().uuid()) return std::nullopt;
  gpu::Pointer pointer{};
  if (gpu.driver().open_shared(&pointer, offer.handle, gpu::kOpenShared) != gpu::kSuccess) return std::nullopt;
  gpu.driver().close_shared(pointer);
  return SharedReference(offer);
}

DeviceMemory SharedReference::copy(const Gpu& gpu) {
  DeviceMemory own(gpu, offer_.bytes, "the reference");
  gpu::Pointer pointer{};
  gpu.check(gpu.driver().open_shared(&pointer, offer_.handle, gpu::kOpenShared));
  own.copy_from_device(gpu::to_address(pointer));
  gpu.synchronize();
  gpu.check(gpu.driver().close_shared(pointer));
  return own;
}

}  // namespace tune
