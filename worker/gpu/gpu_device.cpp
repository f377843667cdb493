#include "gpu/gpu_device.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "backend.h"
#include "gpu/gpu_vendor.h"

namespace tune::worker {
namespace {

constexpr double kMiB = 1 << 20;

/// Why a device that is there may give no context, and what to do about it; empty: nothing known.
std::string compute_mode_advice(const GpuHandle& gpu) {
  const int mode = gpu.attribute(gpu::kComputeMode);
  if (mode == gpu::kProhibited) return ": its compute mode admits no process; allow them with nvidia-smi -c DEFAULT";
  if (mode != gpu::kExclusiveProcess) return "";
  return ": its compute mode admits one process at a time, and another has it; wait for that one, or allow several "
         "with "
         "nvidia-smi -c DEFAULT";
}

}  // namespace

int GpuHandle::attribute(gpu::Attribute which) const {
  int value = 0;
  return driver.device_attribute(&value, which, device) == gpu::kSuccess ? value : 0;
}

Uuid GpuHandle::uuid() const {
  gpu::Uuid uuid{};
  driver.device_uuid(&uuid, device);
  return std::bit_cast<Uuid>(uuid);
}

std::string GpuHandle::arch() const { return gpu::architecture(*this); }

GpuHandle GpuHandle::open() {
  const auto fail = [](const std::string& why, const std::string& advice = "") {
    throw NoDevice(fmt::format("no {} device: {}{}{}", gpu::kVendor, why, advice.empty() ? "" : "; ", advice));
  };
  GpuHandle handle{};
  try {
    handle.driver = GpuDriver::open();
  } catch (const std::runtime_error& error) {
    fail(error.what());
  }
  const gpu::Status status = gpu::open(handle.driver, handle.device);
  if (status != gpu::kSuccess) fail(gpu::describe(handle.driver, status), gpu::device_advice());
  return handle;
}

Gpu::Gpu(GpuHandle handle) : handle_(std::move(handle)) {
  const gpu::Status status = gpu::enter(driver(), handle_.device);
  if (status != gpu::kSuccess)
    throw NoDevice(gpu::describe(driver(), status) + compute_mode_advice(handle_) + "\nwhile opening the device");
}

// The clock is in kHz, the bus' width in bits, and memory moves data twice a tick.
double Gpu::memory_bandwidth() const {
  return 2e3 * attribute(gpu::kMemoryClock) * attribute(gpu::kMemoryBusWidth) / 8;
}

void Gpu::check(gpu::Status status, const std::string& detail) const {
  if (status == gpu::kSuccess) return;
  throw GpuError(gpu::describe(driver(), status) + (detail.empty() ? "" : "\n" + detail));
}

void Gpu::launch(const GpuLaunch& launch, void** arguments, const std::string& detail) const {
  check(gpu::launch(driver(), launch, arguments), detail);
}

DeviceMemory::DeviceMemory(const Gpu& gpu, std::size_t bytes, const std::string& purpose) : gpu_(&gpu), bytes_(bytes) {
  if (bytes == 0) return;
  gpu::Pointer pointer{};
  const auto status = gpu.driver().allocate(&pointer, bytes);
  address_ = gpu::to_address(pointer);
  if (status != gpu::kOutOfMemory) gpu.check(status);
  if (status == gpu::kSuccess) return;
  std::size_t free = 0, total = 0;
  gpu.driver().free_memory(&free, &total);
  throw GpuError(fmt::format("out of memory on the device\n{} needs {:.0f} MiB, {:.0f} of {:.0f} MiB are free", purpose,
                             static_cast<double>(bytes) / kMiB, static_cast<double>(free) / kMiB,
                             static_cast<double>(total) / kMiB));
}

DeviceMemory::~DeviceMemory() {
  if (address_) gpu_->driver().free(gpu::to_pointer(address_));
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(gpu_, other.gpu_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void DeviceMemory::copy_from(std::span<const std::byte> host, std::size_t first) {
  auto* source = const_cast<std::byte*>(host.data());  // HIP's function asks for it and does not write
  gpu_->check(gpu_->driver().copy_to_device(gpu::to_pointer(address_ + first), source, host.size()));
}

void DeviceMemory::copy_to(std::span<std::byte> host, std::size_t first) const {
  gpu_->check(gpu_->driver().copy_to_host(host.data(), gpu::to_pointer(address_ + first), host.size()));
}

void DeviceMemory::copy_from_device(gpu::Address source) {
  gpu_->check(gpu_->driver().copy_on_device(gpu::to_pointer(address_), gpu::to_pointer(source), bytes_));
}

void DeviceMemory::set_bytes(std::uint8_t value, std::size_t first, std::size_t count) {
  if (count > 0) gpu_->check(gpu_->driver().set_bytes(gpu::to_pointer(address_ + first), value, count, nullptr));
}

void DeviceMemory::set_words(std::uint16_t value, std::size_t first, std::size_t count_bytes) {
  if (count_bytes > 1)
    gpu_->check(gpu_->driver().set_words(gpu::to_pointer(address_ + first), value, count_bytes / 2, nullptr));
  if (count_bytes % 2 == 1) set_bytes(static_cast<std::uint8_t>(value & 0xff), first + count_bytes - 1, 1);
}

// Left to the driver to free, as contexts are.
HostFlag::HostFlag(const Gpu& gpu) {
  void* pointer = nullptr;
  gpu.check(gpu.driver().allocate_on_host(&pointer, sizeof(int), gpu::kMappedToDevice));
  flag_ = static_cast<volatile int*>(pointer);
}

double GpuEvent::since(const GpuEvent& earlier) const {
  float milliseconds = 0;
  gpu_->check(gpu_->driver().elapsed(&milliseconds, earlier.event_, event_));
  return static_cast<double>(milliseconds) * 1e-3;
}

GpuModule::GpuModule(const Gpu& gpu, std::string code, const std::string& name)
    : gpu_(&gpu), code_(std::move(code)), name_(name) {
  gpu.check(gpu.driver().load_module(&module_, code_.data()), fmt::format("loading {}", name));
}

gpu::Function GpuModule::function(const std::string& name) const {
  gpu::Function function = nullptr;
  gpu_->check(gpu_->driver().find_function(&function, module_, name.c_str()),
              fmt::format("looking for {} in {}", name, name_));
  return function;
}

std::vector<std::size_t> GpuModule::parameter_sizes(const std::string& name) const {
  return gpu::parameter_sizes(gpu_->driver(), function(name), code_, name);
}

}  // namespace tune::worker
