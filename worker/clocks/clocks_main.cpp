// tune-device-clocks BACKEND DEVICE FILE: sets the clocks of a device as its input says, and undoes it when the input
// ends: when the driver has ended, in whatever way. No signal that can be caught ends it before.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <sstream>
#include <string>

#include "clocks/clock_control.h"
#include "model/values/error.h"
#include "platform/files/owned_lock_file.h"
#include "wire/messages.h"

namespace tune::worker {
namespace {

/// Which controls of a device may be set.
using Touched = std::array<bool, kDeviceControls.size()>;

constexpr std::string_view kTouchedWord = "touched";

/// `pid 4711`, then a line per control that may be set, then a line per value saved.
struct ClockNote {
  Touched touched = {};
  ClockControl::Saved saved;
};

std::string to_text(const ClockNote& note) {
  std::string text = fmt::format("pid {}\n", ::getpid());
  for (const DeviceControl control : kDeviceControls)
    if (note.touched[static_cast<std::size_t>(control)])
      text += fmt::format("{} {}\n", kTouchedWord, static_cast<int>(control));
  for (const auto& [name, value] : note.saved) text += fmt::format("{} {}\n", name, value);
  return text;
}

ClockNote read_clock_note(const std::string& text) {
  ClockNote note;
  std::istringstream words(text);
  std::string name;
  for (std::int64_t value = 0; words >> name >> value;) {
    if (name == kTouchedWord && value >= 0 && value < std::ssize(note.touched))
      note.touched[static_cast<std::size_t>(value)] = true;
    else if (name != kTouchedWord && name != "pid")
      note.saved[name] = value;
  }
  return note;
}

/// A device whose clocks this process alone sets, and which is as before once the object ends. What is to be undone
/// stands in a file before anything is set, so that the next one can do it if this process is killed.
class ClockHolder {
 public:
  /// Undoes first what a killed process left. Throws ClockRefusal, and Error(environment) of the file.
  ClockHolder(std::unique_ptr<ClockControl> control, const std::filesystem::path& file) : control_(std::move(control)) {
    std::string owner;
    claim_ = platform::OwnedLockFile::claim(file, owner);
    if (!claim_) throw ClockRefusal{{wire::Refused::Why::in_use, owner.substr(0, owner.find('\n'))}};
    const ClockNote left = read_clock_note(claim_->left());
    for (const DeviceControl touched : kDeviceControls)
      if (left.touched[static_cast<std::size_t>(touched)]) {
        control_->reset(touched, left.saved);
        settable_.restored = true;
      }
    const bool restored = settable_.restored;
    settable_ = control_->settable();
    settable_.restored = restored;
    saved_ = control_->saved();
    claim_->write(to_text({touched_, saved_}));
  }

  // A device that is gone cannot be undone: its file stays, and the next run tries again.
  ~ClockHolder() {
    for (const DeviceControl control : kDeviceControls) {
      DeviceSettings wanted = now_;
      wanted.values[static_cast<std::size_t>(control)] = 0;
      try {
        apply(wanted);
      } catch (...) {  // the others are undone nevertheless
      }
    }
    if (!now_.any()) claim_->remove();
  }

  ClockHolder(const ClockHolder&) = delete;
  ClockHolder& operator=(const ClockHolder&) = delete;

  const wire::SettableClocks& settable() const { return settable_; }

  /// Sets what differs from before; 0 undoes. Throws ClockRefusal, and Error(environment) of the file; what was set
  /// before stays.
  void apply(const DeviceSettings& settings) {
    for (const DeviceControl control : kDeviceControls) {
      const auto index = static_cast<std::size_t>(control);
      const std::int64_t wanted = settings.of(control);
      if (wanted == now_.values[index]) continue;
      note(control);
      if (wanted == 0)
        control_->reset(control, saved_);
      else
        set(control, wanted);
      now_.values[index] = wanted;
    }
  }

 private:
  void note(DeviceControl control) {
    bool& touched = touched_[static_cast<std::size_t>(control)];
    if (std::exchange(touched, true)) return;
    claim_->write(to_text({touched_, saved_}));
  }

  // A refused setting may have been made in part, and is undone later; without permission nothing was set.
  void set(DeviceControl control, std::int64_t value) {
    try {
      control_->set(control, value);
    } catch (const ClockRefusal& refusal) {
      if (refusal.refused.why != wire::Refused::Why::permission) now_.values[static_cast<std::size_t>(control)] = value;
      throw;
    }
  }

  std::unique_ptr<ClockControl> control_;
  std::optional<platform::OwnedLockFile> claim_;
  ClockControl::Saved saved_;
  wire::SettableClocks settable_;
  DeviceSettings now_;
  Touched touched_ = {};
};

/// Says what can be set, then obeys line by line until the input ends.
void serve_clocks(ClockHolder& holder, std::istream& in, std::ostream& out) {
  out << wire::encode(wire::ClockAnswer(holder.settable())) << std::endl;
  for (std::string line; std::getline(in, line);) {
    wire::ClockAnswer answer = wire::SettingsApplied();
    try {
      holder.apply(wire::decode_settings(line));
    } catch (const ClockRefusal& refusal) {
      answer = refusal.refused;
    } catch (const wire::Malformed& error) {
      answer = wire::Refused{wire::Refused::Why::other, error.what()};
    }
    out << wire::encode(answer) << std::endl;
  }
}

void outlive_the_driver() {
  ::setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2})
    ::signal(signal, SIG_IGN);
}

std::unique_ptr<ClockControl> open_control(const std::string& backend, const std::string& device) {
  if (backend == "hip") return open_rocm_control(device);
  return backend == "cuda" ? open_nvml_control(device) : open_cpu_control();
}

int refuse(const wire::Refused& refused) {
  std::cout << wire::encode(wire::ClockAnswer(refused)) << std::endl;
  return 1;
}

int run(const std::string& backend, const std::string& device, const char* file) try {
  ClockHolder holder(open_control(backend, device), file);
  serve_clocks(holder, std::cin, std::cout);
  return 0;
} catch (const ClockRefusal& refusal) {
  return refuse(refusal.refused);
} catch (const std::exception& error) {
  return refuse({wire::Refused::Why::other, error.what()});
}

}  // namespace
}  // namespace tune::worker

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "tune starts this program itself, for runs whose parameters set a device's clocks\n";
    return 2;
  }
  tune::worker::outlive_the_driver();
  return tune::worker::run(argv[1], argv[2], argv[3]);
}
