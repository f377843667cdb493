#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/gpu_library.h"
#include "sensors/uuid.h"

namespace tune::worker {

/// A call that the device refused, or a fault of a kernel, which the next call reports. The first line says what.
class GpuError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The driver and its first device, without a context.
struct GpuHandle {
  GpuDriver driver;
  gpu::Device device;
  int attribute(gpu::Attribute attribute) const;
  Uuid uuid() const;
  std::string arch() const;

  /// Throws NoDevice if there is none.
  static GpuHandle open();
};

/// What is launched and how; the arguments come separately.
struct GpuLaunch {
  using Extents = std::array<unsigned, 3>;
  gpu::Function function = nullptr;
  Extents grid = {1, 1, 1}, block = {1, 1, 1};
  std::optional<Extents> cluster;
  unsigned shared = 0;  ///< dynamic, bytes
  bool programmatic = false;
};

/// A device with the context of this process. After a kernel's fault nothing works any more, and the process must end.
/// Lives until then: contexts are left to the driver to tear down.
class Gpu {
 public:
  /// Throws NoDevice if there is no device, or it gives no context.
  explicit Gpu(GpuHandle handle = GpuHandle::open());
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const GpuDriver& driver() const { return handle_.driver; }
  const GpuHandle& handle() const { return handle_; }
  int attribute(gpu::Attribute attribute) const { return handle_.attribute(attribute); }
  std::string arch() const { return handle_.arch(); }
  /// The most that its memory can move, in bytes per second.
  double memory_bandwidth() const;

  /// Throws GpuError with the status' text and, on a second line, `detail`.
  void check(gpu::Status status, const std::string& detail = "") const;
  /// `arguments` point to the values. Throws GpuError if the device cannot launch this; `detail` is for its text.
  void launch(const GpuLaunch& launch, void** arguments, const std::string& detail = "") const;
  /// Waits until all launches have finished. Throws GpuError with a kernel's fault.
  void synchronize() const { check(driver().synchronize()); }

 private:
  GpuHandle handle_;
};

/// Memory of a device. Everything is in the order of the one stream; copies wait for it.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// `purpose` is for the message that memory is insufficient. Throws GpuError.
  DeviceMemory(const Gpu& gpu, std::size_t bytes, const std::string& purpose);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;

  gpu::Address address() const { return address_; }
  /// For a kernel's parameters; the host cannot read it.
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(address_);
  }
  std::size_t bytes() const { return bytes_; }

  /// `first` is in bytes. Precondition: within the memory.
  void copy_from(std::span<const std::byte> host, std::size_t first = 0);
  void copy_to(std::span<std::byte> host, std::size_t first = 0) const;
  void copy_from_device(gpu::Address source);
  void set_bytes(std::uint8_t value, std::size_t first, std::size_t count);
  /// 16-bit words; an odd last byte gets the lower half. Precondition: `first` is even.
  void set_words(std::uint16_t value, std::size_t first, std::size_t count_bytes);

 private:
  const Gpu* gpu_ = nullptr;
  gpu::Address address_ = 0;
  std::size_t bytes_ = 0;
};

/// A number in the host's memory that kernels can read while the host changes it.
class HostFlag {
 public:
  /// Throws GpuError.
  explicit HostFlag(const Gpu& gpu);
  HostFlag(const HostFlag&) = delete;
  HostFlag& operator=(const HostFlag&) = delete;

  void set(int value) { *flag_ = value; }
  gpu::Address address() const { return reinterpret_cast<gpu::Address>(flag_); }

 private:
  volatile int* flag_ = nullptr;
};

/// A place in the order of what is launched.
class GpuEvent {
 public:
  explicit GpuEvent(const Gpu& gpu) : gpu_(&gpu) { gpu.check(gpu.driver().create_event(&event_, 0)); }
  ~GpuEvent() { gpu_->driver().destroy_event(event_); }
  GpuEvent(const GpuEvent&) = delete;
  GpuEvent& operator=(const GpuEvent&) = delete;

  void record() const { gpu_->check(gpu_->driver().record_event(event_, nullptr)); }
  /// Waits until the device is there. Throws GpuError with a kernel's fault.
  void wait() const { gpu_->check(gpu_->driver().wait_for_event(event_)); }
  /// Seconds from an earlier one to this. Precondition: both were waited for.
  double since(const GpuEvent& earlier) const;

 private:
  const Gpu* gpu_;
  gpu::Event event_ = nullptr;
};

/// Code loaded onto a device.
class GpuModule {
 public:
  /// `name` is for messages. Throws GpuError.
  GpuModule(const Gpu& gpu, std::string code, const std::string& name);
  ~GpuModule() { gpu_->driver().unload_module(module_); }
  GpuModule(const GpuModule&) = delete;
  GpuModule& operator=(const GpuModule&) = delete;
  /// Throws GpuError.
  gpu::Function function(const std::string& name) const;
  /// The sizes of a function's parameters, in bytes.
  std::vector<std::size_t> parameter_sizes(const std::string& name) const;

 private:
  const Gpu* gpu_;
  std::string code_;
  std::string name_;
  gpu::Module module_ = nullptr;
};

}  // namespace tune::worker
